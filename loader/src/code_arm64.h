/*
 * code_arm64.h: the machine code of trampolines on arm64, as ELF, Mach-O and PE want it; must not contain what another
 * processor runs.
 *
 * x16 is the linkers' own between a call and its function, so no argument is in it.
 *
 * Functions with vector arguments have calling conventions of their own (AAPCS64): they keep more for their caller than
 * others do, and the search for a runtime is made of others. So a trampoline keeps, besides arguments, q8 to q23, but
 * not on Windows, and where the processor has SVE, z0 to z23 and p0 to p15. System calls erase the parts of SVE's
 * registers beyond 128 bits, so the processor is asked by getauxval(), which only reads memory; its address is the
 * linker's, not that of a lazy binding. lb_kept_state is 1 without SVE, 2 with it. SVE is looked for on Linux alone:
 * Apple's processors have it only in SME's streaming mode. In that mode, and with ZA, no function of a stub may be
 * called first.
 */
#if defined(__aarch64__) || defined(_M_ARM64)
#if defined(__linux__)
#define LB_ASKS_PROCESSOR
#define LB_ASM_HAS_SVE
#if !defined(__ARM_FEATURE_SVE)
#define LB_ASM_BEGIN ".arch_extension sve\n"
#define LB_ASM_END   ".arch_extension nosve\n"
#endif
#endif
#define LB_ASM_TRAMPOLINE         "hint #34\nmov w16, #number\nb lb_trampoline_common\n" /* hint 34 is bti c */
#define LB_ASM_TRAMPOLINE_OF(row) "hint #34\nadrp x16, " row "\nadd x16, x16, :lo12:" row "\nb lb_trampoline_common\n"
#if defined(__APPLE__)
#define LB_ASM_JUMP(place)                                                                            \
  "hint #34\nadrp x16, (" LB_ASM_NAME(lb_entries) "+8*" place ")@PAGE\nldr x16, [x16, (" LB_ASM_NAME( \
      lb_entries) "+8*" place ")@PAGEOFF]\nbr x16\n"
#else
#define LB_ASM_JUMP(place)                                                                                     \
  "hint #34\nadrp x16, " LB_ASM_NAME(lb_entries) "+8*" place                                                   \
                                                 "\nldr x16, [x16, :lo12:" LB_ASM_NAME(lb_entries) "+8*" place \
                                                                                                   "]\nbr x16\n"
#endif

/* clang-format off */
#if defined(LB_ASM_HAS_SVE)
/* Asks for SVE once. x16 is the trampoline's number, which getauxval() may change. */
#define LB_ASM_KEEP_SVE \
    "adrp x9, " LB_ASM_NAME(lb_kept_state) "\n" \
    "ldr x10, [x9, :lo12:" LB_ASM_NAME(lb_kept_state) "]\n" \
    "cbnz x10, 1f\n" \
    "str x16, [sp, #88]\n" \
    "mov x0, #16\n" /* AT_HWCAP */ \
    "adrp x16, :got:getauxval\n" \
    "ldr x16, [x16, :got_lo12:getauxval]\n" \
    "blr x16\n" \
    "ubfx x10, x0, #22, #1\n" /* HWCAP_SVE */ \
    "add x10, x10, #1\n" \
    "adrp x9, " LB_ASM_NAME(lb_kept_state) "\n" \
    "str x10, [x9, :lo12:" LB_ASM_NAME(lb_kept_state) "]\n" \
    "ldr x16, [sp, #88]\n" \
    "1: cmp x10, #2\n" \
    "b.ne 2f\n" \
    "addvl sp, sp, #-26\n" /* 16 predicates have the size of two vectors */ \
    "str z0, [sp, #2, mul vl]\n" \
    "str z1, [sp, #3, mul vl]\n" \
    "str z2, [sp, #4, mul vl]\n" \
    "str z3, [sp, #5, mul vl]\n" \
    "str z4, [sp, #6, mul vl]\n" \
    "str z5, [sp, #7, mul vl]\n" \
    "str z6, [sp, #8, mul vl]\n" \
    "str z7, [sp, #9, mul vl]\n" \
    "str z8, [sp, #10, mul vl]\n" \
    "str z9, [sp, #11, mul vl]\n" \
    "str z10, [sp, #12, mul vl]\n" \
    "str z11, [sp, #13, mul vl]\n" \
    "str z12, [sp, #14, mul vl]\n" \
    "str z13, [sp, #15, mul vl]\n" \
    "str z14, [sp, #16, mul vl]\n" \
    "str z15, [sp, #17, mul vl]\n" \
    "str z16, [sp, #18, mul vl]\n" \
    "str z17, [sp, #19, mul vl]\n" \
    "str z18, [sp, #20, mul vl]\n" \
    "str z19, [sp, #21, mul vl]\n" \
    "str z20, [sp, #22, mul vl]\n" \
    "str z21, [sp, #23, mul vl]\n" \
    "str z22, [sp, #24, mul vl]\n" \
    "str z23, [sp, #25, mul vl]\n" \
    "str p0, [sp, #0, mul vl]\n" \
    "str p1, [sp, #1, mul vl]\n" \
    "str p2, [sp, #2, mul vl]\n" \
    "str p3, [sp, #3, mul vl]\n" \
    "str p4, [sp, #4, mul vl]\n" \
    "str p5, [sp, #5, mul vl]\n" \
    "str p6, [sp, #6, mul vl]\n" \
    "str p7, [sp, #7, mul vl]\n" \
    "str p8, [sp, #8, mul vl]\n" \
    "str p9, [sp, #9, mul vl]\n" \
    "str p10, [sp, #10, mul vl]\n" \
    "str p11, [sp, #11, mul vl]\n" \
    "str p12, [sp, #12, mul vl]\n" \
    "str p13, [sp, #13, mul vl]\n" \
    "str p14, [sp, #14, mul vl]\n" \
    "str p15, [sp, #15, mul vl]\n" \
    "2:\n"
