/*
 * onnx.c: what an ONNX model itself calls its inputs and outputs; must not read anything else of it. OpenVINO's tensors
 * have several names, and its C interface tells only the first of them in the alphabet.
 */
#include "onnx.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/paths.h"

/* Fields of ONNX's messages, and the wire types of protocol buffers. */
enum { MODEL_GRAPH = 7, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, VALUE_NAME = 1 };
enum { WIRE_VARINT = 0, WIRE_8_BYTES = 1, WIRE_LENGTH = 2, WIRE_4_BYTES = 5 };
enum { LONGEST_NAME = 4096 };

typedef struct onnx_reader {
  FILE* file; /* or NULL: */
  const unsigned char* bytes;
  uint64_t size; /* of the bytes */
  uint64_t at;
} onnx_reader;

static int onnx_byte(onnx_reader* reader) {
  int byte = EOF;
  if (reader->file) {
    byte = getc(reader->file);
  } else if (reader->at < reader->size) {
    byte = reader->bytes[reader->at];
  }
  if (byte != EOF) reader->at++;
  return byte;
}

static int onnx_seek(onnx_reader* reader, uint64_t at) {
  if (at > INT64_MAX || (!reader->file && at > reader->size)) return 1;
  reader->at = at;
#if defined(_WIN32)
  return reader->file && _fseeki64(reader->file, (int64_t)at, SEEK_SET);
#else
  return reader->file && fseek(reader->file, (long)at, SEEK_SET);
#endif
}

static int onnx_number(onnx_reader* reader, uint64_t* number) {
  *number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    int byte = onnx_byte(reader);
    if (byte == EOF) return 1;
    *number |= (uint64_t)(byte & 0x7F) << shift;
    if (byte < 0x80) return 0;
  }
  return 1;
}

/* The next field of a message that ends at `end`: its number, and where its content ends. 0 when there is no more. */
static int onnx_next(onnx_reader* reader, uint64_t end, uint64_t* field, uint64_t* content_end) {
  uint64_t tag = 0;
  uint64_t length = 0;
  if (reader->at >= end || onnx_number(reader, &tag)) return 0;
  switch (tag & 7) {
    case WIRE_VARINT:
      if (onnx_number(reader, &length)) return 0;
      length = 0;
      break;
    case WIRE_8_BYTES: length = 8; break;
    case WIRE_4_BYTES: length = 4; break;
    case WIRE_LENGTH:
      if (onnx_number(reader, &length)) return 0;
      break;
    default: return 0; /* not ONNX */
  }
  if (reader->at > end || length > end - reader->at) return 0; /* a number may have reached beyond the message */
  *field = (tag & 7) == WIRE_LENGTH ? tag >> 3 : 0;
  *content_end = reader->at + length;
  return 1;
}

/* The name of an input or output; "" when it has none, or one that nobody would read. */
static void onnx_read_name(onnx_reader* reader, uint64_t end, char* name) {
  uint64_t field = 0;
  uint64_t content_end = 0;
  size_t used = 0;
  name[0] = 0;
  while (onnx_next(reader, end, &field, &content_end)) {
    if (field == VALUE_NAME && content_end - reader->at < LONGEST_NAME) {
      while (reader->at < content_end) {
        int byte = onnx_byte(reader);
        if (byte == EOF) { /* the file ends before its model does */
          name[0] = 0;
          return;
        }
        name[used++] = (char)byte;
      }
      name[used] = 0;
      return;
    }
    if (onnx_seek(reader, content_end)) return;
  }
}

static void onnx_read_graph(onnx_reader* reader, uint64_t end, onnx_each each, void* context) {
  char name[LONGEST_NAME];
  uint64_t field = 0;
  uint64_t content_end = 0;
  while (onnx_next(reader, end, &field, &content_end)) {
    if (field == GRAPH_INPUT || field == GRAPH_OUTPUT) {
      onnx_read_name(reader, content_end, name);
      if (*name) each(context, field == GRAPH_INPUT, name);
    }
    if (onnx_seek(reader, content_end)) return;
  }
}

void onnx_names(const char* path, const void* bytes, size_t size, onnx_each each, void* context) {
  const char* why = "";
  onnx_reader reader = {path ? latenn_open_file(path, &why) : NULL, bytes, size, 0};
  uint64_t end = reader.file ? INT64_MAX : size;
  uint64_t field = 0;
  uint64_t content_end = 0;
  if (path && !reader.file) return;
  while (onnx_next(&reader, end, &field, &content_end)) {
    if (field == MODEL_GRAPH) onnx_read_graph(&reader, content_end, each, context);
    if (onnx_seek(&reader, content_end)) break;
  }
  if (reader.file) fclose(reader.file);
}
