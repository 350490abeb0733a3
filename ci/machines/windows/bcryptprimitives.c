// Replaces bcryptprimitives.dll, which wine 8 lacks and every program in Rust imports.
#include <windows.h>

BOOLEAN WINAPI SystemFunction036(void* data, ULONG size); // documented as RtlGenRandom, exported by advapi32.dll

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size);

BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) {
  return SystemFunction036(data, (ULONG)size);
}
