/* neighbours.h: folders of other packages, found from the place of this one; nothing of it needs the host's help. */
#ifndef LATEBIND_NEIGHBOURS_H
#define LATEBIND_NEIGHBOURS_H

#include <stddef.h>

typedef struct lb_neighbours {
  char** folders;
  size_t count;
} lb_neighbours;

/*
 * The folders that exist, nearest first: of a .NET application, around this library; of the npm package `npm`
 * ("onnxruntime-node") in the node_modules and of `below` ("onnxruntime/capi") in each folder above this library, which
 * finds it in the same site-packages, `pip install --target` folder or frozen application; then `below` in the
 * site-packages of the active environment and of the user, for a library that is installed elsewhere (editable, or in a
 * program's own folder).
 */
lb_neighbours lb_neighbours_of(const char* below, const char* npm);
void lb_neighbours_clear(lb_neighbours* around);

#endif
