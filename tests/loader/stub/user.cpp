// A program on the official C++ API. user MODEL [NEWER]: adds 0.5 to numbers, with all that programs do on the way.
#include <onnxruntime_cxx_api.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<int> logged{0};

void ORT_API_CALL count_lines(void*, OrtLoggingLevel, const char*, const char*, const char*, const char*) {
  ++logged;
}

Ort::Value numbers(std::vector<float>& from) {
  const std::int64_t shape[] = {static_cast<std::int64_t>(from.size()) / 3, 3};
  return Ort::Value::CreateTensor<float>(Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault), from.data(),
                                         from.size(), shape, 2);
}

bool is_right(const Ort::Value& value, const std::vector<float>& from) {
  const float* data = value.GetTensorData<float>();
  for (std::size_t i = 0; i < from.size(); ++i)
    if (data[i] != from[i] + 0.5F) return false;
  return value.GetTensorTypeAndShapeInfo().GetElementCount() == from.size();
}

bool run(Ort::Session& session) {
  std::vector<float> from{1, 2, 3, -4, -5, -6};
  const char* names[] = {"x", "y"};
  Ort::Value input = numbers(from);
  Ort::RunOptions options;
  options.SetRunTag("a run");
  auto plain = session.Run(options, names, &input, 1, names + 1, 1);
  Ort::IoBinding binding(session);
  binding.BindInput("x", input);
  binding.BindOutput("y", Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault));
  session.Run(Ort::RunOptions{nullptr}, binding);
  return is_right(plain[0], from) && is_right(binding.GetOutputValues()[0], from);
}

bool keeps_sequences() {
  std::vector<float> one{1, 2, 3};
  std::vector<float> two{4, 5, 6};
  std::vector<Ort::Value> values;
  values.push_back(numbers(one));
  values.push_back(numbers(two));
  Ort::Value sequence = Ort::Value::CreateSequence(values);
  Ort::AllocatorWithDefaultOptions allocator;
  return sequence.GetCount() == 2 && sequence.GetValue(1, allocator).GetTensorData<float>()[2] == 6.0F;
}

// Every thread's first call may be the one that binds.
int runs_that_failed(Ort::Env& env, const std::filesystem::path& model) {
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      try {
        Ort::SessionOptions options;
        options.SetIntraOpNumThreads(1);
        options.AddConfigEntry("session.set_denormal_as_zero", "1");
        Ort::Session session(env, model.c_str(), options);
        if (!run(session)) ++failed;
      } catch (const Ort::Exception&) {
        ++failed;
      }
    });
  for (auto& thread : threads) thread.join();
  return failed;
}

} // namespace

int main(int count, char** words) {
  try {
    Ort::Env env(ORT_LOGGING_LEVEL_VERBOSE, "user", count_lines, nullptr);
    const std::filesystem::path model = std::filesystem::u8path(words[1]);
    const int failed = runs_that_failed(env, model);
#if ORT_API_VERSION >= 20
    if (count > 2) Ort::ThrowOnError(Ort::GetApi().CreateLoraAdapter(model.c_str(), nullptr, nullptr));
#endif
    if (failed || !keeps_sequences() || !logged) return std::printf("%d runs failed\n", failed), 3;
    try {
      Ort::Session(env, std::filesystem::path("nowhere.onnx").c_str(), Ort::SessionOptions());
      return std::puts("a model that is not there was loaded"), 4;
    } catch (const Ort::Exception& expected) {
      if (expected.GetOrtErrorCode() != ORT_NO_SUCHFILE) throw;
    }
    std::printf("right with %s\n", Ort::GetVersionString().c_str());
    return 0;
  } catch (const Ort::Exception& error) {
    std::printf("Ort::Exception %d: %s\n", static_cast<int>(error.GetOrtErrorCode()), error.what());
    return 1;
  }
}
