/*
 * api.h: the part of LiteRT's C interface that is used, in our own words: types, numbers and signatures as its wheels
 * from 2.1.6 on have them. The wheels hold no header and no TensorFlow Lite C interface; see
 * docs/decisions/0022-litert-api.md.
 */
#ifndef LATENN_LITERT_API_H
#define LATENN_LITERT_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct LiteRtEnvironmentT LiteRtEnvironment;
typedef struct LiteRtModelT LiteRtModel;
typedef struct LiteRtSignatureT LiteRtSignature;
typedef struct LiteRtTensorT LiteRtTensor;
typedef struct LiteRtOptionsT LiteRtOptions;
typedef struct LiteRtOpaqueOptionsT LiteRtOpaqueOptions;
typedef struct LiteRtCompiledModelT LiteRtCompiledModel;
typedef struct LiteRtTensorBufferT LiteRtTensorBuffer;
typedef struct LiteRtRequirementsT LiteRtRequirements;

typedef int LiteRtStatus; /* 0 is success */

enum {
  LITERT_INVALID_ARGUMENT = 1,
  LITERT_NO_MEMORY = 2,
  LITERT_UNSUPPORTED = 5,
  LITERT_FILE_IO = 500,
  LITERT_CPU = 1,       /* a hardware accelerator */
  LITERT_RANKED = 0,    /* a kind of tensor type */
  LITERT_LOCK_READ = 0, /* how a buffer is locked */
  LITERT_LOCK_WRITE = 1,
  LITERT_ANY_INT = 2,       /* a kind of option value */
  LITERT_LOG_SEVERITY = 25, /* an option of the environment */
  LITERT_SILENT = 4,
  LITERT_MAX_RANK = 8
};

typedef struct LiteRtOption {
  int tag;
  struct {
    int type;
    union {
      int64_t number;
      const void* pointer;
    } as;
  } value;
} LiteRtOption;

typedef struct LiteRtLayout {
  unsigned int rank : 7;
  unsigned int has_strides : 1;
  int32_t dimensions[LITERT_MAX_RANK];
  uint32_t strides[LITERT_MAX_RANK];
} LiteRtLayout;

typedef struct LiteRtTensorType {
  int element;
  LiteRtLayout layout;
} LiteRtTensorType;

_Static_assert(sizeof(LiteRtTensorType) == 72, "LiteRtRankedTensorType");
_Static_assert(sizeof(LiteRtOption) == 24, "LiteRtEnvOption");

