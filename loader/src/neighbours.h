/* neighbours.h: folders of other packages, found from the place of this one; nothing of it needs the host's help. */
#ifndef LATEBIND_NEIGHBOURS_H
#define LATEBIND_NEIGHBOURS_H

#include <stddef.h>

typedef struct lb_neighbours {
  char** folders;
  size_t count;
} lb_neighbours;

/*
 * The folders that exist of: `below` ("onnxruntime/capi") in each folder above this library, nearest first, which finds
 * it in the same site-packages or `pip install --target` folder; then in the site-packages of the active environment
 * and of the user, for a library that is installed elsewhere (editable, or in a program's own folder).
 */
lb_neighbours lb_neighbours_of(const char* below);
void lb_neighbours_clear(lb_neighbours* around);

#endif
