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
  if (!lists->options) return latenn_no_memory();
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

/* Whether the host vouches for what its models say: then they may name any file. */
static latenn_status* customop_read_trust(const customop_settings* settings, int* is_trusted) {
  const customop_text* text = &settings->allow_any_path;
  *is_trusted = text->size == 1 && *text->bytes == '1';
  if (*is_trusted || !text->size || strcmp(text->bytes, "0") == 0) return NULL;
  return latenn_failure(LATENN_INVALID_ARGUMENT, "The session's entry allow_any_path is \"%.100s\"; it takes 0 or 1.",
                        text->bytes);
}

/* A node does not know where its graph is: its path begins at the entry directory. */
static latenn_status* customop_check_place(const customop_settings* settings) {
  const char* path = settings->path.bytes;
  if (!settings->directory.size) {
    return latenn_failure(LATENN_INVALID_ARGUMENT,
                          "Its attribute path is \"%.300s\", and the session does not say where that begins. Set the "
                          "session entry custom_op." CUSTOMOP_NAME ".directory to the model's folder.",
                          path);
  }
  return customop_check_inside("Its attribute path is a link:", path, settings->directory.bytes);
}

/* OpenVINO finds the weights of an IR by its name. */
static latenn_status* customop_check_weights(const customop_settings* settings) {
  size_t stem = settings->path.size - strlen(".xml");
  if (settings->path.size < strlen(".xml") || strcmp(settings->path.bytes + stem, ".xml") != 0) return NULL;
  char* weights = malloc(settings->path.size + 1);
  if (!weights) return latenn_no_memory();
  snprintf(weights, settings->path.size + 1, "%.*s.bin", (int)stem, settings->path.bytes);
  latenn_status* status = customop_check_inside("The model's weights are a link:", weights, settings->directory.bytes);
  free(weights);
  return status;
}

static int customop_is_absolute(const char* path) {
  return *path == '/' || *path == '\\' || (*path && path[1] == ':');
}

static latenn_status* customop_load_path(const customop_settings* settings, const latenn_load_options* options,
                                         int is_trusted, latenn_model** model) {
  latenn_status* status = is_trusted ? NULL : customop_check_path(&settings->path);
  if (!status && !is_trusted) status = customop_check_place(settings);
  if (!status && !is_trusted) status = customop_check_weights(settings);
  if (status) return status;
  int is_whole = customop_is_absolute(settings->path.bytes) || !settings->directory.size;
  char* whole = customop_join(is_whole ? "" : settings->directory.bytes, settings->path.bytes);
  if (!whole) return latenn_no_memory();
  const char* path = is_whole ? whole + 1 : whole;
  if (!is_trusted) status = customop_check_file(path);
  if (!status) status = latenn_load_path(path, options, model);
  free(whole);
  return status;
}

static latenn_status* customop_load_bytes(const customop_settings* settings, const latenn_load_options* options,
                                          int is_trusted, latenn_model** model) {
  latenn_status* status = is_trusted ? NULL : customop_check_bytes(&settings->model);
  return status ? status : latenn_load_bytes(settings->model.bytes, settings->model.size, options, model);
}

latenn_status* customop_load(customop_settings* settings, latenn_model** model) {
  customop_load_lists lists = {0};
  latenn_load_options options = {0};
  int is_trusted = 0;
  latenn_status* status = customop_read_trust(settings, &is_trusted);
  if (!status) status = customop_fill(settings, &lists, &options);
  if (!status && settings->model.bytes) {
    status = customop_load_bytes(settings, &options, is_trusted, model);
  } else if (!status) {
    status = customop_load_path(settings, &options, is_trusted, model);
  }
  free(lists.backends.list);
  free(lists.runtimes.list);
  free(lists.rows.list);
  free(lists.options);
  return status;
}
