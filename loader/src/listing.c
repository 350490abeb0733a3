/* listing.c: the names in a folder that match patterns, newest first; must not open what they name. */
#include <stdlib.h>

#include "internal.h"
#include "os.h"

static int lb_note_name(void* context, const char* name) {
  lb_names* list = context;
  int matches = 0;
  if (list->count == LB_NAMES_MAX) return 1;
  for (const char* const* glob = list->globs; glob && *glob && !matches; glob++) matches = lb_glob_match(*glob, name);
  if (!matches) return 0;
  char** names = lb_resize(list->names, (list->count + 1) * sizeof *names);
  if (!names) return 1;
  list->names = names;
  char* copy = lb_duplicate(name);
  if (!copy) return 1;
  names[list->count++] = copy;
  return 0;
}

static int lb_newest_first(const void* left, const void* right) {
  return lb_name_compare(*(const char* const*)right, *(const char* const*)left);
}

int lb_names_read(lb_names* list, const char* folder, char* why, size_t why_size) {
  lb_place place = lb_os_list(folder, lb_note_name, list, why, why_size);
  if (list->count) qsort(list->names, list->count, sizeof *list->names, lb_newest_first);
  return place;
}

void lb_names_clear(lb_names* list) {
  for (size_t i = 0; i < list->count; i++) lb_free(list->names[i]);
  lb_free(list->names);
  list->names = NULL;
  list->count = 0;
}
