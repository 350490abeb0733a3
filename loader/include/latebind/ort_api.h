/*
 * ort_api.h: the part of ONNX Runtime's C API that this library calls, without its header.
 *
 * Generated from loader/tables/ort_api.toml by ci/gen_loader.py; do not edit. Names, values and prototypes are the
 * official ones, so a file that includes onnxruntime_c_api.h first shares its types; one that does not needs none.
 *
 * Every call goes through lb_ort_<Name>(api, ...). A function that is newer than the runtime that was bound is a
 * named error, never a jump into nothing: see lb_ort_available().
 */
#ifndef LATEBIND_ORT_API_H
#define LATEBIND_ORT_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "latebind/latebind.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Slots are known up to this API version; a newer runtime is asked for this one. */
#define LB_ORT_API_VERSION 29
/* No runtime older than this can be attached to, whatever the floor. */
#define LB_ORT_API_OLDEST 14

#if defined(_WIN32)
#define LB_ORT_CALL __stdcall
#else
#define LB_ORT_CALL
#endif

#ifndef ORT_API_VERSION /* the official header was not included before this one */

#if defined(_WIN32)
typedef wchar_t lb_ort_path_char;
#else
typedef char lb_ort_path_char;
#endif
#ifndef ORTCHAR_T
#define ORTCHAR_T lb_ort_path_char
#endif

typedef struct OrtEnv OrtEnv;
typedef struct OrtStatus OrtStatus;
typedef struct OrtMemoryInfo OrtMemoryInfo;
typedef struct OrtSession OrtSession;
typedef struct OrtValue OrtValue;
typedef struct OrtRunOptions OrtRunOptions;
typedef struct OrtTypeInfo OrtTypeInfo;
typedef struct OrtTensorTypeAndShapeInfo OrtTensorTypeAndShapeInfo;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtAllocator OrtAllocator;
typedef struct OrtIoBinding OrtIoBinding;
typedef struct OrtCUDAProviderOptionsV2 OrtCUDAProviderOptionsV2;
typedef struct OrtCustomOpDomain OrtCustomOpDomain;
typedef struct OrtCustomOp OrtCustomOp;
typedef struct OrtKernelInfo OrtKernelInfo;
typedef struct OrtKernelContext OrtKernelContext;
typedef struct OrtModelMetadata OrtModelMetadata;
typedef struct OrtLoraAdapter OrtLoraAdapter;
typedef struct OrtEpDevice OrtEpDevice;

typedef enum OrtErrorCode {
  ORT_OK = 0,
  ORT_FAIL = 1,
  ORT_INVALID_ARGUMENT = 2,
  ORT_NO_SUCHFILE = 3,
  ORT_NO_MODEL = 4,
  ORT_ENGINE_ERROR = 5,
  ORT_RUNTIME_EXCEPTION = 6,
  ORT_INVALID_PROTOBUF = 7,
  ORT_MODEL_LOADED = 8,
  ORT_NOT_IMPLEMENTED = 9,
  ORT_INVALID_GRAPH = 10,
  ORT_EP_FAIL = 11
} OrtErrorCode;

typedef enum OrtLoggingLevel {
  ORT_LOGGING_LEVEL_VERBOSE = 0,
  ORT_LOGGING_LEVEL_INFO = 1,
  ORT_LOGGING_LEVEL_WARNING = 2,
  ORT_LOGGING_LEVEL_ERROR = 3,
  ORT_LOGGING_LEVEL_FATAL = 4
} OrtLoggingLevel;

typedef enum GraphOptimizationLevel {
  ORT_DISABLE_ALL = 0,
  ORT_ENABLE_BASIC = 1,
  ORT_ENABLE_EXTENDED = 2,
  ORT_ENABLE_ALL = 99
} GraphOptimizationLevel;

typedef enum OrtAllocatorType {
  OrtInvalidAllocator = -1,
  OrtDeviceAllocator = 0,
  OrtArenaAllocator = 1
} OrtAllocatorType;

typedef enum OrtMemType {
  OrtMemTypeCPUInput = -2,
  OrtMemTypeCPUOutput = -1,
  OrtMemTypeCPU = -1,
  OrtMemTypeDefault = 0
} OrtMemType;

typedef enum ONNXType {
  ONNX_TYPE_UNKNOWN = 0,
  ONNX_TYPE_TENSOR = 1,
  ONNX_TYPE_SEQUENCE = 2,
  ONNX_TYPE_MAP = 3,
  ONNX_TYPE_OPAQUE = 4,
  ONNX_TYPE_SPARSETENSOR = 5,
  ONNX_TYPE_OPTIONAL = 6
} ONNXType;

typedef enum ONNXTensorElementDataType {
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED = 0,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT = 1,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8 = 2,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8 = 3,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16 = 4,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16 = 5,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32 = 6,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 = 7,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING = 8,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL = 9,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16 = 10,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE = 11,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32 = 12,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64 = 13,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64 = 14,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128 = 15,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16 = 16,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN = 17,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ = 18,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2 = 19,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ = 20,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4 = 21,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4 = 22
} ONNXTensorElementDataType;

typedef enum OrtCustomOpInputOutputCharacteristic {
  INPUT_OUTPUT_REQUIRED = 0,
  INPUT_OUTPUT_OPTIONAL = 1,
  INPUT_OUTPUT_VARIADIC = 2
} OrtCustomOpInputOutputCharacteristic;

typedef void(LB_ORT_CALL* OrtLoggingFunction)(void* param, OrtLoggingLevel severity, const char* category,
                                              const char* logid, const char* code_location, const char* message);

#endif /* ORT_API_VERSION */

/* What an official header that is older than this one lacks. */
#if defined(ORT_API_VERSION) && ORT_API_VERSION < 20
typedef struct OrtLoraAdapter OrtLoraAdapter;
#endif
#if defined(ORT_API_VERSION) && ORT_API_VERSION < 22
typedef struct OrtEpDevice OrtEpDevice;
#endif

