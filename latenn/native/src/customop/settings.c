/* settings.c: reads the node's attributes and the session's config entries; must not judge what only a backend knows.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "customop.h"

enum { CUSTOMOP_KEY = 256 };

/* Where a text comes from: the attribute of that name, the entry custom_op.<name>.<that name>, or both. */
typedef struct customop_row {
  const char* name;
  size_t place;
  int is_attribute;
  int is_entry;
  latenn_status* (*check)(const customop_text* text); /* of the attribute; NULL takes any bytes */
} customop_row;

#define CUSTOMOP_ROW(name, is_attribute, is_entry, check) \
  {#name, offsetof(customop_settings, name), is_attribute, is_entry, check}
static const customop_row customop_rows[] = {
    CUSTOMOP_ROW(model, 1, 0, NULL),
    CUSTOMOP_ROW(weights, 1, 0, NULL),
    CUSTOMOP_ROW(path, 1, 0, customop_check_lines), /* and customop_check_path(), which an entry may switch off */
    CUSTOMOP_ROW(input_names, 1, 0, customop_check_lines),
    CUSTOMOP_ROW(output_names, 1, 0, customop_check_lines),
    CUSTOMOP_ROW(backend, 1, 1, customop_check_backend),
    CUSTOMOP_ROW(device, 1, 1, customop_check_device),
    CUSTOMOP_ROW(options, 0, 1, NULL),
    CUSTOMOP_ROW(backends, 0, 1, NULL),
    CUSTOMOP_ROW(directory, 0, 1, NULL),
    CUSTOMOP_ROW(allow_any_path, 0, 1, NULL),
    CUSTOMOP_ROW(backend_directories, 0, 1, NULL),
    CUSTOMOP_ROW(runtime_directories, 0, 1, NULL),
    CUSTOMOP_ROW(runtime_path, 0, 1, NULL),
    CUSTOMOP_ROW(runtime_minimum, 0, 1, NULL),
    CUSTOMOP_ROW(runtime_advice, 0, 1, NULL),
};
#undef CUSTOMOP_ROW
enum { CUSTOMOP_ROWS = sizeof customop_rows / sizeof *customop_rows };

static customop_text* customop_place(customop_settings* settings, size_t row) {
  return (customop_text*)(void*)((char*)settings + customop_rows[row].place);
}

static void customop_forget(const lb_ort_api* api, OrtStatus* failed) {
  if (failed) lb_ort_ReleaseStatus(api, failed);
}

/* Room for ONNX Runtime's message of that length, with its NUL. */
static latenn_status* customop_make_room(customop_text* text, size_t size) {
  free(text->bytes);
  text->bytes = calloc(1, size + 1);
  text->size = size ? size - 1 : 0;
  return text->bytes ? NULL : latenn_no_memory();
}

/* What the node lacks stays as it was: for a missing attribute ONNX Runtime reports only that it failed. */
static latenn_status* customop_read_attribute(const lb_ort_api* api, const OrtKernelInfo* info, const char* name,
                                              customop_text* text) {
  size_t size = 0;
  OrtStatus* failed = lb_ort_KernelInfoGetAttribute_string(api, info, name, NULL, &size);
  if (failed) {
    customop_forget(api, failed);
    return NULL;
  }
  latenn_status* status = customop_make_room(text, size);
  if (status) return status;
  return customop_take(api, lb_ort_KernelInfoGetAttribute_string(api, info, name, text->bytes, &size));
}

static latenn_status* customop_read_entry(const customop_registration* registration, const char* name, const char* key,
                                          customop_text* text) {
  const lb_ort_api* api = &registration->api;
  char whole[CUSTOMOP_KEY + 64];
  size_t size = 0;
  int is_there = 0;
  if (!*name || strlen(name) >= CUSTOMOP_KEY) return NULL; /* no such key can be set for it */
  snprintf(whole, sizeof whole, "custom_op.%s.%s", name, key);
  OrtStatus* failed = lb_ort_HasSessionConfigEntry(api, registration->options, whole, &is_there);
  if (!failed && is_there) {
    failed = lb_ort_GetSessionConfigEntry(api, registration->options, whole, NULL, &size);
    latenn_status* status = failed ? NULL : customop_make_room(text, size);
    if (status) return status;
    if (!failed) failed = lb_ort_GetSessionConfigEntry(api, registration->options, whole, text->bytes, &size);
  }
  return customop_take(api, failed);
}

static latenn_status* customop_read_node(const lb_ort_api* api, const OrtKernelInfo* info, customop_text* node) {
  size_t size = 0;
  customop_forget(api, lb_ort_KernelInfo_GetNodeName(api, info, NULL, &size));
  latenn_status* status = customop_make_room(node, size);
  return status || !size ? status : customop_take(api, lb_ort_KernelInfo_GetNodeName(api, info, node->bytes, &size));
}

/* The attributes that say what the node is. */
static latenn_status* customop_check(const lb_ort_api* api, const OrtKernelInfo* info,
                                     const customop_settings* settings) {
  int64_t version = 0;
  customop_forget(api, lb_ort_KernelInfoGetAttribute_int64(api, info, "version", &version));
  if (version > CUSTOMOP_ATTRIBUTES) {
    return latenn_failure(LATENN_UNSUPPORTED,
                          "It was written in version %" PRId64
                          " of its attributes; latenn %s reads up to %d. Update "
                          "latenn-customop, or wrap the model again.",
                          version, LATENN_VERSION_TEXT, CUSTOMOP_ATTRIBUTES);
  }
  if (version < 1 || (!settings->model.bytes && !settings->path.bytes) || !settings->input_names.bytes ||
      !settings->output_names.bytes) {
    return latenn_failure(LATENN_INVALID_ARGUMENT,
                          "It lacks the attribute %s. Make the node with: python -m latenn wrap MODEL.",
                          version < 1                                       ? "version"
                          : !settings->model.bytes && !settings->path.bytes ? "model"
                          : !settings->input_names.bytes                    ? "input_names"
                                                                            : "output_names");
  }
  return NULL;
}

latenn_status* customop_read_settings(const customop_registration* registration, const OrtKernelInfo* info,
                                      customop_settings* settings) {
  const lb_ort_api* api = &registration->api;
  memset(settings, 0, sizeof *settings);
  latenn_status* status = customop_read_node(api, info, &settings->node);
  for (size_t i = 0; i < CUSTOMOP_ROWS && !status; i++) {
    const customop_row* row = &customop_rows[i];
    customop_text* text = customop_place(settings, i);
    if (row->is_attribute) status = customop_read_attribute(api, info, row->name, text);
    if (!status && row->is_attribute && row->check) status = row->check(text);
    if (status || !row->is_entry) continue;
    status = customop_read_entry(registration, CUSTOMOP_NAME, row->name, text);
    if (!status) status = customop_read_entry(registration, settings->node.bytes, row->name, text);
  }
  if (!status) status = customop_check(api, info, settings);
  if (!status) status = customop_split(&settings->input_names, &settings->inputs);
  if (!status) status = customop_split(&settings->output_names, &settings->outputs);
  return status;
}

latenn_status* customop_split(customop_text* text, customop_lines* lines) {
  size_t most = 1;
  lines->count = 0;
  lines->list = NULL;
  if (text->size && memchr(text->bytes, 0, text->size)) {
    return latenn_failure(LATENN_INVALID_ARGUMENT, "One of its lists has a NUL after \"%.100s\".", text->bytes);
  }
  for (size_t i = 0; i < text->size; i++) most += text->bytes[i] == '\n';
  lines->list = calloc(most, sizeof *lines->list);
  if (!lines->list) return latenn_no_memory();
  char* line = text->bytes;
  for (char* end = line; line && line < text->bytes + text->size; line = end + 1) {
    end = line + strcspn(line, "\n");
    *end = 0;
    if (*line) lines->list[lines->count++] = line;
  }
  return NULL;
}

void customop_clear_settings(customop_settings* settings) {
  for (size_t i = 0; i < CUSTOMOP_ROWS; i++) free(customop_place(settings, i)->bytes);
  free(settings->node.bytes);
  free(settings->inputs.list);
  free(settings->outputs.list);
  memset(settings, 0, sizeof *settings);
}
