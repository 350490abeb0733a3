/* A library with the stub in it, which a program can open and close again: each time, the stub is new. */
#include <onnxruntime_c_api.h>

__attribute__((visibility("default"))) const OrtApiBase* library_base(void);
const OrtApiBase* library_base(void) {
  return OrtGetApiBase();
}
