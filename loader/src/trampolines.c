/*
 * trampolines.c: the machine code of trampolines.h for x64 and arm64; must not know what they are for.
 *
 * Each trampoline is 16 bytes: a landing pad for control-flow protection, its number into a register that no calling
 * convention uses for arguments (r11, x16), and a jump to the common part. The parts of vector registers beyond 128
 * bits are not kept: no function of a C interface without vector types gets them.
 */
#include "trampolines.h"

#include <string.h>

#if defined(_MSC_VER) && !defined(__clang__) && !defined(LATEBIND_MASM)
#error "Visual C++ takes the trampolines from trampolines_x64.asm; build with CMake, or with clang-cl."
#endif
#if !defined(LATEBIND_MASM)
#if defined(__APPLE__)
#define LB_ASM_LOCAL(name) ".private_extern " LB_ASM_NAME(name) "\n"
#elif defined(_WIN32)
#define LB_ASM_LOCAL(name) ".globl " LB_ASM_NAME(name) "\n"
#else
#define LB_ASM_LOCAL(name) ".globl " LB_ASM_NAME(name) "\n.hidden " LB_ASM_NAME(name) "\n"
#endif

#if defined(__x86_64__)
#define LB_ASM_TRAMPOLINE   \
  "endbr64\n"               \
  "movl $(number), %r11d\n" \
  "jmp lb_trampoline_common\n"
#elif defined(__aarch64__)
#define LB_ASM_TRAMPOLINE  \
  "hint #34\n" /* bti c */ \
  "mov w16, #number\n"     \
  "b lb_trampoline_common\n"
#else
#error "The trampolines are written for x64 and arm64."
#endif

/* The same as in functions_stub.c, by number instead of by name. */
#if defined(__x86_64__)
#define LB_ASM_NUMBERED_JUMP "endbr64\njmp *" LB_ASM_NAME(lb_entries) "+8*number(%rip)\n"
#elif defined(__APPLE__)
#define LB_ASM_NUMBERED_JUMP                                                                       \
  "hint #34\nadrp x16, (" LB_ASM_NAME(lb_entries) "+8*number)@PAGE\nldr x16, [x16, (" LB_ASM_NAME( \
      lb_entries) "+8*number)@PAGEOFF]\nbr x16\n"
#else
#define LB_ASM_NUMBERED_JUMP                                                                     \
  "hint #34\nadrp x16, " LB_ASM_NAME(lb_entries) "+8*number\nldr x16, [x16, :lo12:" LB_ASM_NAME( \
      lb_entries) "+8*number]\nbr x16\n"
#endif

