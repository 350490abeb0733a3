/*
 * trampolines.c: the machine code of trampolines.h, from one header for each processor; must not know what they are
 * for.
 *
 * Each trampoline is 16 bytes: a landing pad for control-flow protection where the processor has one, its number into
 * a register that no calling convention uses for arguments, and a jump to the common part. That keeps vectors of every
 * size that the processor has, since functions may take them as arguments.
 */
#include "trampolines.h"

#include <string.h>

#include "code.h"

#if defined(LB_ASKS_PROCESSOR) && !defined(LATEBIND_MASM)
LB_USED uint64_t volatile lb_kept_state;
#endif

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

/* Programs that Visual C++ links with control-flow guard call only what a table has. It has each jump by a symbol. */
#if defined(_MSC_VER)
#define LB_ASM_DEFINE_LISTED   \
  ".macro lb_list_here\n"      \
  "lb_listed_\\@:\n"           \
  ".section .gfids$y,\"dr\"\n" \
  ".symidx lb_listed_\\@\n"    \
  ".text\n"                    \
  ".endm\n"
#define LB_ASM_LISTED "lb_list_here\n"
#else
#define LB_ASM_DEFINE_LISTED ""
#define LB_ASM_LISTED        ""
#endif

/* clang-format off */
__asm__(
    ".text\n"
    LB_ASM_BEGIN
    ".balign 16\n"
#if defined(LATEBIND_PARTS)
    LB_ASM_LOCAL(lb_trampoline_common)
#else
    LB_ASM_LOCAL(lb_trampoline_first)
    LB_ASM_NAME(lb_trampoline_first) ":\n"
#if !defined(_WIN32) && !defined(__arm__)
    ".cfi_startproc\n"
#endif
    ".set number, 0\n"
    ".rept " LB_ASM_TEXT(LB_TRAMPOLINE_COUNT) "\n"
    ".balign 16\n"
    LB_ASM_TRAMPOLINE
    ".set number, number + 1\n"
    ".endr\n"
    ".balign 16\n"
#if !defined(_WIN32) && !defined(__arm__)
    ".cfi_endproc\n"
#endif
#endif
#if !defined(LATEBIND_STUB)
    LB_ASM_DEFINE_LISTED
    LB_ASM_LOCAL(lb_jump_first)
    LB_ASM_NAME(lb_jump_first) ":\n"
    ".set number, 0\n"
    ".rept " LB_ASM_TEXT(LB_TRAMPOLINE_COUNT) "\n"
    ".balign 16\n"
    LB_ASM_LISTED
    LB_ASM_JUMP("number")
    ".set number, number + 1\n"
    ".endr\n"
    ".balign 16\n"
#endif
    LB_ASM_COMMON
    LB_ASM_END
);
/* clang-format on */
#endif

#if !defined(LATEBIND_PARTS)
lb_function lb_trampoline(size_t number) {
  const char* address = lb_trampoline_first + (16 * number);
  lb_function function = NULL;
  memcpy(&function, &address, sizeof function); /* see lb_as_function() */
  return function;
}
#endif
