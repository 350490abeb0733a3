/*
 * ld_cache.c: looks up libraries by name or pattern in glibc's /etc/ld.so.cache, as ldconfig writes it; must not open
 * anything. Layout: sysdeps/generic/dl-cache.h of glibc. Numbers are in this processor's order; texts are offsets from
 * the newer header, which comes alone or after the older form (until glibc 2.31).
 */
#include <string.h>

#include "file_head.h"
#include "internal.h"

enum {
  LB_CACHE_OLD_HEAD = 16,
  LB_CACHE_OLD_ENTRY = 12,
  LB_CACHE_HEAD = 48,
  LB_CACHE_ENTRY = 24, /* flags, name, path, osversion: 4 bytes each; hwcap: 8 */
  LB_CACHE_COUNT = 20  /* where the header has the number of entries */
};

static const char lb_cache_old[] = "ld.so-1.7.0";
static const char lb_cache_new[] = "glibc-ld.so.cache1.1";

static uint32_t lb_native32(const unsigned char* at) {
  uint32_t number = 0;
  memcpy(&number, at, sizeof number);
  return number;
}

static int lb_is_cache(const unsigned char* data, size_t size) {
  return size >= LB_CACHE_HEAD && lb_starts(data, size, lb_cache_new, sizeof lb_cache_new - 1);
}

/* Where the newer header is; `size` when nowhere. */
static size_t lb_cache_start(const unsigned char* data, size_t size) {
  if (lb_is_cache(data, size)) return 0;
  if (size < LB_CACHE_OLD_HEAD || !lb_starts(data, size, lb_cache_old, sizeof lb_cache_old - 1)) return size;
  uint64_t end = LB_CACHE_OLD_HEAD + (uint64_t)lb_native32(data + 12) * LB_CACHE_OLD_ENTRY;
  end = (end + 7) / 8 * 8;
  return end < size && lb_is_cache(data + end, size - (size_t)end) ? (size_t)end : size;
}

/* The text at an offset, if it ends within the file. */
static const char* lb_cache_text(const unsigned char* data, size_t size, uint32_t offset) {
  return offset < size && (memchr)(data + offset, 0, size - offset) ? (const char*)data + offset : NULL;
}

int lb_cache_find(const unsigned char* data, size_t size, const char* name,
                  int (*each)(void* context, const char* path), void* context) {
  static const unsigned char any_processor[8] = {0};
  size_t start = lb_cache_start(data, size);
  if (start == size) return 0;
  data += start;
  size -= start;
  uint32_t count = lb_native32(data + LB_CACHE_COUNT);
  for (uint32_t i = 0; i < count && i < (size - LB_CACHE_HEAD) / LB_CACHE_ENTRY; i++) {
    const unsigned char* entry = data + LB_CACHE_HEAD + (size_t)i * LB_CACHE_ENTRY;
    const char* key = lb_cache_text(data, size, lb_native32(entry + 4));
    const char* path = lb_cache_text(data, size, lb_native32(entry + 8));
    /* An hwcap marks a build for newer processors of the kind, which this one may not be. */
    if (!key || !path || *path != '/' || !lb_glob_match(name, key) || memcmp(entry + 16, any_processor, 8) != 0)
      continue;
    int stop = each(context, path);
    if (stop) return stop;
  }
  return 0;
}