/* OrtApiBase and OrtApi by other names. Slots that are not used are gaps; the official order is kept. */
typedef struct lb_ort_table {
  OrtStatus*(LB_ORT_CALL* CreateStatus)(OrtErrorCode code, const char* msg);
  OrtErrorCode(LB_ORT_CALL* GetErrorCode)(const OrtStatus* status);
  const char*(LB_ORT_CALL* GetErrorMessage)(const OrtStatus* status);
  OrtStatus*(LB_ORT_CALL* CreateEnv)(OrtLoggingLevel log_severity_level, const char* logid, OrtEnv** out);
  void* gap_4[3];
  OrtStatus*(LB_ORT_CALL* CreateSession)(const OrtEnv* env, const ORTCHAR_T* model_path,
                                         const OrtSessionOptions* options, OrtSession** out);
  OrtStatus*(LB_ORT_CALL* CreateSessionFromArray)(const OrtEnv* env, const void* model_data, size_t model_data_length,
                                                  const OrtSessionOptions* options, OrtSession** out);
  OrtStatus*(LB_ORT_CALL* Run)(OrtSession* session, const OrtRunOptions* run_options, const char* const* input_names,
                               const OrtValue* const* inputs, size_t input_len, const char* const* output_names,
                               size_t output_names_len, OrtValue** outputs);
  OrtStatus*(LB_ORT_CALL* CreateSessionOptions)(OrtSessionOptions** options);
  void* gap_11[1];
  OrtStatus*(LB_ORT_CALL* CloneSessionOptions)(const OrtSessionOptions* in_options, OrtSessionOptions** out_options);
  void* gap_13[1];
  OrtStatus*(LB_ORT_CALL* EnableProfiling)(OrtSessionOptions* options, const ORTCHAR_T* profile_file_prefix);
  void* gap_15[7];
  OrtStatus*(LB_ORT_CALL* SetSessionLogSeverityLevel)(OrtSessionOptions* options, int session_log_severity_level);
  OrtStatus*(LB_ORT_CALL* SetSessionGraphOptimizationLevel)(OrtSessionOptions* options,
                                                            GraphOptimizationLevel graph_optimization_level);
  OrtStatus*(LB_ORT_CALL* SetIntraOpNumThreads)(OrtSessionOptions* options, int intra_op_num_threads);
  OrtStatus*(LB_ORT_CALL* SetInterOpNumThreads)(OrtSessionOptions* options, int inter_op_num_threads);
  OrtStatus*(LB_ORT_CALL* CreateCustomOpDomain)(const char* domain, OrtCustomOpDomain** out);
  OrtStatus*(LB_ORT_CALL* CustomOpDomain_Add)(OrtCustomOpDomain* custom_op_domain, const OrtCustomOp* op);
  OrtStatus*(LB_ORT_CALL* AddCustomOpDomain)(OrtSessionOptions* options, OrtCustomOpDomain* custom_op_domain);
  void* gap_29[1];
  OrtStatus*(LB_ORT_CALL* SessionGetInputCount)(const OrtSession* session, size_t* out);
  OrtStatus*(LB_ORT_CALL* SessionGetOutputCount)(const OrtSession* session, size_t* out);
  void* gap_32[1];
  OrtStatus*(LB_ORT_CALL* SessionGetInputTypeInfo)(const OrtSession* session, size_t index, OrtTypeInfo** type_info);
  OrtStatus*(LB_ORT_CALL* SessionGetOutputTypeInfo)(const OrtSession* session, size_t index, OrtTypeInfo** type_info);
  void* gap_35[1];
  OrtStatus*(LB_ORT_CALL* SessionGetInputName)(const OrtSession* session, size_t index, OrtAllocator* allocator,
                                               char** value);
  OrtStatus*(LB_ORT_CALL* SessionGetOutputName)(const OrtSession* session, size_t index, OrtAllocator* allocator,
                                                char** value);
  void* gap_38[1];
  OrtStatus*(LB_ORT_CALL* CreateRunOptions)(OrtRunOptions** out);
  void* gap_40[1];
  OrtStatus*(LB_ORT_CALL* RunOptionsSetRunLogSeverityLevel)(OrtRunOptions* options, int log_severity_level);
  OrtStatus*(LB_ORT_CALL* RunOptionsSetRunTag)(OrtRunOptions* options, const char* run_tag);
  void* gap_43[3];
  OrtStatus*(LB_ORT_CALL* RunOptionsSetTerminate)(OrtRunOptions* options);
  void* gap_47[1];
  OrtStatus*(LB_ORT_CALL* CreateTensorAsOrtValue)(OrtAllocator* allocator, const int64_t* shape, size_t shape_len,
                                                  ONNXTensorElementDataType type, OrtValue** out);
  OrtStatus*(LB_ORT_CALL* CreateTensorWithDataAsOrtValue)(const OrtMemoryInfo* info, void* p_data, size_t p_data_len,
                                                          const int64_t* shape, size_t shape_len,
                                                          ONNXTensorElementDataType type, OrtValue** out);
  void* gap_50[1];
  OrtStatus*(LB_ORT_CALL* GetTensorMutableData)(OrtValue* value, void** out);
  void* gap_52[1];
  OrtStatus*(LB_ORT_CALL* GetStringTensorDataLength)(const OrtValue* value, size_t* len);
  OrtStatus*(LB_ORT_CALL* GetStringTensorContent)(const OrtValue* value, void* s, size_t s_len, size_t* offsets,
                                                  size_t offsets_len);
  OrtStatus*(LB_ORT_CALL* CastTypeInfoToTensorInfo)(const OrtTypeInfo* type_info,
                                                    const OrtTensorTypeAndShapeInfo** out);
  OrtStatus*(LB_ORT_CALL* GetOnnxTypeFromTypeInfo)(const OrtTypeInfo* type_info, enum ONNXType* out);
  void* gap_57[3];
  OrtStatus*(LB_ORT_CALL* GetTensorElementType)(const OrtTensorTypeAndShapeInfo* info,
                                                enum ONNXTensorElementDataType* out);
  OrtStatus*(LB_ORT_CALL* GetDimensionsCount)(const OrtTensorTypeAndShapeInfo* info, size_t* out);
  OrtStatus*(LB_ORT_CALL* GetDimensions)(const OrtTensorTypeAndShapeInfo* info, int64_t* dim_values,
                                         size_t dim_values_length);
  OrtStatus*(LB_ORT_CALL* GetSymbolicDimensions)(const OrtTensorTypeAndShapeInfo* info, const char* dim_params[],
                                                 size_t dim_params_length);
  void* gap_64[1];
  OrtStatus*(LB_ORT_CALL* GetTensorTypeAndShape)(const OrtValue* value, OrtTensorTypeAndShapeInfo** out);
  void* gap_66[1];
  OrtStatus*(LB_ORT_CALL* GetValueType)(const OrtValue* value, enum ONNXType* out);
  OrtStatus*(LB_ORT_CALL* CreateMemoryInfo)(const char* name, enum OrtAllocatorType type, int id,
                                            enum OrtMemType mem_type, OrtMemoryInfo** out);
  OrtStatus*(LB_ORT_CALL* CreateCpuMemoryInfo)(enum OrtAllocatorType type, enum OrtMemType mem_type,
                                               OrtMemoryInfo** out);
  void* gap_70[1];
  OrtStatus*(LB_ORT_CALL* MemoryInfoGetName)(const OrtMemoryInfo* ptr, const char** out);
  OrtStatus*(LB_ORT_CALL* MemoryInfoGetId)(const OrtMemoryInfo* ptr, int* out);
  void* gap_73[3];
  OrtStatus*(LB_ORT_CALL* AllocatorFree)(OrtAllocator* ort_allocator, void* p);
  void* gap_77[1];
  OrtStatus*(LB_ORT_CALL* GetAllocatorWithDefaultOptions)(OrtAllocator** out);
  OrtStatus*(LB_ORT_CALL* AddFreeDimensionOverride)(OrtSessionOptions* options, const char* dim_denotation,
                                                    int64_t dim_value);
  void* gap_80[6];
  OrtStatus*(LB_ORT_CALL* KernelInfoGetAttribute_int64)(const OrtKernelInfo* info, const char* name, int64_t* out);
  OrtStatus*(LB_ORT_CALL* KernelInfoGetAttribute_string)(const OrtKernelInfo* info, const char* name, char* out,
                                                         size_t* size);
  void* gap_88[2];
  OrtStatus*(LB_ORT_CALL* KernelContext_GetInput)(const OrtKernelContext* context, size_t index, const OrtValue** out);
  OrtStatus*(LB_ORT_CALL* KernelContext_GetOutput)(OrtKernelContext* context, size_t index, const int64_t* dim_values,
                                                   size_t dim_count, OrtValue** out);
  void(LB_ORT_CALL* ReleaseEnv)(OrtEnv* input);
  void(LB_ORT_CALL* ReleaseStatus)(OrtStatus* input);
  void(LB_ORT_CALL* ReleaseMemoryInfo)(OrtMemoryInfo* input);
  void(LB_ORT_CALL* ReleaseSession)(OrtSession* input);
  void(LB_ORT_CALL* ReleaseValue)(OrtValue* input);
  void(LB_ORT_CALL* ReleaseRunOptions)(OrtRunOptions* input);
  void(LB_ORT_CALL* ReleaseTypeInfo)(OrtTypeInfo* input);
  void(LB_ORT_CALL* ReleaseTensorTypeAndShapeInfo)(OrtTensorTypeAndShapeInfo* input);
  void(LB_ORT_CALL* ReleaseSessionOptions)(OrtSessionOptions* input);
  void(LB_ORT_CALL* ReleaseCustomOpDomain)(OrtCustomOpDomain* input);
  void* gap_102[8];
  OrtStatus*(LB_ORT_CALL* SessionEndProfiling)(OrtSession* session, OrtAllocator* allocator, char** out);
  OrtStatus*(LB_ORT_CALL* SessionGetModelMetadata)(const OrtSession* session, OrtModelMetadata** out);
  OrtStatus*(LB_ORT_CALL* ModelMetadataGetProducerName)(const OrtModelMetadata* model_metadata, OrtAllocator* allocator,
                                                        char** value);
  OrtStatus*(LB_ORT_CALL* ModelMetadataGetGraphName)(const OrtModelMetadata* model_metadata, OrtAllocator* allocator,
                                                     char** value);
  OrtStatus*(LB_ORT_CALL* ModelMetadataGetDomain)(const OrtModelMetadata* model_metadata, OrtAllocator* allocator,
                                                  char** value);
  OrtStatus*(LB_ORT_CALL* ModelMetadataGetDescription)(const OrtModelMetadata* model_metadata, OrtAllocator* allocator,
                                                       char** value);
  OrtStatus*(LB_ORT_CALL* ModelMetadataLookupCustomMetadataMap)(const OrtModelMetadata* model_metadata,
                                                                OrtAllocator* allocator, const char* key, char** value);
  OrtStatus*(LB_ORT_CALL* ModelMetadataGetVersion)(const OrtModelMetadata* model_metadata, int64_t* value);
  void(LB_ORT_CALL* ReleaseModelMetadata)(OrtModelMetadata* input);
  void* gap_119[4];
  OrtStatus*(LB_ORT_CALL* ModelMetadataGetCustomMetadataMapKeys)(const OrtModelMetadata* model_metadata,
                                                                 OrtAllocator* allocator, char*** keys,
                                                                 int64_t* num_keys);
  OrtStatus*(LB_ORT_CALL* AddFreeDimensionOverrideByName)(OrtSessionOptions* options, const char* dim_name,
                                                          int64_t dim_value);
  void* gap_125[5];
  OrtStatus*(LB_ORT_CALL* AddSessionConfigEntry)(OrtSessionOptions* options, const char* config_key,
                                                 const char* config_value);
  OrtStatus*(LB_ORT_CALL* CreateAllocator)(const OrtSession* session, const OrtMemoryInfo* mem_info,
                                           OrtAllocator** out);
  void(LB_ORT_CALL* ReleaseAllocator)(OrtAllocator* input);
  OrtStatus*(LB_ORT_CALL* RunWithBinding)(OrtSession* session, const OrtRunOptions* run_options,
                                          const OrtIoBinding* binding_ptr);
  OrtStatus*(LB_ORT_CALL* CreateIoBinding)(OrtSession* session, OrtIoBinding** out);
  void(LB_ORT_CALL* ReleaseIoBinding)(OrtIoBinding* input);
  OrtStatus*(LB_ORT_CALL* BindInput)(OrtIoBinding* binding_ptr, const char* name, const OrtValue* val_ptr);
  OrtStatus*(LB_ORT_CALL* BindOutput)(OrtIoBinding* binding_ptr, const char* name, const OrtValue* val_ptr);
  OrtStatus*(LB_ORT_CALL* BindOutputToDevice)(OrtIoBinding* binding_ptr, const char* name,
                                              const OrtMemoryInfo* mem_info_ptr);
  void* gap_139[1];
  OrtStatus*(LB_ORT_CALL* GetBoundOutputValues)(const OrtIoBinding* binding_ptr, OrtAllocator* allocator,
                                                OrtValue*** output, size_t* output_count);
  void(LB_ORT_CALL* ClearBoundInputs)(OrtIoBinding* binding_ptr);
  void(LB_ORT_CALL* ClearBoundOutputs)(OrtIoBinding* binding_ptr);
  void* gap_143[15];
  OrtStatus*(LB_ORT_CALL* ModelMetadataGetGraphDescription)(const OrtModelMetadata* model_metadata,
                                                            OrtAllocator* allocator, char** value);
  void* gap_159[6];
  OrtStatus*(LB_ORT_CALL* AddRunConfigEntry)(OrtRunOptions* options, const char* config_key, const char* config_value);
  void* gap_166[28];
  OrtStatus*(LB_ORT_CALL* GetTensorMemoryInfo)(const OrtValue* value, const OrtMemoryInfo** mem_info);
  void* gap_195[8];
  OrtStatus*(LB_ORT_CALL* SynchronizeBoundOutputs)(OrtIoBinding* binding_ptr);
  OrtStatus*(LB_ORT_CALL* SessionOptionsAppendExecutionProvider_CUDA_V2)(OrtSessionOptions* options,
                                                                         const OrtCUDAProviderOptionsV2* cuda_options);
  OrtStatus*(LB_ORT_CALL* CreateCUDAProviderOptions)(OrtCUDAProviderOptionsV2** out);
  OrtStatus*(LB_ORT_CALL* UpdateCUDAProviderOptions)(OrtCUDAProviderOptionsV2* cuda_options,
                                                     const char* const* provider_options_keys,
                                                     const char* const* provider_options_values, size_t num_keys);
  void* gap_207[1];
  void(LB_ORT_CALL* ReleaseCUDAProviderOptions)(OrtCUDAProviderOptionsV2* input);
  void* gap_209[7];
  OrtStatus*(LB_ORT_CALL* SessionOptionsAppendExecutionProvider)(OrtSessionOptions* options, const char* provider_name,
                                                                 const char* const* provider_options_keys,
                                                                 const char* const* provider_options_values,
                                                                 size_t num_keys);
  void* gap_217[11];
  OrtStatus*(LB_ORT_CALL* RegisterCustomOpsLibrary_V2)(OrtSessionOptions* options, const ORTCHAR_T* library_name);
  void* gap_229[1];
  OrtStatus*(LB_ORT_CALL* KernelInfo_GetInputCount)(const OrtKernelInfo* info, size_t* out);
  OrtStatus*(LB_ORT_CALL* KernelInfo_GetOutputCount)(const OrtKernelInfo* info, size_t* out);
  void* gap_232[2];
  OrtStatus*(LB_ORT_CALL* KernelInfo_GetInputTypeInfo)(const OrtKernelInfo* info, size_t index,
                                                       OrtTypeInfo** type_info);
  OrtStatus*(LB_ORT_CALL* KernelInfo_GetOutputTypeInfo)(const OrtKernelInfo* info, size_t index,
                                                        OrtTypeInfo** type_info);
  void* gap_236[1];
  OrtStatus*(LB_ORT_CALL* HasSessionConfigEntry)(const OrtSessionOptions* options, const char* config_key, int* out);
  OrtStatus*(LB_ORT_CALL* GetSessionConfigEntry)(const OrtSessionOptions* options, const char* config_key,
                                                 char* config_value, size_t* size);
  void* gap_239[5];
  OrtStatus*(LB_ORT_CALL* KernelInfo_GetNodeName)(const OrtKernelInfo* info, char* out, size_t* size);
  void* gap_245[7];
  OrtStatus*(LB_ORT_CALL* GetResizedStringTensorElementBuffer)(OrtValue* value, size_t index, size_t length_in_bytes,
                                                               char** buffer);
  void* gap_253[13];
  OrtStatus*(LB_ORT_CALL* SetUserLoggingFunction)(OrtSessionOptions* options, OrtLoggingFunction user_logging_function,
                                                  void* user_logging_param);
  void* gap_267[12];
  OrtStatus*(LB_ORT_CALL* AddExternalInitializersFromFilesInMemory)(
      OrtSessionOptions* options, const ORTCHAR_T* const* external_initializer_file_names,
      char* const* external_initializer_file_buffer_array, const size_t* external_initializer_file_lengths,
      size_t num_external_initializer_files);
  OrtStatus*(LB_ORT_CALL* CreateLoraAdapter)(const ORTCHAR_T* adapter_file_path, OrtAllocator* allocator,
                                             OrtLoraAdapter** out);
  void* gap_281[1];
  void(LB_ORT_CALL* ReleaseLoraAdapter)(OrtLoraAdapter* input);
  OrtStatus*(LB_ORT_CALL* RunOptionsAddActiveLoraAdapter)(OrtRunOptions* options, const OrtLoraAdapter* adapter);
  void* gap_284[17];
  OrtStatus*(LB_ORT_CALL* RegisterExecutionProviderLibrary)(OrtEnv* env, const char* registration_name,
                                                            const ORTCHAR_T* path);
  OrtStatus*(LB_ORT_CALL* UnregisterExecutionProviderLibrary)(OrtEnv* env, const char* registration_name);
  OrtStatus*(LB_ORT_CALL* GetEpDevices)(const OrtEnv* env, const OrtEpDevice* const** ep_devices,
                                        size_t* num_ep_devices);
  OrtStatus*(LB_ORT_CALL* SessionOptionsAppendExecutionProvider_V2)(
      OrtSessionOptions* session_options, OrtEnv* env, const OrtEpDevice* const* ep_devices, size_t num_ep_devices,
      const char* const* ep_option_keys, const char* const* ep_option_vals, size_t num_ep_options);
  void* gap_305[7];
  const char*(LB_ORT_CALL* EpDevice_EpName)(const OrtEpDevice* ep_device);
  void* gap_313[77];
  bool(LB_ORT_CALL* TensorTypeAndShape_HasShape)(const OrtTensorTypeAndShapeInfo* info);
} lb_ort_table;

