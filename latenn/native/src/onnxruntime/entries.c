/* entries.c: config entries of sessions and runs; must refuse what is misspelled, since the runtime takes any key and
 * ignores those that it does not know. */
#include <stdio.h>
#include <string.h>

#include "ort.h"

enum { ORT_KEY_MAX = 128 }; /* the runtime's own limit */

/* What a session reads: onnxruntime_session_options_config_keys.h of ONNX Runtime 1.19 to 1.27, and what 1.32 reads. */
static const char* const ort_session_entries[] = {
    "ep.context_embed_mode",
    "ep.context_enable",
    "ep.context_file_path",
    "ep.context_model_external_initializers_file_name",
    "ep.context_node_name_prefix",
    "ep.context_source_model_path",
    "ep.enable_weightless_ep_context_nodes",
    "ep.share_ep_contexts",
    "ep.stop_share_ep_contexts",
    "mlas.disable_kleidiai",
    "mlas.enable_gemm_fastmath_arm64_bfloat16",
    "mlas.kleidiai.conv_igemm_max_work",
    "mlas.nchwc_pointwise_conv_max_input_channel_batch",
    "mlas.qnbit.force_fp32",
    "mlas.use_lut_gemm",
    "optimization.constant_folding_max_output_size_in_bytes",
    "optimization.disable_specified_optimizers",
    "optimization.enable_cast_chain_elimination",
    "optimization.enable_gelu_approximation",
    "optimization.enable_memory_probe_recompute_config",
    "optimization.memory_optimizer_config",
    "optimization.minimal_build_optimizations",
    "session.allow_released_opsets_only",
    "session.collect_node_memory_stats_to_file",
    "session.compile_only",
    "session.debug_layout_transformation",
    "session.disable_aot_function_inlining",
    "session.disable_cpu_ep_fallback",
    "session.disable_double_qdq_remover",
    "session.disable_model_compile",
    "session.disable_prepacking",
    "session.disable_qdq_constant_folding",
    "session.disable_quant_qdq",
    "session.dynamic_block_base",
    "session.enable_dq_matmulnbits_fusion",
    "session.enable_moe_expert_counting",
    "session.enable_moe_expert_statistics",
    "session.enable_quant_qdq_cleanup",
    "session.external_data_loader.chunk_bytes",
    "session.external_data_loader.min_size_bytes",
    "session.external_data_loader.pinned_memory_bytes",
    "session.external_data_loader.threads",
    "session.fail_on_suboptimal_compiled_model",
    "session.force_spinning_stop",
    "session.function_expansion_byte_limit",
    "session.function_expansion_node_limit",
    "session.gqa_value_layout",
    "session.graph_optimizations_loop_level",
    "session.inter_op.allow_spinning",
    "session.inter_op.spin_backoff_max",
    "session.inter_op.spin_duration_us",
    "session.intra_op.allow_spinning",
    "session.intra_op.spin_backoff_max",
    "session.intra_op.spin_duration_us",
    "session.intra_op_thread_affinities",
    "session.kernel_dispatch_policy",
    "session.layer_assignment_settings",
    "session.load_model_format",
    "session.max_shape_override",
    "session.model_external_initializers_file_folder_path",
    "session.moe.offload.allow_file_backing",
    "session.moe.offload.async_max_tokens",
    "session.moe.offload.budget_group",
    "session.moe.offload.cpu_execution",
    "session.moe.offload.cpu_threads",
    "session.moe.offload.derived_cache_dir",
    "session.moe.offload.device_expert_bytes",
    "session.moe.offload.device_working_bytes",
    "session.moe.offload.gpu_budget_bytes",
    "session.moe.offload.gpu_device_mem_limit",
    "session.moe.offload.host_expert_bytes",
    "session.moe.offload.host_working_bytes",
    "session.moe.offload.min_expert_weight",
    "session.moe.offload.mode",
    "session.moe.offload.node_overrides",
    "session.moe.offload.pinned_bytes",
    "session.moe.offload.placement",
    "session.moe.offload.popularity_file",
    "session.moe.offload.prefill_wave_experts",
    "session.moe.offload.reserve_device_bytes",
    "session.moe.offload.skip_tail_cold_only",
    "session.moe.offload.skip_zero_cold_doorbell",
    "session.moe.offload.source_root",
    "session.moe.offload.tail_substitution_min_rank",
    "session.moe.offload.tail_substitution_threshold",
    "session.moe_expert_counter_alpha",
    "session.moe_expert_counter_beta",
    "session.moe_expert_counter_state_file",
    "session.name_based_layer_assignment",
    "session.node_partition_config_file",
    "session.optimized_model_external_initializers_file_name",
    "session.optimized_model_external_initializers_min_size_in_bytes",
    "session.prepack.enable_parallel",
    "session.qdq_matmulnbits_accuracy_level",
    "session.qdq_matmulnbits_block_size",
    "session.qdqisint8allowed",
    "session.record_ep_graph_assignment_info",
    "session.resource_cuda_partitioning_settings",
    "session.save_external_prepacked_constant_initializers",
    "session.save_model_format",
    "session.set_denormal_as_zero",
    "session.strict_shape_type_inference",
    "session.strict_workspace_verification",
    "session.use_device_allocator_for_initializers",
    "session.use_env_allocators",
    "session.use_memory_mapped_ort_model",
    "session.x64quantprecision",
};

