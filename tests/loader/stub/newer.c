/* newer: a program of the newest header's asks for a function of it, and for one that comes after all known ones. */
#include <stdio.h>

#include "onnxruntime_c_api.h"

int main(void) {
  const OrtApi* ort = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  if (!ort) return 2;
  puts(ort->GetErrorMessage(ort->EpDevice_GetMemoryCapacity(NULL, 0, NULL, NULL)));
  puts(ort->GetErrorMessage(ort->AfterAllOthers(NULL, 0, NULL, NULL)));
  return 0;
}