typedef struct lb_ort_base {
  const lb_ort_table*(LB_ORT_CALL* GetApi)(uint32_t version);
  const char*(LB_ORT_CALL* GetVersionString)(void);
} lb_ort_base;

/* A bound runtime: its table, and how much of the table is there. Fill it with lb_ort_attach(). */
typedef struct lb_ort_api {
  const lb_ort_table* table;
  uint32_t version;   /* the API version that was asked for: slots up to it exist */
  lb_version runtime; /* the version that the runtime reports */
} lb_ort_api;

/* Functions by name, for lb_ort_available() and lb_ort_explain(). */
typedef enum lb_ort_function {
  LB_ORT_CreateStatus = 0,
  LB_ORT_GetErrorCode = 1,
  LB_ORT_GetErrorMessage = 2,
  LB_ORT_CreateEnv = 3,
  LB_ORT_CreateSession = 7,
  LB_ORT_CreateSessionFromArray = 8,
  LB_ORT_Run = 9,
  LB_ORT_CreateSessionOptions = 10,
  LB_ORT_CloneSessionOptions = 12,
  LB_ORT_EnableProfiling = 14,
  LB_ORT_SetSessionLogSeverityLevel = 22,
  LB_ORT_SetSessionGraphOptimizationLevel = 23,
  LB_ORT_SetIntraOpNumThreads = 24,
  LB_ORT_SetInterOpNumThreads = 25,
  LB_ORT_CreateCustomOpDomain = 26,
  LB_ORT_CustomOpDomain_Add = 27,
  LB_ORT_AddCustomOpDomain = 28,
  LB_ORT_SessionGetInputCount = 30,
  LB_ORT_SessionGetOutputCount = 31,
  LB_ORT_SessionGetInputTypeInfo = 33,
  LB_ORT_SessionGetOutputTypeInfo = 34,
  LB_ORT_SessionGetInputName = 36,
  LB_ORT_SessionGetOutputName = 37,
  LB_ORT_CreateRunOptions = 39,
  LB_ORT_RunOptionsSetRunLogSeverityLevel = 41,
  LB_ORT_RunOptionsSetRunTag = 42,
  LB_ORT_RunOptionsSetTerminate = 46,
  LB_ORT_CreateTensorAsOrtValue = 48,
  LB_ORT_CreateTensorWithDataAsOrtValue = 49,
  LB_ORT_GetTensorMutableData = 51,
  LB_ORT_GetStringTensorDataLength = 53,
  LB_ORT_GetStringTensorContent = 54,
  LB_ORT_CastTypeInfoToTensorInfo = 55,
  LB_ORT_GetOnnxTypeFromTypeInfo = 56,
  LB_ORT_GetTensorElementType = 60,
  LB_ORT_GetDimensionsCount = 61,
  LB_ORT_GetDimensions = 62,
  LB_ORT_GetSymbolicDimensions = 63,
  LB_ORT_GetTensorTypeAndShape = 65,
  LB_ORT_GetValueType = 67,
  LB_ORT_CreateMemoryInfo = 68,
  LB_ORT_CreateCpuMemoryInfo = 69,
  LB_ORT_MemoryInfoGetName = 71,
  LB_ORT_MemoryInfoGetId = 72,
  LB_ORT_AllocatorFree = 76,
  LB_ORT_GetAllocatorWithDefaultOptions = 78,
  LB_ORT_AddFreeDimensionOverride = 79,
  LB_ORT_KernelInfoGetAttribute_int64 = 86,
  LB_ORT_KernelInfoGetAttribute_string = 87,
  LB_ORT_KernelContext_GetInput = 90,
  LB_ORT_KernelContext_GetOutput = 91,
  LB_ORT_ReleaseEnv = 92,
  LB_ORT_ReleaseStatus = 93,
  LB_ORT_ReleaseMemoryInfo = 94,
  LB_ORT_ReleaseSession = 95,
  LB_ORT_ReleaseValue = 96,
  LB_ORT_ReleaseRunOptions = 97,
  LB_ORT_ReleaseTypeInfo = 98,
  LB_ORT_ReleaseTensorTypeAndShapeInfo = 99,
  LB_ORT_ReleaseSessionOptions = 100,
  LB_ORT_ReleaseCustomOpDomain = 101,
  LB_ORT_SessionEndProfiling = 110,
  LB_ORT_SessionGetModelMetadata = 111,
  LB_ORT_ModelMetadataGetProducerName = 112,
  LB_ORT_ModelMetadataGetGraphName = 113,
  LB_ORT_ModelMetadataGetDomain = 114,
  LB_ORT_ModelMetadataGetDescription = 115,
  LB_ORT_ModelMetadataLookupCustomMetadataMap = 116,
  LB_ORT_ModelMetadataGetVersion = 117,
  LB_ORT_ReleaseModelMetadata = 118,
  LB_ORT_ModelMetadataGetCustomMetadataMapKeys = 123,
  LB_ORT_AddFreeDimensionOverrideByName = 124,
  LB_ORT_AddSessionConfigEntry = 130,
  LB_ORT_CreateAllocator = 131,
  LB_ORT_ReleaseAllocator = 132,
  LB_ORT_RunWithBinding = 133,
  LB_ORT_CreateIoBinding = 134,
  LB_ORT_ReleaseIoBinding = 135,
  LB_ORT_BindInput = 136,
  LB_ORT_BindOutput = 137,
  LB_ORT_BindOutputToDevice = 138,
  LB_ORT_GetBoundOutputValues = 140,
  LB_ORT_ClearBoundInputs = 141,
  LB_ORT_ClearBoundOutputs = 142,
  LB_ORT_ModelMetadataGetGraphDescription = 158,
  LB_ORT_AddRunConfigEntry = 165,
  LB_ORT_GetTensorMemoryInfo = 194,
  LB_ORT_SynchronizeBoundOutputs = 203,
  LB_ORT_SessionOptionsAppendExecutionProvider_CUDA_V2 = 204,
  LB_ORT_CreateCUDAProviderOptions = 205,
  LB_ORT_UpdateCUDAProviderOptions = 206,
  LB_ORT_ReleaseCUDAProviderOptions = 208,
  LB_ORT_SessionOptionsAppendExecutionProvider = 216,
  LB_ORT_RegisterCustomOpsLibrary_V2 = 228,
  LB_ORT_KernelInfo_GetInputCount = 230,
  LB_ORT_KernelInfo_GetOutputCount = 231,
  LB_ORT_KernelInfo_GetInputTypeInfo = 234,
  LB_ORT_KernelInfo_GetOutputTypeInfo = 235,
  LB_ORT_HasSessionConfigEntry = 237,
  LB_ORT_GetSessionConfigEntry = 238,
  LB_ORT_KernelInfo_GetNodeName = 244,
  LB_ORT_GetResizedStringTensorElementBuffer = 252,
  LB_ORT_SetUserLoggingFunction = 266,
  LB_ORT_AddExternalInitializersFromFilesInMemory = 279,
  LB_ORT_CreateLoraAdapter = 280,
  LB_ORT_ReleaseLoraAdapter = 282,
  LB_ORT_RunOptionsAddActiveLoraAdapter = 283,
  LB_ORT_RegisterExecutionProviderLibrary = 301,
  LB_ORT_UnregisterExecutionProviderLibrary = 302,
  LB_ORT_GetEpDevices = 303,
  LB_ORT_SessionOptionsAppendExecutionProvider_V2 = 304,
  LB_ORT_EpDevice_EpName = 312,
  LB_ORT_TensorTypeAndShape_HasShape = 390
} lb_ort_function;

