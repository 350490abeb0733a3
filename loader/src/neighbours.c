/* neighbours.c: looks for folders of other packages; must not open what is in them. */
#include "neighbours.h"

#include <string.h>

#include "internal.h"
#include "os.h"

static int lb_is_folder(const char* path) {
  char why[128];
  lb_identity identity = {0, 0};
  return lb_os_look(path, &identity, why, sizeof why) == LB_PLACE_FOLDER;
}

/* Adds `below` in `root` when it exists. Takes `root`. */
static void lb_add(lb_neighbours* around, char* root, const char* below) {
  char* folder = root ? lb_os_join(root, below) : NULL;
  char** folders =
      folder && lb_is_folder(folder) ? lb_resize(around->folders, (around->count + 1) * sizeof *folders) : NULL;
  lb_free(root);
  if (!folders) {
    lb_free(folder);
    return;
  }
  around->folders = folders;
  folders[around->count++] = folder;
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

lb_neighbours lb_neighbours_of(const char* below) {
  lb_neighbours around = {NULL, 0};
  if (!*below) return around; /* no package has it */
  char* folder = lb_os_own_folder();
  while (folder) {
    char* above = lb_os_folder_of(folder);
    if (above && strlen(above) >= strlen(folder)) { /* the root, which is its own folder */
      lb_free(above);
      above = NULL;
    }
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
