/* stub_bind.c: binds a runtime for its stub; must not know which runtime it is. */
#include "stub_bind.h"

#include <string.h>

#include "internal.h"
#include "os.h"

/* ISO C has no conversion between pointers to objects and to functions; POSIX and Windows guarantee equal bytes. */
lb_function lb_as_function(const void* address) {
  lb_function function = NULL;
  memcpy(&function, &address, sizeof function);
  return function;
}

void* lb_as_pointer(lb_function function) {
  void* address = NULL;
  memcpy(&address, &function, sizeof address);
  return address;
}

uintptr_t lb_give(uintptr_t result) {
  return result;
}

typedef struct lb_kept {
  struct lb_kept* next;
  char text[1];
} lb_kept;

/* The program may keep the texts that it gets, so each is stored once and never freed. */
void lb_keep_sentence(lb_stub* stub, const char* sentence) {
  lb_kept* kept = stub->kept;
  while (kept && strcmp(kept->text, sentence) != 0) kept = kept->next;
  if (!kept && (kept = lb_allocate(sizeof *kept + strlen(sentence))) != NULL) {
    memcpy(kept->text, sentence, strlen(sentence) + 1);
    kept->next = stub->kept;
    stub->kept = kept;
  }
  lb_os_publish(&stub->sentence, kept ? kept->text : (void*)"The runtime could not be bound: out of memory.");
}

/* The command that users of npm or .NET type where one of them installed this library; else NULL: the runtime's own
 * advice. */
static char* lb_stub_advice(const lb_stub* stub, lb_installer installer) {
  const char *npm = stub->packages.npm, *nuget = stub->packages.nuget;
  lb_text text = {NULL, 0, 0, 0};
  if (installer == LB_INSTALLER_NPM && *npm) {
    lb_text_add(&text, "npm install \"");
    lb_text_add(&text, npm);
    lb_text_add(&text, "@>=");
    lb_text_add_version(&text, stub->runtime->minimum);
    lb_text_add(&text, "\"");
  } else if (installer == LB_INSTALLER_NUGET && *nuget) {
    lb_text_add(&text, "dotnet add package "); /* takes the newest */
    lb_text_add(&text, nuget);
  } else {
    return NULL;
  }
  return lb_text_take(&text);
}

int lb_stub_bind(lb_stub* stub) {
  if (lb_os_load(&stub->is_filled)) return 0;
  lb_report report = {.size = sizeof report};
  lb_options options = {.size = sizeof options};
  lb_neighbours around = lb_neighbours_of(stub->packages);
  options.flags = stub->flags;
  options.path = lb_os_load(&stub->path);
  options.directories = (const char* const*)around.folders;
  options.directory_count = around.count;
  char* advice = lb_stub_advice(stub, around.installer);
  options.advice = advice;
  int outcome = lb_bind(&stub->binding, stub->runtime, &options, &report);
  lb_neighbours_clear(&around);
  lb_free(advice);
  if (!lb_os_lock()) {
    if (outcome) {
      lb_keep_sentence(stub, report.sentence);
    } else if (!lb_os_load(&stub->is_filled)) {
      stub->fill(lb_report_json(&report));
    }
    lb_os_unlock();
  }
  lb_report_clear(&report);
  return !lb_os_load(&stub->is_filled);
}

const char* lb_stub_sentence(const lb_stub* stub) {
  const char* sentence = lb_os_load(&stub->sentence);
  return sentence ? sentence : "";
}

void lb_stub_path(lb_stub* stub, const char* path) {
  lb_os_publish(&stub->path, lb_duplicate(path));
}
