/*
 * trampolines.h: functions of any prototype whose target is found at the first call.
 *
 * Trampoline number n keeps every argument register, vectors of any size too, asks lb_trampoline_target(n), puts the
 * arguments back and jumps to the target. The caller's stack is left as it was, so results, arguments on the stack and
 * "..." are the target's.
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
#define lb_kept_state         LB_OF_STUB(kept_state)
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
#if defined(__GNUC__) || defined(__clang__)
#define LB_USED __attribute__((used))
#else
#define LB_USED
#endif

typedef void (*lb_function)(void);

/* The code of trampoline 0; each has 16 bytes. */
extern const char lb_trampoline_first[];
/* What the machine code found out about this processor's vectors, where it has to (LB_ASKS_PROCESSOR); 0 is nothing
 * yet. */
extern uint64_t volatile lb_kept_state;

/*
 * ONNX Runtime's functions are called through tables of addresses, which programs read without a lock. So the tables
 * never change: they have the addresses of jumps, and a jump goes where lb_entries says, as the functions of a stub by
 * name do. The compiler writes both arrays: jumps, and lb_entries, which lead to trampolines until the runtime is
 * bound.
 */
#ifndef LATEBIND_STUB
extern void* volatile lb_entries[LB_TRAMPOLINE_COUNT];
/* The code of jump 0; each has 16 bytes. */
extern const char lb_jump_first[];

#define LB_EACH_4(X, code, n) X(code, n) X(code, (n) + 1) X(code, (n) + 2) X(code, (n) + 3)
#define LB_EACH_16(X, code, n) \
  LB_EACH_4(X, code, n) LB_EACH_4(X, code, (n) + 4) LB_EACH_4(X, code, (n) + 8) LB_EACH_4(X, code, (n) + 12)
#define LB_EACH_64(X, code, n) \
  LB_EACH_16(X, code, n) LB_EACH_16(X, code, (n) + 16) LB_EACH_16(X, code, (n) + 32) LB_EACH_16(X, code, (n) + 48)
#define LB_EACH_256(X, code, n) \
  LB_EACH_64(X, code, n) LB_EACH_64(X, code, (n) + 64) LB_EACH_64(X, code, (n) + 128) LB_EACH_64(X, code, (n) + 192)
#define LB_ADDRESS(code, n) (void*)((code) + 16 * (n)),
/* The addresses of all 1024 pieces of some code, as an initializer. */
#define LB_ADDRESSES(code)         \
  LB_EACH_256(LB_ADDRESS, code, 0) \
  LB_EACH_256(LB_ADDRESS, code, 256) LB_EACH_256(LB_ADDRESS, code, 512) LB_EACH_256(LB_ADDRESS, code, 768)
#endif

/* Trampoline number `number`, below LB_TRAMPOLINE_COUNT. */
lb_function lb_trampoline(size_t number);

/*
 * The target of a call of trampoline `which`, its number or the address of its row (LATEBIND_PARTS); never NULL.
 * `first` is the call's first argument where it is an integer or a pointer: a target that ignores the call's own
 * arguments may be given another.
 */
LB_USED lb_function lb_trampoline_target(size_t which, uintptr_t* first);

#endif
