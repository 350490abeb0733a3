/* A host in C for a plugin execution provider. Like applications in C and C++, it releases ONNX Runtime's environment
 * before the process ends. Python does not, so only such a host shows what a provider does afterwards.
 *
 *     consumer RUNTIME PROVIDER REGISTRATION RESULT NAME...
 *
 * RUNTIME and PROVIDER are files, REGISTRATION is the name to register with, NAME... are the names that the provider's
 * package gives. It prints each step before it takes it, so the last line of a host that crashes says where. RESULT is
 * written when everything is released; after that, main() returns.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "latebind/ort_api.h"

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

#define API_WITH_PLUGINS 22 /* the first that registers execution providers */
#define NEWEST_API       64 /* the highest that is asked for */
#define LONGEST_PATH     4096
#define LONGEST_MESSAGE  512
#define MOST_DEVICES     64
#define VALUES           6

enum { ALL_PASSED = 0, SOME_FAILED = 1, NOTHING_LOADED = 3 };

typedef lb_ort_base*(LB_ORT_CALL* get_base_function)(void);

/* What the steps share. `message` is empty as long as nothing failed. */
typedef struct host_state {
  const lb_ort_table* ort;
  const char* version;
  OrtEnv* environment;
  OrtSessionOptions* options;
  OrtSession* session;
  OrtMemoryInfo* memory;
  OrtValue* inputs[2];
  OrtValue* output;
  const OrtEpDevice* devices[MOST_DEVICES];
  size_t device_count;
  int is_registered;
  char message[LONGEST_MESSAGE];
} host_state;

/* y = Relu(Mul(a, b)) for float tensors of 2 x 3, opset 17: what verify/smoke.py of `latebind new --kind ep` runs. */
static const unsigned char model[] = {
    0x08, 0x08, 0x3a, 0x60, 0x0a, 0x0e, 0x0a, 0x01, 0x61, 0x0a, 0x01, 0x62, 0x12, 0x01, 0x63, 0x22, 0x03, 0x4d,
    0x75, 0x6c, 0x0a, 0x0c, 0x0a, 0x01, 0x63, 0x12, 0x01, 0x79, 0x22, 0x04, 0x52, 0x65, 0x6c, 0x75, 0x12, 0x01,
    0x67, 0x5a, 0x13, 0x0a, 0x01, 0x61, 0x12, 0x0e, 0x0a, 0x0c, 0x08, 0x01, 0x12, 0x08, 0x0a, 0x02, 0x08, 0x02,
    0x0a, 0x02, 0x08, 0x03, 0x5a, 0x13, 0x0a, 0x01, 0x62, 0x12, 0x0e, 0x0a, 0x0c, 0x08, 0x01, 0x12, 0x08, 0x0a,
    0x02, 0x08, 0x02, 0x0a, 0x02, 0x08, 0x03, 0x62, 0x13, 0x0a, 0x01, 0x79, 0x12, 0x0e, 0x0a, 0x0c, 0x08, 0x01,
    0x12, 0x08, 0x0a, 0x02, 0x08, 0x02, 0x0a, 0x02, 0x08, 0x03, 0x42, 0x04, 0x0a, 0x00, 0x10, 0x11,
};
static float a[VALUES] = {1, -2, 3, -4, 5, -6};
static float b[VALUES] = {2, 2, -2, -1, 0.5F, 1};
static const float expected[VALUES] = {2, 0, 0, 4, 2.5F, 0};

static void announce(const char* step) {
  fprintf(stderr, "host.c: %s\n", step);
  fflush(stderr);
}

/* Keeps the first message. Returns 1 when the status is an error. */
static int did_fail(host_state* host, const char* step, OrtStatus* status) {
  if (!status) return 0;
  if (!host->message[0])
    snprintf(host->message, sizeof host->message, "%s: %s", step, host->ort->GetErrorMessage(status));
  host->ort->ReleaseStatus(status);
  return 1;
}

#define TRY(step, call)                                  \
  do {                                                   \
    announce(step);                                      \
    if (did_fail(host, step, host->ort->call)) return 1; \
  } while (0)

#if defined(_WIN32)
static const wchar_t* native_path(const char* path) {
  static wchar_t wide[LONGEST_PATH];
  return MultiByteToWideChar(CP_ACP, 0, path, -1, wide, LONGEST_PATH) ? wide : L"";
}

