/* table.c: the one symbol that the backend exports; must stay the only one. */
#include "openvino.h"

static latenn_status* openvino_report(const latenn_host* host, const latenn_load_options* options, char** text) {
  latenn_load_options own;
  openvino_api api;
  latenn_status* status = backend_copy_options(host, options, &own);
  return status ? status : openvino_open(host, &own, &api, text);
}

static const char* const openvino_encodings[] = {"openvino-ir", "onnx", "tflite", NULL};

static const latenn_backend openvino_table = {
    .size = sizeof(latenn_backend),
    .abi = LATENN_BACKEND_ABI,
    .name = "openvino",
    .version = LATENN_VERSION_TEXT,
    .encodings = openvino_encodings,
    .load = openvino_load,
    .release_model = openvino_release_model,
    .input_count = backend_input_count,
    .output_count = backend_output_count,
    .input = backend_input,
    .output = backend_output,
    .model_report = backend_model_report,
    .create_context = openvino_create_context,
    .release_context = openvino_release_context,
    .set_input = openvino_set_input,
    .compute = openvino_compute,
    .get_output = openvino_get_output,
    .report = openvino_report,
    .free_text = backend_free_text,
};

LATENN_API const latenn_backend* latenn_backend_table(uint32_t abi);

const latenn_backend* latenn_backend_table(uint32_t abi) {
  return abi == LATENN_BACKEND_ABI ? &openvino_table : NULL;
}
