/* session.c: gives each node of a model to a provider or a custom operator, and runs them in the model's order. */
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

/* What computes a node: the kernel of an operator, or what a provider made of the node. */
typedef struct step {
  const OrtCustomOp* op;
  void* kernel;
  OrtGraph* fused; /* a graph of this node alone */
  OrtNodeComputeInfo* info;
  void* state;
} step;

struct OrtSession {
  OrtGraph graph;
  OrtEpFactory* factory;
  OrtEp* provider;
  step steps[MOST_NODES];
};

/* ---- a provider ------------------------------------------------------------------------------------------------- */

static OrtStatus* compile_node(OrtSession* session, const OrtNode* node) {
  size_t index = 0;
  while (index < session->graph.node_count && session->graph.nodes[index] != node) index++;
  if (index == session->graph.node_count) return runtime_fail("the provider takes a node of another graph");
  step* next = &session->steps[index];
  OrtNode* context = NULL;
  next->fused = runtime_allocate(sizeof *next->fused);
  next->fused->nodes[0] = session->graph.nodes[index];
  next->fused->node_count = 1;
  const OrtGraph* graph = next->fused;
  TRY(session->provider->Compile(session->provider, &graph, &node, 1, &next->info, &context));
  return next->info->CreateState(next->info, NULL, &next->state);
}

static OrtStatus* ask_provider(OrtSession* session, const OrtSessionOptions* options) {
  const OrtEpDevice* device = options->device;
  OrtEpGraphSupportInfo support = {0};
  session->factory = device->factory;
  TRY(device->factory->CreateEp(device->factory, &device->hardware, NULL, 1, options, NULL, &session->provider));
  if (strcmp(session->provider->GetName(session->provider), device->factory->GetName(device->factory)) != 0) {
    return runtime_fail("the provider and its factory have two names");
  }
  TRY(session->provider->GetCapability(session->provider, &session->graph, &support));
  for (size_t i = 0; i < support.count; i++) TRY(compile_node(session, support.nodes[i]));
  return NULL;
}

/* ---- a session -------------------------------------------------------------------------------------------------- */

static void release_step(OrtSession* session, step* last) {
  if (last->op && last->kernel) last->op->KernelDestroy(last->kernel);
  if (last->info) {
    last->info->ReleaseState(last->info, last->state);
    session->provider->ReleaseNodeComputeInfos(session->provider, &last->info, 1);
  }
  free(last->fused);
}

static void ORT_API_CALL release_session(OrtSession* session) {
  if (!session) return;
  for (size_t i = 0; i < session->graph.node_count; i++) release_step(session, &session->steps[i]);
  if (session->provider) session->factory->ReleaseEp(session->factory, session->provider);
  runtime_clear_graph(&session->graph);
  free(session);
}

static OrtStatus* prepare_session(OrtSession* session, const void* model, size_t size,
                                  const OrtSessionOptions* options) {
  TRY(runtime_read_model(model, size, &session->graph));
  if (options->device) TRY(ask_provider(session, options));
  for (size_t i = 0; i < session->graph.node_count; i++) {
    step* next = &session->steps[i];
    if (next->info) continue;
    TRY(runtime_create_kernel(options, session->graph.nodes[i], &next->kernel));
    next->op = options->domain->op;
  }
  return NULL;
}

static OrtStatus* ORT_API_CALL create_session(const OrtEnv* environment, const void* model, size_t size,
                                              const OrtSessionOptions* options, OrtSession** out) NO_EXCEPTION {
  (void)environment;
  OrtSession* session = runtime_allocate(sizeof *session);
  OrtStatus* failed = prepare_session(session, model, size, options);
  if (failed) release_session(session);
  if (!failed) *out = session;
  return failed;
}

/* ---- a run ------------------------------------------------------------------------------------------------------ */

static OrtValue** find_slot(const OrtSession* session, OrtValue** values, const char* name) {
  for (size_t i = 0; i < session->graph.value_count; i++) {
    if (strcmp(session->graph.values[i].name, name) == 0) return &values[i];
  }
  return NULL;
}

static OrtStatus* run_steps(const OrtSession* session, OrtValue** values) {
  for (size_t i = 0; i < session->graph.node_count; i++) {
    const step* next = &session->steps[i];
    OrtKernelContext context = {session->graph.nodes[i], &session->graph, values};
    TRY(next->info ? next->info->Compute(next->info, next->state, &context)
                   : next->op->KernelComputeV2(next->kernel, &context));
  }
  return NULL;
}

static OrtStatus* ORT_API_CALL run(OrtSession* session, const OrtRunOptions* options, const char* const* names,
                                   const OrtValue* const* inputs, size_t count, const char* const* output_names,
                                   size_t output_count, OrtValue** outputs) NO_EXCEPTION {
  OrtValue* values[MOST_VALUES] = {NULL};
  OrtStatus* failed = NULL;
  (void)options;
  for (size_t i = 0; i < count; i++) {
    OrtValue** slot = find_slot(session, values, names[i]);
    if (!slot) return runtime_fail("the model has no input %s", names[i]);
    *slot = (OrtValue*)inputs[i];
  }
  failed = run_steps(session, values);
  for (size_t i = 0; i < output_count && !failed; i++) {
    OrtValue** slot = find_slot(session, values, output_names[i]);
    if (!slot || !*slot) failed = runtime_fail("nothing computed the output %s", output_names[i]);
    if (failed) break;
    outputs[i] = *slot;
    *slot = NULL;
  }
  for (size_t i = 0; i < count; i++) *find_slot(session, values, names[i]) = NULL; /* the caller's */
  for (size_t i = 0; i < MOST_VALUES; i++) runtime_release_value(values[i]);
  return failed;
}

void runtime_fill_session_functions(OrtApi* api) {
  api->CreateSessionFromArray = create_session;
  api->ReleaseSession = release_session;
  api->Run = run;
}
