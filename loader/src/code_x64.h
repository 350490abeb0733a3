/*
 * code_x64.h: the machine code of trampolines on x64, in the calling conventions of System V and of Windows; must not
 * contain what another processor runs.
 *
 * Only calls use r11 as we do: no convention passes an argument in it.
 *
 * Vector arguments are in registers whose size the processor decides (xmm, ymm, zmm), and the search for a runtime uses
 * the same registers. So a trampoline keeps all of them by XSAVE, as glibc's _dl_runtime_resolve does: the components
 * of LB_ASM_STATE that the system enabled (XCR0), in an area whose size CPUID gives. Not among them are x87 registers,
 * which no argument is in, and AMX tiles, which a thread may use only after it asked the system. Where the system
 * doesn't enable XSAVE, FXSAVE keeps xmm. The first call of all asks CPUID, and writes the answer to lb_kept_state: the
 * size of the area, and the components in the upper half, 0 for FXSAVE.
 */
#if defined(__x86_64__) || defined(_M_X64)
#define LB_ASM_TRAMPOLINE         "endbr64\nmovl $(number), %r11d\njmp lb_trampoline_common\n"
#define LB_ASM_TRAMPOLINE_OF(row) "endbr64\nleaq " row "(%rip), %r11\njmp lb_trampoline_common\n"
#define LB_ASM_JUMP(place)        "endbr64\njmp *" LB_ASM_NAME(lb_entries) "+8*" place "(%rip)\n"
#define LB_ASKS_PROCESSOR

/* xmm, ymm, the bounds of MPX, the masks and both parts of zmm of AVX-512, and r16 to r31 of APX. */
#define LB_ASM_STATE "0x800ee"

/* clang-format off */
/* Reserves the area at the end of the stack, and keeps vectors there. Changes rax, rbx, rcx, rdx, r8, r9 and r10. */
#define LB_ASM_KEEP_VECTORS \
    "movq " LB_ASM_NAME(lb_kept_state) "(%rip), %rax\n" \
    "testq %rax, %rax\n" \
    "jnz 4f\n" \
    "movl $1, %eax\n" \
    "cpuid\n" \
    "xorl %r8d, %r8d\n" /* r8: the components */ \
    "movl $512, %r9d\n" /* r9: the size */ \
    "testl $0x8000000, %ecx\n" /* OSXSAVE */ \
    "jz 3f\n" \
    "xorl %ecx, %ecx\n" \
    "xgetbv\n" \
    "andl $" LB_ASM_STATE ", %eax\n" \
    "movl %eax, %r8d\n" \
    "movl $13, %eax\n" \
    "xorl %ecx, %ecx\n" \
    "cpuid\n" /* ebx: the size of an area for all that the system enabled */ \
    "movl %ebx, %r9d\n" \
    "cmpl $3072, %ebx\n" \
    "jbe 3f\n" /* else there are tiles of AMX, too: a virtual machine takes microseconds for each question */ \
    "movl $576, %r9d\n" /* xmm and the header */ \
    "movl $2, %r10d\n" \
    "1: btl %r10d, %r8d\n" \
    "jnc 2f\n" \
    "movl $13, %eax\n" /* the size of component r10 and, in ebx, where it is in the area */ \
    "movl %r10d, %ecx\n" \
    "cpuid\n" \
    "addl %ebx, %eax\n" \
    "cmpl %eax, %r9d\n" \
    "cmovbl %eax, %r9d\n" \
    "2: incl %r10d\n" \
    "cmpl $32, %r10d\n" \
    "jb 1b\n" \
    "3: shlq $32, %r8\n" \
    "leaq (%r8,%r9), %rax\n" \
    "movq %rax, " LB_ASM_NAME(lb_kept_state) "(%rip)\n" \
    "4: movl %eax, %ecx\n" \
    "subq %rcx, %rsp\n" \
    "andq $-64, %rsp\n" \
    "shrq $32, %rax\n" \
    "jz 5f\n" \
    "xorl %edx, %edx\n" \
    "movq %rdx, 512(%rsp)\n" /* XSAVE writes only the first of the header's 64 bytes; XRSTOR wants zeros there */ \
    "movq %rdx, 520(%rsp)\n" \
    "movq %rdx, 528(%rsp)\n" \
    "movq %rdx, 536(%rsp)\n" \
    "movq %rdx, 544(%rsp)\n" \
    "movq %rdx, 552(%rsp)\n" \
    "movq %rdx, 560(%rsp)\n" \
    "movq %rdx, 568(%rsp)\n" \
    "xsave (%rsp)\n" \
    "jmp 6f\n" \
    "5: fxsave (%rsp)\n" \
    "6:\n"
