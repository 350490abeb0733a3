/* providers.c: the execution providers of a session, by name; must not know what their options mean. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ort.h"

#define ORT_CUDA "CUDAExecutionProvider"
#define ORT_CPU  "CPUExecutionProvider"

enum { ORT_PROVIDER = 128, ORT_KNOWN = 400 };

/* A provider that is asked for, and its options. */
typedef struct ort_provider {
  char name[ORT_PROVIDER];
  const char** keys;
  const char** values;
  size_t count;
  int device; /* which of its devices */
} ort_provider;

static const char* ort_value_of(const latenn_load_options* options, const char* key) {
  for (size_t i = 0; i < options->option_count; i++) {
    if (strcmp(options->options[i].key, key) == 0) return options->options[i].value;
  }
  return NULL;
}

/* The next name of the list, without the spaces around it; NULL at its end. */
static const char* ort_next_name(const char* list, char* name) {
  list += strspn(list, ", ");
  size_t length = strcspn(list, ",");
  const char* rest = list + length;
  while (length && list[length - 1] == ' ') length--;
  snprintf(name, ORT_PROVIDER, "%.*s", (int)(length < ORT_PROVIDER ? length : ORT_PROVIDER - 1), list);
  return length ? rest : NULL;
}

static int ort_is_asked(const latenn_load_options* options, const char* name, size_t length) {
  char one[ORT_PROVIDER];
  const char* list = ort_value_of(options, "ep");
  while (list && (list = ort_next_name(list, one))) {
    if (strlen(one) == length && strncmp(one, name, length) == 0) return 1;
  }
  return options->device && strncmp(options->device, "cuda", 4) == 0 && length == strlen(ORT_CUDA) &&
         strncmp(name, ORT_CUDA, length) == 0;
}

/* The provider that an option belongs to, and what it is called there; NULL for any other option. */
static const char* ort_owner(const char* key, size_t* length, const char** rest) {
  const char* name = ort_after(key, "ep_device.");
  *rest = NULL;
  *length = name ? strlen(name) : 0;
  if (name) return name;
  name = ort_after(key, "ep.");
  const char* dot = name ? strchr(name, '.') : NULL;
  if (!dot) return NULL;
  *length = (size_t)(dot - name);
  *rest = dot + 1;
  return name;
}

latenn_status* ort_check_providers(const latenn_host* host, const latenn_load_options* options) {
  for (size_t i = 0; i < options->option_count; i++) {
    size_t length = 0;
    const char* rest = NULL;
    const char* owner = ort_owner(options->options[i].key, &length, &rest);
    if (!owner || ort_is_asked(options, owner, length)) continue;
    return backend_fail(host, LATENN_INVALID_ARGUMENT,
                        "The option %.200s is of the execution provider \"%.*s\", which is not asked for. Put its name "
                        "into the option ep.",
                        options->options[i].key, (int)length, owner);
  }
  return NULL;
}

static latenn_status* ort_read_provider(const latenn_host* host, const latenn_load_options* options,
                                        ort_provider* provider) {
  provider->keys = calloc(options->option_count + 2, sizeof *provider->keys); /* and a device_id */
  provider->values = calloc(options->option_count + 2, sizeof *provider->values);
  if (!provider->keys || !provider->values) return backend_no_memory(host);
  for (size_t i = 0; i < options->option_count; i++) {
    const latenn_option* option = &options->options[i];
    size_t length = 0;
    const char* rest = NULL;
    const char* owner = ort_owner(option->key, &length, &rest);
    if (!owner || strlen(provider->name) != length || strncmp(owner, provider->name, length) != 0) continue;
    if (rest) {
      provider->keys[provider->count] = rest;
      provider->values[provider->count++] = option->value;
    } else {
      backend_read_number(option->value, 0, 1 << 16, &provider->device);
    }
  }
  return NULL;
}

/* ---- appending --------------------------------------------------------------------------------------------------- */

static OrtStatus* ort_append_cuda(const lb_ort_api* api, const ort_provider* provider, OrtSessionOptions* session) {
  OrtCUDAProviderOptionsV2* cuda = NULL;
  OrtStatus* failed = lb_ort_CreateCUDAProviderOptions(api, &cuda);
  if (!failed) {
    failed = lb_ort_UpdateCUDAProviderOptions(api, cuda, provider->keys, provider->values, provider->count);
  }
  if (!failed) failed = lb_ort_SessionOptionsAppendExecutionProvider_CUDA_V2(api, session, cuda);
  if (cuda) lb_ort_ReleaseCUDAProviderOptions(api, cuda);
  return failed;
}

