/*
 * pe_head.c: reports from a PE file's headers whether Windows should be given it at all, and what it imports; must not
 * need Windows' headers, so that its tests run anywhere. Numbers: "PE Format" in Microsoft's documentation.
 *
 * On Windows for Arm an x64 process runs emulated. It loads x64 files (ARM64EC files say x64, too) and, of arm64
 * files, those that hold both kinds of code (ARM64X: the load configuration points to hybrid metadata). An arm64
 * process loads arm64 files.
 */
#include <stdio.h>
#include <string.h>

#include "file_head.h"

enum {
  LB_PE_X86_64 = 0x8664,
  LB_PE_ARM64 = 0xAA64,
  LB_PE_I386 = 0x014C,
  LB_PE_ARM = 0x01C4,
  LB_PE_DLL = 0x2000,
  LB_PE_32 = 0x010B,
  LB_PE_64 = 0x020B,
  LB_PE_HEAD = 24,      /* signature and file header */
  LB_PE_OPTIONAL = 240, /* of a 64-bit file with all its directories */
  LB_PE_DIRECTORIES_32 = 96,
  LB_PE_DIRECTORIES_64 = 112,
  LB_PE_IMPORT = 1,
  LB_PE_LOAD_CONFIG = 10,
  LB_PE_HYBRID = 0xC8, /* CHPEMetadataPointer in the load configuration */
  LB_PE_SECTION = 40,
  LB_PE_SECTIONS_MAX = 96,
  LB_PE_IMPORTS_MAX = 4096
};

#if defined(__aarch64__) || defined(_M_ARM64)
#define LB_PE_OWN LB_PE_ARM64
#elif defined(__x86_64__) || defined(_M_X64)
#define LB_PE_OWN LB_PE_X86_64
#elif defined(__i386__) || defined(_M_IX86)
#define LB_PE_OWN LB_PE_I386
#elif defined(__arm__) || defined(_M_ARM)
#define LB_PE_OWN LB_PE_ARM
#else
#define LB_PE_OWN 0 /* a processor that Windows does not know: the tests of this file run there, too */
#endif

/* The form of files for this process. */
#if UINTPTR_MAX > 0xFFFFFFFFu
#define LB_PE_OWN_FORM LB_PE_64
#else
#define LB_PE_OWN_FORM LB_PE_32
#endif

typedef struct lb_pe {
  const lb_file* file;
  unsigned machine;
  unsigned flags;
  unsigned section_count;
  uint64_t sections; /* where their headers are */
  unsigned char optional[LB_PE_OPTIONAL];
} lb_pe;

static const char* lb_pe_machine(unsigned machine) {
  switch (machine) {
    case LB_PE_X86_64: return "x64";
    case LB_PE_ARM64: return "arm64";
    case LB_PE_I386: return "x86";
    case LB_PE_ARM: return "arm";
    default: return "another processor";
  }
}

/* Reads the headers. LB_OUTCOME_BOUND when they are there. */
static lb_outcome lb_pe_open(const lb_file* file, lb_pe* pe, char* why, size_t why_size) {
  unsigned char head[64] = {0};
  unsigned char coff[LB_PE_HEAD] = {0};
  memset(pe, 0, sizeof *pe);
  pe->file = file;
  size_t have = file->read(file, head, sizeof head, 0);
  if (!lb_starts(head, have, "MZ", 2)) return lb_refuse_kind(head, have, "PE", why, why_size);
  uint32_t start = lb_little32(head + 60);
  if (have < sizeof head || !lb_read_whole(file, coff, sizeof coff, start)) {
    return lb_refuse_short(file, "header", why, why_size);
  }
  if (!lb_starts(coff, sizeof coff, "PE\0\0", 4)) {
    snprintf(why, why_size, "not a library of this system (an MS-DOS program)");
    return LB_OUTCOME_NOT_A_LIBRARY;
  }
  uint32_t optional_size = lb_little16(coff + 20);
  pe->machine = lb_little16(coff + 4);
  pe->section_count = lb_little16(coff + 6);
  pe->flags = lb_little16(coff + 22);
  pe->sections = (uint64_t)start + LB_PE_HEAD + optional_size;
  size_t wanted = optional_size < sizeof pe->optional ? optional_size : sizeof pe->optional;
  if (!lb_read_whole(file, pe->optional, wanted, (uint64_t)start + LB_PE_HEAD)) {
    return lb_refuse_short(file, "header", why, why_size);
  }
  return LB_OUTCOME_BOUND;
}

