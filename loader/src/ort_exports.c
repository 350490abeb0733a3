/*
 * ort_exports.c: the functions that ONNX Runtime exports outside its table, each in builds with that execution
 * provider. A program that calls none of them gets nothing of this file.
 */
#include "ort_stub.h"

#define LB_EXPORT(name, parameters, arguments)                                              \
  OrtStatus* LB_ORT_CALL name parameters;                                                   \
  LB_CALLS_RUNTIME OrtStatus* LB_ORT_CALL name parameters {                                 \
    lb_function function;                                                                   \
    OrtStatus* status = lb_stub_symbol(#name, &function);                                   \
    return function ? ((OrtStatus * (LB_ORT_CALL*)parameters) function) arguments : status; \
  }

#define LB_APPEND(provider, type)                                                                              \
  LB_EXPORT(OrtSessionOptionsAppendExecutionProvider_##provider, (OrtSessionOptions * options, type argument), \
            (options, argument))

LB_APPEND(ACL, int)
LB_APPEND(ArmNN, int)
LB_APPEND(CPU, int)
LB_APPEND(CUDA, int)
LB_APPEND(CoreML, uint32_t)
LB_APPEND(DML, int)
LB_APPEND(Dnnl, int)
LB_APPEND(MIGraphX, int)
LB_APPEND(Nnapi, uint32_t)
LB_APPEND(OpenVINO, const char*)
LB_APPEND(ROCM, int)
LB_APPEND(Tensorrt, int)
LB_APPEND(Tvm, const char*)
LB_EXPORT(OrtSessionOptionsAppendExecutionProviderEx_DML, (OrtSessionOptions * options, void* device, void* queue),
          (options, device, queue))
