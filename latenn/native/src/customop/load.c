/* load.c: loads the model that a node wraps; must leave the search to the core. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "customop.h"

/* What the load options point to, and who frees it. */
typedef struct customop_load_lists {
  customop_lines backends;
  customop_lines runtimes;
  customop_lines rows;
  latenn_option* options;
} customop_load_lists;

/* "KEY=VALUE" on each line. */
static latenn_status* customop_read_options(customop_load_lists* lists) {
  lists->options = calloc(lists->rows.count + 1, sizeof *lists->options);
  if (!lists->options) return customop_no_memory();
  for (size_t i = 0; i < lists->rows.count; i++) {
    char* row = (char*)lists->rows.list[i]; /* a line of our own copy */
    char* sign = strchr(row, '=');
    if (!sign || sign == row) {
      return latenn_failure(LATENN_INVALID_ARGUMENT,
                            "The session's entry options has the line \"%.100s\"; it takes KEY=VALUE on each line.",
                            row);
    }
    *sign = 0;
    lists->options[i].key = row;
    lists->options[i].value = sign + 1;
  }
  return NULL;
}

static const char* customop_or_null(const customop_text* text) {
  return text->size ? text->bytes : NULL;
}

static latenn_status* customop_fill(customop_settings* settings, customop_load_lists* lists,
                                    latenn_load_options* options) {
  latenn_status* status = customop_split(&settings->backend_directories, &lists->backends);
  if (!status) status = customop_split(&settings->runtime_directories, &lists->runtimes);
  if (!status) status = customop_split(&settings->options, &lists->rows);
  if (!status) status = customop_read_options(lists);
  options->size = sizeof *options;
  options->backend = customop_or_null(settings->backend.size ? &settings->backend : &settings->backends);
  options->device = customop_or_null(&settings->device);
  options->backend_directories = lists->backends.list;
  options->backend_directory_count = lists->backends.count;
  options->runtime_path = customop_or_null(&settings->runtime_path);
  options->runtime_directories = lists->runtimes.list;
  options->runtime_directory_count = lists->runtimes.count;
  options->runtime_minimum = customop_or_null(&settings->runtime_minimum);
  options->runtime_advice = customop_or_null(&settings->runtime_advice);
  options->options = lists->options;
  options->option_count = lists->rows.count;
  options->weights = settings->weights.bytes;
  options->weights_size = settings->weights.size;
  return status;
}

static int customop_is_absolute(const char* path) {
  return *path == '/' || *path == '\\' || (*path && path[1] == ':');
}

/* A path that is not absolute begins at the entry directory, since a node does not know where its graph lies. */
static latenn_status* customop_load_path(const customop_settings* settings, const latenn_load_options* options,
                                         latenn_model** model) {
  if (customop_is_absolute(settings->path.bytes) || !settings->directory.size) {
    return latenn_load_path(settings->path.bytes, options, model);
  }
  size_t room = settings->directory.size + settings->path.size + 2;
  char* whole = malloc(room);
  if (!whole) return customop_no_memory();
  snprintf(whole, room, "%s/%s", settings->directory.bytes, settings->path.bytes);
  latenn_status* status = latenn_load_path(whole, options, model);
  free(whole);
  return status;
}

latenn_status* customop_load(customop_settings* settings, latenn_model** model) {
  customop_load_lists lists = {0};
  latenn_load_options options = {0};
  latenn_status* status = customop_fill(settings, &lists, &options);
  if (!status && settings->model.bytes) {
    status = latenn_load_bytes(settings->model.bytes, settings->model.size, &options, model);
  } else if (!status) {
    status = customop_load_path(settings, &options, model);
  }
  free(lists.backends.list);
  free(lists.runtimes.list);
  free(lists.rows.list);
  free(lists.options);
  return status;
}
