// A plugin execution provider for ONNX Runtime: Mul and Relu of 32-bit floats on the CPU. Linked to nothing.
#include <latebind/ep.h>
#include <stdlib.h>

#ifdef _WIN32
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif
#define TRY(call)               \
  do {                          \
    OrtStatus* failed = (call); \
    if (failed) return failed;  \
  } while (0)

static const OrtApi* ort;
static const OrtEpApi* ep_api;
static uint32_t version;

// ---- one node ------------------------------------------------------------------------------------------------------

typedef enum { OTHER, MUL, RELU } Op;

typedef struct {
  OrtNodeComputeInfo base;
  Op op;
} Kernel;

static OrtStatus* op_of(const OrtNode* node, Op* op) {
  const char *type = NULL, *domain = NULL;
  TRY(ort->Node_GetOperatorType(node, &type));
  TRY(ort->Node_GetDomain(node, &domain));
  *op = *domain ? OTHER : !strcmp(type, "Mul") ? MUL : !strcmp(type, "Relu") ? RELU : OTHER;
  return NULL;
}

typedef struct {
  ONNXTensorElementDataType type;
  size_t rank;
  int64_t shape[8];
} Tensor;

static OrtStatus* describe(const OrtTensorTypeAndShapeInfo* info, Tensor* tensor) {
  TRY(ort->GetTensorElementType(info, &tensor->type));
  TRY(ort->GetDimensionsCount(info, &tensor->rank));
  return tensor->rank > 8 ? NULL : ort->GetDimensions(info, tensor->shape, tensor->rank);
}

static bool is_same(const Tensor* a, const Tensor* b) {
  if (a->type != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT || b->type != a->type) return false;
  if (a->rank > 8 || a->rank != b->rank) return false;
  for (size_t i = 0; i < a->rank; i++)
    if (a->shape[i] < 0 || a->shape[i] != b->shape[i]) return false;
  return true;
}

// Mul and Relu whose inputs are float tensors of the same known shape: nothing is broadcast.
static OrtStatus* is_supported(const OrtNode* node, bool* yes) {
  Op op = OTHER;
  size_t count = 0;
  const OrtValueInfo* inputs[2] = {NULL, NULL};
  Tensor tensors[2];
  *yes = false;
  TRY(op_of(node, &op));
  if (op == OTHER) return NULL;
  TRY(ort->Node_GetNumInputs(node, &count));
  if (count != (op == MUL ? 2 : 1)) return NULL;
  TRY(ort->Node_GetInputs(node, inputs, count));
  for (size_t i = 0; i < count; i++) {
    const OrtTypeInfo* type = NULL;
    const OrtTensorTypeAndShapeInfo* info = NULL;
    TRY(ort->GetValueInfoTypeInfo(inputs[i], &type));
    TRY(ort->CastTypeInfoToTensorInfo(type, &info));
    if (!info) return NULL;
    TRY(describe(info, &tensors[i]));
  }
  *yes = is_same(&tensors[0], &tensors[count - 1]);
  return NULL;
}

static OrtStatus* ORT_API_CALL create_state(OrtNodeComputeInfo* self, OrtNodeComputeContext* context, void** state) {
  (void)context;
  *state = self;
  return NULL;
}

static OrtStatus* ORT_API_CALL compute(OrtNodeComputeInfo* self, void* state, OrtKernelContext* context) {
  Op op = ((Kernel*)self)->op;
  const float* from[2] = {NULL, NULL};
  float* to = NULL;
  Tensor first;
  size_t elements = 1;
  OrtValue* made = NULL;
  (void)state;
  for (size_t i = 0; i < (op == MUL ? 2 : 1); i++) {
    const OrtValue* value = NULL;
    OrtTensorTypeAndShapeInfo* info = NULL;
    TRY(ort->KernelContext_GetInput(context, i, &value));
    TRY(ort->GetTensorMutableData((OrtValue*)value, (void**)&from[i]));
    if (i) continue; // both have the same shape: see is_supported()
    TRY(ort->GetTensorTypeAndShape(value, &info));
    OrtStatus* failed = describe(info, &first);
    ort->ReleaseTensorTypeAndShapeInfo(info);
    if (failed) return failed;
  }
  TRY(ort->KernelContext_GetOutput(context, 0, first.shape, first.rank, &made));
  TRY(ort->GetTensorMutableData(made, (void**)&to));
  for (size_t i = 0; i < first.rank; i++) elements *= (size_t)first.shape[i];
  for (size_t i = 0; i < elements; i++) to[i] = op == MUL ? from[0][i] * from[1][i] : from[0][i] > 0 ? from[0][i] : 0;
  return NULL;
}

static void ORT_API_CALL release_state(OrtNodeComputeInfo* self, void* state) {
  (void)self, (void)state;
}

// ---- the provider of a session -------------------------------------------------------------------------------------

static const char* ORT_API_CALL ep_name(const OrtEp* self) {
  return (void)self, LATEBIND_EP_NAME;
}

