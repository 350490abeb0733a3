/* onnx.h: the names that an ONNX model gives its inputs and outputs. */
#ifndef LATENN_OPENVINO_ONNX_H
#define LATENN_OPENVINO_ONNX_H

#include <stddef.h>

typedef void (*onnx_each)(void* context, int is_input, const char* name);

/* Calls `each` for every input and output of the graph, in its order; for none when it is not an ONNX model. Path or
 * bytes: exactly one is given. */
void onnx_names(const char* path, const void* bytes, size_t size, onnx_each each, void* context);

#endif
