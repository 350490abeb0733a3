#include <stdint.h>
/* These lines stand for the official header, which declares the same. */
typedef struct OrtApiBase { const void* (*GetApi)(uint32_t); const char* (*GetVersionString)(void); } OrtApiBase;
const OrtApiBase* OrtGetApiBase(void);
__attribute__((visibility("default"))) const char* voice_version(void) { return OrtGetApiBase()->GetVersionString(); }
