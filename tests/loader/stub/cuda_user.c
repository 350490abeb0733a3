/* Calls CUDA's libraries where there is no GPU. Compiled without NVIDIA's headers: these functions never changed. */
#include <stdio.h>

#include "latebind/stub.h"

LB_DECLARE_STUB(cuda);
LB_DECLARE_STUB(cudart);
LB_DECLARE_STUB(nvjitlink);

int cuInit(unsigned flags);
int cudaGetDeviceCount(int* count);
int nvJitLinkVersion(unsigned* major, unsigned* minor);

int main(void) {
  unsigned major = 0, minor = 0;
  int count = 0;
  int driver = cuInit(0);
  printf("cuda %d %s\n", driver, lb_cuda_message());
  int devices = cudaGetDeviceCount(&count);
  printf("cudart %d %s%s\n", devices, lb_cudart_version(), lb_cudart_message());
  int linker = nvJitLinkVersion(&major, &minor);
  printf("nvjitlink %d %u.%u%s\n", linker, major, minor, lb_nvjitlink_message());
  return 0;
}
