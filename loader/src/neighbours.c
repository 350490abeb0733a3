/* neighbours.c: looks into folders of other packages; must not judge what is in them. */
#include "neighbours.h"

#include <stdio.h>
#include <string.h>

#include "cpu.h"
#include "internal.h"
#include "os.h"

/* What Node.js calls the platform. */
#if defined(_WIN32)
#define LB_NODE "win32/" LB_CPU
#elif defined(__APPLE__)
#define LB_NODE "darwin/" LB_CPU
#else
#define LB_NODE "linux/" LB_CPU
#endif

/* Where conda's packages have libraries, below the environment. */
#if defined(_WIN32)
#define LB_CONDA_LIBRARIES "Library/bin"
#else
#define LB_CONDA_LIBRARIES "lib"
#endif

/* Takes `folder`. */
static void lb_try(lb_search* search, char* folder) {
  if (folder && !search->handle) lb_try_folder(search, LB_SOURCE_PACKAGE, folder);
  lb_free(folder);
}

/* What in this site-packages or folder speaks for one of the variants. */
static void lb_note_signs(lb_search* search, const char* parent) {
  char why[128];
  lb_identity identity;
  int trust = lb_trust_at(search, LB_SOURCE_PACKAGE);
  for (size_t i = 0; i < lb_variant_count(search->runtime); i++) {
    const char* const* sign = lb_variant_at(search->runtime, i)->signs;
    for (; sign && *sign && !(search->record->signs >> i & 1); sign++) {
      char* path = lb_os_join(parent, *sign);
      int place = path ? lb_look_at(search, trust, path, 0, &identity, why, sizeof why) : LB_PLACE_ABSENT;
      if (place == LB_PLACE_FILE) search->record->signs |= 1u << i;
      lb_free(path);
    }
  }
}

/* Each folder of a list in `parent`; "" is nowhere. Takes `parent`. */
static void lb_try_below(lb_search* search, char* parent, const char* below) {
  for (const char* at = below; parent && *at;) {
    size_t length = strcspn(at, ";");
    char* folder = lb_copy(at, length);
    if (folder && length) lb_try(search, lb_os_join(parent, folder));
    lb_free(folder);
    at += at[length] ? length + 1 : length;
  }
  if (parent && *below && !search->handle) lb_note_signs(search, parent);
  lb_free(parent);
}

/* Tries `below` in the folder `inner` of each folder of `parent` whose name matches: python3.12 before python3.9, in
 * whatever order the disk has them. */
static void lb_try_each(lb_search* search, const char* parent, const char* pattern, const char* inner,
                        const char* below) {
  const char* const globs[] = {pattern, NULL};
  lb_names list = {globs, NULL, 0};
  if (!search->handle) lb_list_folder(search, LB_SOURCE_PACKAGE, parent, &list);
  for (size_t i = 0; i < list.count; i++) {
    char* folder = lb_os_join(parent, list.names[i]);
    char* within = folder && *inner ? lb_os_join(folder, inner) : lb_duplicate(folder);
    lb_try_below(search, within, below);
    lb_free(folder);
  }
  lb_names_clear(&list);
}

/*
 * The site-packages below a prefix: lib/python3.12/site-packages, or Lib/site-packages on Windows. Then the prefix,
 * where some wheels have their libraries. Takes `prefix`.
 */
static void lb_try_sites(lb_search* search, char* prefix, const char* below) {
  char* parent = prefix ? lb_os_join(prefix, "lib") : NULL;
  char* site = parent ? lb_os_join(parent, "site-packages") : NULL;
  if (site && *below) {
    lb_try_below(search, lb_duplicate(site), below);
    lb_try_each(search, parent, "python3*", "site-packages", below);
  }
  lb_free(site);
  lb_free(parent);
  lb_try_below(search, prefix, below);
}

/* What the npm package `npm` has for this platform, in a folder where Node.js would find it: napi-v6/linux/x64. */
static void lb_try_module(lb_search* search, const char* folder, const char* npm) {
  char bin[256]; /* npm's names are at most 214 bytes long */
  snprintf(bin, sizeof bin, "node_modules/%s/bin", npm);
  char* parent = *npm ? lb_os_join(folder, bin) : NULL;
  if (parent) lb_try_each(search, parent, "napi-v*", "", LB_NODE);
  lb_free(parent);
}

/*
 * What is around a file of this library. Of a .NET application, the native folder for this platform, when this library
 * is in its base folder; and the base folder, when this library is in the native one: builds and projects copy some
 * files to the one, some to the other. Then each folder from its own up to the top.
 */
static void lb_try_around(lb_search* search, const char* file) {
  const lb_packages* packages = search->around->packages;
  char* folder = file ? lb_os_folder_of(file) : NULL;
  if (!folder) return;
  lb_try_below(search, lb_duplicate(folder), LB_DOTNET_NATIVE);
  lb_try(search, lb_dotnet_base(folder));
  for (; folder; folder = lb_take_above(folder)) {
    lb_try_module(search, folder, lb_npm_of(search->runtime));
    lb_try_below(search, lb_duplicate(folder), packages->below);
  }
}

/* A folder that a variable names, from the root on: what begins in the working folder is nobody's choice. */
static char* lb_rooted_environment(const char* name) {
  char* value = lb_os_environment(name);
  if (value && lb_os_is_absolute(value)) return value;
  lb_free(value);
  return NULL;
}

int lb_search_roots(lb_search* search) {
  const char* roots = search->around->packages->roots;
  while (*roots) {
    size_t variable = strcspn(roots, "/");
    size_t length = strcspn(roots, ";");
    char* name = variable < length ? lb_copy(roots, variable) : NULL;
    char* below = name ? lb_copy(roots + variable + 1, length - variable - 1) : NULL;
    if (below) lb_try_below(search, lb_rooted_environment(name), below);
    lb_free(below);
    lb_free(name);
    roots += roots[length] ? length + 1 : length;
  }
  return search->handle != NULL;
}

int lb_search_packages(lb_search* search) {
  const char* below = search->around->packages->below;
  if (!*below && !*lb_nuget_of(search->runtime)) return 0; /* no package has it */
  const lb_own_names* own = lb_own_names_of(search);
  lb_try_around(search, own->file);
  lb_try_around(search, own->name);
  lb_try_sites(search, lb_rooted_environment("VIRTUAL_ENV"), below);
  lb_try_sites(search, lb_rooted_environment("CONDA_PREFIX"), below);
  lb_try_below(search, lb_rooted_environment("CONDA_PREFIX"), LB_CONDA_LIBRARIES);
  char* home = lb_rooted_environment("HOME");
  lb_try_sites(search, home ? lb_os_join(home, ".local") : NULL, below);
  lb_free(home);
  return search->handle != NULL;
}
