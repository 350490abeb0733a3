/*
 * slots PATH: binds the runtime at PATH through the stub and holds every slot of OrtApi against the runtime's own
 * table. Prints how many are the same, and what each newer one that gives a status says.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "latebind/stub.h"
#include "ort_slots.h"
#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

typedef struct base {
  void* const* (*get_api)(uint32_t version);
  const char* (*get_version)(void);
} base;

const base* OrtGetApiBase(void);

enum { IS_STATUS = 1, IS_POINTER = 0, IS_TEXT = 0, IS_NUMBER = 0, IS_VOID = 0, IS_CREATE = 0, IS_RELEASE = 0 };
typedef struct row {
  const char* name;
  int is_status;
  unsigned since;
} row;

#define ROW(name, kind, since) {#name, IS_##kind, since},
static const row rows[] = {LB_ORT_API(ROW)};

static const base* theirs(const char* path) {
  union {
    void* address;
    const base* (*call)(void);
  } entry;
#if defined(_WIN32)
  entry.address = (void*)(uintptr_t)GetProcAddress(LoadLibraryA(path), "OrtGetApiBase");
#else
  entry.address = dlsym(dlopen(path, RTLD_NOW), "OrtGetApiBase");
#endif
  return entry.call();
}

int main(int count, char** words) {
  if (count < 2) return 2;
  lb_onnxruntime_path(words[1]);
  void* const* ours = OrtGetApiBase()->get_api(29);
  unsigned minor = (unsigned)strtoul(OrtGetApiBase()->get_version() + 2, NULL, 10);
  const base* runtime = theirs(words[1]);
  void* const* table = runtime->get_api(minor < 29 ? minor : 29);
  const char* (*message)(void*) = NULL;
  *(void**)&message = ours[2];
  unsigned same = 0;
  for (size_t slot = 0; slot < sizeof rows / sizeof *rows; ++slot) {
    if (rows[slot].since <= minor) {
      if (ours[slot] == table[slot])
        ++same;
      else
        printf("other %s\n", rows[slot].name);
    } else if (rows[slot].is_status) {
      void* (*call)(void*, void*) = NULL;
      *(void* const**)&call = (void* const*)ours[slot];
      printf("newer %s\n", message(call(NULL, NULL)));
    }
  }
  printf("same %u\n", same);
  return 0;
}
