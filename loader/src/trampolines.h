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

/* A stub of named functions has as many trampolines, under names of its own: two stubs may be in one library. */
#ifdef LATEBIND_STUB
#include "stub_table.h"
#define LB_PASTE_(stub, name) lb_##stub##_##name
#define LB_PASTE(stub, name)  LB_PASTE_(stub, name)
#define LB_OF_STUB(name)      LB_PASTE(LB_STUB, name)
#define lb_trampoline         LB_OF_STUB(trampoline)
#define lb_trampoline_first   LB_OF_STUB(trampoline_first)
#define lb_trampoline_target  LB_OF_STUB(trampoline_target)
#else
#define LB_TRAMPOLINE_COUNT 1024
#endif

/* The name of a symbol in assembly. */
#define LB_ASM_TEXT_(text) #text
#define LB_ASM_TEXT(text)  LB_ASM_TEXT_(text)
#if defined(__APPLE__)
#define LB_ASM_NAME(name) "_" LB_ASM_TEXT(name)
#else
#define LB_ASM_NAME(name) LB_ASM_TEXT(name)
#endif

/* For what only assembly refers to, which a compiler of the whole program would leave out. */
#if defined(__GNUC__)
#define LB_USED __attribute__((used))
#else
#define LB_USED
#endif

typedef void (*lb_function)(void);

/* The code of trampoline 0; each has 16 bytes. */
extern const char lb_trampoline_first[];

/* Trampoline number `number`, below LB_TRAMPOLINE_COUNT. */
lb_function lb_trampoline(size_t number);

/*
 * The target of a call of trampoline `number`; never NULL. `first` is the call's first argument where it is an integer
 * or a pointer: a target that ignores the call's own arguments may be given another.
 */
LB_USED lb_function lb_trampoline_target(size_t number, uintptr_t* first);

#endif
