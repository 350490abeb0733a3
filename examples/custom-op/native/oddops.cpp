// oddops: the operator oddops::Square for ONNX Runtime; linked to nothing; RegisterCustomOps() passes everything.
#include "onnxruntime_c_api.h"

namespace {

constexpr uint32_t kFloor = 19; // of latebind.toml: the interface that every accepted runtime has

// A kernel is nothing but the interface.
OrtStatus* Create(const OrtCustomOp*, const OrtApi* ort, const OrtKernelInfo*, void** kernel) {
  *kernel = const_cast<OrtApi*>(ort);
  return nullptr;
}

// Releases what was asked for, whatever went wrong.
struct Info {
  const OrtApi* ort;
  OrtTensorTypeAndShapeInfo* value = nullptr;
  ~Info() { ort->ReleaseTensorTypeAndShapeInfo(value); }
};

OrtStatus* Compute(void* kernel, OrtKernelContext* context) {
  const OrtApi* ort = static_cast<const OrtApi*>(kernel);
  const OrtValue* x = nullptr;
  OrtValue* y = nullptr;
  Info info{ort};
  size_t rank = 0, count = 0;
  int64_t shape[8];
  float *from = nullptr, *to = nullptr;
  if (OrtStatus* failed = ort->KernelContext_GetInput(context, 0, &x)) return failed;
  if (OrtStatus* failed = ort->GetTensorTypeAndShape(x, &info.value)) return failed;
  if (OrtStatus* failed = ort->GetDimensionsCount(info.value, &rank)) return failed;
  if (rank > 8) return ort->CreateStatus(ORT_NOT_IMPLEMENTED, "Square takes at most 8 dimensions");
  if (OrtStatus* failed = ort->GetDimensions(info.value, shape, rank)) return failed;
  if (OrtStatus* failed = ort->GetTensorShapeElementCount(info.value, &count)) return failed;
  if (OrtStatus* failed = ort->KernelContext_GetOutput(context, 0, shape, rank, &y)) return failed;
  if (OrtStatus* failed = ort->GetTensorMutableData(const_cast<OrtValue*>(x), reinterpret_cast<void**>(&from)))
    return failed;
  if (OrtStatus* failed = ort->GetTensorMutableData(y, reinterpret_cast<void**>(&to))) return failed;
  for (size_t i = 0; i < count; i++) to[i] = from[i] * from[i];
  return nullptr;
}

using Op = const OrtCustomOp*;

OrtCustomOp MakeSquare() {
  OrtCustomOp op{};
  op.version = kFloor;
  op.CreateKernelV2 = Create;
  op.KernelComputeV2 = Compute;
  op.KernelDestroy = [](void*) {};
  op.GetName = [](Op) { return "Square"; };
  op.GetExecutionProviderType = [](Op) -> const char* { return nullptr; };
  op.GetInputTypeCount = [](Op) -> size_t { return 1; };
  op.GetOutputTypeCount = [](Op) -> size_t { return 1; };
  op.GetInputType = [](Op, size_t) { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; };
  op.GetOutputType = [](Op, size_t) { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; };
  op.GetInputCharacteristic = [](Op, size_t) { return INPUT_OUTPUT_REQUIRED; };
  op.GetOutputCharacteristic = [](Op, size_t) { return INPUT_OUTPUT_REQUIRED; };
  op.GetInputMemoryType = [](Op, size_t) { return OrtMemTypeDefault; };
  op.GetVariadicInputMinArity = op.GetVariadicInputHomogeneity = [](Op) { return 0; };
  op.GetVariadicOutputMinArity = op.GetVariadicOutputHomogeneity = [](Op) { return 0; };
  op.GetStartVersion = [](Op) { return 1; };
  op.GetEndVersion = [](Op) { return 1 << 20; };
  return op;
}

} // namespace

extern "C" __attribute__((visibility("default"))) OrtStatus* RegisterCustomOps(OrtSessionOptions* options,
                                                                               const OrtApiBase* base) {
  static const OrtCustomOp square = MakeSquare();
  const OrtApi* ort = base->GetApi(kFloor);
  if (!ort) return base->GetApi(1)->CreateStatus(ORT_FAIL, "oddops needs ONNX Runtime 1.19 or newer");
  OrtCustomOpDomain* domain = nullptr; // which sessions use for as long as they live
  if (OrtStatus* failed = ort->CreateCustomOpDomain("oddops", &domain)) return failed;
  if (OrtStatus* failed = ort->CustomOpDomain_Add(domain, &square)) return failed;
  return ort->AddCustomOpDomain(options, domain);
}
