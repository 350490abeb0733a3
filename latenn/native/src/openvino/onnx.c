/*
 * onnx.c: what an ONNX model itself calls its inputs and outputs; must not read anything else of it. OpenVINO's tensors
 * have several names, and its C interface reports only the alphabetically first of them.
 */
#include "onnx.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/paths.h"
#include "../common/reader.h"

/* Fields of ONNX's messages. */
enum { MODEL_GRAPH = 7, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, VALUE_NAME = 1 };
enum { LONGEST_NAME = 4096 };

/* The next field that holds a message or a text. 0 when there is no more. */
static int onnx_next(latenn_reader* reader, uint64_t end, protobuf_field* field) {
  if (!protobuf_next(reader, end, field)) return 0;
  if (field->wire == PROTOBUF_GROUP || field->wire == PROTOBUF_END_GROUP) return 0; /* ONNX has none */
  if (field->wire != PROTOBUF_LENGTH) field->number = 0;
  return 1;
}

/* The name of an input or output; "" when it has none, or one that nobody would read. */
static void onnx_read_name(latenn_reader* reader, uint64_t end, char* name) {
  protobuf_field field;
  size_t used = 0;
  name[0] = 0;
  while (onnx_next(reader, end, &field)) {
    if (field.number == VALUE_NAME && field.content_end - reader->at < LONGEST_NAME) {
      while (reader->at < field.content_end) {
        int byte = reader_byte(reader);
        if (byte == EOF) { /* the file ends before its model does */
          name[0] = 0;
          return;
        }
        name[used++] = (char)byte;
      }
      name[used] = 0;
      return;
    }
    if (reader_seek(reader, field.content_end)) return;
  }
}

static void onnx_read_graph(latenn_reader* reader, uint64_t end, onnx_each each, void* context) {
  char name[LONGEST_NAME];
  protobuf_field field;
  while (onnx_next(reader, end, &field)) {
    if (field.number == GRAPH_INPUT || field.number == GRAPH_OUTPUT) {
      onnx_read_name(reader, field.content_end, name);
      if (*name) each(context, field.number == GRAPH_INPUT, name);
    }
    if (reader_seek(reader, field.content_end)) return;
  }
}

void onnx_names(const char* path, const void* bytes, size_t size, onnx_each each, void* context) {
  const char* why = "";
  latenn_reader reader = {path ? latenn_open_file(path, &why) : NULL, bytes, size, 0};
  uint64_t end = reader.file ? INT64_MAX : size;
  protobuf_field field;
  if (path && !reader.file) return;
  while (onnx_next(&reader, end, &field)) {
    if (field.number == MODEL_GRAPH) onnx_read_graph(&reader, field.content_end, each, context);
    if (reader_seek(&reader, field.content_end)) break;
  }
  if (reader.file) fclose(reader.file);
}
