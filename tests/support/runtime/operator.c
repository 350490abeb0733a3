/* operator.c: creates the kernels of a custom operator, and what a kernel asks of its node and its run. */
#include <string.h>

#include "runtime.h"

enum { WITH_STATUS = 16 /* the first struct with CreateKernelV2 */ };

/* Whether every value of one side can be the operator's: one list of any type and length is all that is needed here. */
static int is_list(const OrtCustomOp* op, size_t count,
                   OrtCustomOpInputOutputCharacteristic(ORT_API_CALL* kind)(const OrtCustomOp*, size_t),
                   ONNXTensorElementDataType(ORT_API_CALL* type)(const OrtCustomOp*, size_t),
                   int(ORT_API_CALL* least)(const OrtCustomOp*)) {
  return kind(op, 0) == INPUT_OUTPUT_VARIADIC && type(op, 0) == ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED &&
         least(op) >= 0 && count >= (size_t)least(op);
}

static OrtStatus* check_op(const OrtCustomOp* op, const OrtNode* node) {
  int* input = NULL;
  int* output = NULL;
  if (op->version < WITH_STATUS || op->version > ORT_API_VERSION) {
    return runtime_fail("the operator's struct is of version %u", (unsigned)op->version);
  }
  if (op->GetInputTypeCount(op) != 1 || op->GetOutputTypeCount(op) != 1 || op->GetVariadicInputHomogeneity(op) ||
      op->GetVariadicOutputHomogeneity(op) || op->GetInputMemoryType(op, 0) != OrtMemTypeDefault ||
      !is_list(op, node->input_count, op->GetInputCharacteristic, op->GetInputType, op->GetVariadicInputMinArity) ||
      !is_list(op, node->output_count, op->GetOutputCharacteristic, op->GetOutputType, op->GetVariadicOutputMinArity)) {
    return runtime_fail("the operator's inputs or outputs are of a kind that only a real runtime has");
  }
  if (op->version > 17 && (op->GetMayInplace(&input, &output) || op->GetAliasMap(&input, &output))) {
    return runtime_fail("the operator computes in place");
  }
  if (op->version > 17) {
    op->ReleaseMayInplace(input, output);
    op->ReleaseAliasMap(input, output);
  }
  return op->GetStartVersion(op) <= 1 ? NULL : runtime_fail("the operator is newer than the model");
}

OrtStatus* runtime_create_kernel(const OrtSessionOptions* options, const OrtNode* node, void** kernel) {
  const OrtCustomOp* op = options->domain ? options->domain->op : NULL;
  const OrtKernelInfo info = {node};
  if (!op || strcmp(options->domain->name, node->domain) != 0 || strcmp(op->GetName(op), node->type) != 0 ||
      op->GetExecutionProviderType(op)) {
    return runtime_fail("no kernel for %s.%s", node->domain, node->type);
  }
  TRY(check_op(op, node));
  return op->CreateKernelV2(op, runtime_api(), &info, kernel);
}

/* ---- a node ----------------------------------------------------------------------------------------------------- */

static const attribute* find_attribute(const OrtKernelInfo* info, const char* name) {
  for (size_t i = 0; i < info->node->attribute_count; i++) {
    if (strcmp(info->node->attributes[i].name, name) == 0) return &info->node->attributes[i];
  }
  return NULL;
}

static OrtStatus* ORT_API_CALL get_number(const OrtKernelInfo* info, const char* name, int64_t* out) NO_EXCEPTION {
  const attribute* it = find_attribute(info, name);
  if (!it || it->text) return runtime_fail("no attribute of that name and type: %s", name);
  *out = it->number;
  return NULL;
}

static OrtStatus* ORT_API_CALL get_text(const OrtKernelInfo* info, const char* name, char* out,
                                        size_t* size) NO_EXCEPTION {
  const attribute* it = find_attribute(info, name);
  if (!it || !it->text) return runtime_fail("no attribute of that name and type: %s", name);
  return runtime_hand_out(it->text, it->size, out, size);
}

static OrtStatus* ORT_API_CALL get_node_name(const OrtKernelInfo* info, char* out, size_t* size) NO_EXCEPTION {
  return runtime_hand_out(info->node->name, strlen(info->node->name), out, size);
}

static OrtStatus* ORT_API_CALL count_inputs(const OrtKernelInfo* info, size_t* out) NO_EXCEPTION {
  *out = info->node->input_count;
  return NULL;
}

static OrtStatus* ORT_API_CALL count_outputs(const OrtKernelInfo* info, size_t* out) NO_EXCEPTION {
  *out = info->node->output_count;
  return NULL;
}

static OrtStatus* copy_type(OrtValueInfo* const* values, size_t count, size_t index, OrtTypeInfo** out) {
  if (index >= count || !values[index]) return runtime_fail("the node has no value %u", (unsigned)index);
  *out = runtime_allocate(sizeof **out);
  **out = values[index]->type;
  return NULL;
}

static OrtStatus* ORT_API_CALL get_input_type(const OrtKernelInfo* info, size_t index, OrtTypeInfo** out) NO_EXCEPTION {
  return copy_type(info->node->inputs, info->node->input_count, index, out);
}

static OrtStatus* ORT_API_CALL get_output_type(const OrtKernelInfo* info, size_t index,
                                               OrtTypeInfo** out) NO_EXCEPTION {
  return copy_type(info->node->outputs, info->node->output_count, index, out);
}

/* ---- a run ------------------------------------------------------------------------------------------------------ */

static OrtStatus* ORT_API_CALL get_input(const OrtKernelContext* context, size_t index,
                                         const OrtValue** out) NO_EXCEPTION {
  if (index >= context->node->input_count) return runtime_fail("the node has no input %u", (unsigned)index);
  const OrtValueInfo* value = context->node->inputs[index];
  *out = value ? context->values[value - context->graph->values] : NULL;
  return NULL;
}

static OrtStatus* ORT_API_CALL get_output(OrtKernelContext* context, size_t index, const int64_t* shape, size_t rank,
                                          OrtValue** out) NO_EXCEPTION {
  if (index >= context->node->output_count) return runtime_fail("the node has no output %u", (unsigned)index);
  if (rank > MOST_DIMENSIONS) return runtime_fail("a tensor has %u dimensions", (unsigned)rank);
  const OrtValueInfo* value = context->node->outputs[index];
  *out = NULL;
  if (!value) return NULL;
  OrtValue** slot = &context->values[value - context->graph->values];
  if (!*slot) *slot = runtime_make_value(value->type.tensor.type, shape, rank);
  *out = *slot;
  return NULL;
}

void runtime_fill_operator_functions(OrtApi* api) {
  api->KernelInfoGetAttribute_int64 = get_number;
  api->KernelInfoGetAttribute_string = get_text;
  api->KernelInfo_GetNodeName = get_node_name;
  api->KernelInfo_GetInputCount = count_inputs;
  api->KernelInfo_GetOutputCount = count_outputs;
  api->KernelInfo_GetInputTypeInfo = get_input_type;
  api->KernelInfo_GetOutputTypeInfo = get_output_type;
  api->KernelContext_GetInput = get_input;
  api->KernelContext_GetOutput = get_output;
}