/* Where in the file an address of the loaded image comes from; 0 when from nowhere. */
static uint64_t lb_pe_place(const lb_pe* pe, uint32_t address) {
  for (unsigned i = 0; i < pe->section_count && i < LB_PE_SECTIONS_MAX; i++) {
    unsigned char section[LB_PE_SECTION];
    if (!lb_read_whole(pe->file, section, sizeof section, pe->sections + (uint64_t)i * sizeof section)) return 0;
    uint32_t start = lb_little32(section + 12);
    uint32_t size = lb_little32(section + 16);
    if (address >= start && address - start < size) return (uint64_t)lb_little32(section + 20) + (address - start);
  }
  return 0;
}

static uint64_t lb_pe_directory(const lb_pe* pe, unsigned index) {
  unsigned form = lb_little16(pe->optional);
  if (form != LB_PE_32 && form != LB_PE_64) return 0;
  unsigned directories = form == LB_PE_64 ? LB_PE_DIRECTORIES_64 : LB_PE_DIRECTORIES_32;
  if (lb_little32(pe->optional + directories - 4) <= index) return 0; /* their number comes first */
  return lb_pe_place(pe, lb_little32(pe->optional + directories + 8 * index));
}

static int lb_pe_is_hybrid(const lb_pe* pe) {
  unsigned char pointer[8] = {0};
  unsigned char size[4] = {0};
  uint64_t at = lb_pe_directory(pe, LB_PE_LOAD_CONFIG);
  if (!at || !lb_read_whole(pe->file, size, sizeof size, at) || lb_little32(size) < LB_PE_HYBRID + sizeof pointer) {
    return 0;
  }
  return lb_read_whole(pe->file, pointer, sizeof pointer, at + LB_PE_HYBRID) && lb_little64(pointer) != 0;
}

static lb_outcome lb_pe_check_sections(const lb_pe* pe, char* why, size_t why_size) {
  uint64_t needed = 0;
  if (pe->section_count == 0 || pe->section_count > LB_PE_SECTIONS_MAX) {
    snprintf(why, why_size, "its section headers are damaged");
    return LB_OUTCOME_NOT_A_LIBRARY;
  }
  for (unsigned i = 0; i < pe->section_count; i++) {
    unsigned char section[LB_PE_SECTION];
    if (!lb_read_whole(pe->file, section, sizeof section, pe->sections + (uint64_t)i * sizeof section)) {
      return lb_refuse_short(pe->file, "section headers", why, why_size);
    }
    uint64_t end = lb_little32(section + 16) ? (uint64_t)lb_little32(section + 20) + lb_little32(section + 16) : 0;
    if (end > needed) needed = end;
  }
  return needed > pe->file->size ? lb_refuse_size(pe->file, needed, why, why_size) : LB_OUTCOME_BOUND;
}

lb_outcome lb_pe_inspect(const lb_file* file, char* why, size_t why_size) {
  lb_pe pe;
  lb_outcome outcome = lb_pe_open(file, &pe, why, why_size);
  if (outcome != LB_OUTCOME_BOUND) return outcome;
  int own = pe.machine == LB_PE_OWN;
  if (!own && LB_PE_OWN == LB_PE_X86_64 && pe.machine == LB_PE_ARM64) own = lb_pe_is_hybrid(&pe);
  if (!own) {
    snprintf(why, why_size, "built for %s, this process is %s", lb_pe_machine(pe.machine), lb_pe_machine(LB_PE_OWN));
    return LB_OUTCOME_WRONG_ARCHITECTURE;
  }
  if (!(pe.flags & LB_PE_DLL) || lb_little16(pe.optional) != LB_PE_OWN_FORM) {
    snprintf(why, why_size, "not a shared library: a program or an object file");
    return LB_OUTCOME_NOT_A_LIBRARY;
  }
  return lb_pe_check_sections(&pe, why, why_size);
}

void lb_pe_imports(const lb_file* file, int (*each)(void* context, const char* name), void* context) {
  lb_pe pe;
  char why[128];
  if (lb_pe_open(file, &pe, why, sizeof why) != LB_OUTCOME_BOUND) return;
  uint64_t table = lb_pe_directory(&pe, LB_PE_IMPORT);
  for (unsigned i = 0; table && i < LB_PE_IMPORTS_MAX; i++) {
    unsigned char entry[20];
    char name[260] = "";
    if (!lb_read_whole(file, entry, sizeof entry, table + (uint64_t)i * sizeof entry)) return;
    uint64_t at = lb_little32(entry + 12) ? lb_pe_place(&pe, lb_little32(entry + 12)) : 0;
    if (!at) return;
    size_t have = file->read(file, name, sizeof name - 1, at);
    name[have] = 0;
    if (*name && each(context, name)) return;
  }
}
