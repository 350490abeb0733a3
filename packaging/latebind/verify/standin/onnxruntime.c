/* onnxruntime.c: stands in for ONNX Runtime on machines where no real one runs.
 *
 * It has the export, the version and the function table of the real library, reads ONNX models, and computes those of
 * one node, Abs or Add, on floats. A function that it lacks returns a status that says so. VERSION is what it reports.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ort_slots.h"
#include "protobuf.h"

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

enum { MOST_PORTS = 16, MOST_DIMENSIONS = 8, FLOAT = 1, IS_TENSOR = 1, NOT_IMPLEMENTED = 9, IN = 0, OUT = 1 };

/* ---- status ----------------------------------------------------------------------------------------------------- */

typedef struct status {
  int code;
  char message[256];
} status;

static void* allocate(size_t size) {
  void* memory = calloc(1, size ? size : 1);
  if (!memory) abort();
  return memory;
}

static status* make_status(int code, const char* message) {
  status* made = allocate(sizeof *made);
  made->code = code;
  snprintf(made->message, sizeof made->message, "%s", message);
  return made;
}

static status* fail(const char* what, const char* name) {
  char message[200];
  snprintf(message, sizeof message, "the stand-in for ONNX Runtime %s%s", what, name);
  return make_status(NOT_IMPLEMENTED, message);
}

static int get_code(const status* failed) {
  return failed->code;
}

