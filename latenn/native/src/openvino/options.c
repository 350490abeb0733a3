/* options.c: devices and properties of OpenVINO; must refuse what nobody knows rather than ignore it. */
#include <stdio.h>
#include <string.h>

#include "openvino.h"

/* OpenVINO's own properties are words in capitals: NUM_STREAMS. It judges them itself. */
static int openvino_is_property(const char* key) {
  for (const char* at = key; *at; at++) {
    int known = (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') || *at == '_';
    if (!known) return 0;
  }
  return *key != 0;
}

static latenn_status* openvino_read_device(const latenn_host* host, const char* device, openvino_settings* settings) {
  const char* name = device && *device ? device : "cpu";
  if (strlen(name) >= OPENVINO_DEVICE_SIZE) {
    return backend_fail(host, LATENN_INVALID_ARGUMENT, "\"%.100s...\" is not the name of a device.", name);
  }
  size_t i = 0;
  for (; name[i]; i++) {
    settings->device[i] = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 'a' + 'A') : name[i];
  }
  settings->device[i] = 0;
  return NULL;
}

latenn_status* openvino_read_options(const latenn_host* host, const latenn_load_options* options,
                                     openvino_settings* settings) {
  memset(settings, 0, sizeof *settings);
  latenn_status* status = openvino_read_device(host, options->device, settings);
  if (!status) status = backend_check_list(host, options);
  for (size_t i = 0; i < options->option_count && !status; i++) {
    const latenn_option* option = &options->options[i];
    if (strcmp(option->key, "weights") == 0) {
      settings->weights = option->value;
    } else if (!openvino_is_property(option->key)) {
      status = backend_fail(host, LATENN_INVALID_ARGUMENT,
                            "The option \"%.100s\" is not known. Known: weights, and OpenVINO's properties, such as "
                            "NUM_STREAMS, INFERENCE_NUM_THREADS and PERFORMANCE_HINT.",
                            option->key);
    }
  }
  return status;
}

/* 1 for "GPU" and "GPU.0" where there is a "GPU.0"; and for what only combines others: "AUTO:GPU,CPU". */
static int openvino_has_device(const ov_available_devices_t* devices, const char* device) {
  static const char* const combining[] = {"AUTO", "MULTI", "HETERO", "BATCH"};
  size_t length = strcspn(device, ":");
  for (size_t i = 0; i < sizeof combining / sizeof *combining; i++) {
    if (strlen(combining[i]) == length && strncmp(combining[i], device, length) == 0) return 1;
  }
  length = strlen(device);
  for (size_t i = 0; i < devices->size; i++) {
    const char* known = devices->devices[i];
    if (strncmp(known, device, length) == 0 && (known[length] == 0 || known[length] == '.')) return 1;
  }
  return 0;
}

static latenn_status* openvino_check_device(const latenn_host* host, const openvino_api* api, const ov_core_t* core,
                                            const char* device) {
  char known[400] = "";
  size_t used = 0;
  ov_available_devices_t devices = {NULL, 0};
  ov_status_e failed = api->core_get_available_devices(core, &devices);
  if (failed) return openvino_take(host, api, failed, LATENN_RUNTIME_UNAVAILABLE, "does not tell its devices");
  int is_there = openvino_has_device(&devices, device);
  for (size_t i = 0; i < devices.size; i++) {
    if (used + strlen(devices.devices[i]) + 4 >= sizeof known) break;
    used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", devices.devices[i]);
  }
  api->available_devices_free(&devices);
  if (is_there) return NULL;
  return backend_fail(host, LATENN_UNSUPPORTED,
                      "OpenVINO has no device \"%s\" here. It has: %s, and AUTO, MULTI, HETERO and BATCH over them.",
                      device, used ? known : "none");
}

latenn_status* openvino_apply_options(const latenn_host* host, const openvino_api* api, const ov_core_t* core,
                                      const latenn_load_options* options, const openvino_settings* settings) {
  latenn_status* status = openvino_check_device(host, api, core, settings->device);
  for (size_t i = 0; i < options->option_count && !status; i++) {
    const latenn_option* option = &options->options[i];
    if (strcmp(option->key, "weights") == 0) continue;
    ov_status_e failed = api->core_set_property(core, settings->device, option->key, option->value);
    status = openvino_take(host, api, failed, LATENN_INVALID_ARGUMENT, "refuses an option");
  }
  return status;
}