/* X(result, name, parameters): every function that is used. */
#define LITERT_FUNCTIONS(X)                                                                                            \
  X(LiteRtStatus, CreateEnvironment, (int count, const LiteRtOption* options, LiteRtEnvironment** environment))        \
  X(void, DestroyEnvironment, (LiteRtEnvironment * environment))                                                       \
  X(LiteRtStatus, CreateModelFromFile, (LiteRtEnvironment * environment, const char* path, LiteRtModel** model))       \
  X(LiteRtStatus, CreateModelFromBuffer,                                                                               \
    (LiteRtEnvironment * environment, const void* bytes, size_t size, LiteRtModel** model))                            \
  X(void, DestroyModel, (LiteRtModel * model))                                                                         \
  X(LiteRtStatus, GetNumModelSignatures, (LiteRtModel * model, size_t* count))                                         \
  X(LiteRtStatus, GetModelSignature, (LiteRtModel * model, size_t index, LiteRtSignature** signature))                 \
  X(LiteRtStatus, GetSignatureKey, (LiteRtSignature * signature, const char** key))                                    \
  X(LiteRtStatus, GetNumSignatureInputs, (LiteRtSignature * signature, size_t* count))                                 \
  X(LiteRtStatus, GetSignatureInputName, (LiteRtSignature * signature, size_t index, const char** name))               \
  X(LiteRtStatus, GetSignatureInputTensorByIndex, (LiteRtSignature * signature, size_t index, LiteRtTensor** tensor))  \
  X(LiteRtStatus, GetNumSignatureOutputs, (LiteRtSignature * signature, size_t* count))                                \
  X(LiteRtStatus, GetSignatureOutputName, (LiteRtSignature * signature, size_t index, const char** name))              \
  X(LiteRtStatus, GetSignatureOutputTensorByIndex, (LiteRtSignature * signature, size_t index, LiteRtTensor** tensor)) \
  X(LiteRtStatus, GetTensorTypeId, (LiteRtTensor * tensor, int* kind))                                                 \
  X(LiteRtStatus, GetUnrankedTensorType, (LiteRtTensor * tensor, int* element))                                        \
  X(LiteRtStatus, GetRankedTensorType, (LiteRtTensor * tensor, LiteRtTensorType * type))                               \
  X(LiteRtStatus, CreateOptions, (LiteRtOptions * *options))                                                           \
  X(void, DestroyOptions, (LiteRtOptions * options))                                                                   \
  X(LiteRtStatus, SetOptionsHardwareAccelerators, (LiteRtOptions * options, int accelerators))                         \
  X(LiteRtStatus, CreateOpaqueOptions,                                                                                 \
    (const char* identifier, void* payload, void (*release)(void* payload), LiteRtOpaqueOptions** options))            \
  X(void, DestroyOpaqueOptions, (LiteRtOpaqueOptions * options))                                                       \
  X(LiteRtStatus, AddOpaqueOptions, (LiteRtOptions * options, LiteRtOpaqueOptions * opaque))                           \
  X(LiteRtStatus, CreateCompiledModel,                                                                                 \
    (LiteRtEnvironment * environment, LiteRtModel * model, LiteRtOptions * options, LiteRtCompiledModel * *compiled))  \
  X(void, DestroyCompiledModel, (LiteRtCompiledModel * compiled))                                                      \
  X(LiteRtStatus, CompiledModelResizeInputTensor,                                                                      \
    (LiteRtCompiledModel * compiled, size_t signature, size_t index, const int* shape, size_t rank))                   \
  X(LiteRtStatus, GetCompiledModelInputBufferRequirements,                                                             \
    (LiteRtCompiledModel * compiled, size_t signature, size_t index, LiteRtRequirements** requirements))               \
  X(LiteRtStatus, GetCompiledModelOutputBufferRequirements,                                                            \
    (LiteRtCompiledModel * compiled, size_t signature, size_t index, LiteRtRequirements** requirements))               \
  X(LiteRtStatus, GetCompiledModelOutputTensorLayouts,                                                                 \
    (LiteRtCompiledModel * compiled, size_t signature, size_t count, LiteRtLayout* layouts, bool update))              \
  X(LiteRtStatus, RunCompiledModel,                                                                                    \
    (LiteRtCompiledModel * compiled, size_t signature, size_t input_count, LiteRtTensorBuffer** inputs,                \
     size_t output_count, LiteRtTensorBuffer** outputs))                                                               \
  X(LiteRtStatus, CompiledModelGetErrorMessages, (LiteRtCompiledModel * compiled, char** messages))                    \
  X(LiteRtStatus, CompiledModelClearErrors, (LiteRtCompiledModel * compiled))                                          \
  X(LiteRtStatus, CreateManagedTensorBufferFromRequirements,                                                           \
    (LiteRtEnvironment * environment, const LiteRtTensorType* type, LiteRtRequirements* requirements,                  \
     LiteRtTensorBuffer** buffer))                                                                                     \
  X(void, DestroyTensorBuffer, (LiteRtTensorBuffer * buffer))                                                          \
  X(LiteRtStatus, GetTensorBufferSize, (LiteRtTensorBuffer * buffer, size_t* size))                                    \
  X(LiteRtStatus, LockTensorBuffer, (LiteRtTensorBuffer * buffer, void** address, int mode))                           \
  X(LiteRtStatus, UnlockTensorBuffer, (LiteRtTensorBuffer * buffer))

/* LiteRt<name>, taken from the bound library one by one. */
typedef struct litert_api {
#define LITERT_FIELD(result, name, parameters) result(*name) parameters;
  LITERT_FUNCTIONS(LITERT_FIELD)
#undef LITERT_FIELD
} litert_api;

#endif
