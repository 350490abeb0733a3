/* kernels: compiles CUDA C++ to PTX with the NVRTC that is installed. Nothing here knows that it is bound late. */
#include <stdio.h>
#include <string.h>

#if defined(_WIN32)
#define KERNELS_API __declspec(dllexport)
#else
#define KERNELS_API __attribute__((visibility("default")))
#endif

/* What of nvrtc.h is needed here. */
typedef struct _nvrtcProgram* nvrtcProgram;
int nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name, int headers,
                       const char* const* texts, const char* const* names);
int nvrtcCompileProgram(nvrtcProgram program, int options, const char* const* texts);
int nvrtcGetPTXSize(nvrtcProgram program, size_t* size);
int nvrtcGetPTX(nvrtcProgram program, char* ptx);
int nvrtcDestroyProgram(nvrtcProgram* program);
const char* nvrtcGetErrorString(int result);

/* Writes the PTX of a kernel, and returns 0; otherwise what went wrong. */
KERNELS_API int kernels_compile(const char* source, char* text, size_t room) {
  nvrtcProgram program = NULL;
  size_t size = 0;
  int result = nvrtcCreateProgram(&program, source, "kernel.cu", 0, NULL, NULL);
  if (!result) result = nvrtcCompileProgram(program, 0, NULL);
  if (!result) result = nvrtcGetPTXSize(program, &size);
  if (!result && size <= room) result = nvrtcGetPTX(program, text);
  if (result) snprintf(text, room, "%s", nvrtcGetErrorString(result));
  if (program) nvrtcDestroyProgram(&program);
  return result;
}
