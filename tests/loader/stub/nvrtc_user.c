/* Compiles a kernel to PTX with the NVRTC that is installed, and prints which one it was. */
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "latebind/stub.h"

LB_DECLARE_STUB(nvrtc);

static const char source[] = "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= 2.0f; }";

int main(void) {
  nvrtcProgram program = NULL;
  size_t size = 0;
  nvrtcResult result = nvrtcCreateProgram(&program, source, "twice.cu", 0, NULL, NULL);
  if (!result) result = nvrtcCompileProgram(program, 0, NULL);
  if (!result) result = nvrtcGetPTXSize(program, &size);
  if (result) {
    printf("error %d: %s\n", result, nvrtcGetErrorString(result));
    return 0;
  }
  char* ptx = malloc(size);
  nvrtcGetPTX(program, ptx);
  nvrtcDestroyProgram(&program);
  printf("%s %s\n", lb_nvrtc_version(), strstr(ptx, ".entry twice") ? "twice" : "nothing");
  free(ptx);
  return 0;
}
