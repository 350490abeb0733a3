// modrun: runs models of one float32 input "x" and one output "y" of the same length; knows nothing of Python.
#pragma once
#include <onnxruntime_cxx_api.h>

#include <string_view>
#include <vector>

namespace modrun {

// Throws Ort::Exception, also when no ONNX Runtime is installed.
inline std::vector<float> Run(std::string_view model, std::vector<float> x) {
  static Ort::Env env{ORT_LOGGING_LEVEL_ERROR, "modrun"};
  Ort::Session session{env, model.data(), model.size(), Ort::SessionOptions{}};
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  const auto count = static_cast<int64_t>(x.size());
  const auto given = Ort::Value::CreateTensor<float>(memory, x.data(), x.size(), &count, 1);
  const char *in = "x", *out = "y";
  const auto computed = session.Run(Ort::RunOptions{nullptr}, &in, &given, 1, &out, 1);
  const float* y = computed[0].GetTensorData<float>();
  return {y, y + x.size()};
}

} // namespace modrun
