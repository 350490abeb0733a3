/* tinyrun: runs a model with one float32 input "x" and one output "y" of the same length. */
#include <stdio.h>

#include "latebind/onnxruntime.h"
#include "onnxruntime_c_api.h"

#ifdef _WIN32
#define TINYRUN_API __declspec(dllexport)
#else
#define TINYRUN_API __attribute__((visibility("default")))
#endif

static lb_binding runtime = LB_BINDING_INIT;

/* To be called first. 0 when ONNX Runtime is bound; else an lb_outcome. `json` reports what was tried. */
TINYRUN_API int tinyrun_open(const char* folder, const char* path, const char* minimum, const char* advice, char* json,
                             size_t room) {
  lb_report report = {.size = sizeof report};
  lb_options search = {.size = sizeof search, .path = path, .directories = &folder, .advice = advice};
  search.directory_count = folder != NULL;
  if (minimum) lb_version_parse(minimum, &search.minimum);
  const int outcome = lb_bind(&runtime, &lb_onnxruntime, &search, &report);
  snprintf(json, room, "%s", lb_report_json(&report));
  lb_report_clear(&report);
  return outcome;
}

static const OrtApi* api(void) {
  const OrtApiBase*(ORT_API_CALL * get)(void) = (const OrtApiBase*(ORT_API_CALL*)(void))lb_entry(&runtime);
  return get()->GetApi(LATEBIND_ONNXRUNTIME_MINIMUM_MINOR); /* which every runtime that was bound has */
}

/* 0 when y was computed; else `why` says why it was not. */
TINYRUN_API int tinyrun_run(const void* model, size_t size, float* x, float* y, int64_t count, char* why, size_t room) {
  const OrtApi* ort = api();
  const char *in = "x", *out = "y";
  const size_t bytes = (size_t)count * sizeof *x;
  OrtEnv* env = NULL;
  OrtSessionOptions* options = NULL;
  OrtSession* session = NULL;
  OrtMemoryInfo* memory = NULL;
  OrtValue *given = NULL, *computed = NULL;
  OrtStatus* status = ort->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "tinyrun", &env);
  if (!status) status = ort->CreateSessionOptions(&options);
  if (!status) status = ort->CreateSessionFromArray(env, model, size, options, &session);
  if (!status) status = ort->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory);
  const ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  if (!status) status = ort->CreateTensorWithDataAsOrtValue(memory, x, bytes, &count, 1, type, &given);
  if (!status) status = ort->CreateTensorWithDataAsOrtValue(memory, y, bytes, &count, 1, type, &computed);
  const OrtValue* inputs[] = {given};
  if (!status) status = ort->Run(session, NULL, &in, inputs, 1, &out, 1, &computed);
  if (status) snprintf(why, room, "%s", ort->GetErrorMessage(status));
  const int failed = status != NULL;
  ort->ReleaseValue(computed);
  ort->ReleaseValue(given);
  ort->ReleaseMemoryInfo(memory);
  ort->ReleaseSession(session);
  ort->ReleaseSessionOptions(options);
  ort->ReleaseEnv(env);
  ort->ReleaseStatus(status);
  return failed;
}
