/*
 * elf_head.c: tells from a file's first bytes whether the system's loader should see it at all; must not map it (a
 * truncated library that is mapped ends the process with SIGBUS).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "elf_head.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#define LB_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define LB_MACHINE EM_AARCH64
#elif defined(__i386__)
#define LB_MACHINE EM_386
#elif defined(__arm__)
#define LB_MACHINE EM_ARM
#elif defined(__riscv)
#define LB_MACHINE 243
#elif defined(__powerpc64__)
#define LB_MACHINE EM_PPC64
#elif defined(__s390x__)
#define LB_MACHINE EM_S390
#else
#error "elf_head.c does not know this processor: add its ELF machine number"
#endif

#if defined(__LP64__)
#define LB_CLASS ELFCLASS64
typedef Elf64_Ehdr lb_ehdr;
typedef Elf64_Phdr lb_phdr;
#else
#define LB_CLASS ELFCLASS32
typedef Elf32_Ehdr lb_ehdr;
typedef Elf32_Phdr lb_phdr;
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LB_DATA ELFDATA2LSB
#else
#define LB_DATA ELFDATA2MSB
#endif

enum { LB_MACHINE_RISCV = 243, LB_MACHINE_LOONGARCH = 258, LB_HEAD_SIZE = 64, LB_SEGMENTS_MAX = 4096 };

static const char* lb_machine_name(unsigned machine) {
  switch (machine) {
    case EM_X86_64: return "x86_64";
    case EM_AARCH64: return "aarch64";
    case EM_386: return "i386";
    case EM_ARM: return "arm";
    case EM_PPC64: return "ppc64";
    case EM_S390: return "s390x";
    case LB_MACHINE_RISCV: return "riscv";
    case LB_MACHINE_LOONGARCH: return "loongarch";
    default: return NULL;
  }
}

/* Reads exactly `size` bytes; 0 when the file has no such bytes. */
static int lb_read_at(int file, void* to, size_t size, unsigned long long position) {
  size_t done = 0;
  while (done < size) {
    ssize_t got = pread(file, (char*)to + done, size - done, (off_t)(position + done));
    if (got <= 0) return 0;
    done += (size_t)got;
  }
  return 1;
}

static int lb_starts(const unsigned char* head, size_t have, const char* magic, size_t size) {
  return have >= size && memcmp(head, magic, size) == 0;
}

/* What a file is that is no ELF file: the usual accidents have names. */
static const char* lb_other_kind(const unsigned char* head, size_t have) {
  if (have == 0) return "the file is empty";
  if (lb_starts(head, have, "MZ", 2)) return "a Windows library";
  if (lb_starts(head, have, "\xCF\xFA\xED\xFE", 4) || lb_starts(head, have, "\xCE\xFA\xED\xFE", 4) ||
      lb_starts(head, have, "\xCA\xFE\xBA\xBE", 4)) {
    return "a macOS library";
  }
  if (lb_starts(head, have, "version https://git-lfs", 23)) return "a Git LFS pointer, not the file itself";
  if (lb_starts(head, have, "PK\x03\x04", 4)) return "a zip archive";
  if (lb_starts(head, have, "!<arch>", 7)) return "a static library";
  for (size_t i = 0; i < have; i++) {
    if (head[i] == 0) return "not a library of this system (no ELF file)";
  }
  return "a text file, not a library";
}

static lb_outcome lb_check_machine(unsigned machine, unsigned char width, unsigned char order, char* why,
                                   size_t why_size) {
  const char* own = lb_machine_name(LB_MACHINE);
  const char* name = lb_machine_name(machine);
  if (machine == LB_MACHINE && width == LB_CLASS && order == LB_DATA) return LB_OUTCOME_BOUND;
  if (machine == LB_MACHINE) {
    snprintf(why, why_size, "built for %s with %s-bit addresses, this process has %s", own,
             width == ELFCLASS64 ? "64" : "32", LB_CLASS == ELFCLASS64 ? "64" : "32");
  } else if (name) {
    snprintf(why, why_size, "built for %s, this process is %s", name, own);
  } else {
    snprintf(why, why_size, "built for processor number %u, this process is %s", machine, own);
  }
  return LB_OUTCOME_WRONG_ARCHITECTURE;
}

/* Every loaded segment must lie within the file. */
static lb_outcome lb_check_segments(int file, const lb_ehdr* header, unsigned long long size, char* why,
                                    size_t why_size) {
  unsigned long long needed = 0;
  int dynamic = 0;
  if (header->e_phentsize != sizeof(lb_phdr) || header->e_phnum == 0 || header->e_phnum > LB_SEGMENTS_MAX) {
    snprintf(why, why_size, "its program headers are damaged");
    return LB_OUTCOME_NOT_A_LIBRARY;
  }
  for (unsigned i = 0; i < header->e_phnum; i++) {
    lb_phdr segment;
    unsigned long long at = (unsigned long long)header->e_phoff + (unsigned long long)i * sizeof segment;
    if (header->e_phoff > size || !lb_read_at(file, &segment, sizeof segment, at)) {
      snprintf(why, why_size, "truncated: it ends within its program headers, after %llu bytes", size);
      return LB_OUTCOME_NOT_A_LIBRARY;
    }
    if (segment.p_type == PT_DYNAMIC) dynamic = 1;
    if (segment.p_type != PT_LOAD) continue;
    unsigned long long end = (unsigned long long)segment.p_offset + segment.p_filesz;
    if (end < segment.p_offset) end = ~0ULL;
    if (end > needed) needed = end;
  }
  if (needed > size) {
    snprintf(why, why_size, "truncated: %llu bytes of at least %llu", size, needed);
    return LB_OUTCOME_NOT_A_LIBRARY;
  }
  if (!dynamic) {
    snprintf(why, why_size, "not a shared library: it has no dynamic section");
    return LB_OUTCOME_NOT_A_LIBRARY;
  }
  return LB_OUTCOME_BOUND;
}

lb_outcome lb_elf_inspect(int file, unsigned long long file_size, char* why, size_t why_size) {
  unsigned char head[LB_HEAD_SIZE] = {0};
  lb_ehdr header;
  ssize_t got = pread(file, head, sizeof head, 0);
  size_t have = got > 0 ? (size_t)got : 0;
  if (!lb_starts(head, have, ELFMAG, SELFMAG)) {
    snprintf(why, why_size, "%s", lb_other_kind(head, have));
    return LB_OUTCOME_NOT_A_LIBRARY;
  }
  if (have < sizeof header) {
    snprintf(why, why_size, "truncated: it ends within its header, after %llu bytes", file_size);
    return LB_OUTCOME_NOT_A_LIBRARY;
  }
  /* e_type and e_machine lie at the same place in both classes; their byte order is the file's own. */
  unsigned big = head[EI_DATA] == ELFDATA2MSB;
  unsigned machine = big ? (unsigned)head[18] << 8 | head[19] : (unsigned)head[19] << 8 | head[18];
  lb_outcome outcome = lb_check_machine(machine, head[EI_CLASS], head[EI_DATA], why, why_size);
  if (outcome != LB_OUTCOME_BOUND) return outcome;
  memcpy(&header, head, sizeof header);
  if (header.e_type != ET_DYN) {
    snprintf(why, why_size, "not a shared library: %s",
             header.e_type == ET_EXEC  ? "a program"
             : header.e_type == ET_REL ? "an object file"
                                       : "an ELF file of another kind");
    return LB_OUTCOME_NOT_A_LIBRARY;
  }
  return lb_check_segments(file, &header, file_size, why, why_size);
}
