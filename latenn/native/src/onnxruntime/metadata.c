/* metadata.c: the metadata of a model as JSON, and where its profile is; must not believe that its texts are short
 * or valid. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ort.h"

/* A text that grows. Once memory is short it stays as it is. */
typedef struct ort_text {
  char* bytes;
  size_t used;
  size_t room;
  int is_short;
} ort_text;

static void ort_put(ort_text* text, const char* bytes, size_t count) {
  if (text->used + count + 1 > text->room) {
    size_t room = 2 * (text->used + count) + 256;
    char* grown = realloc(text->bytes, room);
    if (!grown) text->is_short = 1;
    if (!grown) return;
    text->bytes = grown;
    text->room = room;
  }
  memcpy(text->bytes + text->used, bytes, count);
  text->used += count;
  text->bytes[text->used] = 0;
}

static int ort_is_plain(char c) {
  return (unsigned char)c >= 0x20 && c != '"' && c != '\\';
}

static void ort_put_text(ort_text* text, const char* value) {
  ort_put(text, "\"", 1);
  for (; *value && !text->is_short; value++) {
    const char* start = value;
    while (ort_is_plain(*value)) value++;
    ort_put(text, start, (size_t)(value - start));
    if (!*value) break;
    char escaped[8];
    int is_control = (unsigned char)*value < 0x20;
    int size = snprintf(escaped, sizeof escaped, is_control ? "\\u%04x" : "\\%c", (unsigned char)*value);
    ort_put(text, escaped, (size_t)size);
  }
  ort_put(text, "\"", 1);
}

static void ort_put_pair(ort_text* text, const char* key, const char* value) {
  if (text->bytes && text->bytes[text->used - 1] != '{') ort_put(text, ", ", 2);
  ort_put_text(text, key);
  ort_put(text, ": ", 2);
  if (value) ort_put_text(text, value);
}

typedef OrtStatus* (*ort_getter)(const lb_ort_api* api, const OrtModelMetadata* metadata, OrtAllocator* allocator,
                                 char** value);

static const struct {
  const char* name;
  ort_getter get;
} ort_facts[] = {
    {"producer_name", lb_ort_ModelMetadataGetProducerName},
    {"graph_name", lb_ort_ModelMetadataGetGraphName},
    {"domain", lb_ort_ModelMetadataGetDomain},
    {"description", lb_ort_ModelMetadataGetDescription},
    {"graph_description", lb_ort_ModelMetadataGetGraphDescription},
};

static OrtStatus* ort_free(const ort_runtime* runtime, void* memory) {
  return memory ? lb_ort_AllocatorFree(&runtime->api, runtime->allocator, memory) : NULL;
}

static OrtStatus* ort_put_facts(const ort_runtime* runtime, const OrtModelMetadata* metadata, ort_text* text) {
  const lb_ort_api* api = &runtime->api;
  int64_t version = 0;
  char number[32];
  OrtStatus* failed = NULL;
  for (size_t i = 0; i < sizeof ort_facts / sizeof *ort_facts && !failed; i++) {
    char* value = NULL;
    failed = ort_facts[i].get(api, metadata, runtime->allocator, &value);
    if (failed) return failed;
    ort_put_pair(text, ort_facts[i].name, value ? value : "");
    failed = ort_free(runtime, value);
  }
  if (!failed) failed = lb_ort_ModelMetadataGetVersion(api, metadata, &version);
  ort_put_pair(text, "version", NULL);
  ort_put(text, number, (size_t)snprintf(number, sizeof number, "%" PRId64, version));
  return failed;
}

static OrtStatus* ort_put_custom(const ort_runtime* runtime, const OrtModelMetadata* metadata, ort_text* text) {
  const lb_ort_api* api = &runtime->api;
  char** keys = NULL;
  int64_t count = 0;
  OrtStatus* failed = lb_ort_ModelMetadataGetCustomMetadataMapKeys(api, metadata, runtime->allocator, &keys, &count);
  ort_put_pair(text, "custom", NULL);
  ort_put(text, "{", 1);
  for (int64_t i = 0; i < count; i++) {
    char* value = NULL;
    if (!failed) {
      failed = lb_ort_ModelMetadataLookupCustomMetadataMap(api, metadata, runtime->allocator, keys[i], &value);
    }
    if (!failed) ort_put_pair(text, keys[i], value ? value : "");
    if (!failed) failed = ort_free(runtime, value);
    OrtStatus* kept = ort_free(runtime, keys[i]);
    if (kept) lb_ort_ReleaseStatus(api, kept);
  }
  if (!failed) failed = ort_free(runtime, (void*)keys);
  ort_put(text, "}", 1);
  return failed;
}

latenn_status* backend_model_metadata(const latenn_backend_model* model, char** out) {
  const lb_ort_api* api = &model->runtime->api;
  OrtModelMetadata* metadata = NULL;
  ort_text text = {NULL, 0, 0, 0};
  OrtStatus* failed = lb_ort_SessionGetModelMetadata(api, model->session, &metadata);
  ort_put(&text, "{", 1);
  if (!failed) failed = ort_put_facts(model->runtime, metadata, &text);
  if (!failed) failed = ort_put_custom(model->runtime, metadata, &text);
  ort_put(&text, "}", 1);
  if (metadata) lb_ort_ReleaseModelMetadata(api, metadata);
  if (!failed && !text.is_short) {
    *out = text.bytes;
    return NULL;
  }
  free(text.bytes);
  return failed ? ort_take(model->described.host, api, failed, ORT_PHASE_SETUP, "does not give the model's metadata")
                : backend_no_memory(model->described.host);
}

latenn_status* backend_end_profile(latenn_backend_model* model, char** path) {
  const ort_runtime* runtime = model->runtime;
  char* written = NULL;
  OrtStatus* failed = lb_ort_SessionEndProfiling(&runtime->api, model->session, runtime->allocator, &written);
  int is_short = 0;
  if (!failed && written) *path = backend_copy_text(written);
  if (!failed && written) is_short = !*path;
  if (!failed) failed = ort_free(runtime, written);
  if (failed) {
    free(*path);
    *path = NULL;
    return ort_take(model->described.host, &runtime->api, failed, ORT_PHASE_SETUP, "does not end a profile");
  }
  if (is_short) return backend_no_memory(model->described.host);
  if (*path && **path) return NULL;
  free(*path);
  *path = NULL;
  return backend_fail(model->described.host, LATENN_INVALID_ARGUMENT,
                      "The model has no profile, or it was ended. Load it with the option profile.");
}