/* Takes them back; `area` is where they are. Changes rax and rdx. */
#define LB_ASM_TAKE_VECTORS(area) \
    "movl 4+" LB_ASM_NAME(lb_kept_state) "(%rip), %eax\n" \
    "xorl %edx, %edx\n" \
    "testl %eax, %eax\n" \
    "jz 7f\n" \
    "xrstor " area "\n" \
    "jmp 8f\n" \
    "7: fxrstor " area "\n" \
    "8:\n"

#if defined(_WIN32)
/* Also for __vectorcall, which passes up to six vectors of any size. */
#define LB_ASM_COMMON \
    ".def lb_trampoline_common\n.scl 3\n.type 32\n.endef\n" \
    ".seh_proc lb_trampoline_common\n" \
    "lb_trampoline_common:\n" \
    "pushq %rbp\n" \
    ".seh_pushreg %rbp\n" \
    "pushq %rbx\n" \
    ".seh_pushreg %rbx\n" \
    "subq $56, %rsp\n" \
    ".seh_stackalloc 56\n" \
    "movq %rsp, %rbp\n" /* the area's size is known only now: from here on, rbp says where the frame is */ \
    ".seh_setframe %rbp, 0\n" \
    ".seh_endprologue\n" \
    "movq %rcx, (%rbp)\n" \
    "movq %rdx, 8(%rbp)\n" \
    "movq %r8, 16(%rbp)\n" \
    "movq %r9, 24(%rbp)\n" \
    "movq %rax, 32(%rbp)\n" \
    "movq %r10, 40(%rbp)\n" \
    LB_ASM_KEEP_VECTORS \
    "subq $32, %rsp\n" /* for the callee */ \
    "movl %r11d, %ecx\n" \
    "movq %rbp, %rdx\n" \
    "call " LB_ASM_NAME(lb_trampoline_target) "\n" \
    "movq %rax, %r11\n" \
    LB_ASM_TAKE_VECTORS("32(%rsp)") \
    "movq (%rbp), %rcx\n" \
    "movq 8(%rbp), %rdx\n" \
    "movq 16(%rbp), %r8\n" \
    "movq 24(%rbp), %r9\n" \
    "movq 32(%rbp), %rax\n" \
    "movq 40(%rbp), %r10\n" \
    "leaq 56(%rbp), %rsp\n" \
    "popq %rbx\n" \
    "popq %rbp\n" \
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
    "pushq %rbx\n" \
    ".cfi_offset %rbx, -24\n" \
    "subq $72, %rsp\n" \
    "movq %rdi, -72(%rbp)\n" \
    "movq %rsi, -64(%rbp)\n" \
    "movq %rdx, -56(%rbp)\n" \
    "movq %rcx, -48(%rbp)\n" \
    "movq %r8, -40(%rbp)\n" \
    "movq %r9, -32(%rbp)\n" \
    "movq %rax, -24(%rbp)\n" /* the number of vector registers of a call with "..." */ \
    "movq %r10, -16(%rbp)\n" \
    LB_ASM_KEEP_VECTORS \
    "movq %r11, %rdi\n" \
    "leaq -72(%rbp), %rsi\n" \
    "call " LB_ASM_NAME(lb_trampoline_target) "\n" \
    "movq %rax, %r11\n" \
    LB_ASM_TAKE_VECTORS("(%rsp)") \
    "movq -72(%rbp), %rdi\n" \
    "movq -64(%rbp), %rsi\n" \
    "movq -56(%rbp), %rdx\n" \
    "movq -48(%rbp), %rcx\n" \
    "movq -40(%rbp), %r8\n" \
    "movq -32(%rbp), %r9\n" \
    "movq -24(%rbp), %rax\n" \
    "movq -16(%rbp), %r10\n" \
    "movq -8(%rbp), %rbx\n" \
    ".cfi_restore %rbx\n" \
    "leave\n" \
    ".cfi_def_cfa %rsp, 8\n" \
    ".cfi_restore %rbp\n" \
    "jmp *%r11\n" \
    ".cfi_endproc\n"
#endif
/* clang-format on */
#endif
