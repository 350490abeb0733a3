/* elf_head.h: what the head of a file says about it, without the system's loader. */
#ifndef LATEBIND_ELF_HEAD_H
#define LATEBIND_ELF_HEAD_H

#include <stddef.h>

#include "latebind/latebind.h"

/* LB_OUTCOME_BOUND when the open file is a whole shared library for this process; else `why` tells in words. */
lb_outcome lb_elf_inspect(int file, unsigned long long file_size, char* why, size_t why_size);

#endif
