/* file_head.c: what the readers of all three formats share; must not know one of them from the inside. */
#include "file_head.h"

#include <stdio.h>
#include <string.h>

int lb_read_whole(const lb_file* file, void* into, size_t size, uint64_t at) {
  return file->read(file, into, size, at) == size;
}

int lb_starts(const unsigned char* head, size_t have, const char* magic, size_t size) {
  return have >= size && memcmp(head, magic, size) == 0;
}

uint16_t lb_little16(const unsigned char* at) {
  return (uint16_t)(at[0] | (unsigned)at[1] << 8);
}

uint32_t lb_little32(const unsigned char* at) {
  return lb_little16(at) | (uint32_t)lb_little16(at + 2) << 16;
}

uint64_t lb_little64(const unsigned char* at) {
  return lb_little32(at) | (uint64_t)lb_little32(at + 4) << 32;
}

uint32_t lb_big32(const unsigned char* at) {
  return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

uint64_t lb_big64(const unsigned char* at) {
  return (uint64_t)lb_big32(at) << 32 | lb_big32(at + 4);
}

/* Text of any encoding has no control bytes but those that lay it out. */
static int lb_is_text(const unsigned char* head, size_t have) {
  for (size_t i = 0; i < have; i++) {
    if (head[i] == 0x7F || (head[i] < 0x20 && !(memchr)("\t\n\v\f\r\x1B", head[i], 6))) return 0;
  }
  return 1;
}

/* NULL when the bytes say nothing. */
static const char* lb_kind_of_file(const unsigned char* head, size_t have) {
  if (have == 0) return "the file is empty";
  if (lb_starts(head, have,
                "\x7F"
                "ELF",
                4))
    return "a Linux library";
  if (lb_starts(head, have, "MZ", 2)) return "a Windows library";
  if (lb_starts(head, have, "\xCF\xFA\xED\xFE", 4) || lb_starts(head, have, "\xCE\xFA\xED\xFE", 4) ||
      lb_starts(head, have, "\xCA\xFE\xBA\xBE", 4) || lb_starts(head, have, "\xCA\xFE\xBA\xBF", 4)) {
    return "a macOS library";
  }
  if (lb_starts(head, have, "version https://git-lfs", 23)) return "a Git LFS pointer, not the file itself";
  if (lb_starts(head, have, "PK\x03\x04", 4)) return "a zip archive";
  if (lb_starts(head, have, "!<arch>", 7)) return "a static library";
  return lb_is_text(head, have) ? "a text file, not a library" : NULL;
}

lb_outcome lb_refuse_kind(const unsigned char* head, size_t have, const char* format, char* why, size_t why_size) {
  const char* kind = lb_kind_of_file(head, have);
  if (kind) {
    snprintf(why, why_size, "%s", kind);
  } else {
    snprintf(why, why_size, "not a library of this system (no %s file)", format);
  }
  return LB_OUTCOME_NOT_A_LIBRARY;
}

lb_outcome lb_refuse_short(const lb_file* file, const char* within, char* why, size_t why_size) {
  snprintf(why, why_size, "truncated: it ends within its %s, after %llu bytes", within, (unsigned long long)file->size);
  return LB_OUTCOME_NOT_A_LIBRARY;
}

lb_outcome lb_refuse_size(const lb_file* file, uint64_t needed, char* why, size_t why_size) {
  snprintf(why, why_size, "truncated: %llu bytes of at least %llu", (unsigned long long)file->size,
           (unsigned long long)needed);
  return LB_OUTCOME_NOT_A_LIBRARY;
}
