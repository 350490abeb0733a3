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

static int lb_is_folder(const char* path, lb_identity* identity) {
  char why[128];
  return lb_os_look(path, identity, why, sizeof why) == LB_PLACE_FOLDER;
}

/* Adds a folder when it exists, to be trusted up to `root`. Takes `folder`. */
static void lb_take(lb_neighbours* around, char* folder, const char* root) {
  lb_identity identity = {0, 0};
  char* copy = folder && lb_is_folder(folder, &identity) ? lb_duplicate(root) : NULL;
  lb_neighbour* list = copy ? lb_resize(around->list, (around->count + 1) * sizeof *list) : NULL;
  if (!list) {
    lb_free(copy);
    lb_free(folder);
    return;
  }
  around->list = list;
  list[around->count].folder = folder;
  list[around->count++].root = copy;
}

/* Adds `below` in `parent` when it exists; "" is nowhere. Takes `parent`. */
static void lb_add(lb_neighbours* around, char* parent, const char* below, const char* root) {
  char* folder = parent && *below ? lb_os_join(parent, below) : NULL;
  lb_free(parent);
  lb_take(around, folder, root);
}

/* Adds `below` in each folder of `parent` whose name matches: python3.12 before python3.9, in whatever order the disk
 * has them. */
static void lb_add_each(lb_neighbours* around, const char* parent, const char* pattern, const char* below,
                        const char* root) {
  char why[128];
  const char* const globs[] = {pattern, NULL};
  lb_names list = {globs, NULL, 0, 0};
  lb_names_read(&list, parent, why, sizeof why);
  for (size_t i = 0; i < list.count; i++) lb_add(around, lb_os_join(parent, list.names[i]), below, root);
  lb_names_clear(&list);
}

/* The site-packages below a prefix: lib/python3.12/site-packages, or Lib/site-packages on Windows. Takes `prefix`. */
static void lb_add_sites(lb_neighbours* around, char* prefix, const char* below) {
  char* parent = prefix ? lb_os_join(prefix, "lib") : NULL;
  char* inner = lb_os_join("site-packages", below);
  if (parent && inner && *below) {
    lb_add(around, lb_duplicate(parent), inner, prefix);
    lb_add_each(around, parent, "python3*", inner, prefix);
  }
  lb_free(inner);
  lb_free(parent);
  lb_free(prefix);
}

/* What the npm package `npm` has for this platform, in a folder where Node.js would find it: napi-v6/linux/x64. */
static void lb_add_module(lb_neighbours* around, const char* folder, const char* npm, const char* root) {
  char* modules = *npm ? lb_os_join(folder, "node_modules") : NULL;
  char* package = modules ? lb_os_join(modules, npm) : NULL;
  char* parent = package ? lb_os_join(package, "bin") : NULL;
  if (parent) lb_add_each(around, parent, "napi-v*", LB_NODE, root);
  lb_free(parent);
  lb_free(package);
  lb_free(modules);
}

/* What .NET applications have in their base folder: a list of their parts; for .NET Framework, settings. */
static const char* const lb_application_files[] = {"*.deps.json", "*.exe.config", NULL};

/*
 * The native folder of a .NET application for this platform, when this library is in its base folder; and the base
 * folder, when this library is in the native one: builds and projects copy some files to the one, some to the other.
 * NuGet's package cache has native folders, too.
 */
static void lb_add_application(lb_neighbours* around, const char* own) {
  lb_add(around, lb_duplicate(own), LB_NATIVE, own);
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
  if (is_native || lb_has_name(own, lb_application_files)) around->installer = LB_INSTALLER_NUGET;
  lb_free(native);
  if (is_native) lb_take(around, lb_duplicate(base), base);
  lb_free(base);
}

/* Each folder from this library's own up to the root of its installation. */
static void lb_add_above(lb_neighbours* around, const char* own, lb_packages packages) {
  char* root = lb_root_of(own);
  char* folder = root ? lb_duplicate(own) : NULL;
  while (folder) {
    lb_add_module(around, folder, packages.npm, root);
    lb_add(around, lb_duplicate(folder), packages.below, root);
    char* above = strlen(folder) > strlen(root) ? lb_os_folder_of(folder) : NULL;
    lb_free(folder);
    folder = above;
  }
  lb_free(root);
}

lb_neighbours lb_neighbours_of(lb_packages packages) {
  lb_neighbours around = {NULL, 0, LB_INSTALLER_OTHER};
  const char* below = packages.below;
  if (!*below && !*packages.nuget) return around; /* no package has it */
  char* own = lb_os_own_folder();
  if (own) {
    lb_add_application(&around, own);
    if (strstr(own, "node_modules")) around.installer = LB_INSTALLER_NPM;
    lb_add_above(&around, own, packages);
  }
  lb_free(own);
  lb_add_sites(&around, lb_os_environment("VIRTUAL_ENV"), below);
  lb_add_sites(&around, lb_os_environment("CONDA_PREFIX"), below);
  char* home = lb_os_environment("HOME");
  lb_add_sites(&around, home ? lb_os_join(home, ".local") : NULL, below);
  lb_free(home);
  return around;
}

void lb_neighbours_clear(lb_neighbours* around) {
  for (size_t index = 0; index < around->count; ++index) {
    lb_free(around->list[index].folder);
    lb_free(around->list[index].root);
  }
  lb_free(around->list);
  around->list = NULL;
  around->count = 0;
}