#define LB_ASM_TAKE_SVE \
    "adrp x9, " LB_ASM_NAME(lb_kept_state) "\n" \
    "ldr x10, [x9, :lo12:" LB_ASM_NAME(lb_kept_state) "]\n" \
    "cmp x10, #2\n" \
    "b.ne 3f\n" \
    "ldr z0, [sp, #2, mul vl]\n" \
    "ldr z1, [sp, #3, mul vl]\n" \
    "ldr z2, [sp, #4, mul vl]\n" \
    "ldr z3, [sp, #5, mul vl]\n" \
    "ldr z4, [sp, #6, mul vl]\n" \
    "ldr z5, [sp, #7, mul vl]\n" \
    "ldr z6, [sp, #8, mul vl]\n" \
    "ldr z7, [sp, #9, mul vl]\n" \
    "ldr z8, [sp, #10, mul vl]\n" \
    "ldr z9, [sp, #11, mul vl]\n" \
    "ldr z10, [sp, #12, mul vl]\n" \
    "ldr z11, [sp, #13, mul vl]\n" \
    "ldr z12, [sp, #14, mul vl]\n" \
    "ldr z13, [sp, #15, mul vl]\n" \
    "ldr z14, [sp, #16, mul vl]\n" \
    "ldr z15, [sp, #17, mul vl]\n" \
    "ldr z16, [sp, #18, mul vl]\n" \
    "ldr z17, [sp, #19, mul vl]\n" \
    "ldr z18, [sp, #20, mul vl]\n" \
    "ldr z19, [sp, #21, mul vl]\n" \
    "ldr z20, [sp, #22, mul vl]\n" \
    "ldr z21, [sp, #23, mul vl]\n" \
    "ldr z22, [sp, #24, mul vl]\n" \
    "ldr z23, [sp, #25, mul vl]\n" \
    "ldr p0, [sp, #0, mul vl]\n" \
    "ldr p1, [sp, #1, mul vl]\n" \
    "ldr p2, [sp, #2, mul vl]\n" \
    "ldr p3, [sp, #3, mul vl]\n" \
    "ldr p4, [sp, #4, mul vl]\n" \
    "ldr p5, [sp, #5, mul vl]\n" \
    "ldr p6, [sp, #6, mul vl]\n" \
    "ldr p7, [sp, #7, mul vl]\n" \
    "ldr p8, [sp, #8, mul vl]\n" \
    "ldr p9, [sp, #9, mul vl]\n" \
    "ldr p10, [sp, #10, mul vl]\n" \
    "ldr p11, [sp, #11, mul vl]\n" \
    "ldr p12, [sp, #12, mul vl]\n" \
    "ldr p13, [sp, #13, mul vl]\n" \
    "ldr p14, [sp, #14, mul vl]\n" \
    "ldr p15, [sp, #15, mul vl]\n" \
    "addvl sp, sp, #26\n" \
    "b 4f\n" /* writing a part of z0 as q0 would erase the rest */ \
    "3:\n"
#else
#define LB_ASM_KEEP_SVE
#define LB_ASM_TAKE_SVE
#endif

