/* layout.h: ONNX Runtime's struct of a custom operator as of 1.18, written down here because nothing else needs its
 * header; must not hold anything of ours. tests/loader/test_ort_api.py compares it with the official one. */
#ifndef LATENN_CUSTOMOP_LAYOUT_H
#define LATENN_CUSTOMOP_LAYOUT_H

#include "latebind/ort_api.h"

/* The version of that struct: ONNX Runtime reads no member that is newer. Every runtime from our floor on knows it. */
enum { CUSTOMOP_LAYOUT_VERSION = 19 };

typedef struct customop_layout customop_layout;

struct customop_layout {
  uint32_t version;
  void*(LB_ORT_CALL* CreateKernel)(const customop_layout* op, const void* api, const OrtKernelInfo* info);
  const char*(LB_ORT_CALL* GetName)(const customop_layout* op);
  const char*(LB_ORT_CALL* GetExecutionProviderType)(const customop_layout* op);
  ONNXTensorElementDataType(LB_ORT_CALL* GetInputType)(const customop_layout* op, size_t index);
  size_t(LB_ORT_CALL* GetInputTypeCount)(const customop_layout* op);
  ONNXTensorElementDataType(LB_ORT_CALL* GetOutputType)(const customop_layout* op, size_t index);
  size_t(LB_ORT_CALL* GetOutputTypeCount)(const customop_layout* op);
  void(LB_ORT_CALL* KernelCompute)(void* kernel, OrtKernelContext* context);
  void(LB_ORT_CALL* KernelDestroy)(void* kernel);
  OrtCustomOpInputOutputCharacteristic(LB_ORT_CALL* GetInputCharacteristic)(const customop_layout* op, size_t index);
  OrtCustomOpInputOutputCharacteristic(LB_ORT_CALL* GetOutputCharacteristic)(const customop_layout* op, size_t index);
  OrtMemType(LB_ORT_CALL* GetInputMemoryType)(const customop_layout* op, size_t index);
  int(LB_ORT_CALL* GetVariadicInputMinArity)(const customop_layout* op);
  int(LB_ORT_CALL* GetVariadicInputHomogeneity)(const customop_layout* op);
  int(LB_ORT_CALL* GetVariadicOutputMinArity)(const customop_layout* op);
  int(LB_ORT_CALL* GetVariadicOutputHomogeneity)(const customop_layout* op);
  OrtStatus*(LB_ORT_CALL* CreateKernelV2)(const customop_layout* op, const void* api, const OrtKernelInfo* info,
                                          void** kernel);
  OrtStatus*(LB_ORT_CALL* KernelComputeV2)(void* kernel, OrtKernelContext* context);
  OrtStatus*(LB_ORT_CALL* InferOutputShapeFn)(const customop_layout* op, void* context);
  int(LB_ORT_CALL* GetStartVersion)(const customop_layout* op);
  int(LB_ORT_CALL* GetEndVersion)(const customop_layout* op);
  size_t(LB_ORT_CALL* GetMayInplace)(int** input_index, int** output_index);
  void(LB_ORT_CALL* ReleaseMayInplace)(int* input_index, int* output_index);
  size_t(LB_ORT_CALL* GetAliasMap)(int** input_index, int** output_index);
  void(LB_ORT_CALL* ReleaseAliasMap)(int* input_index, int* output_index);
};

#endif
