/* neighbours.h: folders of other packages, found from the place of this one; none of it needs the host's help. */
#ifndef LATEBIND_NEIGHBOURS_H
#define LATEBIND_NEIGHBOURS_H

#include "internal.h"

/* The packages that have the runtime; "" where there is none. */
typedef struct lb_packages {
  const char* below; /* where site-packages have it: "onnxruntime/capi"; ';' is between several */
  const char* roots; /* folders below those that environment variables name: "CUDA_PATH/lib64;CUDA_HOME/lib64" */
} lb_packages;

/*
 * Tries the folders that exist, nearest first: those of a .NET application, around this library; in each folder above
 * this library, the npm package in its node_modules and `below` (the same site-packages, `pip install --target` folder
 * or frozen application); then `below` in the site-packages of the active environment and of the user, for a library
 * that is installed elsewhere (editable, or in a program's own folder); and the folder for libraries of an active conda
 * environment. This library is looked for where it is and where it was opened, which differ if links lead to it.
 * Returns 1 when the runtime is bound.
 */
int lb_search_packages(lb_search* search);

/* Tries the folders of `roots`. Returns 1 when the runtime is bound. */
int lb_search_roots(lb_search* search);

#endif
