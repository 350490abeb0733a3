/*
 * code_x64.h: the machine code of trampolines on x64, in the calling conventions of System V and of Windows; must not
 * contain what another processor runs.
 *
 * Only calls use r11 as we do: no convention passes an argument in it.
 */
#if defined(__x86_64__) || defined(_M_X64)
#define LB_ASM_TRAMPOLINE  "endbr64\nmovl $(number), %r11d\njmp lb_trampoline_common\n"
#define LB_ASM_JUMP(place) "endbr64\njmp *" LB_ASM_NAME(lb_entries) "+8*" place "(%rip)\n"

/* clang-format off */
#if defined(_WIN32)
#define LB_ASM_COMMON \
    ".def lb_trampoline_common\n.scl 3\n.type 32\n.endef\n" \
    ".seh_proc lb_trampoline_common\n" \
    "lb_trampoline_common:\n" \
    "subq $136, %rsp\n" /* 32 bytes for the callee, 64 for vectors, 32 for integers; aligned */ \
    ".seh_stackalloc 136\n" \
    ".seh_endprologue\n" \
    "movq %rcx, 32(%rsp)\n" \
    "movq %rdx, 40(%rsp)\n" \
    "movq %r8, 48(%rsp)\n" \
    "movq %r9, 56(%rsp)\n" \
    "movaps %xmm0, 64(%rsp)\n" \
    "movaps %xmm1, 80(%rsp)\n" \
    "movaps %xmm2, 96(%rsp)\n" \
    "movaps %xmm3, 112(%rsp)\n" \
    "movl %r11d, %ecx\n" \
    "leaq 32(%rsp), %rdx\n" \
    "call " LB_ASM_NAME(lb_trampoline_target) "\n" \
    "movq %rax, %r11\n" \
    "movq 32(%rsp), %rcx\n" \
    "movq 40(%rsp), %rdx\n" \
    "movq 48(%rsp), %r8\n" \
    "movq 56(%rsp), %r9\n" \
    "movaps 64(%rsp), %xmm0\n" \
    "movaps 80(%rsp), %xmm1\n" \
    "movaps 96(%rsp), %xmm2\n" \
    "movaps 112(%rsp), %xmm3\n" \
    "addq $136, %rsp\n" \
    ".byte 0x49, 0xff, 0xe3\n" /* jmp *%r11 with REX.W, by which Windows' unwinder knows the end of a function */ \
    ".seh_endproc\n"
#else
#define LB_ASM_COMMON \
    "lb_trampoline_common:\n" \
    ".cfi_startproc\n" \
    "pushq %rbp\n" \
    ".cfi_def_cfa_offset 16\n" \
    ".cfi_offset %rbp, -16\n" \
    "movq %rsp, %rbp\n" \
    ".cfi_def_cfa_register %rbp\n" \
    "subq $192, %rsp\n" \
    "movq %rdi, (%rsp)\n" \
    "movq %rsi, 8(%rsp)\n" \
    "movq %rdx, 16(%rsp)\n" \
    "movq %rcx, 24(%rsp)\n" \
    "movq %r8, 32(%rsp)\n" \
    "movq %r9, 40(%rsp)\n" \
    "movq %rax, 48(%rsp)\n" /* the number of vector registers of a call with "..." */ \
    "movq %r10, 56(%rsp)\n" \
    "movaps %xmm0, 64(%rsp)\n" \
    "movaps %xmm1, 80(%rsp)\n" \
    "movaps %xmm2, 96(%rsp)\n" \
    "movaps %xmm3, 112(%rsp)\n" \
    "movaps %xmm4, 128(%rsp)\n" \
    "movaps %xmm5, 144(%rsp)\n" \
    "movaps %xmm6, 160(%rsp)\n" \
    "movaps %xmm7, 176(%rsp)\n" \
    "movl %r11d, %edi\n" \
    "movq %rsp, %rsi\n" \
    "call " LB_ASM_NAME(lb_trampoline_target) "\n" \
    "movq %rax, %r11\n" \
    "movq (%rsp), %rdi\n" \
    "movq 8(%rsp), %rsi\n" \
    "movq 16(%rsp), %rdx\n" \
    "movq 24(%rsp), %rcx\n" \
    "movq 32(%rsp), %r8\n" \
    "movq 40(%rsp), %r9\n" \
    "movq 48(%rsp), %rax\n" \
    "movq 56(%rsp), %r10\n" \
    "movaps 64(%rsp), %xmm0\n" \
    "movaps 80(%rsp), %xmm1\n" \
    "movaps 96(%rsp), %xmm2\n" \
    "movaps 112(%rsp), %xmm3\n" \
    "movaps 128(%rsp), %xmm4\n" \
    "movaps 144(%rsp), %xmm5\n" \
    "movaps 160(%rsp), %xmm6\n" \
    "movaps 176(%rsp), %xmm7\n" \
    "leave\n" \
    ".cfi_def_cfa %rsp, 8\n" \
    ".cfi_restore %rbp\n" \
    "jmp *%r11\n" \
    ".cfi_endproc\n"
#endif
/* clang-format on */
#endif
