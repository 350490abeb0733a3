/* neighbours.c: looks for folders of other packages; must not open what is in them. */
#include "neighbours.h"

#include <string.h>

#include "cpu.h"
#include "internal.h"
#include "os.h"

/* What .NET and Node.js call the platform. */
#if defined(_WIN32)
#define LB_RID  "win-" LB_CPU
#define LB_NODE "win32/" LB_CPU
#elif defined(__APPLE__)
#define LB_RID  "osx-" LB_CPU
#define LB_NODE "darwin/" LB_CPU
#elif defined(__GLIBC__)
#define LB_RID  "linux-" LB_CPU
#define LB_NODE "linux/" LB_CPU
#else
#define LB_RID  "linux-musl-" LB_CPU
#define LB_NODE "linux/" LB_CPU
#endif
#define LB_NATIVE "runtimes/" LB_RID "/native"

/* Where conda's packages have libraries, below the environment. */
#if defined(_WIN32)
#define LB_CONDA_LIBRARIES "Library/bin"
#else
#define LB_CONDA_LIBRARIES "lib"
#endif

static int lb_is_folder(const char* path, lb_identity* identity) {
  char why[128];
  return lb_os_look(path, identity, why, sizeof why) == LB_PLACE_FOLDER;
}

/* Adds a folder when it exists and is not there yet. Takes `folder`. */
static void lb_take(lb_neighbours* around, char* folder) {
  lb_identity identity = {0, 0};
  int is_new = folder && lb_is_folder(folder, &identity);
  for (size_t i = 0; is_new && i < around->count; i++) is_new = strcmp(around->folders[i], folder) != 0;
  char** folders = is_new ? lb_resize(around->folders, (around->count + 1) * sizeof *folders) : NULL;
  if (!folders) {
    lb_free(folder);
    return;
  }
  around->folders = folders;
  folders[around->count++] = folder;
}

/* Adds `below` in `parent` when it exists; "" is nowhere. Takes `parent`. */
static void lb_add(lb_neighbours* around, char* parent, const char* below) {
  char* folder = parent && *below ? lb_os_join(parent, below) : NULL;
  lb_free(parent);
  lb_take(around, folder);
}

/* Adds `below` in each folder of `parent` whose name matches: python3.12 before python3.9, in whatever order the disk
 * has them. */
static void lb_add_each(lb_neighbours* around, const char* parent, const char* pattern, const char* below) {
  char why[128];
  const char* const globs[] = {pattern, NULL};
  lb_names list = {globs, NULL, 0, 0};
  lb_names_read(&list, parent, why, sizeof why);
  for (size_t i = 0; i < list.count; i++) lb_add(around, lb_os_join(parent, list.names[i]), below);
  lb_names_clear(&list);
}

/* The site-packages below a prefix: lib/python3.12/site-packages, or Lib/site-packages on Windows. Takes `prefix`. */
static void lb_add_sites(lb_neighbours* around, char* prefix, const char* below) {
  char* parent = prefix ? lb_os_join(prefix, "lib") : NULL;
  char* inner = lb_os_join("site-packages", below);
  if (parent && inner && *below) {
    lb_add(around, lb_duplicate(parent), inner);
    lb_add_each(around, parent, "python3*", inner);
  }
  lb_free(inner);
  lb_free(parent);
  lb_free(prefix);
}

/* What the npm package `npm` has for this platform, in a folder where Node.js would find it: napi-v6/linux/x64. */
static void lb_add_module(lb_neighbours* around, const char* folder, const char* npm) {
  char* modules = *npm ? lb_os_join(folder, "node_modules") : NULL;
  char* package = modules ? lb_os_join(modules, npm) : NULL;
  char* parent = package ? lb_os_join(package, "bin") : NULL;
  if (parent) lb_add_each(around, parent, "napi-v*", LB_NODE);
  lb_free(parent);
  lb_free(package);
  lb_free(modules);
}

/* What .NET applications have in their base folder: a list of their parts; for .NET Framework, settings. */
static int lb_is_application(const char* folder) {
  static const char* const files[] = {"*.deps.json", "*.exe.config", NULL};
  char why[128];
  lb_names list = {files, NULL, 0, 0};
  lb_names_read(&list, folder, why, sizeof why);
  int is_one = list.count > 0;
  lb_names_clear(&list);
  return is_one;
}

/*
 * The native folder of a .NET application for this platform, when this library is in its base folder; and the base
 * folder, when this library is in the native one: builds and projects copy some files to the one, some to the other.
 * NuGet's package cache has native folders, too.
 */
static void lb_add_application(lb_neighbours* around, const char* own) {
  lb_add(around, lb_duplicate(own), LB_NATIVE);
  char* base = lb_duplicate(own);
  for (int level = 0; base && level < 3; ++level) {
    char* above = lb_os_folder_of(base);
    lb_free(base);
    base = above;
  }
  char* native = base ? lb_os_join(base, LB_NATIVE) : NULL;
  lb_identity here = {0, 0}, there = {1, 1};
  int is_native = native && lb_is_folder(native, &there) && lb_is_folder(own, &here) && here.device == there.device &&
                  here.file == there.file;
  if (is_native || lb_is_application(own)) around->installer = LB_INSTALLER_NUGET;
  lb_free(native);
  if (is_native) {
    lb_take(around, base);
  } else {
    lb_free(base);
  }
}

/* What is around a file of this library: each folder from its own up to the top. Takes `file`. */
static void lb_add_around(lb_neighbours* around, char* file, lb_packages packages) {
  char* folder = file ? lb_os_folder_of(file) : NULL;
  lb_free(file);
  if (folder) lb_add_application(around, folder);
  if (folder && strstr(folder, "node_modules")) around->installer = LB_INSTALLER_NPM;
  while (folder) {
    lb_add_module(around, folder, packages.npm);
    lb_add(around, lb_duplicate(folder), packages.below);
    char* above = lb_os_folder_of(folder);
    int is_top = above && strlen(above) >= strlen(folder);
    lb_free(folder);
    if (is_top) lb_free(above);
    folder = is_top ? NULL : above;
  }
}

lb_neighbours lb_neighbours_of(lb_packages packages) {
  lb_neighbours around = {NULL, 0, LB_INSTALLER_OTHER};
  const char* below = packages.below;
  if (!*below && !*packages.nuget) return around; /* no package has it */
  lb_own_names own = lb_os_own_names();
  lb_add_around(&around, own.file, packages);
  lb_add_around(&around, own.name, packages);
  lb_add_sites(&around, lb_os_environment("VIRTUAL_ENV"), below);
  lb_add_sites(&around, lb_os_environment("CONDA_PREFIX"), below);
  lb_add(&around, lb_os_environment("CONDA_PREFIX"), LB_CONDA_LIBRARIES);
  char* home = lb_os_environment("HOME");
  lb_add_sites(&around, home ? lb_os_join(home, ".local") : NULL, below);
  lb_free(home);
  return around;
}

void lb_neighbours_clear(lb_neighbours* around) {
  for (size_t index = 0; index < around->count; ++index) lb_free(around->folders[index]);
  lb_free(around->folders);
  around->folders = NULL;
  around->count = 0;
}
