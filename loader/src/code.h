/*
 * code.h: the machine code of trampolines for the processor that is compiled for; must not choose one silently.
 *
 * Each header has LB_ASM_TRAMPOLINE, one trampoline; LB_ASM_TRAMPOLINE_OF(row), one that has the address of `row` in
 * place of a number, on Linux; LB_ASM_JUMP(place), a jump to the address at that place of lb_entries; LB_ASM_COMMON,
 * what all trampolines jump to.
 */
#ifndef LATEBIND_CODE_H
#define LATEBIND_CODE_H

#include "code_arm.h"
#include "code_arm64.h"
#include "code_riscv64.h"
#include "code_x64.h"
#include "trampolines.h"

#if !defined(LB_ASM_JUMP) && !defined(LATEBIND_MASM)
#error "The stub has no machine code for this processor: add a header like code_x64.h and include it here."
#endif
/* How the assembler is set for this code, and back. */
#if !defined(LB_ASM_BEGIN)
#define LB_ASM_BEGIN ""
#endif
#if !defined(LB_ASM_END)
#define LB_ASM_END ""
#endif

#endif
