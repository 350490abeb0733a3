/*
 * litert.c: LiteRT's version, which LiteRT does not report: so it is read from what each release is the first to
 * export. Must not call anything in the runtime.
 */
#include "latebind/litert.h"

#include <string.h>

#include "latebind/note.h"

LB_DLOPEN_NOTE(litert, LATEBIND_LITERT_NOTE)

/* Releases, newest first, and a function that no older one of the list has, on any system: the wheels of PyPI. */
typedef struct lb_litert_release {
  const char* version;
  const char* symbols[2];
} lb_litert_release;

static const lb_litert_release lb_litert_releases[] = {
    {"2.3.0", {"LiteRtAppendMetric", NULL}},
    {"2.2.0", {"LiteRtCreateModelFromFd", "LiteRtGetCompiledModelEnvironment"}}, /* 2.1.3 had only the second */
    {"2.1.6", {"LiteRtCreateModelFromFd", NULL}},
    {"2.1.0", {"LiteRtCreateEnvironment", NULL}},
};

static int lb_litert_is(const void* entry, const lb_litert_release* release) {
  for (size_t i = 0; i < 2 && release->symbols[i]; i++) {
    if (!lb_image_symbol(entry, release->symbols[i])) return 0;
  }
  return 1;
}

/* Kept loaded: a copy that is too old would be unloaded, which LiteRT does not survive (2.3.0 crashes the process). */
int lb_litert_read_version(void* entry, char* text, size_t size) {
  const char* version = NULL;
  size_t count = sizeof lb_litert_releases / sizeof *lb_litert_releases;
  for (size_t i = 0; i < count && !version; i++) {
    if (lb_litert_is(entry, &lb_litert_releases[i])) version = lb_litert_releases[i].version;
  }
  if (lb_image_keep(entry) || !version || strlen(version) >= size) return 1;
  memcpy(text, version, strlen(version) + 1);
  return 0;
}