/* X(name, slot, since) for every function above. */
#define LB_ORT_FUNCTIONS(X)                                 \
  X(CreateStatus, 0, 14)                                    \
  X(GetErrorCode, 1, 14)                                    \
  X(GetErrorMessage, 2, 14)                                 \
  X(CreateEnv, 3, 14)                                       \
  X(CreateSession, 7, 14)                                   \
  X(CreateSessionFromArray, 8, 14)                          \
  X(Run, 9, 14)                                             \
  X(CreateSessionOptions, 10, 14)                           \
  X(CloneSessionOptions, 12, 14)                            \
  X(EnableProfiling, 14, 14)                                \
  X(SetSessionLogSeverityLevel, 22, 14)                     \
  X(SetSessionGraphOptimizationLevel, 23, 14)               \
  X(SetIntraOpNumThreads, 24, 14)                           \
  X(SetInterOpNumThreads, 25, 14)                           \
  X(CreateCustomOpDomain, 26, 14)                           \
  X(CustomOpDomain_Add, 27, 14)                             \
  X(AddCustomOpDomain, 28, 14)                              \
  X(SessionGetInputCount, 30, 14)                           \
  X(SessionGetOutputCount, 31, 14)                          \
  X(SessionGetInputTypeInfo, 33, 14)                        \
  X(SessionGetOutputTypeInfo, 34, 14)                       \
  X(SessionGetInputName, 36, 14)                            \
  X(SessionGetOutputName, 37, 14)                           \
  X(CreateRunOptions, 39, 14)                               \
  X(RunOptionsSetRunLogSeverityLevel, 41, 14)               \
  X(RunOptionsSetRunTag, 42, 14)                            \
  X(RunOptionsSetTerminate, 46, 14)                         \
  X(CreateTensorAsOrtValue, 48, 14)                         \
  X(CreateTensorWithDataAsOrtValue, 49, 14)                 \
  X(GetTensorMutableData, 51, 14)                           \
  X(GetStringTensorDataLength, 53, 14)                      \
  X(GetStringTensorContent, 54, 14)                         \
  X(CastTypeInfoToTensorInfo, 55, 14)                       \
  X(GetOnnxTypeFromTypeInfo, 56, 14)                        \
  X(GetTensorElementType, 60, 14)                           \
  X(GetDimensionsCount, 61, 14)                             \
  X(GetDimensions, 62, 14)                                  \
  X(GetSymbolicDimensions, 63, 14)                          \
  X(GetTensorTypeAndShape, 65, 14)                          \
  X(GetValueType, 67, 14)                                   \
  X(CreateMemoryInfo, 68, 14)                               \
  X(CreateCpuMemoryInfo, 69, 14)                            \
  X(MemoryInfoGetName, 71, 14)                              \
  X(MemoryInfoGetId, 72, 14)                                \
  X(AllocatorFree, 76, 14)                                  \
  X(GetAllocatorWithDefaultOptions, 78, 14)                 \
  X(AddFreeDimensionOverride, 79, 14)                       \
  X(KernelInfoGetAttribute_int64, 86, 14)                   \
  X(KernelInfoGetAttribute_string, 87, 14)                  \
  X(KernelContext_GetInput, 90, 14)                         \
  X(KernelContext_GetOutput, 91, 14)                        \
  X(ReleaseEnv, 92, 14)                                     \
  X(ReleaseStatus, 93, 14)                                  \
  X(ReleaseMemoryInfo, 94, 14)                              \
  X(ReleaseSession, 95, 14)                                 \
  X(ReleaseValue, 96, 14)                                   \
  X(ReleaseRunOptions, 97, 14)                              \
  X(ReleaseTypeInfo, 98, 14)                                \
  X(ReleaseTensorTypeAndShapeInfo, 99, 14)                  \
  X(ReleaseSessionOptions, 100, 14)                         \
  X(ReleaseCustomOpDomain, 101, 14)                         \
  X(SessionEndProfiling, 110, 14)                           \
  X(SessionGetModelMetadata, 111, 14)                       \
  X(ModelMetadataGetProducerName, 112, 14)                  \
  X(ModelMetadataGetGraphName, 113, 14)                     \
  X(ModelMetadataGetDomain, 114, 14)                        \
  X(ModelMetadataGetDescription, 115, 14)                   \
  X(ModelMetadataLookupCustomMetadataMap, 116, 14)          \
  X(ModelMetadataGetVersion, 117, 14)                       \
  X(ReleaseModelMetadata, 118, 14)                          \
  X(ModelMetadataGetCustomMetadataMapKeys, 123, 14)         \
  X(AddFreeDimensionOverrideByName, 124, 14)                \
  X(AddSessionConfigEntry, 130, 14)                         \
  X(CreateAllocator, 131, 14)                               \
  X(ReleaseAllocator, 132, 14)                              \
  X(RunWithBinding, 133, 14)                                \
  X(CreateIoBinding, 134, 14)                               \
  X(ReleaseIoBinding, 135, 14)                              \
  X(BindInput, 136, 14)                                     \
  X(BindOutput, 137, 14)                                    \
  X(BindOutputToDevice, 138, 14)                            \
  X(GetBoundOutputValues, 140, 14)                          \
  X(ClearBoundInputs, 141, 14)                              \
  X(ClearBoundOutputs, 142, 14)                             \
  X(ModelMetadataGetGraphDescription, 158, 14)              \
  X(AddRunConfigEntry, 165, 14)                             \
  X(GetTensorMemoryInfo, 194, 14)                           \
  X(SynchronizeBoundOutputs, 203, 14)                       \
  X(SessionOptionsAppendExecutionProvider_CUDA_V2, 204, 14) \
  X(CreateCUDAProviderOptions, 205, 14)                     \
  X(UpdateCUDAProviderOptions, 206, 14)                     \
  X(ReleaseCUDAProviderOptions, 208, 14)                    \
  X(SessionOptionsAppendExecutionProvider, 216, 14)         \
  X(RegisterCustomOpsLibrary_V2, 228, 14)                   \
  X(KernelInfo_GetInputCount, 230, 14)                      \
  X(KernelInfo_GetOutputCount, 231, 14)                     \
  X(KernelInfo_GetInputTypeInfo, 234, 14)                   \
  X(KernelInfo_GetOutputTypeInfo, 235, 14)                  \
  X(HasSessionConfigEntry, 237, 14)                         \
  X(GetSessionConfigEntry, 238, 14)                         \
  X(KernelInfo_GetNodeName, 244, 15)                        \
  X(GetResizedStringTensorElementBuffer, 252, 15)           \
  X(SetUserLoggingFunction, 266, 17)                        \
  X(AddExternalInitializersFromFilesInMemory, 279, 18)      \
  X(CreateLoraAdapter, 280, 20)                             \
  X(ReleaseLoraAdapter, 282, 20)                            \
  X(RunOptionsAddActiveLoraAdapter, 283, 20)                \
  X(RegisterExecutionProviderLibrary, 301, 22)              \
  X(UnregisterExecutionProviderLibrary, 302, 22)            \
  X(GetEpDevices, 303, 22)                                  \
  X(SessionOptionsAppendExecutionProvider_V2, 304, 22)      \
  X(EpDevice_EpName, 312, 22)                               \
  X(TensorTypeAndShape_HasShape, 390, 24)

