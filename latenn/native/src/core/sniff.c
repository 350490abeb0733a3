/* sniff.c: which encoding a model is in, by its first bytes and its file's name; must not parse the model. */
#include <string.h>

#include "core.h"

static const latenn_encoding latenn_onnx = {"onnx", "onnxruntime"};
static const latenn_encoding latenn_tflite = {"tflite", "litert"};
static const latenn_encoding latenn_openvino = {"openvino-ir", "openvino"};

static int latenn_begins(const unsigned char* bytes, size_t size, const char* magic) {
  size_t length = strlen(magic);
  return size >= length && memcmp(bytes, magic, length) == 0;
}

static int latenn_is_xml(const unsigned char* bytes, size_t size) {
  if (latenn_begins(bytes, size, "\xEF\xBB\xBF")) { /* a byte order mark */
    bytes += 3;
    size -= 3;
  }
  while (size && (*bytes == ' ' || *bytes == '\t' || *bytes == '\r' || *bytes == '\n')) {
    bytes++;
    size--;
  }
  return latenn_begins(bytes, size, "<?xml") || latenn_begins(bytes, size, "<net");
}

static int latenn_ends(const char* path, const char* ending) {
  size_t length = path ? strlen(path) : 0;
  size_t tail = strlen(ending);
  if (length < tail) return 0;
  for (size_t i = 0; i < tail; i++) {
    char byte = path[length - tail + i];
    if (byte >= 'A' && byte <= 'Z') byte = (char)(byte - 'A' + 'a');
    if (byte != ending[i]) return 0;
  }
  return 1;
}

/* ONNX has no magic number: its first byte is the tag of one of ModelProto's fields. */
static int latenn_is_model_proto(const unsigned char* bytes, size_t size) {
  static const unsigned char tags[] = {0x08, 0x12, 0x1A, 0x22, 0x28, 0x32, 0x3A, 0x42, 0x72, 0xCA};
  return size >= 2 && memchr(tags, bytes[0], sizeof tags) != NULL;
}

const latenn_encoding* latenn_sniff(const unsigned char* bytes, size_t size, const char* path) {
  if (size >= 8 && latenn_begins(bytes + 4, size - 4, "TFL3")) return &latenn_tflite;
  if (size >= 8 && latenn_begins(bytes + 4, size - 4, "ORTM")) return &latenn_onnx;
  if (latenn_is_xml(bytes, size)) return &latenn_openvino;
  if (latenn_ends(path, ".onnx") || latenn_ends(path, ".ort")) return &latenn_onnx;
  if (latenn_ends(path, ".tflite")) return &latenn_tflite;
  return latenn_is_model_proto(bytes, size) ? &latenn_onnx : NULL;
}
