/* operator.c: a host of latenn's operator: registers it with a runtime, and runs a model that has it as a node.
 *
 *     operator RUNTIME OPERATOR MODEL [WORD...]
 *
 * The words are "entry KEY VALUE" of the session, "in NAME TYPE SHAPE HEX" with commas between dimensions and between
 * strings ("-" for no dimensions), "out NAME", and "runs COUNT". Prints a line of JSON for each output of the last run,
 * or for the first thing that fails. It must not know what the operator does.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "latebind/ort_api.h"
#include "port.h"

enum { MOST = 8, MOST_DIMENSIONS = 8, MOST_BYTES = 1 << 16 };

typedef lb_ort_base*(LB_ORT_CALL* get_base_function)(void);
typedef OrtStatus*(LB_ORT_CALL* register_function)(OrtSessionOptions*, const lb_ort_base*);

typedef struct input {
  const char* name;
  char bytes[MOST_BYTES];
  OrtValue* value;
} input;

static const lb_ort_table* ort;
static OrtEnv* environment;
static OrtSessionOptions* options;
static OrtSession* session;
static OrtMemoryInfo* memory;
static input inputs[MOST];
static const char* output_names[MOST];
static OrtValue* outputs[MOST];
static size_t input_count, output_count;
static unsigned runs = 1;

static void print_text(const char* text) {
  putchar('"');
  for (; *text; text++) {
    unsigned char byte = (unsigned char)*text;
    if (byte < 0x20)
      printf("\\u%04x", byte);
    else
      printf(byte == '"' || byte == '\\' ? "\\%c" : "%c", byte);
  }
  putchar('"');
}

static int did_fail(const char* step, OrtStatus* status) {
  if (!status) return 0;
  printf("{\"step\": \"%s\", \"code\": %d, \"message\": ", step, (int)ort->GetErrorCode(status));
  print_text(ort->GetErrorMessage(status));
  printf("}\n");
  ort->ReleaseStatus(status);
  return 1;
}

#define TRY(step, call)                      \
  do {                                       \
    if (did_fail(step, ort->call)) return 1; \
  } while (0)

#if defined(_WIN32)
static void* find_function(const char* path, const char* name) {
  wchar_t wide[2048];
  MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, 2048);
  HMODULE library = LoadLibraryExW(wide, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
  return library ? (void*)(size_t)GetProcAddress(library, name) : NULL;
}
#else
static void* find_function(const char* path, const char* name) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fprintf(stderr, "%s\n", dlerror());
  return library ? dlsym(library, name) : NULL;
}
#endif

/* ---- words ------------------------------------------------------------------------------------------------------ */

static size_t read_hex(const char* text, size_t length, char* to) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i + 1 < length; i += 2) {
    const char* high = strchr(digits, text[i]);
    const char* low = strchr(digits, text[i + 1]);
    if (!high || !low) exit(64);
    to[i / 2] = (char)((high - digits) * 16 + (low - digits));
  }
  return length / 2;
}

static int fill_strings(OrtValue* value, const char* text) {
  for (size_t i = 0; *text; i++) {
    size_t length = strcspn(text, ",");
    char* buffer = NULL;
    TRY("filling strings", GetResizedStringTensorElementBuffer(value, i, length / 2, &buffer));
    read_hex(text, length, buffer);
    text += length + (text[length] == ',');
  }
  return 0;
}

/* The four words after "in". */
static int add_input(char* const* words) {
  input* next = &inputs[input_count++];
  ONNXTensorElementDataType type = (ONNXTensorElementDataType)atoi(words[1]);
  int64_t shape[MOST_DIMENSIONS];
  size_t rank = 0;
  OrtAllocator* allocator = NULL;
  next->name = words[0];
  for (const char* at = words[2]; *at && *at != '-' && rank < MOST_DIMENSIONS; at += *at == ',') {
    shape[rank++] = atoi(at);
    at += strcspn(at, ",");
  }
  TRY("finding memory", GetAllocatorWithDefaultOptions(&allocator));
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
    TRY("making a tensor", CreateTensorAsOrtValue(allocator, shape, rank, type, &next->value));
    return fill_strings(next->value, words[3]);
  }
  if (strlen(words[3]) > 2 * sizeof next->bytes) exit(64);
  size_t size = read_hex(words[3], strlen(words[3]), next->bytes);
  TRY("making a tensor", CreateTensorWithDataAsOrtValue(memory, next->bytes, size, shape, rank, type, &next->value));
  return 0;
}

static int read_words(char** words, char** end) {
  while (words < end) {
    const char* what = *words++;
    if (strcmp(what, "entry") == 0 && end - words >= 2) {
      TRY("adding an entry", AddSessionConfigEntry(options, words[0], words[1]));
      words += 2;
    } else if (strcmp(what, "in") == 0 && end - words >= 4 && input_count < MOST) {
      if (add_input(words)) return 1;
      words += 4;
    } else if (strcmp(what, "out") == 0 && words < end && output_count < MOST) {
      output_names[output_count++] = *words++;
    } else if (strcmp(what, "runs") == 0 && words < end) {
      runs = (unsigned)atoi(*words++);
    } else {
      exit(64);
    }
  }
  return 0;
}

