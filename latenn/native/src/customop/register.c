/* register.c: the one exported function, and the operator as ONNX Runtime sees it; must keep no state but what it hands
 * over. */
#include <stdlib.h>

#include "customop.h"
#include "latebind/onnxruntime.h"

#if defined(_WIN32)
#define CUSTOMOP_EXPORT __declspec(dllexport)
#else
#define CUSTOMOP_EXPORT __attribute__((visibility("default")))
#endif

CUSTOMOP_EXPORT OrtStatus* LB_ORT_CALL RegisterCustomOps(OrtSessionOptions* options, const lb_ort_base* base);

static const char* LB_ORT_CALL customop_name(const customop_layout* op) {
  (void)op;
  return CUSTOMOP_NAME;
}

/* NULL: the CPU's provider, so values are where latenn reads them. */
static const char* LB_ORT_CALL customop_provider(const customop_layout* op) {
  (void)op;
  return NULL;
}

static ONNXTensorElementDataType LB_ORT_CALL customop_any_type(const customop_layout* op, size_t index) {
  (void)op;
  (void)index;
  return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}

static size_t LB_ORT_CALL customop_one_list(const customop_layout* op) {
  (void)op;
  return 1;
}

static OrtCustomOpInputOutputCharacteristic LB_ORT_CALL customop_variadic(const customop_layout* op, size_t index) {
  (void)op;
  (void)index;
  return INPUT_OUTPUT_VARIADIC;
}

static OrtMemType LB_ORT_CALL customop_memory(const customop_layout* op, size_t index) {
  (void)op;
  (void)index;
  return OrtMemTypeDefault;
}

static int LB_ORT_CALL customop_zero(const customop_layout* op) {
  (void)op;
  return 0;
}

static int LB_ORT_CALL customop_first_version(const customop_layout* op) {
  (void)op;
  return 1;
}

static int LB_ORT_CALL customop_last_version(const customop_layout* op) {
  (void)op;
  return 1;
}

static size_t LB_ORT_CALL customop_no_pairs(int** inputs, int** outputs) {
  (void)inputs;
  (void)outputs;
  return 0;
}

static void LB_ORT_CALL customop_free_pairs(int* inputs, int* outputs) {
  (void)inputs;
  (void)outputs;
}

static const customop_layout customop_model = {
    .version = CUSTOMOP_LAYOUT_VERSION,
    .GetName = customop_name,
    .GetExecutionProviderType = customop_provider,
    .GetInputType = customop_any_type,
    .GetInputTypeCount = customop_one_list,
    .GetOutputType = customop_any_type,
    .GetOutputTypeCount = customop_one_list,
    .KernelDestroy = customop_destroy_kernel,
    .GetInputCharacteristic = customop_variadic,
    .GetOutputCharacteristic = customop_variadic,
    .GetInputMemoryType = customop_memory,
    .GetVariadicInputMinArity = customop_zero,
    .GetVariadicInputHomogeneity = customop_zero,
    .GetVariadicOutputMinArity = customop_zero,
    .GetVariadicOutputHomogeneity = customop_zero,
    .CreateKernelV2 = customop_create_kernel,
    .KernelComputeV2 = customop_compute,
    .GetStartVersion = customop_first_version,
    .GetEndVersion = customop_last_version,
    .GetMayInplace = customop_no_pairs,
    .ReleaseMayInplace = customop_free_pairs,
    .GetAliasMap = customop_no_pairs,
    .ReleaseAliasMap = customop_free_pairs,
};

static OrtStatus* customop_add(customop_registration* registration, OrtSessionOptions* options) {
  const lb_ort_api* api = &registration->api;
  OrtCustomOpDomain* domain = NULL;
  OrtStatus* failed = lb_ort_CloneSessionOptions(api, options, &registration->options);
  if (!failed) failed = lb_ort_CreateCustomOpDomain(api, CUSTOMOP_DOMAIN, &domain);
  if (!failed) failed = lb_ort_CustomOpDomain_Add(api, domain, (const OrtCustomOp*)(const void*)&registration->op);
  if (!failed) failed = lb_ort_AddCustomOpDomain(api, options, domain);
  if (failed && domain) lb_ort_ReleaseCustomOpDomain(api, domain);
  if (failed && registration->options) lb_ort_ReleaseSessionOptions(api, registration->options);
  return failed;
}

OrtStatus* LB_ORT_CALL RegisterCustomOps(OrtSessionOptions* options, const lb_ort_base* base) {
  lb_ort_api api;
  if (lb_ort_attach_base(base, &api)) {
    /* Every release has the first table; one of another major version is none of those. */
    const lb_ort_table* first = base ? base->GetApi(1) : NULL;
    return first ? first->CreateStatus(ORT_FAIL, "latenn's operator needs ONNX Runtime " LATEBIND_ONNXRUNTIME_MINIMUM
                                                 " or newer; this is another one. Update it.")
                 : NULL;
  }
  if (api.version < CUSTOMOP_LAYOUT_VERSION) {
    return lb_ort_CreateStatus(&api, ORT_FAIL,
                               "latenn's operator needs ONNX Runtime " LATEBIND_ONNXRUNTIME_MINIMUM
                               " or newer; the one that registers it is older. Update it.");
  }
  customop_registration* registration = calloc(1, sizeof *registration);
  if (!registration) return lb_ort_CreateStatus(&api, ORT_FAIL, "Out of memory.");
  registration->op = customop_model;
  registration->api = api;
  OrtStatus* failed = customop_add(registration, options);
  if (failed) free(registration);
  return failed;
}
