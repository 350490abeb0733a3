/* neighbours.h: folders of other packages, found from the place of this one; none of it needs the host's help. */
#ifndef LATEBIND_NEIGHBOURS_H
#define LATEBIND_NEIGHBOURS_H

#include <stddef.h>

/* The packages that have the runtime; "" where there is none. */
typedef struct lb_packages {
  const char* below; /* where site-packages have it: "onnxruntime/capi" */
  const char* npm;   /* "onnxruntime-node" */
  const char* nuget; /* "Microsoft.ML.OnnxRuntime" */
} lb_packages;

/* What installed this library, as far as its folder shows. */
typedef enum lb_installer { LB_INSTALLER_OTHER, LB_INSTALLER_NPM, LB_INSTALLER_NUGET } lb_installer;

typedef struct lb_neighbour {
  char* folder; /* where the runtime may be */
  char* root;   /* the folder above it up to which it must be trusted */
} lb_neighbour;

typedef struct lb_neighbours {
  lb_neighbour* list;
  size_t count;
  lb_installer installer;
} lb_neighbours;

/*
 * The folders that exist, nearest first: those of a .NET application, around this library; in each folder above this
 * library, up to the root of what it was installed with, the npm package in its node_modules and `below` (the same
 * site-packages, `pip install --target` folder or frozen application); then `below` in the site-packages of the active
 * environment and of the user, for a library that is installed elsewhere (editable, or in a program's own folder).
 */
lb_neighbours lb_neighbours_of(lb_packages packages);
void lb_neighbours_clear(lb_neighbours* around);

/* ---- roots.c ---------------------------------------------------------------------------------------------------- */

/*
 * The root of what a library in `folder` was installed with, above which nothing is looked for: site-packages, the
 * folder that holds node_modules, the base of a .NET or frozen application, the folder of the program. `folder` itself
 * where nothing shows one. The caller frees; NULL when out of memory.
 */
char* lb_root_of(const char* folder);
/* 1 when some name in the folder matches one of the patterns, which NULL ends. */
int lb_has_name(const char* folder, const char* const* patterns);

#endif
