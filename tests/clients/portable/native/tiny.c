#include <stdio.h>
#ifdef _WIN32
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
int tiny_add(int a, int b) { return printf("%d\n", a) + b; }
