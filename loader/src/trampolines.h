/*
 * trampolines.h: functions of any prototype whose target is found at the first call.
 *
 * Trampoline number n keeps every argument register, asks lb_trampoline_target(n), puts the arguments back and jumps to
 * the target. The caller's stack is left as it was, so results, arguments on the stack and "..." are the target's.
 */
#ifndef LATEBIND_TRAMPOLINES_H
#define LATEBIND_TRAMPOLINES_H

#include <stddef.h>
#include <stdint.h>

enum { LB_TRAMPOLINE_COUNT = 1024 };

typedef void (*lb_function)(void);

/* The function at an address. */
lb_function lb_as_function(const void* address);

/* Trampoline number `number`, below LB_TRAMPOLINE_COUNT. */
lb_function lb_trampoline(size_t number);

/*
 * The target of a call of trampoline `number`; never NULL. `first` is the call's first argument where it is an integer
 * or a pointer: a target that ignores the call's own arguments may be given another.
 */
lb_function lb_trampoline_target(size_t number, uintptr_t* first);

#endif
