/* A program on the official C API: says what comes of making an environment, and releases nothing's everything. */
#include <onnxruntime_c_api.h>
#include <stdio.h>

int main(void) {
  const OrtApi* api = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  OrtEnv* env = NULL;
  api->ReleaseSession(NULL);
  api->ReleaseStatus(NULL);
  OrtStatus* status = api->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "c", &env);
  if (status) {
    printf("%d: %s\n", (int)api->GetErrorCode(status), api->GetErrorMessage(status));
    api->ReleaseStatus(status);
    status = api->CreateStatus(ORT_NO_MODEL, "mine");
    printf("%d: %s\n", (int)api->GetErrorCode(status), api->GetErrorMessage(status));
    api->ReleaseStatus(status);
    api->ReleaseEnv(env);
    return 1;
  }
  api->ReleaseEnv(env);
  printf("right with %s\n", OrtGetApiBase()->GetVersionString());
  return 0;
}