/* ---- outputs ---------------------------------------------------------------------------------------------------- */

static void print_hex(const char* bytes, size_t size) {
  putchar('"');
  for (size_t i = 0; i < size; i++) printf("%02x", (unsigned char)bytes[i]);
  putchar('"');
}

static int print_strings(const OrtValue* value, size_t count) {
  size_t size = 0;
  TRY("reading strings", GetStringTensorDataLength(value, &size));
  char* bytes = calloc(1, size + 1);
  size_t* offsets = calloc(count + 1, sizeof *offsets);
  if (!bytes || !offsets) exit(70);
  TRY("reading strings", GetStringTensorContent(value, bytes, size, offsets, count));
  offsets[count] = size;
  for (size_t i = 0; i < count; i++) {
    printf(i ? ", " : "");
    print_hex(bytes + offsets[i], offsets[i + 1] - offsets[i]);
  }
  free(bytes);
  free(offsets);
  return 0;
}

static size_t measure(ONNXTensorElementDataType type, size_t count) {
  return type == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4    ? (count + 1) / 2
         : type == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 ? count * 8
                                                       : count * 4;
}

static int print_output(const char* name, OrtValue* value) {
  OrtTensorTypeAndShapeInfo* info = NULL;
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  size_t rank = 0, count = 1;
  int64_t shape[MOST_DIMENSIONS];
  void* data = NULL;
  TRY("reading an output", GetTensorTypeAndShape(value, &info));
  TRY("reading an output", GetTensorElementType(info, &type));
  TRY("reading an output", GetDimensionsCount(info, &rank));
  TRY("reading an output", GetDimensions(info, shape, rank));
  ort->ReleaseTensorTypeAndShapeInfo(info);
  printf("{\"output\": \"%s\", \"type\": %d, \"shape\": [", name, (int)type);
  for (size_t i = 0; i < rank; i++) {
    printf("%s%" PRId64, i ? ", " : "", shape[i]);
    count *= (size_t)shape[i];
  }
  printf("], \"data\": [");
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
    if (print_strings(value, count)) return 1;
  } else {
    TRY("reading an output", GetTensorMutableData(value, &data));
    print_hex(data, measure(type, count));
  }
  printf("]}\n");
  return 0;
}

/* ---- a run ------------------------------------------------------------------------------------------------------ */

static int create_session(const char* path) {
  static char model[1 << 20];
  FILE* file = port_open(path);
  if (!file) exit(66);
  size_t size = fread(model, 1, sizeof model, file);
  fclose(file);
  TRY("creating the session", CreateSessionFromArray(environment, model, size, options, &session));
  return 0;
}

static int run(void) {
  const char* names[MOST];
  const OrtValue* values[MOST];
  for (size_t i = 0; i < input_count; i++) {
    names[i] = inputs[i].name;
    values[i] = inputs[i].value;
  }
  for (unsigned turn = 0; turn < runs; turn++) {
    for (size_t i = 0; i < output_count; i++) {
      if (outputs[i]) ort->ReleaseValue(outputs[i]);
      outputs[i] = NULL;
    }
    TRY("running", Run(session, NULL, names, values, input_count, output_names, output_count, outputs));
  }
  for (size_t i = 0; i < output_count; i++) {
    if (print_output(output_names[i], outputs[i])) return 1;
  }
  return 0;
}

static int run_all(const lb_ort_base* base, char** arguments, char** end) {
  void* address = find_function(arguments[2], "RegisterCustomOps");
  register_function register_operator = NULL;
  if (!address) exit(65);
  memcpy(&register_operator, &address, sizeof address);
  TRY("creating the environment", CreateEnv(ORT_LOGGING_LEVEL_FATAL, "operator", &environment));
  TRY("creating options", CreateSessionOptions(&options));
  TRY("describing memory", CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
  if (read_words(arguments + 4, end)) return 1;
  if (did_fail("registering", register_operator(options, base))) return 1;
  return create_session(arguments[3]) || run();
}

static void release_all(void) {
  for (size_t i = 0; i < output_count; i++)
    if (outputs[i]) ort->ReleaseValue(outputs[i]);
  for (size_t i = 0; i < input_count; i++)
    if (inputs[i].value) ort->ReleaseValue(inputs[i].value);
  if (session) ort->ReleaseSession(session);
  if (options) ort->ReleaseSessionOptions(options);
  if (memory) ort->ReleaseMemoryInfo(memory);
  if (environment) ort->ReleaseEnv(environment);
}

int main(int count, char** arguments) {
  unsigned major = 0, minor = 0;
  arguments = port_arguments(count, arguments);
  void* address = count < 4 ? NULL : find_function(arguments[1], "OrtGetApiBase");
  get_base_function entry = NULL;
  if (!address) return 64;
  memcpy(&entry, &address, sizeof address);
  const lb_ort_base* base = entry();
  if (sscanf(base->GetVersionString(), "%u.%u", &major, &minor) != 2) return 64;
  ort = base->GetApi(major == 1 && minor < LB_ORT_API_VERSION ? minor : major == 1 ? LB_ORT_API_VERSION : 1);
  if (!ort) return 64;
  run_all(base, arguments, arguments + count);
  release_all();
  return 0;
}
