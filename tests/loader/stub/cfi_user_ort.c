/* Calls functions through the tables of ONNX Runtime. */
#include <stdint.h>
#include <stdio.h>

typedef struct base {
  const void* (*GetApi)(uint32_t version);
  const char* (*GetVersionString)(void);
} base;
const base* OrtGetApiBase(void);

int main(void) {
  void* const* api = OrtGetApiBase()->GetApi(19);
  void* (*create)(int code, const char* text) = (void* (*)(int, const char*))api[0];
  const char* (*message)(const void* status) = (const char* (*)(const void*))api[2];
  printf("%s %s\n", OrtGetApiBase()->GetVersionString(), message(create(1, "fine")));
  return 0;
}