/*
 * Takes the table of a bound runtime: asks it once for the lower of LB_ORT_API_VERSION and its own minor version.
 * Returns 0, or non-zero when nothing is bound or the runtime has no such table.
 */
int lb_ort_attach(const lb_binding* binding, lb_ort_api* api);

/* The same for the OrtApiBase that a host hands over, to a library of custom operators: nothing is searched or bound.
 */
int lb_ort_attach_base(const lb_ort_base* base, lb_ort_api* api);

/* 1 when the bound runtime has the function. */
int lb_ort_available(const lb_ort_api* api, lb_ort_function function);

/* The API version that added the function; 0 for an unknown one. */
uint32_t lb_ort_since(lb_ort_function function);

/* Writes "TensorTypeAndShape_HasShape needs ONNX Runtime 1.24; this is 1.19.2" to `text`; returns `text`. */
const char* lb_ort_explain(const lb_ort_api* api, lb_ort_function function, char* text, size_t size);

/* The same sentence as an OrtStatus that the caller releases; what a call to a missing function returns. */
OrtStatus* lb_ort_missing(const lb_ort_api* api, lb_ort_function function);

/* ---- calls ---------------------------------------------------------------------------------------------- */

static inline OrtStatus* lb_ort_CreateStatus(const lb_ort_api* api, OrtErrorCode code, const char* msg) {
  return api->table->CreateStatus(code, msg);
}

static inline OrtErrorCode lb_ort_GetErrorCode(const lb_ort_api* api, const OrtStatus* status) {
  return api->table->GetErrorCode(status);
}

static inline const char* lb_ort_GetErrorMessage(const lb_ort_api* api, const OrtStatus* status) {
  return api->table->GetErrorMessage(status);
}

static inline OrtStatus* lb_ort_CreateEnv(const lb_ort_api* api, OrtLoggingLevel log_severity_level, const char* logid,
                                          OrtEnv** out) {
  return api->table->CreateEnv(log_severity_level, logid, out);
}

static inline OrtStatus* lb_ort_CreateSession(const lb_ort_api* api, const OrtEnv* env, const ORTCHAR_T* model_path,
                                              const OrtSessionOptions* options, OrtSession** out) {
  return api->table->CreateSession(env, model_path, options, out);
}

static inline OrtStatus* lb_ort_CreateSessionFromArray(const lb_ort_api* api, const OrtEnv* env, const void* model_data,
                                                       size_t model_data_length, const OrtSessionOptions* options,
                                                       OrtSession** out) {
  return api->table->CreateSessionFromArray(env, model_data, model_data_length, options, out);
}

static inline OrtStatus* lb_ort_Run(const lb_ort_api* api, OrtSession* session, const OrtRunOptions* run_options,
                                    const char* const* input_names, const OrtValue* const* inputs, size_t input_len,
                                    const char* const* output_names, size_t output_names_len, OrtValue** outputs) {
  return api->table->Run(session, run_options, input_names, inputs, input_len, output_names, output_names_len, outputs);
}

static inline OrtStatus* lb_ort_CreateSessionOptions(const lb_ort_api* api, OrtSessionOptions** options) {
  return api->table->CreateSessionOptions(options);
}

static inline OrtStatus* lb_ort_CloneSessionOptions(const lb_ort_api* api, const OrtSessionOptions* in_options,
                                                    OrtSessionOptions** out_options) {
  return api->table->CloneSessionOptions(in_options, out_options);
}

static inline OrtStatus* lb_ort_EnableProfiling(const lb_ort_api* api, OrtSessionOptions* options,
                                                const ORTCHAR_T* profile_file_prefix) {
  return api->table->EnableProfiling(options, profile_file_prefix);
}

static inline OrtStatus* lb_ort_SetSessionLogSeverityLevel(const lb_ort_api* api, OrtSessionOptions* options,
                                                           int session_log_severity_level) {
  return api->table->SetSessionLogSeverityLevel(options, session_log_severity_level);
}

static inline OrtStatus* lb_ort_SetSessionGraphOptimizationLevel(const lb_ort_api* api, OrtSessionOptions* options,
                                                                 GraphOptimizationLevel graph_optimization_level) {
  return api->table->SetSessionGraphOptimizationLevel(options, graph_optimization_level);
}

static inline OrtStatus* lb_ort_SetIntraOpNumThreads(const lb_ort_api* api, OrtSessionOptions* options,
                                                     int intra_op_num_threads) {
  return api->table->SetIntraOpNumThreads(options, intra_op_num_threads);
}

static inline OrtStatus* lb_ort_SetInterOpNumThreads(const lb_ort_api* api, OrtSessionOptions* options,
                                                     int inter_op_num_threads) {
  return api->table->SetInterOpNumThreads(options, inter_op_num_threads);
}

static inline OrtStatus* lb_ort_CreateCustomOpDomain(const lb_ort_api* api, const char* domain,
                                                     OrtCustomOpDomain** out) {
  return api->table->CreateCustomOpDomain(domain, out);
}

