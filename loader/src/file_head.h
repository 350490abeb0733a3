/*
 * file_head.h: what the head of a file says about it, without the system's loader. One reader for each format; a
 * loader has that of its own system, the tests have all three.
 */
#ifndef LATEBIND_FILE_HEAD_H
#define LATEBIND_FILE_HEAD_H

#include <stddef.h>
#include <stdint.h>

#include "latebind/latebind.h"

/* An open file. Never mapped: a truncated library that is mapped ends the process when it is touched. */
typedef struct lb_file {
  uint64_t size;
  /* Bytes read at that place, fewer at the end and on failure. */
  size_t (*read)(const struct lb_file* file, void* into, size_t size, uint64_t at);
  intptr_t handle; /* for `read` */
} lb_file;

/* Calls `use` for an open file; 0 when it cannot be opened (errno, GetLastError()). Each system has its own. */
int lb_with_file(const char* path, void (*use)(void* context, const lb_file* file), void* context);

/* 1 when all bytes are there. */
int lb_read_whole(const lb_file* file, void* into, size_t size, uint64_t at);
int lb_starts(const unsigned char* head, size_t have, const char* magic, size_t size);

/* Numbers of a file, at any address. */
uint16_t lb_little16(const unsigned char* at);
uint32_t lb_little32(const unsigned char* at);
uint64_t lb_little64(const unsigned char* at);
uint32_t lb_big32(const unsigned char* at);
uint64_t lb_big64(const unsigned char* at);

/* What a file is that is not a library of this system; `format` is "ELF", "Mach-O" or "PE". */
lb_outcome lb_refuse_kind(const unsigned char* head, size_t have, const char* format, char* why, size_t why_size);
lb_outcome lb_refuse_short(const lb_file* file, const char* within, char* why, size_t why_size);
lb_outcome lb_refuse_size(const lb_file* file, uint64_t needed, char* why, size_t why_size);

/* LB_OUTCOME_BOUND when the file is a whole shared library for this process; else `why` reports in words. */
lb_outcome lb_elf_inspect(const lb_file* file, char* why, size_t why_size);
lb_outcome lb_macho_inspect(const lb_file* file, char* why, size_t why_size);
lb_outcome lb_pe_inspect(const lb_file* file, char* why, size_t why_size);

/* The number of this processor in Mach-O files. */
uint32_t lb_macho_own(void);
/* Calls `each` for every run path of a Mach-O file until it returns non-zero. */
void lb_macho_run_paths(const lb_file* file, int (*each)(void* context, const char* path), void* context);

/* Calls `each` for every file that an ld.so.cache has for a name, until it returns non-zero; returns that. */
int lb_cache_find(const unsigned char* data, size_t size, const char* name,
                  int (*each)(void* context, const char* path), void* context);

/* Calls `each` for the name of every library that a PE file needs before it can start; it returns non-zero to stop. */
void lb_pe_imports(const lb_file* file, int (*each)(void* context, const char* name), void* context);

/* ---- imports.c: why a PE file does not load ---------------------------------------------------------------------- */

enum { LB_NAME_SIZE = 260 };

typedef struct lb_missing {
  char name[LB_NAME_SIZE];   /* the library that is nowhere; "" when there is none */
  char needer[LB_NAME_SIZE]; /* the one that imports it; "" for the library that was asked about */
} lb_missing;

/* Looks for a library where the system's loader would: 0 when it is nowhere. Calls `use` when what it imports itself
 * may be missing, too. */
typedef int (*lb_find_import)(void* context, const char* name, void (*use)(void* imports, const lb_file* file),
                              void* imports);

void lb_find_missing(const lb_file* file, lb_find_import find, void* context, lb_missing* missing);

#endif
