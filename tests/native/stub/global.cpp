// A program whose environment is made before main().
#include <onnxruntime_cxx_api.h>

#include <cstdio>

static Ort::Env env(ORT_LOGGING_LEVEL_WARNING, "global");

int main() {
  std::printf("%zu providers\n", Ort::GetAvailableProviders().size());
  return env ? 0 : 3;
}
