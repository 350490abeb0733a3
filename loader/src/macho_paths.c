/*
 * macho_paths.c: the run paths (LC_RPATH) of a Mach-O file, thin or fat, that dyld has loaded; must not judge the file.
 * Numbers: <mach-o/loader.h>, <mach-o/fat.h>.
 */
#include <string.h>

#include "file_head.h"

enum {
  LB_PATHS_HEADER = 32,
  LB_MACHO_COMMAND = 12, /* as much of a command as is read: its kind, its size, where its text begins */
  LB_RUN_PATH_MAX = 4096,
  LB_SLICES_MAX = 64,
  LB_PATHS_COMMANDS = 8192
};

#define LB_MACHO_RPATH 0x8000001Cu

/* Where this processor's slice begins; UINT64_MAX when there is none. */
static uint64_t lb_slice_start(const lb_file* file) {
  unsigned char head[8] = {0};
  if (!lb_read_whole(file, head, sizeof head, 0)) return UINT64_MAX;
  int wide = lb_starts(head, sizeof head, "\xCA\xFE\xBA\xBF", 4);
  if (!wide && !lb_starts(head, sizeof head, "\xCA\xFE\xBA\xBE", 4)) return 0;
  uint32_t count = lb_big32(head + 4);
  size_t size = wide ? 32 : 20;
  for (uint32_t i = 0; i < count && i < LB_SLICES_MAX; i++) {
    unsigned char entry[32] = {0};
    if (!lb_read_whole(file, entry, size, sizeof head + (uint64_t)i * size)) break;
    if (lb_big32(entry) == lb_macho_own()) return wide ? lb_big64(entry + 8) : lb_big32(entry + 8);
  }
  return UINT64_MAX;
}

void lb_macho_run_paths(const lb_file* file, int (*each)(void* context, const char* path), void* context) {
  unsigned char head[LB_PATHS_HEADER] = {0};
  uint64_t at = lb_slice_start(file);
  if (at >= file->size || !lb_read_whole(file, head, sizeof head, at)) return;
  if (!lb_starts(head, sizeof head, "\xCF\xFA\xED\xFE", 4)) return;
  uint32_t count = lb_little32(head + 16);
  at += sizeof head;
  for (uint32_t i = 0; i < count && i < LB_PATHS_COMMANDS; i++) {
    unsigned char command[LB_MACHO_COMMAND] = {0};
    char path[LB_RUN_PATH_MAX];
    if (!lb_read_whole(file, command, sizeof command, at)) return;
    uint32_t size = lb_little32(command + 4);
    uint32_t start = lb_little32(command + 8);
    if (size < 8) return;
    if (lb_little32(command) == LB_MACHO_RPATH && start < size && size - start < sizeof path) {
      if (!lb_read_whole(file, path, size - start, at + start)) return;
      path[size - start] = 0;
      if (each(context, path)) return;
    }
    at += size;
  }
}