/* clang-format off */
__asm__(
    ".text\n"
    ".balign 16\n"
    LB_ASM_LOCAL(lb_trampoline_first)
    LB_ASM_NAME(lb_trampoline_first) ":\n"
#if !defined(_WIN32)
    ".cfi_startproc\n"
#endif
    ".set number, 0\n"
    ".rept " LB_ASM_TEXT(LB_TRAMPOLINE_COUNT) "\n"
    ".balign 16\n"
    LB_ASM_TRAMPOLINE
    ".set number, number + 1\n"
    ".endr\n"
    ".balign 16\n"
#if !defined(_WIN32)
    ".cfi_endproc\n"
#endif
#if !defined(LATEBIND_STUB)
    LB_ASM_LOCAL(lb_jump_first)
    LB_ASM_NAME(lb_jump_first) ":\n"
    ".set number, 0\n"
    ".rept " LB_ASM_TEXT(LB_TRAMPOLINE_COUNT) "\n"
    ".balign 16\n"
    LB_ASM_NUMBERED_JUMP
    ".set number, number + 1\n"
    ".endr\n"
    ".balign 16\n"
#endif
#if defined(__x86_64__) && !defined(_WIN32)
    "lb_trampoline_common:\n"
    ".cfi_startproc\n"
    "pushq %rbp\n"
    ".cfi_def_cfa_offset 16\n"
    ".cfi_offset %rbp, -16\n"
    "movq %rsp, %rbp\n"
    ".cfi_def_cfa_register %rbp\n"
    "subq $192, %rsp\n"
    "movq %rdi, (%rsp)\n"
    "movq %rsi, 8(%rsp)\n"
    "movq %rdx, 16(%rsp)\n"
    "movq %rcx, 24(%rsp)\n"
    "movq %r8, 32(%rsp)\n"
    "movq %r9, 40(%rsp)\n"
    "movq %rax, 48(%rsp)\n" /* the number of vector registers of a call with "..." */
    "movq %r10, 56(%rsp)\n"
    "movaps %xmm0, 64(%rsp)\n"
    "movaps %xmm1, 80(%rsp)\n"
    "movaps %xmm2, 96(%rsp)\n"
    "movaps %xmm3, 112(%rsp)\n"
    "movaps %xmm4, 128(%rsp)\n"
    "movaps %xmm5, 144(%rsp)\n"
    "movaps %xmm6, 160(%rsp)\n"
    "movaps %xmm7, 176(%rsp)\n"
    "movl %r11d, %edi\n"
    "movq %rsp, %rsi\n"
    "call " LB_ASM_NAME(lb_trampoline_target) "\n"
    "movq %rax, %r11\n"
    "movq (%rsp), %rdi\n"
    "movq 8(%rsp), %rsi\n"
    "movq 16(%rsp), %rdx\n"
    "movq 24(%rsp), %rcx\n"
    "movq 32(%rsp), %r8\n"
    "movq 40(%rsp), %r9\n"
    "movq 48(%rsp), %rax\n"
    "movq 56(%rsp), %r10\n"
    "movaps 64(%rsp), %xmm0\n"
    "movaps 80(%rsp), %xmm1\n"
    "movaps 96(%rsp), %xmm2\n"
    "movaps 112(%rsp), %xmm3\n"
    "movaps 128(%rsp), %xmm4\n"
    "movaps 144(%rsp), %xmm5\n"
    "movaps 160(%rsp), %xmm6\n"
    "movaps 176(%rsp), %xmm7\n"
    "leave\n"
    ".cfi_def_cfa %rsp, 8\n"
    ".cfi_restore %rbp\n"
    "jmp *%r11\n"
    ".cfi_endproc\n"
#elif defined(__x86_64__)
    ".def lb_trampoline_common\n.scl 3\n.type 32\n.endef\n"
    ".seh_proc lb_trampoline_common\n"
    "lb_trampoline_common:\n"
    "subq $136, %rsp\n" /* 32 bytes for the callee, 64 for vectors, 32 for integers; aligned */
    ".seh_stackalloc 136\n"
    ".seh_endprologue\n"
    "movq %rcx, 32(%rsp)\n"
    "movq %rdx, 40(%rsp)\n"
    "movq %r8, 48(%rsp)\n"
    "movq %r9, 56(%rsp)\n"
    "movaps %xmm0, 64(%rsp)\n"
    "movaps %xmm1, 80(%rsp)\n"
    "movaps %xmm2, 96(%rsp)\n"
    "movaps %xmm3, 112(%rsp)\n"
    "movl %r11d, %ecx\n"
    "leaq 32(%rsp), %rdx\n"
    "call " LB_ASM_NAME(lb_trampoline_target) "\n"
    "movq %rax, %r11\n"
    "movq 32(%rsp), %rcx\n"
    "movq 40(%rsp), %rdx\n"
    "movq 48(%rsp), %r8\n"
    "movq 56(%rsp), %r9\n"
    "movaps 64(%rsp), %xmm0\n"
    "movaps 80(%rsp), %xmm1\n"
    "movaps 96(%rsp), %xmm2\n"
    "movaps 112(%rsp), %xmm3\n"
    "addq $136, %rsp\n"
    "jmp *%r11\n"
    ".seh_endproc\n"
#else
#if defined(_WIN32)
    ".seh_proc lb_trampoline_common\n"
#endif
    "lb_trampoline_common:\n"
#if !defined(_WIN32)
    ".cfi_startproc\n"
#endif
    "stp x29, x30, [sp, #-224]!\n"
#if defined(_WIN32)
    ".seh_save_fplr_x 224\n"
#else
    ".cfi_def_cfa_offset 224\n"
    ".cfi_offset w29, -224\n"
    ".cfi_offset w30, -216\n"
#endif
    "mov x29, sp\n"
#if defined(_WIN32)
    ".seh_set_fp\n"
    ".seh_endprologue\n"
#else
    ".cfi_def_cfa w29, 224\n"
#endif
    "stp x0, x1, [sp, #16]\n"
    "stp x2, x3, [sp, #32]\n"
    "stp x4, x5, [sp, #48]\n"
    "stp x6, x7, [sp, #64]\n"
    "str x8, [sp, #80]\n" /* where a struct result goes */
    "stp q0, q1, [sp, #96]\n"
    "stp q2, q3, [sp, #128]\n"
    "stp q4, q5, [sp, #160]\n"
    "stp q6, q7, [sp, #192]\n"
    "mov w0, w16\n"
    "add x1, sp, #16\n"
    "bl " LB_ASM_NAME(lb_trampoline_target) "\n"
    "mov x16, x0\n"
    "ldp x0, x1, [sp, #16]\n"
    "ldp x2, x3, [sp, #32]\n"
    "ldp x4, x5, [sp, #48]\n"
    "ldp x6, x7, [sp, #64]\n"
    "ldr x8, [sp, #80]\n"
    "ldp q0, q1, [sp, #96]\n"
    "ldp q2, q3, [sp, #128]\n"
    "ldp q4, q5, [sp, #160]\n"
    "ldp q6, q7, [sp, #192]\n"
    "ldp x29, x30, [sp], #224\n"
#if !defined(_WIN32)
    ".cfi_def_cfa wsp, 0\n"
    ".cfi_restore w29\n"
    ".cfi_restore w30\n"
#endif
    "br x16\n" /* allowed by a landing pad of either kind */
#if defined(_WIN32)
    ".seh_endproc\n"
#else
    ".cfi_endproc\n"
#endif
#endif
);
/* clang-format on */
#endif

lb_function lb_trampoline(size_t number) {
  const char* address = lb_trampoline_first + (16 * number);
  lb_function function = NULL;
  memcpy(&function, &address, sizeof function); /* see lb_as_function() */
  return function;
}