static const char* get_message(const status* failed) {
  return failed->message;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

typedef struct shape {
  int type;
  size_t rank;
  long long dimensions[MOST_DIMENSIONS];
} shape;

typedef struct value {
  shape shape;
  float* data;
  int is_borrowed;
} value;

static size_t count_elements(const shape* of) {
  size_t count = 1;
  for (size_t i = 0; i < of->rank; i++) count *= (size_t)of->dimensions[i];
  return count;
}

static status* make_value(const long long* dimensions, size_t rank, int type, void* data, value** out) {
  if (rank > MOST_DIMENSIONS) return fail("takes no tensor of so many dimensions", "");
  value* made = allocate(sizeof *made);
  made->shape = (shape){.type = type, .rank = rank};
  for (size_t i = 0; i < rank; i++) made->shape.dimensions[i] = dimensions[i];
  made->is_borrowed = data != NULL;
  made->data = data ? data : allocate(8 * count_elements(&made->shape)); /* of any type of number */
  *out = made;
  return NULL;
}

static status* wrap_data(const void* memory, void* data, size_t size, const long long* dimensions, size_t rank,
                         int type, value** out) {
  (void)memory;
  (void)size;
  return make_value(dimensions, rank, type, data, out);
}

static status* make_tensor(void* allocator, const long long* dimensions, size_t rank, int type, value** out) {
  (void)allocator;
  return make_value(dimensions, rank, type, NULL, out);
}

static status* get_data(value* from, void** out) {
  *out = from->data;
  return NULL;
}

static void release_value(value* old) {
  if (old && !old->is_borrowed) free(old->data);
  free(old);
}

static status* get_shape(const value* from, shape** out) {
  *out = allocate(sizeof **out);
  **out = from->shape;
  return NULL;
}

static status* get_value_type(const void* from, int* out) {
  (void)from;
  *out = IS_TENSOR;
  return NULL;
}

static status* get_element_type(const shape* from, int* out) {
  *out = from->type;
  return NULL;
}

static status* get_rank(const shape* from, size_t* out) {
  *out = from->rank;
  return NULL;
}

static status* get_dimensions(const shape* from, long long* out, size_t count) {
  for (size_t i = 0; i < count && i < from->rank; i++) out[i] = from->dimensions[i];
  return NULL;
}

static status* get_symbols(const shape* from, const char** out, size_t count) {
  (void)from;
  for (size_t i = 0; i < count; i++) out[i] = "";
  return NULL;
}

static status* get_count(const shape* from, size_t* out) {
  *out = count_elements(from);
  return NULL;
}

static status* cast_type(const shape* from, const shape** out) {
  *out = from;
  return NULL;
}

/* ---- models (source: onnx.proto) --------------------------------------------------------------------------------- */

typedef struct port {
  char name[128];
  shape shape;
} port;

typedef struct session {
  char operator[64];
  size_t nodes;
  size_t count[2]; /* inputs, outputs */
  port ports[2][MOST_PORTS];
} session;

/* The last field of a number in a message, by a path of numbers. */
static field find(span from, const unsigned* path, size_t depth) {
  field part, found = {0};
  while (read_field(&from, &part)) {
    if (part.number == path[0]) found = part;
  }
  return depth == 1 || !found.body.at ? found : find(found.body, path + 1, depth - 1);
}

static void copy_text(span from, char* out, size_t size) {
  snprintf(out, size, "%.*s", (int)(from.end - from.at), from.at ? (const char*)from.at : "");
}

/* ValueInfoProto: name = 1, type.tensor_type.{elem_type = 1, shape.dim.dim_value} */
static void read_port(span from, port* out) {
  field dimension, extent;
  span dimensions = find(from, (const unsigned[]){2, 1, 2}, 3).body;
  copy_text(find(from, (const unsigned[]){1}, 1).body, out->name, sizeof out->name);
  out->shape.type = (int)find(from, (const unsigned[]){2, 1, 1}, 3).value;
  while (out->shape.rank < MOST_DIMENSIONS && read_field(&dimensions, &dimension) && dimension.number == 1) {
    extent = find(dimension.body, (const unsigned[]){1}, 1);
    out->shape.dimensions[out->shape.rank++] = extent.number ? (long long)extent.value : -1;
  }
}

static status* judge_model(const session* model) {
  int is_known = strcmp(model->operator, "Add") == 0 || strcmp(model->operator, "Abs") == 0;
  if (model->nodes != 1 || !is_known || model->count[IN] < 1 || model->count[IN] > 2 || model->count[OUT] != 1)
    return fail("computes only models of one Abs or Add, but this one ends in ", model->operator);
  for (int side = IN; side <= OUT; side++) {
    for (size_t i = 0; i < model->count[side]; i++)
      if (model->ports[side][i].shape.type != FLOAT) return fail("computes only floats", "");
  }
  return NULL;
}

/* ModelProto.graph = 7; GraphProto: node = 1, input = 11, output = 12; NodeProto.op_type = 4 */
static status* create_session(const void* environment, const void* model, size_t size, const void* options,
                              session** out) {
  (void)environment;
  (void)options;
  field part;
  span graph = find((span){model, (const unsigned char*)model + size}, (const unsigned[]){7}, 1).body;
  if (!graph.at) return fail("finds no graph in the model", "");
  session* made = allocate(sizeof *made);
  while (read_field(&graph, &part)) {
    int side = part.number == 12 ? OUT : IN;
    if (part.number == 1) {
      made->nodes++;
      copy_text(find(part.body, (const unsigned[]){4}, 1).body, made->operator, sizeof made->operator);
    } else if ((part.number == 11 || part.number == 12) && made->count[side] < MOST_PORTS) {
      read_port(part.body, &made->ports[side][made->count[side]++]);
    }
  }
  status* failed = judge_model(made);
  if (failed) free(made);
  if (!failed) *out = made;
  return failed;
}

static status* count_inputs(const session* of, size_t* out) {
  *out = of->count[IN];
  return NULL;
}

static status* count_outputs(const session* of, size_t* out) {
  *out = of->count[OUT];
  return NULL;
}

static status* get_name(const session* of, int side, size_t index, char** out) {
  size_t size = sizeof of->ports[side][index].name;
  *out = memcpy(allocate(size), of->ports[side][index].name, size);
  return NULL;
}

static status* get_input_name(const session* of, size_t index, void* allocator, char** out) {
  (void)allocator;
  return get_name(of, IN, index, out);
}

static status* get_output_name(const session* of, size_t index, void* allocator, char** out) {
  (void)allocator;
  return get_name(of, OUT, index, out);
}

static status* get_type(const shape* from, shape** out) {
  *out = allocate(sizeof **out);
  **out = *from;
  return NULL;
}

static status* get_input_type(const session* of, size_t index, shape** out) {
  return get_type(&of->ports[IN][index].shape, out);
}

static status* get_output_type(const session* of, size_t index, shape** out) {
  return get_type(&of->ports[OUT][index].shape, out);
}

static status* run(const session* of, const void* options, const char* const* names, const value* const* inputs,
                   size_t count, const char* const* output_names, size_t output_count, value** outputs) {
  (void)options;
  (void)names;
  (void)output_names;
  if (count != of->count[IN] || output_count != 1) return fail("computes all outputs of all inputs", "");
  int is_add = strcmp(of->operator, "Add") == 0;
  const value *left = inputs[0], *right = inputs[count - 1]; /* x + x has one input */
  size_t elements = count_elements(&left->shape);
  if (left->shape.type != FLOAT || right->shape.type != FLOAT || count_elements(&right->shape) != elements)
    return fail("computes only floats, and of one shape", "");
  if (!*outputs) {
    status* failed = make_value(left->shape.dimensions, left->shape.rank, FLOAT, NULL, outputs);
    if (failed) return failed;
  }
  for (size_t i = 0; i < elements; i++)
    (*outputs)->data[i] = is_add ? left->data[i] + right->data[i] : fabsf(left->data[i]);
  return NULL;
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

/* Whatever is only passed on: environments, options, where memory is. */
static char handle;

static status* make_handle(const void** out) {
  *out = &handle;
  return NULL;
}

static status* create_environment(int level, const char* name, const void** out) {
  (void)level;
  (void)name;
  return make_handle(out);
}

static status* create_logging_environment(void* function, void* user, int level, const char* name, const void** out) {
  (void)function;
  (void)user;
  return create_environment(level, name, out);
}

static status* create_memory_info(int kind, int type, const void** out) {
  (void)kind;
  (void)type;
  return make_handle(out);
}

static status* create_named_memory_info(const char* name, int kind, int id, int type, const void** out) {
  (void)name;
  (void)id;
  return create_memory_info(kind, type, out);
}

static status* get_memory_info(const value* from, const void** out) {
  (void)from;
  return make_handle(out);
}

static status* get_memory_name(const void* memory, const char** out) {
  (void)memory;
  *out = "Cpu";
  return NULL;
}

static status* get_memory_id(const void* memory, int* out) {
  (void)memory;
  *out = 0;
  return NULL;
}

static status* free_memory(void* allocator, void* memory) {
  (void)allocator;
  free(memory);
  return NULL;
}

static status* accept(void) {
  return NULL;
}

static void ignore(void) {}

#define DEFINE(name, kind, since)              \
  static status* refuse_##name(void) {         \
    return fail("lacks the function ", #name); \
  }
LB_ORT_API(DEFINE)

typedef void (*function)(void);
#define NUMBER(name, kind, since)   SLOT_##name,
#define FUNCTION(name, kind, since) (function) refuse_##name,
enum { LB_ORT_API(NUMBER) SLOTS };
static function table[SLOTS] = {LB_ORT_API(FUNCTION)};

#define ROW(name, does) {SLOT_##name, (function)(does)}
static const struct {
  unsigned short slot;
  function does;
} present[] = {
    ROW(CreateStatus, make_status),
    ROW(GetErrorCode, get_code),
    ROW(GetErrorMessage, get_message),
    ROW(ReleaseStatus, free),
    ROW(CreateEnv, create_environment),
    ROW(CreateEnvWithCustomLogger, create_logging_environment),
    ROW(ReleaseEnv, ignore),
    ROW(DisableTelemetryEvents, accept),
    ROW(CreateSessionOptions, make_handle),
    ROW(ReleaseSessionOptions, ignore),
    ROW(SetUserLoggingFunction, accept),
    ROW(SetSessionLogSeverityLevel, accept),
    ROW(SetSessionGraphOptimizationLevel, accept),
    ROW(SetIntraOpNumThreads, accept),
    ROW(SetInterOpNumThreads, accept),
    ROW(DisableMemPattern, accept),
    ROW(DisableCpuMemArena, accept),
    ROW(AddSessionConfigEntry, accept),
    ROW(CreateRunOptions, make_handle),
    ROW(ReleaseRunOptions, ignore),
    ROW(RunOptionsSetRunLogSeverityLevel, accept),
    ROW(CreateSessionFromArray, create_session),
    ROW(ReleaseSession, free),
    ROW(SessionGetInputCount, count_inputs),
    ROW(SessionGetOutputCount, count_outputs),
    ROW(SessionGetInputName, get_input_name),
    ROW(SessionGetOutputName, get_output_name),
    ROW(SessionGetInputTypeInfo, get_input_type),
    ROW(SessionGetOutputTypeInfo, get_output_type),
    ROW(GetOnnxTypeFromTypeInfo, get_value_type),
    ROW(CastTypeInfoToTensorInfo, cast_type),
    ROW(ReleaseTypeInfo, free),
    ROW(GetTensorElementType, get_element_type),
    ROW(GetDimensionsCount, get_rank),
    ROW(GetDimensions, get_dimensions),
    ROW(GetSymbolicDimensions, get_symbols),
    ROW(GetTensorShapeElementCount, get_count),
    ROW(ReleaseTensorTypeAndShapeInfo, free),
    ROW(Run, run),
    ROW(CreateCpuMemoryInfo, create_memory_info),
    ROW(CreateMemoryInfo, create_named_memory_info),
    ROW(GetTensorMemoryInfo, get_memory_info),
    ROW(MemoryInfoGetName, get_memory_name),
    ROW(MemoryInfoGetId, get_memory_id),
    ROW(ReleaseMemoryInfo, ignore),
    ROW(GetAllocatorWithDefaultOptions, make_handle),
    ROW(AllocatorFree, free_memory),
    ROW(CreateTensorWithDataAsOrtValue, wrap_data),
    ROW(CreateTensorAsOrtValue, make_tensor),
    ROW(GetValueType, get_value_type),
    ROW(GetTensorTypeAndShape, get_shape),
    ROW(GetTensorMutableData, get_data),
    ROW(ReleaseValue, release_value),
};

static const char* get_version(void) {
  return VERSION;
}

static const void* get_api(unsigned version) {
  unsigned minor = 0;
  sscanf(VERSION, "%*u.%u", &minor);
  if (!version || version > minor) return NULL;
  for (size_t i = 0; i < sizeof present / sizeof *present; i++) table[present[i].slot] = present[i].does;
  return table;
}

static const struct {
  const void* (*get_api)(unsigned version);
  const char* (*get_version)(void);
} base = {get_api, get_version};

EXPORT const void* OrtGetApiBase(void) {
  return &base;
}
