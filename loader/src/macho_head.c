/*
 * macho_head.c: reports from a Mach-O file's first bytes, thin or fat, whether dyld should see it at all; must not need
 * a Mac's headers, so that its tests run anywhere. Numbers: <mach-o/loader.h>, <mach-o/fat.h>, <mach/machine.h>.
 *
 * In a fat file only this processor's slice counts. Subtypes (arm64e) are left to dyld, which knows what it takes.
 */
#include <stdio.h>
#include <string.h>

#include "file_head.h"

enum {
  LB_MACHO_X86_64 = 0x01000007,
  LB_MACHO_ARM64 = 0x0100000C,
  LB_MACHO_I386 = 7,
  LB_MACHO_DYLIB = 6,
  LB_MACHO_BUNDLE = 8,
  LB_MACHO_SEGMENT_64 = 0x19,
  LB_MACHO_HEADER = 32,
  LB_MACHO_SEGMENT = 72, /* as much of a segment command as is read */
  LB_FAT_SLICES_MAX = 64,
  LB_COMMANDS_MAX = 8192
};

#if defined(__aarch64__) || defined(_M_ARM64)
#define LB_MACHO_OWN LB_MACHO_ARM64
#elif defined(__x86_64__) || defined(_M_X64)
#define LB_MACHO_OWN LB_MACHO_X86_64
#elif defined(__APPLE__)
#error "macho_head.c does not know this processor: macOS runs on x86_64 and arm64"
#else
#define LB_MACHO_OWN 0 /* no Mac's: the tests of this file run there, too */
#endif

uint32_t lb_macho_own(void) {
  return LB_MACHO_OWN;
}

static const char* lb_cpu_name(uint32_t cpu) {
  switch (cpu) {
    case LB_MACHO_X86_64: return "x86_64";
    case LB_MACHO_ARM64: return "arm64";
    case LB_MACHO_I386: return "i386";
    default: return "another processor";
  }
}

static lb_outcome lb_wrong_cpu(const char* built_for, char* why, size_t why_size) {
  snprintf(why, why_size, "built for %s, this process is %s", built_for, lb_cpu_name(LB_MACHO_OWN));
  return LB_OUTCOME_WRONG_ARCHITECTURE;
}

/* Every segment must lie within the slice that starts at `start`, and that within the file. */
static lb_outcome lb_check_commands(const lb_file* file, uint64_t start, uint32_t count, char* why, size_t why_size) {
  uint64_t at = start + LB_MACHO_HEADER;
  uint64_t needed = 0;
  for (uint32_t i = 0; i < count && i < LB_COMMANDS_MAX; i++) {
    unsigned char command[LB_MACHO_SEGMENT] = {0};
    size_t have = file->read(file, command, sizeof command, at);
    uint32_t size = lb_little32(command + 4);
    if (have < 8) return lb_refuse_short(file, "load commands", why, why_size);
    if (size < 8) {
      snprintf(why, why_size, "its load commands are damaged");
      return LB_OUTCOME_NOT_A_LIBRARY;
    }
    if (lb_little32(command) == LB_MACHO_SEGMENT_64 && have == sizeof command) {
      uint64_t offset = lb_little64(command + 40);
      uint64_t length = lb_little64(command + 48);
      uint64_t end = start + offset + length;
      if (offset > UINT32_MAX || length > UINT32_MAX) end = UINT64_MAX;
      if (end > needed) needed = end;
    }
    at += size;
  }
  return needed > file->size ? lb_refuse_size(file, needed, why, why_size) : LB_OUTCOME_BOUND;
}

static lb_outcome lb_check_thin(const lb_file* file, uint64_t start, char* why, size_t why_size) {
  unsigned char head[LB_MACHO_HEADER] = {0};
  if (!lb_read_whole(file, head, sizeof head, start)) return lb_refuse_short(file, "header", why, why_size);
  if (!lb_starts(head, sizeof head, "\xCF\xFA\xED\xFE", 4)) {
    if (lb_starts(head, sizeof head, "\xCE\xFA\xED\xFE", 4)) {
      return lb_wrong_cpu(lb_cpu_name(lb_little32(head + 4)), why, why_size);
    }
    snprintf(why, why_size, "its slice for this processor is damaged");
    return LB_OUTCOME_NOT_A_LIBRARY;
  }
  uint32_t cpu = lb_little32(head + 4);
  uint32_t type = lb_little32(head + 12);
  if (cpu != LB_MACHO_OWN) return lb_wrong_cpu(lb_cpu_name(cpu), why, why_size);
  if (type != LB_MACHO_DYLIB && type != LB_MACHO_BUNDLE) {
    snprintf(why, why_size, "not a shared library: %s",
             type == 2   ? "a program"
             : type == 1 ? "an object file"
                         : "a Mach-O file of another kind");
    return LB_OUTCOME_NOT_A_LIBRARY;
  }
  return lb_check_commands(file, start, lb_little32(head + 16), why, why_size);
}

/* Finds this processor's slice; else says for which there are slices. */
static lb_outcome lb_check_fat(const lb_file* file, int wide, uint32_t count, char* why, size_t why_size) {
  size_t entry_size = wide ? 32 : 20;
  char present[128] = "";
  for (uint32_t i = 0; i < count && i < LB_FAT_SLICES_MAX; i++) {
    unsigned char entry[32] = {0};
    if (!lb_read_whole(file, entry, entry_size, 8 + (uint64_t)i * entry_size)) {
      return lb_refuse_short(file, "list of slices", why, why_size);
    }
    uint32_t cpu = lb_big32(entry);
    uint64_t start = wide ? lb_big64(entry + 8) : lb_big32(entry + 8);
    uint64_t size = wide ? lb_big64(entry + 16) : lb_big32(entry + 12);
    if (cpu == LB_MACHO_OWN) {
      if (start > UINT64_MAX / 2 || size > UINT64_MAX / 2 || start + size > file->size) {
        return lb_refuse_size(file, start > UINT64_MAX / 2 ? UINT64_MAX : start + size, why, why_size);
      }
      return lb_check_thin(file, start, why, why_size);
    }
    size_t length = strlen(present);
    snprintf(present + length, sizeof present - length, "%s%s", length ? " and " : "", lb_cpu_name(cpu));
  }
  return lb_wrong_cpu(*present ? present : "no processor at all", why, why_size);
}

lb_outcome lb_macho_inspect(const lb_file* file, char* why, size_t why_size) {
  unsigned char head[64] = {0};
  size_t have = file->read(file, head, sizeof head, 0);
  int wide = lb_starts(head, have, "\xCA\xFE\xBA\xBF", 4);
  if (wide || lb_starts(head, have, "\xCA\xFE\xBA\xBE", 4)) {
    if (have < 8) return lb_refuse_short(file, "header", why, why_size);
    return lb_check_fat(file, wide, lb_big32(head + 4), why, why_size);
  }
  if (lb_starts(head, have, "\xCF\xFA\xED\xFE", 4) || lb_starts(head, have, "\xCE\xFA\xED\xFE", 4)) {
    return lb_check_thin(file, 0, why, why_size);
  }
  return lb_refuse_kind(head, have, "Mach-O", why, why_size);
}
