/* openvino.c: OpenVINO's version; must not call anything else in the runtime except what frees it. */
#include "latebind/openvino.h"

#include <string.h>

#include "latebind/note.h"

LB_DLOPEN_NOTE(openvino, LATEBIND_OPENVINO_NOTE)

typedef struct lb_ov_version {
  const char* build_number; /* "2026.4.1-22000-0123456789a-releases/2026/4" */
  const char* description;
} lb_ov_version;

typedef int (*lb_ov_get_version)(lb_ov_version* version);
typedef void (*lb_ov_free_version)(lb_ov_version* version);

/* OpenVINO copies its texts for the caller; without a function to free them they are left. */
LB_CALLS_RUNTIME static void lb_openvino_free_version(void* entry, lb_ov_version* version) {
  lb_ov_free_version free_version = NULL;
  void* address = lb_image_symbol(entry, "ov_version_free");
  memcpy(&free_version, &address, sizeof free_version);
  if (free_version) free_version(version);
}

LB_CALLS_RUNTIME int lb_openvino_read_version(void* entry, char* text, size_t size) {
  lb_ov_version version = {NULL, NULL};
  lb_ov_get_version get_version = NULL;
  memcpy(&get_version, &entry, sizeof get_version); /* see onnxruntime.c: the bytes agree */
  if (!get_version || get_version(&version) || !version.build_number) return 1;
  size_t length = strcspn(version.build_number, "-");
  int is_read = length > 0 && length < size;
  if (is_read) {
    memcpy(text, version.build_number, length);
    text[length] = 0;
  }
  lb_openvino_free_version(entry, &version);
  return !is_read;
}
