/* model.c: a model is its bytes, one signature of it, and what it is compiled with; must not compute. */
#if !defined(_WIN32)
#define _DEFAULT_SOURCE /* fileno(), mmap() */
#include <sys/mman.h>
#include <sys/stat.h>
#endif
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/paths.h"
#include "litert.h"

/* LiteRT reads a model from memory as long as it lives, and the caller may free its own after loading. */
static latenn_status* litert_from_bytes(latenn_backend_model* model, const void* bytes, size_t size) {
  model->bytes = malloc(size);
  if (!model->bytes) return backend_no_memory(model->described.host);
  memcpy(model->bytes, bytes, size);
  LiteRtStatus failed = model->api.CreateModelFromBuffer(model->environment, model->bytes, size, &model->model);
  return litert_take(model->described.host, failed, LATENN_MODEL_INVALID, "refuses the model", "");
}

#if defined(_WIN32)
/* LiteRT opens files by names in the system's code page there: so the file is read here, by its real name. */
static latenn_status* litert_from_path(latenn_backend_model* model, const char* path) {
  const latenn_host* host = model->described.host;
  const char* why = "";
  FILE* file = latenn_open_file(path, &why);
  if (!file) return backend_fail(host, LATENN_IO, "The model %s cannot be loaded: %s.", path, why);
  int64_t size = _fseeki64(file, 0, SEEK_END) ? -1 : _ftelli64(file);
  model->bytes = size > 0 ? malloc((size_t)size) : NULL;
  rewind(file);
  int is_read = model->bytes && fread(model->bytes, 1, (size_t)size, file) == (size_t)size;
  fclose(file);
  if (size > 0 && !model->bytes) return backend_no_memory(host);
  if (!is_read) return backend_fail(host, LATENN_IO, "The model %s cannot be loaded: it cannot be read.", path);
  LiteRtStatus failed = model->api.CreateModelFromBuffer(model->environment, model->bytes, (size_t)size, &model->model);
  return litert_take(host, failed, LATENN_MODEL_INVALID, "refuses the model", "");
}
#else
/* LiteRT checks a model in memory before it uses it, and crashes on a damaged one that it reads from a file. */
static latenn_status* litert_look_through(const latenn_backend_model* model, const char* path) {
  const latenn_host* host = model->described.host;
  const char* why = "";
  struct stat about;
  LiteRtModel* seen = NULL;
  FILE* file = latenn_open_file(path, &why);
  if (!file) return backend_fail(host, LATENN_IO, "The model %s cannot be loaded: %s.", path, why);
  size_t size = fstat(fileno(file), &about) || about.st_size <= 0 ? 0 : (size_t)about.st_size;
  void* bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fileno(file), 0) : MAP_FAILED;
  fclose(file);
  if (bytes == MAP_FAILED) return backend_fail(host, LATENN_IO, "The model %s cannot be read.", path);
  LiteRtStatus failed = model->api.CreateModelFromBuffer(model->environment, bytes, size, &seen);
  if (seen) model->api.DestroyModel(seen);
  munmap(bytes, size);
  return litert_take(host, failed, LATENN_MODEL_INVALID, "refuses the model", "");
}

static latenn_status* litert_from_path(latenn_backend_model* model, const char* path) {
  latenn_status* status = litert_look_through(model, path);
  if (status) return status;
  LiteRtStatus failed = model->api.CreateModelFromFile(model->environment, path, &model->model);
  return litert_take(model->described.host, failed, LATENN_MODEL_INVALID, "refuses the model", "");
}
#endif

