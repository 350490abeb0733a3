/*
 * stub_part.c: one function of a stub, with a name and a row that backend/members.py replaces: it is compiled once, and
 * the archive has a copy for each function.
 */
#include "code.h"
#include "stub_row.h"
#include "trampolines.h"

#if defined(LATEBIND_PARTS)
extern const char lb_part_name[];
extern const char lb_part_trampoline[];
static LB_IN_PARTS lb_stub_part lb_part = {(void*)lb_part_trampoline, {lb_part_name, 0, LB_FAILURE_NUMBER, {0, 0, 0}}};

/* A jump to lb_entries[0] is one to the target of the part. */
#define lb_entries lb_part
_Static_assert(offsetof(lb_stub_part, target) == 0, "the jump goes to the first member");

/* clang-format off */
#if defined(__LP64__)
#define LB_ASM_ROW "lb_part+8"
#else
#define LB_ASM_ROW "lb_part+4"
#endif
__asm__(
    ".section .rodata.late_name,\"a\"\n"
    "lb_part_name:\n"
    ".byte 0\n"
    ".text\n"
    LB_ASM_BEGIN
    ".balign 16\n"
    ".weak late_function\n"
    ".hidden late_function\n"
    ".type late_function, %function\n"
    "late_function:\n"
    LB_ASM_JUMP("0")
    ".balign 16\n"
    "lb_part_trampoline:\n"
    LB_ASM_TRAMPOLINE_OF(LB_ASM_ROW)
    LB_ASM_END
);
/* clang-format on */
#endif
