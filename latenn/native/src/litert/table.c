/* table.c: the one symbol that the backend exports; must stay the only one. */
#include "litert.h"

static latenn_status* litert_report(const latenn_host* host, const latenn_load_options* options, char** text) {
  latenn_load_options own;
  litert_api api;
  latenn_status* status = backend_copy_options(host, options, &own);
  return status ? status : litert_open(host, &own, &api, text);
}

static const char* const litert_encodings[] = {"tflite", NULL};

static const latenn_backend litert_table = {
    .size = sizeof(latenn_backend),
    .abi = LATENN_BACKEND_ABI,
    .name = "litert",
    .version = LATENN_VERSION_TEXT,
    .encodings = litert_encodings,
    .load = litert_load,
    .release_model = litert_release_model,
    .input_count = backend_input_count,
    .output_count = backend_output_count,
    .input = backend_input,
    .output = backend_output,
    .model_report = backend_model_report,
    .create_context = litert_create_context,
    .release_context = litert_release_context,
    .set_input = litert_set_input,
    .compute = litert_compute,
    .get_output = litert_get_output,
    .report = litert_report,
    .free_text = backend_free_text,
};

LATENN_API const latenn_backend* latenn_backend_table(uint32_t abi);

const latenn_backend* latenn_backend_table(uint32_t abi) {
  return abi == LATENN_BACKEND_ABI ? &litert_table : NULL;
}