/* What a run reads: onnxruntime_run_options_config_keys.h of the same versions. */
static const char* const ort_run_entries[] = {
    "disable_synchronize_execution_providers",
    "gpu_graph_id",
    "memory.enable_memory_arena_shrinkage",
    "qnn.htp_perf_mode",
    "qnn.htp_perf_mode_post_run",
    "qnn.lora_config",
    "qnn.rpc_control_latency",
};

/* With these, the runtime would read the memory of a model or a file that the caller may have freed. */
static const char* const ort_kept_bytes[] = {
    "session.use_external_initializer_file_buffers_directly",
    "session.use_ort_model_bytes_directly",
    "session.use_ort_model_bytes_for_initializers",
};

#define ORT_COUNT(list) (sizeof(list) / sizeof *(list))

const char* ort_entry_of(const char* key) {
  const char* named = ort_after(key, ORT_ENTRY_PREFIX);
  return named ? named : key;
}

static int ort_is_in(const char* key, const char* const* list, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(key, list[i]) == 0) return 1;
  }
  return 0;
}

/* custom_op.NAME.KEY is for a custom operator, whose keys are its own. */
static int ort_is_of_operator(const char* key) {
  const char* name = ort_after(key, "custom_op.");
  return name && strchr(name, '.');
}

static size_t ort_least(size_t a, size_t b, size_t c) {
  size_t least = a < b ? a : b;
  return least < c ? least : c;
}

/* Levenshtein's distance: how many letters must be added, left out or changed. */
static size_t ort_distance(const char* a, const char* b) {
  size_t row[ORT_KEY_MAX + 1];
  size_t length = strlen(b);
  for (size_t j = 0; j <= length; j++) row[j] = j;
  for (size_t i = 0; a[i]; i++) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < length; j++) {
      size_t changed = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = ort_least(changed, diagonal + 1, row[j] + 1);
    }
  }
  return row[length];
}

/* The key of a list that is most like another one, or NULL if none is alike. */
static const char* ort_nearest(const char* key, const char* const* list, size_t count) {
  size_t least = strlen(key) / 3 + 1;
  const char* nearest = NULL;
  if (strlen(key) > ORT_KEY_MAX) return NULL;
  for (size_t i = 0; i < count; i++) {
    size_t distance = ort_distance(key, list[i]);
    if (distance >= least) continue;
    least = distance;
    nearest = list[i];
  }
  return nearest;
}

static latenn_status* ort_refuse_entry(const latenn_host* host, const char* key, const char* of, const char* nearest) {
  return backend_fail(host, LATENN_INVALID_ARGUMENT,
                      "The option \"%.150s\"%s is not known.%s%s%s If a newer ONNX Runtime reads it as a config entry, "
                      "write \"" ORT_ENTRY_PREFIX "%.150s\".",
                      key, of, nearest ? " Did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "", key);
}

latenn_status* ort_check_session_entry(const latenn_host* host, const latenn_option* option) {
  const char* entry = ort_entry_of(option->key);
  if (ort_is_in(entry, ort_kept_bytes, ORT_COUNT(ort_kept_bytes)) && strcmp(option->value, "0") != 0) {
    return backend_fail(
        host, LATENN_INVALID_ARGUMENT,
        "The option \"%s\" cannot be used: latenn keeps no bytes of a model after loading. Leave it out.", option->key);
  }
  if (entry != option->key || ort_is_of_operator(entry) ||
      ort_is_in(entry, ort_session_entries, ORT_COUNT(ort_session_entries)) ||
      ort_is_in(entry, ort_kept_bytes, ORT_COUNT(ort_kept_bytes))) {
    return NULL;
  }
  return ort_refuse_entry(host, entry, "", ort_nearest(entry, ort_session_entries, ORT_COUNT(ort_session_entries)));
}

latenn_status* ort_check_run_entry(const latenn_host* host, const latenn_option* option) {
  const char* entry = ort_entry_of(option->key);
  if (entry != option->key || ort_is_in(entry, ort_run_entries, ORT_COUNT(ort_run_entries))) return NULL;
  return ort_refuse_entry(host, entry, " of a run", ort_nearest(entry, ort_run_entries, ORT_COUNT(ort_run_entries)));
}
