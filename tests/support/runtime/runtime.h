/* runtime.h: what the files of the small runtime share. It runs ONNX models whose nodes are custom operators or an
 * execution provider's, through ONNX Runtime's C API, on systems where no real runtime runs (synthetic). It must have
 * no operator of its own: whatever a model computes, the library under test computed. */
#ifndef TESTS_RUNTIME_H
#define TESTS_RUNTIME_H

#include "onnxruntime_c_api.h"

enum { MOST_NODES = 8, MOST_PORTS = 8, MOST_VALUES = 32, MOST_ATTRIBUTES = 16, MOST_DIMENSIONS = 8, MOST_ENTRIES = 32 };

#define TRY(call)               \
  do {                          \
    OrtStatus* failed = (call); \
    if (failed) return failed;  \
  } while (0)

/* ---- tables.c --------------------------------------------------------------------------------------------------- */

const OrtApiBase* runtime_base(void);
const OrtApi* runtime_api(void);

/* ---- status.c --------------------------------------------------------------------------------------------------- */

struct OrtStatus {
  OrtErrorCode code;
  char message[1024];
};

OrtStatus* ORT_API_CALL runtime_create_status(OrtErrorCode code, const char* message) NO_EXCEPTION;
OrtErrorCode ORT_API_CALL runtime_get_code(const OrtStatus* status) NO_EXCEPTION;
const char* ORT_API_CALL runtime_get_message(const OrtStatus* status) NO_EXCEPTION;
void ORT_API_CALL runtime_release_status(OrtStatus* status);
/* A status with a name or a number in its message. */
OrtStatus* runtime_fail(const char* format, ...);
/* Memory of zeros; ends the process when there is none. */
void* runtime_allocate(size_t size);
char* runtime_copy(const void* bytes, size_t size);
/* Hands a text out as ONNX Runtime does: without a buffer the size that it takes, with its NUL. */
OrtStatus* runtime_hand_out(const char* bytes, size_t length, char* out, size_t* size);

/* ---- value.c ---------------------------------------------------------------------------------------------------- */

struct OrtTensorTypeAndShapeInfo {
  ONNXTensorElementDataType type;
  size_t rank;
  int64_t shape[MOST_DIMENSIONS];
  const char* names[MOST_DIMENSIONS]; /* the model's, "" where a dimension has none */
};

struct OrtTypeInfo {
  OrtTensorTypeAndShapeInfo tensor;
};

struct OrtValue {
  OrtTensorTypeAndShapeInfo info;
  size_t count;
  void* data;
  char** strings;
  size_t* lengths;
  int is_borrowed; /* the data is the caller's */
};

OrtValue* runtime_make_value(ONNXTensorElementDataType type, const int64_t* shape, size_t rank);
void ORT_API_CALL runtime_release_value(OrtValue* value);
void runtime_fill_value_functions(OrtApi* api);

/* ---- model.c ---------------------------------------------------------------------------------------------------- */

/* A value of a graph, by name. */
struct OrtValueInfo {
  char* name;
  int is_described;
  OrtTypeInfo type;
};

typedef struct attribute {
  char* name;
  char* text;
  size_t size;
  int64_t number;
} attribute;

struct OrtNode {
  char* name;
  char* type;
  char* domain;
  OrtValueInfo* inputs[MOST_PORTS];
  OrtValueInfo* outputs[MOST_PORTS]; /* NULL where nobody wants it */
  size_t input_count, output_count, attribute_count;
  attribute attributes[MOST_ATTRIBUTES];
};

struct OrtGraph {
  OrtNode* nodes[MOST_NODES];
  OrtValueInfo values[MOST_VALUES];
  size_t node_count, value_count;
};

/* Reads an ONNX file: its nodes with texts and whole numbers as attributes, and the types of its values. */
OrtStatus* runtime_read_model(const void* bytes, size_t size, OrtGraph* graph);
void runtime_clear_graph(OrtGraph* graph);
void runtime_fill_graph_functions(OrtApi* api);

/* ---- options.c -------------------------------------------------------------------------------------------------- */

struct OrtCustomOpDomain {
  char* name;
  const OrtCustomOp* op; /* one is enough here */
};

typedef struct entry {
  char* key;
  char* value;
} entry;

struct OrtSessionOptions {
  entry entries[MOST_ENTRIES];
  size_t entry_count;
  const OrtCustomOpDomain* domain;
  const OrtEpDevice* device;
};

void runtime_fill_option_functions(OrtApi* api);

/* ---- operator.c ------------------------------------------------------------------------------------------------- */

struct OrtKernelInfo {
  const OrtNode* node;
};

/* One node in one run: values by the index of the graph's. */
struct OrtKernelContext {
  const OrtNode* node;
  const OrtGraph* graph;
  OrtValue** values;
};

/* Creates the kernel of a node with the options' custom operator; refuses a node that is not its. */
OrtStatus* runtime_create_kernel(const OrtSessionOptions* options, const OrtNode* node, void** kernel);
void runtime_fill_operator_functions(OrtApi* api);

/* ---- provider.c ------------------------------------------------------------------------------------------------- */

struct OrtHardwareDevice {
  OrtHardwareDeviceType type;
};

struct OrtEpDevice {
  OrtEpFactory* factory;
  const OrtHardwareDevice* hardware;
};

void runtime_fill_provider_functions(OrtApi* api);
const OrtEpApi* ORT_API_CALL runtime_ep_api(void);

/* ---- session.c -------------------------------------------------------------------------------------------------- */

struct OrtEpGraphSupportInfo {
  const OrtNode* nodes[MOST_NODES];
  size_t count;
};

void runtime_fill_session_functions(OrtApi* api);

#endif
