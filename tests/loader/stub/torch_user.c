/*
 * torch_user: makes a tensor by PyTorch's C interface and asks for its size, and calls a function that 2.15 has first.
 * A program, or a library with run() alone.
 */
#include <stdint.h>
#include <stdio.h>

#include "latebind/stub.h"

LB_DECLARE_STUB(torch);

typedef struct tensor tensor;
int32_t aoti_torch_dtype_float32(void);
int32_t aoti_torch_device_type_cpu(void);
int32_t aoti_torch_empty_strided(int64_t, const int64_t*, const int64_t*, int32_t, int32_t, int32_t, tensor**);
int32_t aoti_torch_get_dim(tensor*, int64_t*);
int32_t aoti_torch_get_numel(tensor*, int64_t*);
int32_t aoti_torch_delete_tensor_object(tensor*);
int32_t torch_is_tensor_pyobject(void*, _Bool*);

__attribute__((visibility("default"))) int run(void) {
  const int64_t sizes[] = {2, 3}, strides[] = {3, 1};
  int64_t rank = 0, count = 0;
  tensor* made = NULL;
  _Bool is_tensor = 0;
  if (aoti_torch_empty_strided(2, sizes, strides, aoti_torch_dtype_float32(), aoti_torch_device_type_cpu(), 0, &made)) {
    puts(lb_torch_message());
    return 1;
  }
  int failed = aoti_torch_get_dim(made, &rank) || aoti_torch_get_numel(made, &count);
  failed |= aoti_torch_delete_tensor_object(made);
  printf("%d of rank %d with %s\n", (int)count, (int)rank, lb_torch_version());
  if (torch_is_tensor_pyobject(NULL, &is_tensor)) puts(lb_torch_message());
  fflush(stdout);
  return failed;
}

#if defined(TORCH_USER_EARLY) /* as C++ extensions register their operators: before the stub's own constructor */
__attribute__((constructor)) static void start(void) {
  run();
}
#endif

#if !defined(TORCH_USER_LIBRARY)
int main(void) {
  return run();
}
#endif