/* The provider's device of that number, and the names of all that have one, each once. Before 1.22 there are none. */
static OrtStatus* ort_find_device(const ort_runtime* runtime, const ort_provider* provider, const OrtEpDevice** found,
                                  char* known) {
  const OrtEpDevice* const* devices = NULL;
  size_t count = 0;
  int place = 0;
  if (!lb_ort_available(&runtime->api, LB_ORT_GetEpDevices)) return NULL;
  OrtStatus* failed = lb_ort_GetEpDevices(&runtime->api, runtime->env, &devices, &count);
  for (size_t i = 0; i < count && !failed; i++) {
    const char* name = lb_ort_EpDevice_EpName(&runtime->api, devices[i]);
    size_t used = strlen(known);
    if (!strstr(known, name)) snprintf(known + used, ORT_KNOWN - used, "%s%s", used ? ", " : "", name);
    if (strcmp(name, provider->name) == 0 && place++ == provider->device) *found = devices[i];
  }
  return failed;
}

/* The plain runtime reports that CUDA is not enabled in it, but not what to install. */
static const char* ort_advice(const ort_provider* provider, const char* said) {
  if (strcmp(provider->name, ORT_CUDA) != 0) {
    return "Register its library with plugin_ep.NAME, install a runtime that has it, or leave it out";
  }
  if (!said || !strstr(said, "not enabled")) return "Install what it misses; or load with \"cpu\"";
  return "Put onnxruntime-gpu in the place of onnxruntime: pip uninstall onnxruntime, pip install onnxruntime-gpu; or "
         "load with \"cpu\"";
}

static latenn_status* ort_no_provider(const latenn_host* host, const lb_ort_api* api, const ort_provider* provider,
                                      const char* known, OrtStatus* failed) {
  const char* said = lb_ort_GetErrorMessage(api, failed);
  latenn_status* status = backend_fail(
      host, LATENN_UNSUPPORTED,
      "The execution provider \"%s\" cannot be had: ONNX Runtime %u.%u.%u says \"%.500s\"%s%s. %s.", provider->name,
      (unsigned)api->runtime.major, (unsigned)api->runtime.minor, (unsigned)api->runtime.patch,
      said ? said : "(nothing)", *known ? " Devices are of: " : "", known, ort_advice(provider, said));
  lb_ort_ReleaseStatus(api, failed);
  return status;
}

static latenn_status* ort_append(const latenn_host* host, const ort_runtime* runtime, const ort_provider* provider,
                                 OrtSessionOptions* session) {
  const lb_ort_api* api = &runtime->api;
  char known[ORT_KNOWN] = "";
  const OrtEpDevice* device = NULL;
  if (strcmp(provider->name, ORT_CPU) == 0) return NULL; /* it is always there, and the last */
  OrtStatus* failed = ort_find_device(runtime, provider, &device, known);
  if (!failed && device) {
    failed = lb_ort_SessionOptionsAppendExecutionProvider_V2(api, session, runtime->env, &device, 1, provider->keys,
                                                             provider->values, provider->count);
  } else if (!failed && strcmp(provider->name, ORT_CUDA) == 0) {
    failed = ort_append_cuda(api, provider, session);
  } else if (!failed) {
    failed = lb_ort_SessionOptionsAppendExecutionProvider(api, session, provider->name, provider->keys,
                                                          provider->values, provider->count);
  }
  return failed ? ort_no_provider(host, api, provider, known, failed) : NULL;
}

/* `cuda` is the device's number for CUDA, or "". */
static latenn_status* ort_append_named(const latenn_host* host, const ort_runtime* runtime,
                                       const latenn_load_options* options, const char* cuda, ort_provider* provider,
                                       OrtSessionOptions* session) {
  latenn_status* status = ort_read_provider(host, options, provider);
  if (!status && *cuda) {
    provider->keys[provider->count] = "device_id";
    provider->values[provider->count++] = cuda;
  }
  if (!status) status = ort_append(host, runtime, provider, session);
  free(provider->keys);
  free(provider->values);
  return status;
}

latenn_status* ort_append_providers(const latenn_host* host, const ort_runtime* runtime, latenn_device device,
                                    const latenn_load_options* options, OrtSessionOptions* session) {
  latenn_status* status = NULL;
  char cuda[16] = "";
  const char* list = ort_value_of(options, "ep");
  for (size_t i = 0; i < options->option_count && !status; i++) {
    const char* name = ort_after(options->options[i].key, "plugin_ep.");
    if (name) status = ort_register_plugin(host, runtime, name, options->options[i].value);
  }
  if (!status && device.type == LATENN_CUDA) {
    ort_provider provider = {ORT_CUDA, NULL, NULL, 0, 0};
    snprintf(cuda, sizeof cuda, "%d", (int)device.id);
    status = ort_append_named(host, runtime, options, cuda, &provider, session);
  }
  for (ort_provider provider = {0}; !status && list && (list = ort_next_name(list, provider.name));) {
    int is_there = *cuda && strcmp(provider.name, ORT_CUDA) == 0;
    if (!is_there) status = ort_append_named(host, runtime, options, "", &provider, session);
    memset(&provider, 0, sizeof provider);
  }
  return status;
}
