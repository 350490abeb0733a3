/*
 * folders.c: lists of folders, as environment variables and files hold them, and places compared; must not open them.
 *
 * Of a list, only absolute folders count. To the systems' own loaders an empty or relative element means the current
 * folder, where anybody may have put a library.
 */
#include <string.h>

#include "os.h"

int lb_each_folder(const char* list, const char* separators, lb_trust trust, lb_visit_folder each, void* context) {
  int stop = 0;
  while (!stop) {
    size_t length = strcspn(list, separators);
    if (lb_os_is_absolute(list)) {
      char* text = lb_copy(list, length);
      stop = text ? each(context, text, trust) : 0;
      lb_free(text);
    }
    list += length;
    if (!*list++) break;
  }
  return stop;
}

/* What follows `token` in a path that begins with it; else NULL. */
static const char* lb_behind(const char* path, const char* token) {
  size_t length = strlen(token);
  if (strncmp(path, token, length) != 0 || (path[length] && path[length] != '/')) return NULL;
  return path + length;
}

char* lb_run_path(const char* path, const char* loader, const char* program) {
  const char* rest = lb_behind(path, "@loader_path");
  const char* start = rest ? loader : NULL;
  if (!rest) {
    rest = lb_behind(path, "@executable_path");
    start = rest ? program : NULL;
  }
  if (!rest) return *path == '/' ? lb_duplicate(path) : NULL;
  if (!start) return NULL;
  lb_text whole = {NULL, 0, 0, 0};
  lb_text_add(&whole, start);
  lb_text_add(&whole, rest);
  return lb_text_take(&whole);
}

lb_outcome lb_outcome_of(lb_place place) {
  switch (place) {
    case LB_PLACE_ABSENT: return LB_OUTCOME_NOT_FOUND;
    case LB_PLACE_REFUSED:
    case LB_PLACE_UNTRUSTED: return LB_OUTCOME_REFUSED;
    case LB_PLACE_BUSY: return LB_OUTCOME_TRY_AGAIN;
    case LB_PLACE_FILE:
    case LB_PLACE_FOLDER:
    case LB_PLACE_OTHER: break;
  }
  return LB_OUTCOME_NOT_A_LIBRARY;
}

int lb_is_same_place(const char* left, const char* right) {
  char why[128];
  lb_identity first = {0, 0};
  lb_identity second = {0, 0};
  lb_place kind = lb_os_look(left, &first, why, sizeof why);
  if (kind != LB_PLACE_FILE && kind != LB_PLACE_FOLDER) return 0;
  return lb_os_look(right, &second, why, sizeof why) == kind && first.device == second.device &&
         first.file == second.file;
}

char* lb_take_above(char* folder) {
  char* above = lb_os_folder_of(folder);
  int is_top = above && strlen(above) >= strlen(folder);
  lb_free(folder);
  if (!is_top) return above;
  lb_free(above);
  return NULL;
}
