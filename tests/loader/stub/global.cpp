// A program whose environment is made before main(), with an object that is there before and released after it.
#include <onnxruntime_cxx_api.h>

#include <cstdio>
#include <memory>

static std::unique_ptr<Ort::Env> other;
static Ort::Env env(ORT_LOGGING_LEVEL_WARNING, "global");

int main() {
  other = std::make_unique<Ort::Env>();
  std::printf("%zu providers\n", Ort::GetAvailableProviders().size());
  return env ? 0 : 3;
}
