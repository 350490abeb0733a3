/*
 * cpu.h: what this processor is called, by whom; must not guess: an unknown processor is an error of the compiler.
 *
 * LB_CPU is the name in .NET's runtime identifiers and Node's process.arch, LB_MUSL_CPU the one in musl's file names;
 * LB_ELF_MACHINE is e_machine of an ELF file (elf.h).
 */
#ifndef LATEBIND_CPU_H
#define LATEBIND_CPU_H

#if defined(__x86_64__) || defined(_M_X64)
#define LB_CPU         "x64"
#define LB_MUSL_CPU    "x86_64"
#define LB_ELF_MACHINE 62
#elif defined(__aarch64__) || defined(_M_ARM64)
#define LB_CPU         "arm64"
#define LB_MUSL_CPU    "aarch64"
#define LB_ELF_MACHINE 183
#elif defined(__i386__) || defined(_M_IX86)
#define LB_CPU         "x86"
#define LB_MUSL_CPU    "i386"
#define LB_ELF_MACHINE 3
#elif defined(__arm__)
#define LB_CPU         "arm"
#define LB_ELF_MACHINE 40
#if defined(__ARM_PCS_VFP)
#define LB_MUSL_CPU "armhf"
#else
#define LB_MUSL_CPU "arm"
#endif
#elif defined(__riscv) && __riscv_xlen == 64
#define LB_CPU         "riscv64"
#define LB_MUSL_CPU    "riscv64"
#define LB_ELF_MACHINE 243
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LB_CPU         "ppc64le"
#define LB_MUSL_CPU    "powerpc64le"
#define LB_ELF_MACHINE 21
#elif defined(__s390x__)
#define LB_CPU         "s390x"
#define LB_MUSL_CPU    "s390x"
#define LB_ELF_MACHINE 22
#else
#error "This processor is not known: add its names to cpu.h."
#endif

#endif
