/* tinyrun: runs a model with one float32 input "x" and one output "y" of the same length. */
#include <stdio.h>

#include "onnxruntime_c_api.h"

#ifdef _WIN32
#define TINYRUN_API __declspec(dllexport)
#else
#define TINYRUN_API __attribute__((visibility("default")))
#endif

static const OrtApi* api(void) {
  return OrtGetApiBase()->GetApi(ORT_API_VERSION);
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
