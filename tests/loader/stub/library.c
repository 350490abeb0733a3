/* A library with the stub in it, which a program can open and close again: each time, the stub is new. */
#include <onnxruntime_c_api.h>

__attribute__((visibility("default"))) const OrtApiBase* library_base(void);
const OrtApiBase* library_base(void) {
  return OrtGetApiBase();
}

/* Why ONNX Runtime cannot be used; "" when it can. */
__attribute__((visibility("default"))) const char* library_problem(void);
const char* library_problem(void) {
  const OrtApi* api = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  OrtEnv* env = NULL;
  OrtStatus* status = api->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "library", &env);
  return status ? api->GetErrorMessage(status) : "";
}
