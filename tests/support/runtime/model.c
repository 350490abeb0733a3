/* model.c: reads the ONNX files of the tests, and shows their graph to a provider. */
#include <stdlib.h>
#include <string.h>

#include "protobuf.h"
#include "runtime.h"

static char* copy_span(span text) {
  return runtime_copy(text.at, (size_t)(text.end - text.at));
}

/* ---- ONNX's messages -------------------------------------------------------------------------------------------- */

static OrtValueInfo* find_value(OrtGraph* graph, span name) {
  size_t length = (size_t)(name.end - name.at);
  if (!length) return NULL;
  for (size_t i = 0; i < graph->value_count; i++) {
    OrtValueInfo* value = &graph->values[i];
    if (strlen(value->name) == length && memcmp(value->name, name.at, length) == 0) return value;
  }
  if (graph->value_count == MOST_VALUES) return NULL;
  graph->values[graph->value_count].name = copy_span(name);
  return &graph->values[graph->value_count++];
}

static void read_dimension(span message, OrtTensorTypeAndShapeInfo* info) {
  field part;
  if (info->rank == MOST_DIMENSIONS) return;
  info->shape[info->rank] = -1;
  info->names[info->rank] = NULL;
  while (read_field(&message, &part)) {
    if (part.number == 1) info->shape[info->rank] = (int64_t)part.value;
    if (part.number == 2) info->names[info->rank] = copy_span(part.body);
  }
  info->rank++;
}

static void read_tensor_type(span message, OrtTensorTypeAndShapeInfo* info) {
  field part, dimension;
  while (read_field(&message, &part)) {
    if (part.number == 1) info->type = (ONNXTensorElementDataType)part.value;
    while (part.number == 2 && read_field(&part.body, &dimension)) read_dimension(dimension.body, info);
  }
}

static void read_value(span message, OrtGraph* graph) {
  field part, kind;
  OrtValueInfo* value = NULL;
  while (read_field(&message, &part)) {
    if (part.number == 1) value = find_value(graph, part.body);
    while (value && part.number == 2 && read_field(&part.body, &kind)) {
      if (kind.number == 1) read_tensor_type(kind.body, &value->type.tensor);
      value->is_described = 1;
    }
  }
}

static void read_attribute(span message, OrtNode* node) {
  field part;
  if (node->attribute_count == MOST_ATTRIBUTES) return;
  attribute* next = &node->attributes[node->attribute_count++];
  while (read_field(&message, &part)) {
    if (part.number == 1) next->name = copy_span(part.body);
    if (part.number == 3) next->number = (int64_t)part.value;
    if (part.number != 4) continue;
    next->text = copy_span(part.body);
    next->size = (size_t)(part.body.end - part.body.at);
  }
}

static void read_node(span message, OrtGraph* graph) {
  field part;
  if (graph->node_count == MOST_NODES) return;
  OrtNode* node = graph->nodes[graph->node_count++] = runtime_allocate(sizeof *node);
  while (read_field(&message, &part)) {
    switch (part.number) {
      case 1:
        if (node->input_count < MOST_PORTS) node->inputs[node->input_count++] = find_value(graph, part.body);
        break;
      case 2:
        if (node->output_count < MOST_PORTS) node->outputs[node->output_count++] = find_value(graph, part.body);
        break;
      case 3: node->name = copy_span(part.body); break;
      case 4: node->type = copy_span(part.body); break;
      case 5: read_attribute(part.body, node); break;
      case 7: node->domain = copy_span(part.body); break;
      default: break;
    }
  }
  if (!node->name) node->name = runtime_copy("", 0);
  if (!node->type) node->type = runtime_copy("", 0);
  if (!node->domain) node->domain = runtime_copy("", 0);
}

/* Nothing infers shapes here: a value that the model does not describe is like its node's first input. */
static void describe_values(OrtGraph* graph) {
  for (size_t i = 0; i < graph->node_count; i++) {
    OrtNode* node = graph->nodes[i];
    for (size_t j = 0; j < node->output_count; j++) {
      OrtValueInfo* value = node->outputs[j];
      if (!value || value->is_described || !node->input_count || !node->inputs[0]) continue;
      value->type.tensor = node->inputs[0]->type.tensor;
      memset(value->type.tensor.names, 0, sizeof value->type.tensor.names);
      value->is_described = 1;
    }
  }
}

OrtStatus* runtime_read_model(const void* bytes, size_t size, OrtGraph* graph) {
  span message = {bytes, (const unsigned char*)bytes + size};
  field part, inner;
  while (read_field(&message, &part)) {
    while (part.number == 7 && read_field(&part.body, &inner)) {
      if (inner.number == 1) read_node(inner.body, graph);
      if (inner.number >= 11 && inner.number <= 13) read_value(inner.body, graph);
    }
  }
  describe_values(graph);
  return graph->node_count ? NULL : runtime_fail("the model has no nodes");
}

static void clear_node(OrtNode* node) {
  for (size_t i = 0; i < node->attribute_count; i++) {
    free(node->attributes[i].name);
    free(node->attributes[i].text);
  }
  free(node->name);
  free(node->type);
  free(node->domain);
  free(node);
}

void runtime_clear_graph(OrtGraph* graph) {
  for (size_t i = 0; i < graph->node_count; i++) clear_node(graph->nodes[i]);
  for (size_t i = 0; i < graph->value_count; i++) {
    free(graph->values[i].name);
    for (size_t j = 0; j < MOST_DIMENSIONS; j++) free((char*)graph->values[i].type.tensor.names[j]);
  }
}

/* ---- what a provider sees --------------------------------------------------------------------------------------- */

static OrtStatus* ORT_API_CALL count_nodes(const OrtGraph* graph, size_t* out) NO_EXCEPTION {
  *out = graph->node_count;
  return NULL;
}

static OrtStatus* ORT_API_CALL list_nodes(const OrtGraph* graph, const OrtNode** out, size_t count) NO_EXCEPTION {
  for (size_t i = 0; i < count && i < graph->node_count; i++) out[i] = graph->nodes[i];
  return NULL;
}

static OrtStatus* ORT_API_CALL get_type(const OrtNode* node, const char** out) NO_EXCEPTION {
  *out = node->type;
  return NULL;
}

static OrtStatus* ORT_API_CALL get_domain(const OrtNode* node, const char** out) NO_EXCEPTION {
  *out = node->domain;
  return NULL;
}

static OrtStatus* ORT_API_CALL count_inputs(const OrtNode* node, size_t* out) NO_EXCEPTION {
  *out = node->input_count;
  return NULL;
}

static OrtStatus* ORT_API_CALL list_inputs(const OrtNode* node, const OrtValueInfo** out, size_t count) NO_EXCEPTION {
  for (size_t i = 0; i < count && i < node->input_count; i++) out[i] = node->inputs[i];
  return NULL;
}

static OrtStatus* ORT_API_CALL get_value_type(const OrtValueInfo* value, const OrtTypeInfo** out) NO_EXCEPTION {
  *out = &value->type;
  return NULL;
}

void runtime_fill_graph_functions(OrtApi* api) {
  api->Graph_GetNumNodes = count_nodes;
  api->Graph_GetNodes = list_nodes;
  api->Node_GetOperatorType = get_type;
  api->Node_GetDomain = get_domain;
  api->Node_GetNumInputs = count_inputs;
  api->Node_GetInputs = list_inputs;
  api->GetValueInfoTypeInfo = get_value_type;
}