/* The signature that was asked for, or the first; every model has one, made by LiteRT where its maker gave none. */
static latenn_status* litert_find_signature(latenn_backend_model* model, const char* wanted,
                                            LiteRtSignature** signature) {
  const latenn_host* host = model->described.host;
  const litert_api* api = &model->api;
  char known[400] = "";
  size_t used = 0;
  size_t count = 0;
  LiteRtStatus failed = api->GetNumModelSignatures(model->model, &count);
  for (size_t i = 0; i < count && !failed; i++) {
    const char* key = NULL;
    failed = api->GetModelSignature(model->model, i, signature);
    if (!failed && wanted) failed = api->GetSignatureKey(*signature, &key);
    if (failed) break;
    if (!wanted || strcmp(key, wanted) == 0) {
      model->signature = i;
      return NULL;
    }
    if (used + strlen(key) + 4 < sizeof known) {
      used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", key);
    }
  }
  if (failed) return litert_take(host, failed, LATENN_MODEL_INVALID, "does not describe the model", "");
  if (!wanted) return backend_fail(host, LATENN_MODEL_INVALID, "The model has no signature: there is nothing to run.");
  return backend_fail(host, LATENN_INVALID_ARGUMENT, "The model has no signature \"%.100s\"; it has %s.", wanted,
                      known);
}

/* LiteRT has one severity for the process, which nobody can read back. Every error comes back as a status, so the first
 * model makes it silent; what the host sets after that, or asks for here, stays. */
static latenn_status* litert_start(latenn_backend_model* model, const litert_settings* settings) {
  static atomic_flag is_quiet = ATOMIC_FLAG_INIT;
  int is_first = !atomic_flag_test_and_set(&is_quiet);
  LiteRtOption log = {0};
  log.tag = LITERT_LOG_SEVERITY;
  log.value.type = LITERT_ANY_INT;
  log.value.as.number = settings->severity >= 0 ? settings->severity : LITERT_SILENT;
  int count = is_first || settings->severity >= 0;
  LiteRtStatus failed = model->api.CreateEnvironment(count, count ? &log : NULL, &model->environment);
  return litert_take(model->described.host, failed, LATENN_RUNTIME_UNAVAILABLE, "cannot start", "");
}

latenn_status* litert_compile(const latenn_backend_model* model, LiteRtCompiledModel** compiled) {
  LiteRtStatus failed = model->api.CreateCompiledModel(model->environment, model->model, model->options, compiled);
  return litert_take(model->described.host, failed, LATENN_MODEL_INVALID, "refuses the model", "");
}

/* Contexts compile it for themselves. Here it is done once so that a model that cannot run is refused when loaded. */
static latenn_status* litert_try(latenn_backend_model* model) {
  LiteRtCompiledModel* compiled = NULL;
  latenn_status* status = litert_compile(model, &compiled);
  if (compiled) model->api.DestroyCompiledModel(compiled);
  return status;
}

latenn_status* backend_load(const latenn_host* host, const char* path, const void* bytes, size_t size,
                            const latenn_load_options* options, latenn_backend_model** out) {
  latenn_load_options own;
  litert_settings settings;
  LiteRtSignature* signature = NULL;
  latenn_status* status = backend_copy_options(host, options, &own);
  if (status) return status;
  latenn_backend_model* model = calloc(1, sizeof *model);
  if (!model) return backend_no_memory(host);
  model->described.host = host;
  status = litert_read_options(host, &own, &settings);
  if (!status) status = litert_open(host, &own, &model->api, &model->described.report);
  if (!status) status = litert_start(model, &settings);
  if (!status) status = path ? litert_from_path(model, path) : litert_from_bytes(model, bytes, size);
  if (!status) status = litert_find_signature(model, settings.signature, &signature);
  if (!status) status = litert_read_ports(model, signature);
  if (!status) status = litert_make_options(host, &model->api, &settings, &model->options);
  if (!status) status = litert_try(model);
  if (status) {
    backend_release_model(model);
    return status;
  }
  *out = model;
  return NULL;
}

void backend_release_model(latenn_backend_model* model) {
  if (!model) return;
  if (model->options) model->api.DestroyOptions(model->options);
  if (model->model) model->api.DestroyModel(model->model);
  if (model->environment) model->api.DestroyEnvironment(model->environment);
  backend_release_described(&model->described);
  free(model->types);
  free(model->bytes);
  free(model);
}