static OrtStatus* ORT_API_CALL get_capability(OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* support) {
  size_t count = 0;
  (void)self;
  TRY(ort->Graph_GetNumNodes(graph, &count));
  const OrtNode** nodes = calloc(count + 1, sizeof *nodes);
  if (!nodes) return ort->CreateStatus(ORT_FAIL, "out of memory");
  OrtStatus* failed = ort->Graph_GetNodes(graph, nodes, count);
  for (size_t i = 0; !failed && i < count; i++) {
    bool ours = false;
    failed = is_supported(nodes[i], &ours);
    if (!failed && ours) failed = ep_api->EpGraphSupportInfo_AddNodesToFuse(support, &nodes[i], 1, NULL);
  }
  free((void*)nodes);
  return failed;
}

static void ORT_API_CALL release_infos(OrtEp* self, OrtNodeComputeInfo** infos, size_t count) {
  (void)self;
  for (size_t i = 0; i < count; i++) free(infos[i]);
}

static OrtStatus* ORT_API_CALL compile(OrtEp* self, const OrtGraph** graphs, const OrtNode** fused, size_t count,
                                       OrtNodeComputeInfo** infos, OrtNode** contexts) {
  (void)self, (void)fused, (void)contexts;
  for (size_t i = 0; i < count; i++) {
    const OrtNode* node = NULL;
    Kernel* kernel = calloc(1, sizeof *kernel);
    if (!kernel) return ort->CreateStatus(ORT_FAIL, "out of memory");
    infos[i] = &kernel->base;
    kernel->base = (OrtNodeComputeInfo){version, create_state, compute, release_state};
    TRY(ort->Graph_GetNodes(graphs[i], &node, 1)); // get_capability() fuses single nodes
    TRY(op_of(node, &kernel->op));
  }
  return NULL;
}

// ---- the factory ---------------------------------------------------------------------------------------------------

static const char* ORT_API_CALL factory_name(const OrtEpFactory* self) {
  return (void)self, LATEBIND_EP_NAME;
}
static const char* ORT_API_CALL vendor(const OrtEpFactory* self) {
  return (void)self, "Tiny";
}
static const char* ORT_API_CALL ep_version(const OrtEpFactory* self) {
  return (void)self, LATEBIND_EP_VERSION;
}

static OrtStatus* ORT_API_CALL devices(OrtEpFactory* self, const OrtHardwareDevice* const* found, size_t count,
                                       OrtEpDevice** ours, size_t most, size_t* used) {
  *used = 0;
  for (size_t i = 0; i < count && *used < most; i++)
    if (ort->HardwareDevice_Type(found[i]) == OrtHardwareDeviceType_CPU)
      TRY(ep_api->CreateEpDevice(self, found[i], NULL, NULL, &ours[(*used)++]));
  return NULL;
}

static OrtStatus* ORT_API_CALL create_ep(OrtEpFactory* self, const OrtHardwareDevice* const* found,
                                         const OrtKeyValuePairs* const* metadata, size_t count,
                                         const OrtSessionOptions* options, const OrtLogger* logger, OrtEp** made) {
  (void)self, (void)found, (void)metadata, (void)count, (void)options, (void)logger;
  if (!(*made = calloc(1, sizeof **made))) return ort->CreateStatus(ORT_FAIL, "out of memory");
  **made = (OrtEp){.ort_version_supported = version,
                   .GetName = ep_name,
                   .GetCapability = get_capability,
                   .Compile = compile,
                   .ReleaseNodeComputeInfos = release_infos};
  return NULL;
}

static void ORT_API_CALL release_ep(OrtEpFactory* self, OrtEp* ep) {
  (void)self, free(ep);
}

// Every release up to 1.31 calls this function without a check for NULL, though the header describes it as optional.
static OrtStatus* ORT_API_CALL no_transfer(OrtEpFactory* self, OrtDataTransferImpl** made) {
  (void)self;
  *made = NULL;
  return NULL;
}

static OrtEpFactory factory;

EXPORTED OrtStatus* CreateEpFactories(const char* name, const OrtApiBase* base, const OrtLogger* logger,
                                      OrtEpFactory** factories, size_t most, size_t* count) {
  (void)name, (void)logger;
  *count = 0;
  TRY(lb_ep_negotiate(base, &ort, &version));
  if (!ort) return NULL; // this runtime has no API table, not even one that creates an error status
  if (most < 1) return ort->CreateStatus(ORT_INVALID_ARGUMENT, "there is no room for a factory");
  ep_api = ort->GetEpApi();
  factory = (OrtEpFactory){.ort_version_supported = version,
                           .GetName = factory_name,
                           .GetVendor = vendor,
                           .GetSupportedDevices = devices,
                           .CreateEp = create_ep,
                           .ReleaseEp = release_ep,
                           .GetVersion = ep_version,
                           .CreateDataTransfer = no_transfer};
  factories[(*count)++] = &factory;
  return NULL;
}

EXPORTED OrtStatus* ReleaseEpFactory(OrtEpFactory* made) {
  return (void)made, NULL;
}