static get_base_function entry_of(const char* path) {
  HMODULE library = LoadLibraryExW(native_path(path), NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
  return library ? (get_base_function)(void*)GetProcAddress(library, "OrtGetApiBase") : NULL;
}
#else
static const char* native_path(const char* path) {
  return path;
}

static get_base_function entry_of(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  get_base_function entry = NULL;
  if (!library) fprintf(stderr, "%s\n", dlerror());
  if (library) *(void**)&entry = dlsym(library, "OrtGetApiBase");
  return entry;
}
#endif

/* The newest table that the runtime has. */
static int open_runtime(host_state* host, const char* path) {
  announce("opening the runtime");
  get_base_function entry = entry_of(path);
  const lb_ort_base* base = entry ? entry() : NULL;
  unsigned minor = 0;
  if (base) host->version = base->GetVersionString();
  if (base && sscanf(host->version, "1.%u", &minor) == 1 && minor >= API_WITH_PLUGINS && minor <= NEWEST_API)
    host->ort = base->GetApi(minor);
  if (!host->ort) snprintf(host->message, sizeof host->message, "opening the runtime: it registers no plugins");
  return !host->ort;
}

/* The devices that are there since the provider was registered. */
static int find_devices(host_state* host, size_t known) {
  const OrtEpDevice* const* found = NULL;
  size_t count = 0;
  TRY("listing the devices", GetEpDevices(host->environment, &found, &count));
  for (size_t i = known; i < count && host->device_count < MOST_DEVICES; i++)
    host->devices[host->device_count++] = found[i];
  return 0;
}

static int register_provider(host_state* host, const char* path, const char* name) {
  const OrtEpDevice* const* found = NULL;
  size_t known = 0;
  TRY("creating the environment", CreateEnv(ORT_LOGGING_LEVEL_WARNING, "latebind", &host->environment));
  TRY("listing the devices", GetEpDevices(host->environment, &found, &known));
  TRY("registering the provider", RegisterExecutionProviderLibrary(host->environment, name, native_path(path)));
  host->is_registered = 1;
  return find_devices(host, known);
}

static int create_session(host_state* host) {
  TRY("creating session options", CreateSessionOptions(&host->options));
  TRY("adding the provider to a session",
      SessionOptionsAppendExecutionProvider_V2(host->options, host->environment, host->devices, 1, NULL, NULL, 0));
  TRY("creating the session",
      CreateSessionFromArray(host->environment, model, sizeof model, host->options, &host->session));
  return 0;
}

static int compute(host_state* host) {
  static const int64_t shape[] = {2, 3};
  static const char* const names[] = {"a", "b"};
  static const char* const computed[] = {"y"};
  float* data[2] = {a, b};
  float* result = NULL;
  TRY("describing memory", CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &host->memory));
  for (size_t i = 0; i < 2; i++)
    TRY("making a tensor", CreateTensorWithDataAsOrtValue(host->memory, data[i], sizeof a, shape, 2,
                                                          ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &host->inputs[i]));
  TRY("running the session",
      Run(host->session, NULL, names, (const OrtValue* const*)host->inputs, 2, computed, 1, &host->output));
  TRY("reading the result", GetTensorMutableData(host->output, (void**)&result));
  for (size_t i = 0; i < VALUES; i++) {
    if (fabs(result[i] - expected[i]) <= 0.01) continue;
    snprintf(host->message, sizeof host->message, "running the session: element %u of Relu(a * b) is %g, expected %g",
             (unsigned)i, result[i], expected[i]);
    return 1;
  }
  return 0;
}

static void release_session(host_state* host) {
  announce("releasing the session");
  if (host->output) host->ort->ReleaseValue(host->output);
  for (size_t i = 0; i < 2; i++)
    if (host->inputs[i]) host->ort->ReleaseValue(host->inputs[i]);
  if (host->memory) host->ort->ReleaseMemoryInfo(host->memory);
  if (host->session) host->ort->ReleaseSession(host->session);
  if (host->options) host->ort->ReleaseSessionOptions(host->options);
}

static int unregister_provider(host_state* host, const char* name) {
  if (!host->is_registered) return 0;
  TRY("unregistering the provider", UnregisterExecutionProviderLibrary(host->environment, name));
  return 0;
}

/* Whether the package gives the names of all devices. */
static int check_names(host_state* host, char* const* names, int count) {
  for (size_t i = 0; i < host->device_count; i++) {
    const char* name = host->ort->EpDevice_EpName(host->devices[i]);
    int given = 0;
    while (given < count && strcmp(names[given], name)) given++;
    if (given < count) continue;
    snprintf(host->message, sizeof host->message,
             "naming the provider: a device is for %s, which the package does not name", name);
    return 1;
  }
  return 0;
}

static void write_text(FILE* file, const char* text) {
  fputc('"', file);
  for (; *text; text++) {
    unsigned char letter = (unsigned char)*text;
    if (letter < 0x20)
      fprintf(file, "\\u%04x", letter);
    else
      fprintf(file, letter == '"' || letter == '\\' ? "\\%c" : "%c", letter);
  }
  fputc('"', file);
}

static int write_result(const host_state* host, char* const* arguments, int is_refused) {
  FILE* file = fopen(arguments[4], "wb");
  if (!file) return 0;
  fputs("{\"report\": {\"version\": ", file);
  write_text(file, host->version ? host->version : "");
  fputs("}, \"libraries\": [", file);
  write_text(file, arguments[1]);
  fputs(", ", file);
  write_text(file, arguments[2]);
  fputs("]", file);
  if (is_refused) {
    fputs(", \"no_device\": ", file);
    write_text(file, host->message[0] ? host->message : "the provider has no device here");
  } else if (!host->ort) {
    fputs(", \"error\": {\"message\": ", file);
    write_text(file, host->message);
    fputs("}", file);
  } else if (host->message[0]) {
    fputs(", \"failed\": [{\"name\": \"c-host\", \"message\": ", file);
    write_text(file, host->message);
    fputs("}]", file);
  } else {
    fputs(", \"passed\": [\"c-host\"]", file);
  }
  fputs("}\n", file);
  return !fclose(file);
}

int main(int count, char** arguments) {
  host_state state = {0};
  host_state* host = &state;
  int is_refused = 0;
  if (count < 6) {
    fprintf(stderr, "usage: consumer RUNTIME PROVIDER REGISTRATION RESULT NAME...\n");
    return NOTHING_LOADED;
  }
  if (!open_runtime(host, arguments[1])) {
    if (!register_provider(host, arguments[2], arguments[3]) && !check_names(host, arguments + 5, count - 5)) {
      /* A provider whose device is missing may say so only when a session is made. */
      is_refused = !host->device_count || create_session(host);
      if (!is_refused) compute(host);
    }
    release_session(host);
    unregister_provider(host, arguments[3]);
    announce("releasing the environment");
    if (host->environment) host->ort->ReleaseEnv(host->environment);
  }
  if (!write_result(host, arguments, is_refused)) return NOTHING_LOADED;
  announce("ending the process");
  return !host->ort ? NOTHING_LOADED : host->message[0] && !is_refused ? SOME_FAILED : ALL_PASSED;
}
