/*
 * elf_head.c: reports from a file's first bytes whether the system's loader should see it at all; must not map it (a
 * truncated library that is mapped ends the process with SIGBUS).
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "cpu.h"
#include "file_head.h"

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

static lb_outcome lb_check_machine(unsigned machine, unsigned char width, unsigned char order, char* why,
                                   size_t why_size) {
  const char* own = lb_machine_name(LB_ELF_MACHINE);
  const char* name = lb_machine_name(machine);
  if (machine == LB_ELF_MACHINE && width == LB_CLASS && order == LB_DATA) return LB_OUTCOME_BOUND;
  if (machine == LB_ELF_MACHINE) {
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
static lb_outcome lb_check_segments(const lb_file* file, const lb_ehdr* header, char* why, size_t why_size) {
  uint64_t needed = 0;
  int dynamic = 0;
  if (header->e_phentsize != sizeof(lb_phdr) || header->e_phnum == 0 || header->e_phnum > LB_SEGMENTS_MAX) {
    snprintf(why, why_size, "its program headers are damaged");
    return LB_OUTCOME_NOT_A_LIBRARY;
  }
  for (unsigned i = 0; i < header->e_phnum; i++) {
    lb_phdr segment;
    uint64_t at = (uint64_t)header->e_phoff + (uint64_t)i * sizeof segment;
    if (header->e_phoff > file->size || !lb_read_whole(file, &segment, sizeof segment, at)) {
      return lb_refuse_short(file, "program headers", why, why_size);
    }
    if (segment.p_type == PT_DYNAMIC) dynamic = 1;
    if (segment.p_type != PT_LOAD) continue;
    uint64_t end = (uint64_t)segment.p_offset + segment.p_filesz;
    if (end < segment.p_offset) end = UINT64_MAX;
    if (end > needed) needed = end;
  }
  if (needed > file->size) return lb_refuse_size(file, needed, why, why_size);
  if (!dynamic) {
    snprintf(why, why_size, "not a shared library: it has no dynamic section");
    return LB_OUTCOME_NOT_A_LIBRARY;
  }
  return LB_OUTCOME_BOUND;
}

lb_outcome lb_elf_inspect(const lb_file* file, char* why, size_t why_size) {
  unsigned char head[LB_HEAD_SIZE] = {0};
  lb_ehdr header;
  size_t have = file->read(file, head, sizeof head, 0);
  if (!lb_starts(head, have, ELFMAG, SELFMAG)) return lb_refuse_kind(head, have, "ELF", why, why_size);
  if (have < sizeof header) return lb_refuse_short(file, "header", why, why_size);
  /* e_type and e_machine are at the same place in both classes; their byte order is the file's own. */
  unsigned big = head[EI_DATA] == ELFDATA2MSB;
  unsigned machine = big ? (unsigned)head[18] << 8 | head[19] : lb_little16(head + 18);
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
  return lb_check_segments(file, &header, why, why_size);
}
