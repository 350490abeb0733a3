#include <latenn.h>
#include <stdio.h>
#include <string.h>

int main(int count, char** words) {
  const char* folders[1];
  float numbers[3] = {1, 2, 3};
  int64_t shape[2] = {1, 3};
  latenn_load_options options;
  latenn_tensor tensor;
  latenn_model* model = NULL;
  latenn_context* context = NULL;
  latenn_status* status;
  memset(&options, 0, sizeof options);
  memset(&tensor, 0, sizeof tensor);
  folders[0] = words[count - 1];
  options.size = sizeof options;
  options.runtime_directories = folders;
  options.runtime_directory_count = 1;
  tensor.type = LATENN_FLOAT32;
  tensor.rank = 2;
  tensor.shape = shape;
  tensor.data = numbers;
  tensor.bytes = sizeof numbers;
  status = latenn_load_path(words[1], &options, &model);
  if (!status) status = latenn_context_create(model, &context);
  if (!status) status = latenn_set_input(context, 0, &tensor);
  if (!status) status = latenn_compute(context);
  if (!status) status = latenn_get_output(context, 0, &tensor);
  if (status)
    printf("%s\n", latenn_status_message(status));
  else
    printf("%g %g %g\n", ((float*)tensor.data)[0], ((float*)tensor.data)[1], ((float*)tensor.data)[2]);
  latenn_context_release(context);
  latenn_model_release(model);
  return status != NULL;
}
