/*
 * api.h: the part of OpenVINO's C interface that is used, in our own words: types, numbers and signatures as its
 * headers from 2025.1 on have them. In older ones, element types have other numbers.
 */
#ifndef LATENN_OPENVINO_API_H
#define LATENN_OPENVINO_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct ov_core ov_core_t;
typedef struct ov_model ov_model_t;
typedef struct ov_compiled_model ov_compiled_model_t;
typedef struct ov_infer_request ov_infer_request_t;
typedef struct ov_tensor ov_tensor_t;
typedef struct ov_output_const_port ov_output_const_port_t;

typedef int ov_status_e; /* 0 is success */

enum {
  OV_NOT_IMPLEMENTED = -2,
  OV_PARAMETER_MISMATCH = -4,
  OV_NOT_ALLOCATED = -10,
  OV_INVALID_C_PARAM = -14,
  OV_NOT_IMPLEMENT_C_METHOD = -16,
  OV_U8 = 16 /* an element type */
};

typedef struct ov_shape {
  int64_t rank;
  int64_t* dims;
} ov_shape_t;

typedef struct ov_dimension {
  int64_t min;
  int64_t max;
} ov_dimension_t;

typedef struct ov_partial_shape {
  ov_dimension_t rank;
  ov_dimension_t* dims;
} ov_partial_shape_t;

typedef struct ov_available_devices {
  char** devices;
  size_t size;
} ov_available_devices_t;

/* X(result, name, parameters): every function that is used. */
#define OPENVINO_FUNCTIONS(X)                                                                                          \
  X(const char*, get_error_info, (ov_status_e status))                                                                 \
  X(const char*, get_last_err_msg, (void))                                                                             \
  X(void, free, (const char* content))                                                                                 \
  X(ov_status_e, core_create, (ov_core_t * *core))                                                                     \
  X(void, core_free, (ov_core_t * core))                                                                               \
  X(ov_status_e, core_get_available_devices, (const ov_core_t* core, ov_available_devices_t* devices))                 \
  X(void, available_devices_free, (ov_available_devices_t * devices))                                                  \
  X(ov_status_e, core_set_property, (const ov_core_t* core, const char* device, ...))                                  \
  X(ov_status_e, core_read_model_from_memory_buffer,                                                                   \
    (const ov_core_t* core, const char* text, size_t size, const ov_tensor_t* weights, ov_model_t** model))            \
  X(ov_status_e, core_compile_model,                                                                                   \
    (const ov_core_t* core, const ov_model_t* model, const char* device, size_t count, ov_compiled_model_t** compiled, \
     ...))                                                                                                             \
  X(void, model_free, (ov_model_t * model))                                                                            \
  X(void, compiled_model_free, (ov_compiled_model_t * compiled))                                                       \
  X(ov_status_e, compiled_model_inputs_size, (const ov_compiled_model_t* compiled, size_t* count))                     \
  X(ov_status_e, compiled_model_outputs_size, (const ov_compiled_model_t* compiled, size_t* count))                    \
  X(ov_status_e, compiled_model_input_by_index,                                                                        \
    (const ov_compiled_model_t* compiled, size_t index, ov_output_const_port_t** port))                                \
  X(ov_status_e, compiled_model_output_by_index,                                                                       \
    (const ov_compiled_model_t* compiled, size_t index, ov_output_const_port_t** port))                                \
  X(ov_status_e, compiled_model_input_by_name,                                                                         \
    (const ov_compiled_model_t* compiled, const char* name, ov_output_const_port_t** port))                            \
  X(ov_status_e, compiled_model_output_by_name,                                                                        \
    (const ov_compiled_model_t* compiled, const char* name, ov_output_const_port_t** port))                            \
  X(ov_status_e, compiled_model_create_infer_request,                                                                  \
    (const ov_compiled_model_t* compiled, ov_infer_request_t** request))                                               \
  X(void, output_const_port_free, (ov_output_const_port_t * port))                                                     \
  X(ov_status_e, port_get_any_name, (const ov_output_const_port_t* port, char** name))                                 \
  X(ov_status_e, port_get_element_type, (const ov_output_const_port_t* port, int* type))                               \
  X(ov_status_e, port_get_partial_shape, (const ov_output_const_port_t* port, ov_partial_shape_t* shape))              \
  X(void, partial_shape_free, (ov_partial_shape_t * shape))                                                            \
  X(void, infer_request_free, (ov_infer_request_t * request))                                                          \
  X(ov_status_e, infer_request_set_input_tensor_by_index,                                                              \
    (ov_infer_request_t * request, size_t index, const ov_tensor_t* tensor))                                           \
  X(ov_status_e, infer_request_get_output_tensor_by_index,                                                             \
    (const ov_infer_request_t* request, size_t index, ov_tensor_t** tensor))                                           \
  X(ov_status_e, infer_request_infer, (ov_infer_request_t * request))                                                  \
  X(ov_status_e, tensor_create, (int type, ov_shape_t shape, ov_tensor_t** tensor))                                    \
  X(ov_status_e, tensor_create_from_host_ptr, (int type, ov_shape_t shape, void* data, ov_tensor_t** tensor))          \
  X(ov_status_e, tensor_get_shape, (const ov_tensor_t* tensor, ov_shape_t* shape))                                     \
  X(ov_status_e, tensor_data, (const ov_tensor_t* tensor, void** data))                                                \
  X(void, tensor_free, (ov_tensor_t * tensor))                                                                         \
  X(ov_status_e, shape_free, (ov_shape_t * shape))                                                                     \
  OPENVINO_READ_MODEL(X)

/* Paths are wide characters on Windows. */
#if defined(_WIN32)
#define OPENVINO_READ_MODEL(X)            \
  X(ov_status_e, core_read_model_unicode, \
    (const ov_core_t* core, const wchar_t* path, const wchar_t* weights, ov_model_t** model))
#else
#define OPENVINO_READ_MODEL(X) \
  X(ov_status_e, core_read_model, (const ov_core_t* core, const char* path, const char* weights, ov_model_t** model))
#endif

/* ov_<name>, taken from the bound library one by one. */
typedef struct openvino_api {
#define OPENVINO_FIELD(result, name, parameters) result(*name) parameters;
  OPENVINO_FUNCTIONS(OPENVINO_FIELD)
#undef OPENVINO_FIELD
} openvino_api;

#endif
