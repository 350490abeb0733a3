/* Appends an execution provider by a function that the runtime exports, and one that builds for the CPU don't have. */
#include <onnxruntime_c_api.h>
#include <stdio.h>

OrtStatus* OrtSessionOptionsAppendExecutionProvider_CPU(OrtSessionOptions* options, int use_arena);
OrtStatus* OrtSessionOptionsAppendExecutionProvider_ROCM(OrtSessionOptions* options, int device);

static void say(const OrtApi* api, const char* name, OrtStatus* status) {
  printf("%s: %s\n", name, status ? api->GetErrorMessage(status) : "appended");
  api->ReleaseStatus(status);
}

int main(void) {
  const OrtApi* api = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  OrtSessionOptions* options = NULL;
  api->ReleaseStatus(api->CreateSessionOptions(&options));
  say(api, "CPU", OrtSessionOptionsAppendExecutionProvider_CPU(options, 1));
  say(api, "ROCM", OrtSessionOptionsAppendExecutionProvider_ROCM(options, 0));
  api->ReleaseSessionOptions(options);
  return 0;
}