/* What functions with vector arguments keep for their callers, beyond the arguments; Windows has no such convention. */
#if defined(_WIN32)
#define LB_ASM_FRAME "224"
#define LB_ASM_KEEP_MORE
#define LB_ASM_TAKE_MORE
#else
#define LB_ASM_FRAME "480"
#define LB_ASM_KEEP_MORE \
    "stp q8, q9, [sp, #224]\n" \
    "stp q10, q11, [sp, #256]\n" \
    "stp q12, q13, [sp, #288]\n" \
    "stp q14, q15, [sp, #320]\n" \
    "stp q16, q17, [sp, #352]\n" \
    "stp q18, q19, [sp, #384]\n" \
    "stp q20, q21, [sp, #416]\n" \
    "stp q22, q23, [sp, #448]\n"
#define LB_ASM_TAKE_MORE \
    "ldp q8, q9, [sp, #224]\n" \
    "ldp q10, q11, [sp, #256]\n" \
    "ldp q12, q13, [sp, #288]\n" \
    "ldp q14, q15, [sp, #320]\n" \
    "ldp q16, q17, [sp, #352]\n" \
    "ldp q18, q19, [sp, #384]\n" \
    "ldp q20, q21, [sp, #416]\n" \
    "ldp q22, q23, [sp, #448]\n"
#endif

/* What all systems share: every argument is kept, the target is asked for, and the arguments are put back. */
#define LB_ASM_CALL_TARGET \
    "stp x0, x1, [sp, #16]\n" \
    "stp x2, x3, [sp, #32]\n" \
    "stp x4, x5, [sp, #48]\n" \
    "stp x6, x7, [sp, #64]\n" \
    "str x8, [sp, #80]\n" /* where a struct result goes */ \
    "stp q0, q1, [sp, #96]\n" \
    "stp q2, q3, [sp, #128]\n" \
    "stp q4, q5, [sp, #160]\n" \
    "stp q6, q7, [sp, #192]\n" \
    LB_ASM_KEEP_MORE \
    LB_ASM_KEEP_SVE \
    "mov x0, x16\n" \
    "add x1, x29, #16\n" \
    "bl " LB_ASM_NAME(lb_trampoline_target) "\n" \
    "mov x16, x0\n" \
    LB_ASM_TAKE_SVE \
    "ldp q0, q1, [sp, #96]\n" \
    "ldp q2, q3, [sp, #128]\n" \
    "ldp q4, q5, [sp, #160]\n" \
    "ldp q6, q7, [sp, #192]\n" \
    LB_ASM_TAKE_MORE \
    "4:\n" \
    "ldp x0, x1, [sp, #16]\n" \
    "ldp x2, x3, [sp, #32]\n" \
    "ldp x4, x5, [sp, #48]\n" \
    "ldp x6, x7, [sp, #64]\n" \
    "ldr x8, [sp, #80]\n"
#define LB_ASM_RESTORE_FRAME "ldp x29, x30, [sp], #" LB_ASM_FRAME "\n"

#if defined(_WIN32)
#define LB_ASM_COMMON \
    ".seh_proc lb_trampoline_common\n" \
    "lb_trampoline_common:\n" \
    "stp x29, x30, [sp, #-224]!\n" \
    ".seh_save_fplr_x 224\n" \
    "mov x29, sp\n" \
    ".seh_set_fp\n" \
    ".seh_endprologue\n" \
    LB_ASM_CALL_TARGET \
    ".seh_startepilogue\n" \
    LB_ASM_RESTORE_FRAME \
    ".seh_save_fplr_x 224\n" \
    ".seh_endepilogue\n" \
    "br x16\n" /* allowed by a landing pad of either kind */ \
    ".seh_endproc\n"
#else
#define LB_ASM_COMMON \
    "lb_trampoline_common:\n" \
    ".cfi_startproc\n" \
    "stp x29, x30, [sp, #-480]!\n" \
    ".cfi_def_cfa_offset 480\n" \
    ".cfi_offset w29, -480\n" \
    ".cfi_offset w30, -472\n" \
    "mov x29, sp\n" \
    ".cfi_def_cfa w29, 480\n" \
    LB_ASM_CALL_TARGET \
    LB_ASM_RESTORE_FRAME \
    ".cfi_def_cfa wsp, 0\n" \
    ".cfi_restore w29\n" \
    ".cfi_restore w30\n" \
    "br x16\n" /* allowed by a landing pad of either kind */ \
    ".cfi_endproc\n"
#endif
/* clang-format on */
#endif
