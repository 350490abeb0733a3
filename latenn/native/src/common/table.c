/* table.c: the one symbol that a backend exports; must stay the only one. */
#include "backend.h"

static latenn_status* backend_give_report(const latenn_host* host, const latenn_load_options* options, char** text) {
  latenn_load_options own;
  latenn_status* status = backend_copy_options(host, options, &own);
  return status ? status : backend_report(host, &own, text);
}

static const latenn_backend backend_table = {
    .size = sizeof(latenn_backend),
    .abi = LATENN_BACKEND_ABI,
    .name = BACKEND_NAME,
    .version = LATENN_VERSION_TEXT,
    .encodings = backend_encodings,
    .load = backend_load,
    .release_model = backend_release_model,
    .input_count = backend_input_count,
    .output_count = backend_output_count,
    .input = backend_input,
    .output = backend_output,
    .model_report = backend_model_report,
    .create_context = backend_create_context,
    .release_context = backend_release_context,
    .set_input = backend_set_input,
    .compute = backend_compute,
    .get_output = backend_get_output,
    .report = backend_give_report,
    .free_text = backend_free_text,
#ifdef BACKEND_VALUES
    .wrap_value = backend_wrap_value,
    .create_value = backend_create_value,
    .release_value = backend_release_value,
    .bind_input = backend_bind_input,
    .bind_output = backend_bind_output,
    .bind_output_device = backend_bind_output_device,
    .take_output = backend_take_output,
#endif
#ifdef BACKEND_RUNS
    .create_run = backend_create_run,
    .release_run = backend_release_run,
    .cancel_run = backend_cancel_run,
    .compute_with = backend_compute_with,
    .model_metadata = backend_model_metadata,
    .end_profile = backend_end_profile,
    .takes_files = 1,
#endif
};

LATENN_API const latenn_backend* latenn_backend_table(uint32_t abi);

const latenn_backend* latenn_backend_table(uint32_t abi) {
  return abi == LATENN_BACKEND_ABI ? &backend_table : NULL;
}
