/* neighbours.c: looks for folders of other packages; must not open what is in them. */
#include "neighbours.h"

#include <string.h>

#include "internal.h"
#include "os.h"

#if defined(_M_ARM64) || defined(__aarch64__)
#define LB_CPU "arm64"
#elif defined(_M_X64) || defined(__x86_64__)
#define LB_CPU "x64"
#else
#define LB_CPU "x86"
#endif
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

/* Adds a folder when it exists. Takes it. */
static void lb_take(lb_neighbours* around, char* folder) {
  lb_identity identity = {0, 0};
  char** folders = folder && lb_is_folder(folder, &identity)
                       ? lb_resize(around->folders, (around->count + 1) * sizeof *folders)
                       : NULL;
  if (!folders) {
    lb_free(folder);
    return;
  }
  around->folders = folders;
  folders[around->count++] = folder;
}

/* Adds `below` in `root` when it exists; "" is nowhere. Takes `root`. */
static void lb_add(lb_neighbours* around, char* root, const char* below) {
  char* folder = root && *below ? lb_os_join(root, below) : NULL;
  lb_free(root);
  lb_take(around, folder);
}

typedef struct lb_site {
  lb_neighbours* around;
  const char* parent;
  const char* below;
} lb_site;

static int lb_add_python(void* context, const char* name) {
  const lb_site* site = context;
  if (!lb_glob_match("python3*", name)) return 0;
  char* python = lb_os_join(site->parent, name);
  lb_add(site->around, python ? lb_os_join(python, "site-packages") : NULL, site->below);
  lb_free(python);
  return 0;
}

/* The site-packages below a prefix: lib/python3.12/site-packages, or Lib/site-packages on Windows. Takes `prefix`. */
static void lb_add_sites(lb_neighbours* around, char* prefix, const char* below) {
  char why[128];
  char* parent = prefix ? lb_os_join(prefix, "lib") : NULL;
  lb_free(prefix);
  if (!parent) return;
  lb_add(around, lb_os_join(parent, "site-packages"), below);
  lb_site site = {around, parent, below};
  lb_os_list(parent, lb_add_python, &site, why, sizeof why);
  lb_free(parent);
}

static int lb_add_node(void* context, const char* name) {
  const lb_site* site = context;
  if (lb_glob_match("napi-v*", name)) lb_add(site->around, lb_os_join(site->parent, name), site->below);
  return 0;
}

/* What the npm package `npm` has for this platform, in a folder where Node.js would find it: napi-v6/linux/x64. */
static void lb_add_module(lb_neighbours* around, const char* folder, const char* npm) {
  char why[128];
  char* modules = *npm ? lb_os_join(folder, "node_modules") : NULL;
  char* package = modules ? lb_os_join(modules, npm) : NULL;
  char* parent = package ? lb_os_join(package, "bin") : NULL;
  lb_site site = {around, parent, LB_NODE};
  if (parent) lb_os_list(parent, lb_add_node, &site, why, sizeof why);
  lb_free(parent);
  lb_free(package);
  lb_free(modules);
}

/* What .NET applications have in their base folder: a list of their parts; for .NET Framework, settings. */
static int lb_is_application(void* context, const char* name) {
  int* found = context;
  *found = lb_glob_match("*.deps.json", name) || lb_glob_match("*.exe.config", name);
  return *found;
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
  char why[128];
  int is_native = native && lb_is_folder(native, &there) && lb_is_folder(own, &here) && here.device == there.device &&
                  here.file == there.file;
  int is_base = 0;
  lb_os_list(own, lb_is_application, &is_base, why, sizeof why);
  if (is_native || is_base) around->installer = LB_INSTALLER_NUGET;
  lb_free(native);
  if (is_native) {
    lb_take(around, base);
  } else {
    lb_free(base);
  }
}

lb_neighbours lb_neighbours_of(lb_packages packages) {
  lb_neighbours around = {NULL, 0, LB_INSTALLER_OTHER};
  const char* below = packages.below;
  if (!*below && !*packages.nuget) return around; /* no package has it */
  char* folder = lb_os_own_folder();
  if (folder) lb_add_application(&around, folder);
  if (folder && strstr(folder, "node_modules")) around.installer = LB_INSTALLER_NPM;
  while (folder) {
    char* above = lb_os_folder_of(folder);
    if (above && strlen(above) >= strlen(folder)) { /* the root, which is its own folder */
      lb_free(above);
      above = NULL;
    }
    lb_add_module(&around, folder, packages.npm);
    lb_add(&around, folder, below);
    folder = above;
  }
  lb_add_sites(&around, lb_os_environment("VIRTUAL_ENV"), below);
  lb_add_sites(&around, lb_os_environment("CONDA_PREFIX"), below);
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
