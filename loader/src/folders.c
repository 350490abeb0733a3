/*
 * folders.c: lists of folders, as environment variables and files hold them; must not look whether they are there.
 *
 * Only absolute folders count. To the systems' own loaders an empty or relative element means the current folder, where
 * anybody may have put a library.
 */
#include <string.h>

#include "internal.h"

int lb_each_folder(const char* list, const char* separators, int (*each)(void* context, const char* folder),
                   void* context) {
  int stop = 0;
  while (!stop) {
    size_t length = strcspn(list, separators);
    if (*list == '/') {
      lb_text folder = {NULL, 0, 0, 0};
      lb_text_add_bytes(&folder, list, length);
      char* text = lb_text_take(&folder);
      stop = text ? each(context, text) : 0;
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
