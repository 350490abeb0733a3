/*
 * imports.c: what keeps a Windows library from loading: walks what it imports, and what that imports, and names the
 * first that is nowhere. Must not need Windows, so that its tests run anywhere: the caller knows where libraries are.
 *
 * Every name is looked up once, however often and in whatever circles the libraries import each other.
 */
#include <stdio.h>
#include <string.h>

#include "file_head.h"
#include "internal.h"

enum { LB_IMPORTS_MAX = 1024 }; /* more would only make an error message late */

typedef struct lb_import {
  char* name;
  const char* needer; /* the first that imports it: the name of another, or "" for the library itself */
} lb_import;

typedef struct lb_imports {
  lb_import* list; /* grows while it is walked, so it is also the queue */
  size_t count;
  size_t capacity;
  const char* needer;
} lb_imports;

static char lb_small(char byte) {
  return (char)(byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte);
}

static int lb_same_name(const char* left, const char* right) {
  while (*left && lb_small(*left) == lb_small(*right)) {
    left++;
    right++;
  }
  return lb_small(*left) == lb_small(*right);
}

/* Returns non-zero when there is no room for more. */
static int lb_note_import(void* context, const char* name) {
  lb_imports* imports = context;
  if (strpbrk(name, "/\\:")) return 0; /* a path: not for us to look up */
  for (size_t i = 0; i < imports->count; i++) {
    if (lb_same_name(imports->list[i].name, name)) return 0;
  }
  if (imports->count == LB_IMPORTS_MAX) return 1;
  if (imports->count == imports->capacity) {
    size_t capacity = imports->capacity ? imports->capacity * 2 : 32;
    lb_import* list = lb_resize(imports->list, capacity * sizeof *list);
    if (!list) return 1;
    imports->list = list;
    imports->capacity = capacity;
  }
  char* copy = lb_duplicate(name);
  if (!copy) return 1;
  imports->list[imports->count].name = copy;
  imports->list[imports->count++].needer = imports->needer;
  return 0;
}

static void lb_note_imports(void* context, const lb_file* file) {
  lb_pe_imports(file, lb_note_import, context);
}

void lb_find_missing(const lb_file* file, lb_find_import find, void* context, lb_missing* missing) {
  lb_imports imports = {NULL, 0, 0, ""};
  memset(missing, 0, sizeof *missing);
  lb_note_imports(&imports, file);
  for (size_t i = 0; i < imports.count; i++) {
    const lb_import import = imports.list[i]; /* the list may move */
    imports.needer = import.name;
    if (find(context, import.name, lb_note_imports, &imports)) continue;
    snprintf(missing->name, sizeof missing->name, "%s", import.name);
    snprintf(missing->needer, sizeof missing->needer, "%s", import.needer);
    break;
  }
  for (size_t i = 0; i < imports.count; i++) lb_free(imports.list[i].name);
  lb_free(imports.list);
}