static inline OrtStatus* lb_ort_CustomOpDomain_Add(const lb_ort_api* api, OrtCustomOpDomain* custom_op_domain,
                                                   const OrtCustomOp* op) {
  return api->table->CustomOpDomain_Add(custom_op_domain, op);
}

static inline OrtStatus* lb_ort_AddCustomOpDomain(const lb_ort_api* api, OrtSessionOptions* options,
                                                  OrtCustomOpDomain* custom_op_domain) {
  return api->table->AddCustomOpDomain(options, custom_op_domain);
}

static inline OrtStatus* lb_ort_SessionGetInputCount(const lb_ort_api* api, const OrtSession* session, size_t* out) {
  return api->table->SessionGetInputCount(session, out);
}

static inline OrtStatus* lb_ort_SessionGetOutputCount(const lb_ort_api* api, const OrtSession* session, size_t* out) {
  return api->table->SessionGetOutputCount(session, out);
}

static inline OrtStatus* lb_ort_SessionGetInputTypeInfo(const lb_ort_api* api, const OrtSession* session, size_t index,
                                                        OrtTypeInfo** type_info) {
  return api->table->SessionGetInputTypeInfo(session, index, type_info);
}

static inline OrtStatus* lb_ort_SessionGetOutputTypeInfo(const lb_ort_api* api, const OrtSession* session, size_t index,
                                                         OrtTypeInfo** type_info) {
  return api->table->SessionGetOutputTypeInfo(session, index, type_info);
}

static inline OrtStatus* lb_ort_SessionGetInputName(const lb_ort_api* api, const OrtSession* session, size_t index,
                                                    OrtAllocator* allocator, char** value) {
  return api->table->SessionGetInputName(session, index, allocator, value);
}

static inline OrtStatus* lb_ort_SessionGetOutputName(const lb_ort_api* api, const OrtSession* session, size_t index,
                                                     OrtAllocator* allocator, char** value) {
  return api->table->SessionGetOutputName(session, index, allocator, value);
}

static inline OrtStatus* lb_ort_CreateRunOptions(const lb_ort_api* api, OrtRunOptions** out) {
  return api->table->CreateRunOptions(out);
}

static inline OrtStatus* lb_ort_RunOptionsSetRunLogSeverityLevel(const lb_ort_api* api, OrtRunOptions* options,
                                                                 int log_severity_level) {
  return api->table->RunOptionsSetRunLogSeverityLevel(options, log_severity_level);
}

static inline OrtStatus* lb_ort_RunOptionsSetRunTag(const lb_ort_api* api, OrtRunOptions* options,
                                                    const char* run_tag) {
  return api->table->RunOptionsSetRunTag(options, run_tag);
}

static inline OrtStatus* lb_ort_RunOptionsSetTerminate(const lb_ort_api* api, OrtRunOptions* options) {
  return api->table->RunOptionsSetTerminate(options);
}

static inline OrtStatus* lb_ort_CreateTensorAsOrtValue(const lb_ort_api* api, OrtAllocator* allocator,
                                                       const int64_t* shape, size_t shape_len,
                                                       ONNXTensorElementDataType type, OrtValue** out) {
  return api->table->CreateTensorAsOrtValue(allocator, shape, shape_len, type, out);
}

static inline OrtStatus* lb_ort_CreateTensorWithDataAsOrtValue(const lb_ort_api* api, const OrtMemoryInfo* info,
                                                               void* p_data, size_t p_data_len, const int64_t* shape,
                                                               size_t shape_len, ONNXTensorElementDataType type,
                                                               OrtValue** out) {
  return api->table->CreateTensorWithDataAsOrtValue(info, p_data, p_data_len, shape, shape_len, type, out);
}

static inline OrtStatus* lb_ort_GetTensorMutableData(const lb_ort_api* api, OrtValue* value, void** out) {
  return api->table->GetTensorMutableData(value, out);
}

static inline OrtStatus* lb_ort_GetStringTensorDataLength(const lb_ort_api* api, const OrtValue* value, size_t* len) {
  return api->table->GetStringTensorDataLength(value, len);
}

static inline OrtStatus* lb_ort_GetStringTensorContent(const lb_ort_api* api, const OrtValue* value, void* s,
                                                       size_t s_len, size_t* offsets, size_t offsets_len) {
  return api->table->GetStringTensorContent(value, s, s_len, offsets, offsets_len);
}

static inline OrtStatus* lb_ort_CastTypeInfoToTensorInfo(const lb_ort_api* api, const OrtTypeInfo* type_info,
                                                         const OrtTensorTypeAndShapeInfo** out) {
  return api->table->CastTypeInfoToTensorInfo(type_info, out);
}

static inline OrtStatus* lb_ort_GetOnnxTypeFromTypeInfo(const lb_ort_api* api, const OrtTypeInfo* type_info,
                                                        enum ONNXType* out) {
  return api->table->GetOnnxTypeFromTypeInfo(type_info, out);
}

static inline OrtStatus* lb_ort_GetTensorElementType(const lb_ort_api* api, const OrtTensorTypeAndShapeInfo* info,
                                                     enum ONNXTensorElementDataType* out) {
  return api->table->GetTensorElementType(info, out);
}

static inline OrtStatus* lb_ort_GetDimensionsCount(const lb_ort_api* api, const OrtTensorTypeAndShapeInfo* info,
                                                   size_t* out) {
  return api->table->GetDimensionsCount(info, out);
}

static inline OrtStatus* lb_ort_GetDimensions(const lb_ort_api* api, const OrtTensorTypeAndShapeInfo* info,
                                              int64_t* dim_values, size_t dim_values_length) {
  return api->table->GetDimensions(info, dim_values, dim_values_length);
}

static inline OrtStatus* lb_ort_GetSymbolicDimensions(const lb_ort_api* api, const OrtTensorTypeAndShapeInfo* info,
                                                      const char* dim_params[], size_t dim_params_length) {
  return api->table->GetSymbolicDimensions(info, dim_params, dim_params_length);
}

static inline OrtStatus* lb_ort_GetTensorTypeAndShape(const lb_ort_api* api, const OrtValue* value,
                                                      OrtTensorTypeAndShapeInfo** out) {
  return api->table->GetTensorTypeAndShape(value, out);
}

static inline OrtStatus* lb_ort_GetValueType(const lb_ort_api* api, const OrtValue* value, enum ONNXType* out) {
  return api->table->GetValueType(value, out);
}

static inline OrtStatus* lb_ort_CreateMemoryInfo(const lb_ort_api* api, const char* name, enum OrtAllocatorType type,
                                                 int id, enum OrtMemType mem_type, OrtMemoryInfo** out) {
  return api->table->CreateMemoryInfo(name, type, id, mem_type, out);
}

static inline OrtStatus* lb_ort_CreateCpuMemoryInfo(const lb_ort_api* api, enum OrtAllocatorType type,
                                                    enum OrtMemType mem_type, OrtMemoryInfo** out) {
  return api->table->CreateCpuMemoryInfo(type, mem_type, out);
}

static inline OrtStatus* lb_ort_MemoryInfoGetName(const lb_ort_api* api, const OrtMemoryInfo* ptr, const char** out) {
  return api->table->MemoryInfoGetName(ptr, out);
}

static inline OrtStatus* lb_ort_MemoryInfoGetId(const lb_ort_api* api, const OrtMemoryInfo* ptr, int* out) {
  return api->table->MemoryInfoGetId(ptr, out);
}

static inline OrtStatus* lb_ort_AllocatorFree(const lb_ort_api* api, OrtAllocator* ort_allocator, void* p) {
  return api->table->AllocatorFree(ort_allocator, p);
}

static inline OrtStatus* lb_ort_GetAllocatorWithDefaultOptions(const lb_ort_api* api, OrtAllocator** out) {
  return api->table->GetAllocatorWithDefaultOptions(out);
}

static inline OrtStatus* lb_ort_AddFreeDimensionOverride(const lb_ort_api* api, OrtSessionOptions* options,
                                                         const char* dim_denotation, int64_t dim_value) {
  return api->table->AddFreeDimensionOverride(options, dim_denotation, dim_value);
}

static inline OrtStatus* lb_ort_KernelInfoGetAttribute_int64(const lb_ort_api* api, const OrtKernelInfo* info,
                                                             const char* name, int64_t* out) {
  return api->table->KernelInfoGetAttribute_int64(info, name, out);
}

static inline OrtStatus* lb_ort_KernelInfoGetAttribute_string(const lb_ort_api* api, const OrtKernelInfo* info,
                                                              const char* name, char* out, size_t* size) {
  return api->table->KernelInfoGetAttribute_string(info, name, out, size);
}

static inline OrtStatus* lb_ort_KernelContext_GetInput(const lb_ort_api* api, const OrtKernelContext* context,
                                                       size_t index, const OrtValue** out) {
  return api->table->KernelContext_GetInput(context, index, out);
}

