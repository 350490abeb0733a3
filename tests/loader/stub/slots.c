/*
 * slots PATH: binds the runtime at PATH through the stub and holds every slot of OrtApi, and of the tables that its
 * functions give, against the runtime's own. Prints how many of OrtApi are the same, and what each newer one that gives
 * a status says.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "latebind/ort_api.h"
#include "latebind/stub.h"
#include "ort_slots.h"
#include "trampolines.h"
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
static const row editor[] = {LB_ORT_MODEL_EDITOR_API(ROW)};
static const row compile[] = {LB_ORT_COMPILE_API(ROW)};
static const row interop[] = {LB_ORT_INTEROP_API(ROW)};
static const row ep[] = {LB_ORT_EP_API(ROW)};
static const row package[] = {LB_ORT_MODEL_PACKAGE_API(ROW)};
static const struct {
  const char* getter;
  const row* rows;
  size_t count;
} inner[] = {{"GetModelEditorApi", editor, sizeof editor / sizeof *editor},
             {"GetCompileApi", compile, sizeof compile / sizeof *compile},
             {"GetInteropApi", interop, sizeof interop / sizeof *interop},
             {"GetEpApi", ep, sizeof ep / sizeof *ep},
             {"GetModelPackageApi", package, sizeof package / sizeof *package}};

typedef void* const* table;
static unsigned minor;
static const char* (*message)(void*);

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

static unsigned compare(const row* row, size_t count, table ours, table own);

/* Where an entry of the stub's tables goes: each is a jump. */
static void* target_of(void* entry) {
  const char* at = entry;
  int is_jump = at >= lb_jump_first && at < lb_jump_first + (16 * LB_TRAMPOLINE_COUNT);
  return is_jump ? lb_entries[(at - lb_jump_first) / 16] : entry;
}

/* Statuses are always read by the stub: one that it made itself may be among them. */
static int reads_statuses(const char* name) {
  return !strcmp(name, "GetErrorCode") || !strcmp(name, "GetErrorMessage") || !strcmp(name, "ReleaseStatus");
}

/* A getter may be the stub's, for a copy of the runtime's table. */
static int gives_the_same(const char* getter, void* ours, void* own) {
  for (size_t i = 0; i < sizeof inner / sizeof *inner; ++i) {
    if (strcmp(getter, inner[i].getter) != 0) continue;
    table (*both[2])(void);
    memcpy(&both[0], &ours, sizeof ours);
    memcpy(&both[1], &own, sizeof own);
    size_t known = 0;
    while (known < inner[i].count && inner[i].rows[known].since <= minor) ++known;
    return compare(inner[i].rows, inner[i].count, both[0](), both[1]()) == known;
  }
  return 0;
}

/* The name of the older function of the runtime that serves a newer slot. */
static const char* elder(void* ours, table own) {
  for (size_t slot = 0; slot < sizeof rows / sizeof *rows && rows[slot].since <= minor; ++slot) {
    if (ours == own[slot]) return rows[slot].name;
  }
  return NULL;
}

static unsigned compare(const row* row, size_t count, table ours, table own) {
  unsigned same = 0;
  for (size_t slot = 0; slot < count; ++slot) {
    void* target = target_of(ours[slot]);
    if (row == rows && row[slot].since > minor && elder(target, own)) {
      printf("served %s by %s\n", row[slot].name, elder(target, own));
    } else if (row[slot].since <= minor) {
      if (target == own[slot] || reads_statuses(row[slot].name) || gives_the_same(row[slot].name, target, own[slot]))
        ++same;
      else
        printf("other %s\n", row[slot].name);
    } else if (row[slot].is_status) {
      void* (*call)(void*, void*) = NULL;
      memcpy(&call, &ours[slot], sizeof call);
      printf("newer %s\n", message(call(NULL, NULL)));
    }
  }
  return same;
}

int main(int count, char** words) {
  if (count < 2) return 2;
  lb_onnxruntime_path(words[1]);
  table ours = OrtGetApiBase()->get_api(LB_ORT_API_VERSION);
  minor = (unsigned)strtoul(OrtGetApiBase()->get_version() + 2, NULL, 10);
  table own = theirs(words[1])->get_api(minor < LB_ORT_API_VERSION ? minor : LB_ORT_API_VERSION);
  memcpy(&message, &ours[2], sizeof message);
  printf("same %u\n", compare(rows, sizeof rows / sizeof *rows, ours, own));
  return 0;
}
