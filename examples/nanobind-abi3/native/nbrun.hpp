// nbrun: runs models of one float32 input "x" and one output "y" of the same length; knows nothing of Python.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "latebind/onnxruntime.h"
#include "latebind/ort_api.h"

namespace nbrun {

inline lb_binding runtime = LB_BINDING_INIT;

// What a run asked the runtime for, to be released however it ends.
struct Ort {
  lb_ort_api api{};
  OrtEnv* env = nullptr;
  OrtSessionOptions* options = nullptr;
  OrtSession* session = nullptr;
  OrtMemoryInfo* memory = nullptr;
  OrtValue* values[2] = {};
  ~Ort() {
    for (OrtValue* value : values) lb_ort_ReleaseValue(&api, value);
    lb_ort_ReleaseMemoryInfo(&api, memory);
    lb_ort_ReleaseSession(&api, session);
    lb_ort_ReleaseSessionOptions(&api, options);
    lb_ort_ReleaseEnv(&api, env);
  }
  void Check(OrtStatus* status) const {
    if (!status) return;
    const std::string why = lb_ort_GetErrorMessage(&api, status);
    lb_ort_ReleaseStatus(&api, status);
    throw std::runtime_error(why);
  }
};

// To be called first; "" says nothing. The loader's report, as JSON; throws what fixes it.
using Text = const std::string&;
inline std::string Bind(Text folder, Text path, Text minimum, Text advice) {
  const char* folders[] = {folder.c_str()};
  lb_report report{sizeof report};
  lb_options search{sizeof search, 0, path.empty() ? nullptr : path.c_str(), folders, !folder.empty()};
  search.advice = advice.c_str();
  lb_version_parse(minimum.c_str(), &search.minimum);
  const bool failed = lb_bind(&runtime, &lb_onnxruntime, &search, &report) != 0;
  const std::string said = failed ? report.sentence : lb_report_json(&report);
  lb_report_clear(&report);
  return failed ? throw std::runtime_error(said) : said;
}

inline std::vector<float> Run(std::string_view model, std::vector<float> x) {
  std::vector<float> y(x.size());
  const char *in = "x", *out = "y";
  const auto count = static_cast<int64_t>(x.size());
  lb_ort_api api{};
  if (lb_ort_attach(&runtime, &api)) throw std::logic_error("nbrun::Bind() comes first");
  Ort my{api};
  my.Check(lb_ort_CreateEnv(&api, ORT_LOGGING_LEVEL_ERROR, "nbrun", &my.env));
  my.Check(lb_ort_CreateSessionOptions(&api, &my.options));
  my.Check(lb_ort_CreateSessionFromArray(&api, my.env, model.data(), model.size(), my.options, &my.session));
  my.Check(lb_ort_CreateCpuMemoryInfo(&api, OrtArenaAllocator, OrtMemTypeDefault, &my.memory));
  for (auto& [data, value] : {std::pair{&x, &my.values[0]}, std::pair{&y, &my.values[1]}})
    my.Check(lb_ort_CreateTensorWithDataAsOrtValue(&api, my.memory, data->data(), data->size() * sizeof(float), &count,
                                                   1, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, value));
  my.Check(lb_ort_Run(&api, my.session, nullptr, &in, &my.values[0], 1, &out, 1, &my.values[1]));
  return y;
}

} // namespace nbrun
