/*
 * code_riscv64.h: the machine code of trampolines on 64-bit RISC-V with floating-point registers (lp64d), as all
 * distributions of Linux have it; must not contain what another processor runs.
 *
 * Vector registers are not kept: only functions of the vector calling convention, which take values of RISC-V's own
 * vector types, have arguments there, and no compiler uses it for a C library's other functions.
 *
 * t1 is the linkers' own between a call and its function, so no argument is in it. Instructions stay as they are
 * written: the linker may neither shorten them nor move what follows.
 */
#if defined(__riscv) && __riscv_xlen == 64
#if !defined(__riscv_float_abi_double)
#error "The trampolines keep 64-bit floating-point registers: compile with -mabi=lp64d."
#endif
#define LB_ASM_BEGIN      ".option push\n.option norvc\n.option norelax\n"
#define LB_ASM_END        ".option pop\n"
#define LB_ASM_TRAMPOLINE "li t1, number\nj lb_trampoline_common\n"
/* Another object has the common part, perhaps far away. */
#define LB_ASM_TRAMPOLINE_OF(row) "lla t1, " row "\njump lb_trampoline_common, t2\n"
#define LB_ASM_JUMP(place) \
  "1: auipc t1, %pcrel_hi(" LB_ASM_NAME(lb_entries) "+8*" place ")\nld t1, %pcrel_lo(1b)(t1)\njr t1\n"

/* clang-format off */
#define LB_ASM_COMMON \
    "lb_trampoline_common:\n" \
    ".cfi_startproc\n" \
    "addi sp, sp, -144\n" \
    ".cfi_def_cfa_offset 144\n" \
    "sd ra, 136(sp)\n" \
    ".cfi_offset ra, -8\n" \
    "sd a0, 0(sp)\n" \
    "sd a1, 8(sp)\n" \
    "sd a2, 16(sp)\n" \
    "sd a3, 24(sp)\n" \
    "sd a4, 32(sp)\n" \
    "sd a5, 40(sp)\n" \
    "sd a6, 48(sp)\n" \
    "sd a7, 56(sp)\n" \
    "fsd fa0, 64(sp)\n" \
    "fsd fa1, 72(sp)\n" \
    "fsd fa2, 80(sp)\n" \
    "fsd fa3, 88(sp)\n" \
    "fsd fa4, 96(sp)\n" \
    "fsd fa5, 104(sp)\n" \
    "fsd fa6, 112(sp)\n" \
    "fsd fa7, 120(sp)\n" \
    "mv a0, t1\n" \
    "mv a1, sp\n" \
    "call " LB_ASM_NAME(lb_trampoline_target) "\n" \
    "mv t1, a0\n" \
    "ld a0, 0(sp)\n" \
    "ld a1, 8(sp)\n" \
    "ld a2, 16(sp)\n" \
    "ld a3, 24(sp)\n" \
    "ld a4, 32(sp)\n" \
    "ld a5, 40(sp)\n" \
    "ld a6, 48(sp)\n" \
    "ld a7, 56(sp)\n" \
    "fld fa0, 64(sp)\n" \
    "fld fa1, 72(sp)\n" \
    "fld fa2, 80(sp)\n" \
    "fld fa3, 88(sp)\n" \
    "fld fa4, 96(sp)\n" \
    "fld fa5, 104(sp)\n" \
    "fld fa6, 112(sp)\n" \
    "fld fa7, 120(sp)\n" \
    "ld ra, 136(sp)\n" \
    "addi sp, sp, 144\n" \
    ".cfi_def_cfa_offset 0\n" \
    ".cfi_restore ra\n" \
    "jr t1\n" \
    ".cfi_endproc\n"
/* clang-format on */
#endif