static inline OrtStatus* lb_ort_KernelContext_GetOutput(const lb_ort_api* api, OrtKernelContext* context, size_t index,
                                                        const int64_t* dim_values, size_t dim_count, OrtValue** out) {
  return api->table->KernelContext_GetOutput(context, index, dim_values, dim_count, out);
}

static inline void lb_ort_ReleaseEnv(const lb_ort_api* api, OrtEnv* input) {
  api->table->ReleaseEnv(input);
}

static inline void lb_ort_ReleaseStatus(const lb_ort_api* api, OrtStatus* input) {
  api->table->ReleaseStatus(input);
}

static inline void lb_ort_ReleaseMemoryInfo(const lb_ort_api* api, OrtMemoryInfo* input) {
  api->table->ReleaseMemoryInfo(input);
}

static inline void lb_ort_ReleaseSession(const lb_ort_api* api, OrtSession* input) {
  api->table->ReleaseSession(input);
}

static inline void lb_ort_ReleaseValue(const lb_ort_api* api, OrtValue* input) {
  api->table->ReleaseValue(input);
}

static inline void lb_ort_ReleaseRunOptions(const lb_ort_api* api, OrtRunOptions* input) {
  api->table->ReleaseRunOptions(input);
}

static inline void lb_ort_ReleaseTypeInfo(const lb_ort_api* api, OrtTypeInfo* input) {
  api->table->ReleaseTypeInfo(input);
}

static inline void lb_ort_ReleaseTensorTypeAndShapeInfo(const lb_ort_api* api, OrtTensorTypeAndShapeInfo* input) {
  api->table->ReleaseTensorTypeAndShapeInfo(input);
}

static inline void lb_ort_ReleaseSessionOptions(const lb_ort_api* api, OrtSessionOptions* input) {
  api->table->ReleaseSessionOptions(input);
}

static inline void lb_ort_ReleaseCustomOpDomain(const lb_ort_api* api, OrtCustomOpDomain* input) {
  api->table->ReleaseCustomOpDomain(input);
}

static inline OrtStatus* lb_ort_SessionEndProfiling(const lb_ort_api* api, OrtSession* session, OrtAllocator* allocator,
                                                    char** out) {
  return api->table->SessionEndProfiling(session, allocator, out);
}

static inline OrtStatus* lb_ort_SessionGetModelMetadata(const lb_ort_api* api, const OrtSession* session,
                                                        OrtModelMetadata** out) {
  return api->table->SessionGetModelMetadata(session, out);
}

static inline OrtStatus* lb_ort_ModelMetadataGetProducerName(const lb_ort_api* api,
                                                             const OrtModelMetadata* model_metadata,
                                                             OrtAllocator* allocator, char** value) {
  return api->table->ModelMetadataGetProducerName(model_metadata, allocator, value);
}

static inline OrtStatus* lb_ort_ModelMetadataGetGraphName(const lb_ort_api* api, const OrtModelMetadata* model_metadata,
                                                          OrtAllocator* allocator, char** value) {
  return api->table->ModelMetadataGetGraphName(model_metadata, allocator, value);
}

static inline OrtStatus* lb_ort_ModelMetadataGetDomain(const lb_ort_api* api, const OrtModelMetadata* model_metadata,
                                                       OrtAllocator* allocator, char** value) {
  return api->table->ModelMetadataGetDomain(model_metadata, allocator, value);
}

static inline OrtStatus* lb_ort_ModelMetadataGetDescription(const lb_ort_api* api,
                                                            const OrtModelMetadata* model_metadata,
                                                            OrtAllocator* allocator, char** value) {
  return api->table->ModelMetadataGetDescription(model_metadata, allocator, value);
}

static inline OrtStatus* lb_ort_ModelMetadataLookupCustomMetadataMap(const lb_ort_api* api,
                                                                     const OrtModelMetadata* model_metadata,
                                                                     OrtAllocator* allocator, const char* key,
                                                                     char** value) {
  return api->table->ModelMetadataLookupCustomMetadataMap(model_metadata, allocator, key, value);
}

static inline OrtStatus* lb_ort_ModelMetadataGetVersion(const lb_ort_api* api, const OrtModelMetadata* model_metadata,
                                                        int64_t* value) {
  return api->table->ModelMetadataGetVersion(model_metadata, value);
}

static inline void lb_ort_ReleaseModelMetadata(const lb_ort_api* api, OrtModelMetadata* input) {
  api->table->ReleaseModelMetadata(input);
}

static inline OrtStatus* lb_ort_ModelMetadataGetCustomMetadataMapKeys(const lb_ort_api* api,
                                                                      const OrtModelMetadata* model_metadata,
                                                                      OrtAllocator* allocator, char*** keys,
                                                                      int64_t* num_keys) {
  return api->table->ModelMetadataGetCustomMetadataMapKeys(model_metadata, allocator, keys, num_keys);
}

static inline OrtStatus* lb_ort_AddFreeDimensionOverrideByName(const lb_ort_api* api, OrtSessionOptions* options,
                                                               const char* dim_name, int64_t dim_value) {
  return api->table->AddFreeDimensionOverrideByName(options, dim_name, dim_value);
}

static inline OrtStatus* lb_ort_AddSessionConfigEntry(const lb_ort_api* api, OrtSessionOptions* options,
                                                      const char* config_key, const char* config_value) {
  return api->table->AddSessionConfigEntry(options, config_key, config_value);
}

static inline OrtStatus* lb_ort_CreateAllocator(const lb_ort_api* api, const OrtSession* session,
                                                const OrtMemoryInfo* mem_info, OrtAllocator** out) {
  return api->table->CreateAllocator(session, mem_info, out);
}

static inline void lb_ort_ReleaseAllocator(const lb_ort_api* api, OrtAllocator* input) {
  api->table->ReleaseAllocator(input);
}

static inline OrtStatus* lb_ort_RunWithBinding(const lb_ort_api* api, OrtSession* session,
                                               const OrtRunOptions* run_options, const OrtIoBinding* binding_ptr) {
  return api->table->RunWithBinding(session, run_options, binding_ptr);
}

static inline OrtStatus* lb_ort_CreateIoBinding(const lb_ort_api* api, OrtSession* session, OrtIoBinding** out) {
  return api->table->CreateIoBinding(session, out);
}

static inline void lb_ort_ReleaseIoBinding(const lb_ort_api* api, OrtIoBinding* input) {
  api->table->ReleaseIoBinding(input);
}

static inline OrtStatus* lb_ort_BindInput(const lb_ort_api* api, OrtIoBinding* binding_ptr, const char* name,
                                          const OrtValue* val_ptr) {
  return api->table->BindInput(binding_ptr, name, val_ptr);
}

static inline OrtStatus* lb_ort_BindOutput(const lb_ort_api* api, OrtIoBinding* binding_ptr, const char* name,
                                           const OrtValue* val_ptr) {
  return api->table->BindOutput(binding_ptr, name, val_ptr);
}

static inline OrtStatus* lb_ort_BindOutputToDevice(const lb_ort_api* api, OrtIoBinding* binding_ptr, const char* name,
                                                   const OrtMemoryInfo* mem_info_ptr) {
  return api->table->BindOutputToDevice(binding_ptr, name, mem_info_ptr);
}

static inline OrtStatus* lb_ort_GetBoundOutputValues(const lb_ort_api* api, const OrtIoBinding* binding_ptr,
                                                     OrtAllocator* allocator, OrtValue*** output,
                                                     size_t* output_count) {
  return api->table->GetBoundOutputValues(binding_ptr, allocator, output, output_count);
}

static inline void lb_ort_ClearBoundInputs(const lb_ort_api* api, OrtIoBinding* binding_ptr) {
  api->table->ClearBoundInputs(binding_ptr);
}

static inline void lb_ort_ClearBoundOutputs(const lb_ort_api* api, OrtIoBinding* binding_ptr) {
  api->table->ClearBoundOutputs(binding_ptr);
}

static inline OrtStatus* lb_ort_ModelMetadataGetGraphDescription(const lb_ort_api* api,
                                                                 const OrtModelMetadata* model_metadata,
                                                                 OrtAllocator* allocator, char** value) {
  return api->table->ModelMetadataGetGraphDescription(model_metadata, allocator, value);
}

static inline OrtStatus* lb_ort_AddRunConfigEntry(const lb_ort_api* api, OrtRunOptions* options, const char* config_key,
                                                  const char* config_value) {
  return api->table->AddRunConfigEntry(options, config_key, config_value);
}

static inline OrtStatus* lb_ort_GetTensorMemoryInfo(const lb_ort_api* api, const OrtValue* value,
                                                    const OrtMemoryInfo** mem_info) {
  return api->table->GetTensorMemoryInfo(value, mem_info);
}

static inline OrtStatus* lb_ort_SynchronizeBoundOutputs(const lb_ort_api* api, OrtIoBinding* binding_ptr) {
  return api->table->SynchronizeBoundOutputs(binding_ptr);
}

