/* Its first call has no result and writes to its argument. The header that it is compiled with is older than that. */
#include <onnxruntime_c_api.h>
#include <stdint.h>
#include <stdio.h>

enum { CREATE = 295, RELEASE = 300 }; /* CreateKeyValuePairs and ReleaseKeyValuePairs, since 1.22 */

typedef void(ORT_API_CALL* create_pairs)(void** out);
typedef void(ORT_API_CALL* release_pairs)(void* pairs);

int main(void) {
  const void* const* table = (const void* const*)OrtGetApiBase()->GetApi(ORT_API_VERSION);
  void* pairs = &pairs;
  (*(const create_pairs*)&table[CREATE])(&pairs);
  printf("%s\n", pairs ? "made" : "none");
  (*(const release_pairs*)&table[RELEASE])(pairs);
  return pairs == &pairs;
}
