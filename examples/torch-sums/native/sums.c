/* sums: adds numbers with an operator of the PyTorch that is installed, by PyTorch's stable C interface alone. */
#include <stdint.h>
#include <stdio.h>

#include "latebind/stub.h"

LB_DECLARE_STUB(torch); /* for lb_torch_message(); all else is as with PyTorch's own library */

#if defined(_WIN32)
#define SUMS_API __declspec(dllexport)
#else
#define SUMS_API __attribute__((visibility("default")))
#endif

/* What of torch/csrc/inductor/aoti_torch/c/shim.h and torch/csrc/stable/c/shim.h is needed here. */
typedef struct tensor tensor;
int32_t aoti_torch_dtype_float32(void);
int32_t aoti_torch_device_type_cpu(void);
int32_t aoti_torch_create_tensor_from_blob(void* data, int64_t rank, const int64_t* sizes, const int64_t* strides,
                                           int64_t offset, int32_t type, int32_t device, int32_t index, tensor** made);
int32_t aoti_torch_call_dispatcher(const char* name, const char* overload, uint64_t* stack);
int32_t aoti_torch_get_data_ptr(tensor* from, void** data);
int32_t aoti_torch_delete_tensor_object(tensor* from);
int32_t torch_from_blob(void* data, int64_t rank, const int64_t* sizes, const int64_t* strides, int64_t offset,
                        int32_t type, int32_t device, int32_t index, tensor** made, int32_t layout,
                        const uint8_t* opaque, int64_t opaque_size, void (*deleter)(void*, void*), void* context);
int32_t aoti_torch_layout_strided(void);

static int32_t add(tensor* numbers, float* sum) {
  uint64_t stack[2] = {(uint64_t)(uintptr_t)numbers, 0}; /* aten::sum(Tensor self, *, ScalarType? dtype=None) */
  void* data = NULL;
  if (aoti_torch_call_dispatcher("aten::sum", "", stack)) return 1; /* which takes `numbers` */
  tensor* total = (tensor*)(uintptr_t)stack[0];
  int32_t failed = aoti_torch_get_data_ptr(total, &data);
  if (!failed) *sum = *(float*)data;
  return failed | aoti_torch_delete_tensor_object(total);
}

/* Adds numbers and returns 0; otherwise writes what is wrong. */
SUMS_API int sums_add(float* numbers, int64_t count, float* sum, char* why, size_t room) {
  const int64_t stride = 1;
  tensor* made = NULL;
  int failed = aoti_torch_create_tensor_from_blob(numbers, 1, &count, &stride, 0, aoti_torch_dtype_float32(),
                                                  aoti_torch_device_type_cpu(), -1, &made) ||
               add(made, sum);
  if (failed) snprintf(why, room, "%s", lb_torch_message());
  return failed;
}

static void count_one(void* numbers, void* freed) {
  (void)numbers;
  *(int*)freed += 1;
}

/* The same by a function that PyTorch has since 2.11: it says when it needs the numbers no more. */
SUMS_API int sums_add_and_free(float* numbers, int64_t count, float* sum, int* freed, char* why, size_t room) {
  const int64_t stride = 1;
  tensor* made = NULL;
  int failed = torch_from_blob(numbers, 1, &count, &stride, 0, aoti_torch_dtype_float32(), aoti_torch_device_type_cpu(),
                               -1, &made, aoti_torch_layout_strided(), NULL, 0, count_one, freed) ||
               add(made, sum);
  if (failed) snprintf(why, room, "%s", lb_torch_message());
  return failed;
}
