/* table.c: the one symbol that the backend exports; must stay the only one. */
#include "ort.h"

static latenn_status* ort_report(const latenn_host* host, const latenn_load_options* options, char** text) {
  latenn_load_options own;
  const ort_runtime* runtime = NULL;
  latenn_status* status = backend_copy_options(host, options, &own);
  return status ? status : ort_open(host, &own, &runtime, text);
}

static const char* const ort_encodings[] = {"onnx", NULL};

static const latenn_backend ort_table = {
    .size = sizeof(latenn_backend),
    .abi = LATENN_BACKEND_ABI,
    .name = "onnxruntime",
    .version = LATENN_VERSION_TEXT,
    .encodings = ort_encodings,
    .load = ort_load,
    .release_model = ort_release_model,
    .input_count = backend_input_count,
    .output_count = backend_output_count,
    .input = backend_input,
    .output = backend_output,
    .model_report = backend_model_report,
    .create_context = ort_create_context,
    .release_context = ort_release_context,
    .set_input = ort_set_input,
    .compute = ort_compute,
    .get_output = ort_get_output,
    .report = ort_report,
    .free_text = backend_free_text,
    .wrap_value = ort_wrap_value,
    .create_value = ort_create_value,
    .release_value = ort_release_value,
    .bind_input = ort_bind_input,
    .bind_output = ort_bind_output,
    .bind_output_device = ort_bind_output_device,
    .take_output = ort_take_output,
};

LATENN_API const latenn_backend* latenn_backend_table(uint32_t abi);

const latenn_backend* latenn_backend_table(uint32_t abi) {
  return abi == LATENN_BACKEND_ABI ? &ort_table : NULL;
}