static inline OrtStatus* lb_ort_SessionOptionsAppendExecutionProvider_CUDA_V2(
    const lb_ort_api* api, OrtSessionOptions* options, const OrtCUDAProviderOptionsV2* cuda_options) {
  return api->table->SessionOptionsAppendExecutionProvider_CUDA_V2(options, cuda_options);
}

static inline OrtStatus* lb_ort_CreateCUDAProviderOptions(const lb_ort_api* api, OrtCUDAProviderOptionsV2** out) {
  return api->table->CreateCUDAProviderOptions(out);
}

static inline OrtStatus* lb_ort_UpdateCUDAProviderOptions(const lb_ort_api* api, OrtCUDAProviderOptionsV2* cuda_options,
                                                          const char* const* provider_options_keys,
                                                          const char* const* provider_options_values, size_t num_keys) {
  return api->table->UpdateCUDAProviderOptions(cuda_options, provider_options_keys, provider_options_values, num_keys);
}

static inline void lb_ort_ReleaseCUDAProviderOptions(const lb_ort_api* api, OrtCUDAProviderOptionsV2* input) {
  api->table->ReleaseCUDAProviderOptions(input);
}

static inline OrtStatus* lb_ort_SessionOptionsAppendExecutionProvider(const lb_ort_api* api, OrtSessionOptions* options,
                                                                      const char* provider_name,
                                                                      const char* const* provider_options_keys,
                                                                      const char* const* provider_options_values,
                                                                      size_t num_keys) {
  return api->table->SessionOptionsAppendExecutionProvider(options, provider_name, provider_options_keys,
                                                           provider_options_values, num_keys);
}

static inline OrtStatus* lb_ort_RegisterCustomOpsLibrary_V2(const lb_ort_api* api, OrtSessionOptions* options,
                                                            const ORTCHAR_T* library_name) {
  return api->table->RegisterCustomOpsLibrary_V2(options, library_name);
}

static inline OrtStatus* lb_ort_KernelInfo_GetInputCount(const lb_ort_api* api, const OrtKernelInfo* info,
                                                         size_t* out) {
  return api->table->KernelInfo_GetInputCount(info, out);
}

static inline OrtStatus* lb_ort_KernelInfo_GetOutputCount(const lb_ort_api* api, const OrtKernelInfo* info,
                                                          size_t* out) {
  return api->table->KernelInfo_GetOutputCount(info, out);
}

static inline OrtStatus* lb_ort_KernelInfo_GetInputTypeInfo(const lb_ort_api* api, const OrtKernelInfo* info,
                                                            size_t index, OrtTypeInfo** type_info) {
  return api->table->KernelInfo_GetInputTypeInfo(info, index, type_info);
}

static inline OrtStatus* lb_ort_KernelInfo_GetOutputTypeInfo(const lb_ort_api* api, const OrtKernelInfo* info,
                                                             size_t index, OrtTypeInfo** type_info) {
  return api->table->KernelInfo_GetOutputTypeInfo(info, index, type_info);
}

static inline OrtStatus* lb_ort_HasSessionConfigEntry(const lb_ort_api* api, const OrtSessionOptions* options,
                                                      const char* config_key, int* out) {
  return api->table->HasSessionConfigEntry(options, config_key, out);
}

static inline OrtStatus* lb_ort_GetSessionConfigEntry(const lb_ort_api* api, const OrtSessionOptions* options,
                                                      const char* config_key, char* config_value, size_t* size) {
  return api->table->GetSessionConfigEntry(options, config_key, config_value, size);
}

/* Since 1.15. */
static inline OrtStatus* lb_ort_KernelInfo_GetNodeName(const lb_ort_api* api, const OrtKernelInfo* info, char* out,
                                                       size_t* size) {
  if (api->version < 15) return lb_ort_missing(api, LB_ORT_KernelInfo_GetNodeName);
  return api->table->KernelInfo_GetNodeName(info, out, size);
}

/* Since 1.15. */
static inline OrtStatus* lb_ort_GetResizedStringTensorElementBuffer(const lb_ort_api* api, OrtValue* value,
                                                                    size_t index, size_t length_in_bytes,
                                                                    char** buffer) {
  if (api->version < 15) return lb_ort_missing(api, LB_ORT_GetResizedStringTensorElementBuffer);
  return api->table->GetResizedStringTensorElementBuffer(value, index, length_in_bytes, buffer);
}

/* Since 1.17. */
static inline OrtStatus* lb_ort_SetUserLoggingFunction(const lb_ort_api* api, OrtSessionOptions* options,
                                                       OrtLoggingFunction user_logging_function,
                                                       void* user_logging_param) {
  if (api->version < 17) return lb_ort_missing(api, LB_ORT_SetUserLoggingFunction);
  return api->table->SetUserLoggingFunction(options, user_logging_function, user_logging_param);
}

/* Since 1.18. */
static inline OrtStatus* lb_ort_AddExternalInitializersFromFilesInMemory(
    const lb_ort_api* api, OrtSessionOptions* options, const ORTCHAR_T* const* external_initializer_file_names,
    char* const* external_initializer_file_buffer_array, const size_t* external_initializer_file_lengths,
    size_t num_external_initializer_files) {
  if (api->version < 18) return lb_ort_missing(api, LB_ORT_AddExternalInitializersFromFilesInMemory);
  return api->table->AddExternalInitializersFromFilesInMemory(
      options, external_initializer_file_names, external_initializer_file_buffer_array,
      external_initializer_file_lengths, num_external_initializer_files);
}

/* Since 1.20. */
static inline OrtStatus* lb_ort_CreateLoraAdapter(const lb_ort_api* api, const ORTCHAR_T* adapter_file_path,
                                                  OrtAllocator* allocator, OrtLoraAdapter** out) {
  if (api->version < 20) return lb_ort_missing(api, LB_ORT_CreateLoraAdapter);
  return api->table->CreateLoraAdapter(adapter_file_path, allocator, out);
}

/* Since 1.20. */
static inline void lb_ort_ReleaseLoraAdapter(const lb_ort_api* api, OrtLoraAdapter* input) {
  if (api->version < 20) return;
  api->table->ReleaseLoraAdapter(input);
}

/* Since 1.20. */
static inline OrtStatus* lb_ort_RunOptionsAddActiveLoraAdapter(const lb_ort_api* api, OrtRunOptions* options,
                                                               const OrtLoraAdapter* adapter) {
  if (api->version < 20) return lb_ort_missing(api, LB_ORT_RunOptionsAddActiveLoraAdapter);
  return api->table->RunOptionsAddActiveLoraAdapter(options, adapter);
}

/* Since 1.22. */
static inline OrtStatus* lb_ort_RegisterExecutionProviderLibrary(const lb_ort_api* api, OrtEnv* env,
                                                                 const char* registration_name, const ORTCHAR_T* path) {
  if (api->version < 22) return lb_ort_missing(api, LB_ORT_RegisterExecutionProviderLibrary);
  return api->table->RegisterExecutionProviderLibrary(env, registration_name, path);
}

/* Since 1.22. */
static inline OrtStatus* lb_ort_UnregisterExecutionProviderLibrary(const lb_ort_api* api, OrtEnv* env,
                                                                   const char* registration_name) {
  if (api->version < 22) return lb_ort_missing(api, LB_ORT_UnregisterExecutionProviderLibrary);
  return api->table->UnregisterExecutionProviderLibrary(env, registration_name);
}

/* Since 1.22. */
static inline OrtStatus* lb_ort_GetEpDevices(const lb_ort_api* api, const OrtEnv* env,
                                             const OrtEpDevice* const** ep_devices, size_t* num_ep_devices) {
  if (api->version < 22) return lb_ort_missing(api, LB_ORT_GetEpDevices);
  return api->table->GetEpDevices(env, ep_devices, num_ep_devices);
}

/* Since 1.22. */
static inline OrtStatus* lb_ort_SessionOptionsAppendExecutionProvider_V2(
    const lb_ort_api* api, OrtSessionOptions* session_options, OrtEnv* env, const OrtEpDevice* const* ep_devices,
    size_t num_ep_devices, const char* const* ep_option_keys, const char* const* ep_option_vals,
    size_t num_ep_options) {
  if (api->version < 22) return lb_ort_missing(api, LB_ORT_SessionOptionsAppendExecutionProvider_V2);
  return api->table->SessionOptionsAppendExecutionProvider_V2(session_options, env, ep_devices, num_ep_devices,
                                                              ep_option_keys, ep_option_vals, num_ep_options);
}

/* Since 1.22. Older runtimes: NULL. */
static inline const char* lb_ort_EpDevice_EpName(const lb_ort_api* api, const OrtEpDevice* ep_device) {
  if (api->version < 22) return NULL;
  return api->table->EpDevice_EpName(ep_device);
}

/* Since 1.24. Older runtimes: true. */
static inline bool lb_ort_TensorTypeAndShape_HasShape(const lb_ort_api* api, const OrtTensorTypeAndShapeInfo* info) {
  if (api->version < 24) return true;
  return api->table->TensorTypeAndShape_HasShape(info);
}

#ifdef __cplusplus
}
#endif
#endif
