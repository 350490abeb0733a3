/*
 * roots.c: how far up a library may look for its neighbours. Above the root of its own installation are folders of
 * others: every user may create /tmp/node_modules, and on Windows C:\\node_modules.
 */
#include <string.h>

#include "internal.h"
#include "neighbours.h"
#include "os.h"

enum { LB_LEVELS_READ = 5 }; /* so many folders are listed: deeper applications have a name that shows the root */

static int lb_is_separator(char byte) {
  return byte == '/' || byte == '\\';
}

/* The last part of a path. */
static const char* lb_name_of(const char* path) {
  const char* name = path;
  for (const char* at = path; *at; at++) {
    if (lb_is_separator(*at) && at[1]) name = at + 1;
  }
  return name;
}

int lb_has_name(const char* folder, const char* const* patterns) {
  char why[128];
  lb_names list = {patterns, NULL, 0, 0};
  lb_names_read(&list, folder, why, sizeof why);
  int has_one = list.count > 0;
  lb_names_clear(&list);
  return has_one;
}

/* The folder above, or NULL at the top. Takes `folder`. */
static char* lb_take_above(char* folder) {
  char* above = lb_os_folder_of(folder);
  if (above && strlen(above) >= strlen(folder)) { /* the top is its own folder */
    lb_free(above);
    above = NULL;
  }
  lb_free(folder);
  return above;
}

static int lb_is_sites(const char* name) {
  return !strcmp(name, "site-packages") || !strcmp(name, "dist-packages");
}

/* The root as names show it: the nearest site-packages, else what holds the outermost node_modules. */
static char* lb_root_by_name(const char* folder) {
  char* root = NULL;
  for (char* at = lb_duplicate(folder); at;) {
    const char* name = lb_name_of(at);
    if (lb_is_sites(name)) {
      lb_free(root);
      return at;
    }
    int holds = !strcmp(name, "node_modules");
    at = lb_take_above(at);
    if (holds && at) {
      lb_free(root);
      root = lb_duplicate(at);
    }
  }
  return root;
}

/* What shows that a folder is the root of an installation: by pip --target, npm, .NET, PyInstaller, AppImage, macOS. */
static const char* const lb_marks[] = {"*.dist-info",      "package.json", "*.deps.json", "*.exe.config",
                                       "base_library.zip", "AppRun",       "Info.plist",  NULL};

/* The nearest root that has a mark. */
static char* lb_root_by_mark(const char* folder) {
  char* at = lb_duplicate(folder);
  for (int level = 0; at && level < LB_LEVELS_READ; level++) {
    if (lb_has_name(at, lb_marks)) return at;
    at = lb_take_above(at);
  }
  lb_free(at);
  return NULL;
}

static int lb_is_within(const char* folder, const char* root) {
  size_t length = strlen(root);
  return !strncmp(folder, root, length) && (!folder[length] || lb_is_separator(folder[length]));
}

/* The folder of the running program, when the library is in it or below. */
static char* lb_root_by_program(const char* folder) {
  char* program = lb_os_program_folder();
  if (program && lb_is_within(folder, program)) return program;
  lb_free(program);
  return NULL;
}

char* lb_root_of(const char* folder) {
  char* root = lb_root_by_name(folder);
  if (!root) root = lb_root_by_mark(folder);
  if (!root) root = lb_root_by_program(folder);
  return root ? root : lb_duplicate(folder);
}
