/* protobuf.h: reads the messages of ONNX's files (source: protobuf.dev, "Encoding"). */
#ifndef LATEBIND_PROTOBUF_H
#define LATEBIND_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

typedef struct span {
  const unsigned char* at;
  const unsigned char* end;
} span;

typedef struct field {
  unsigned number;
  uint64_t value; /* of a varint */
  span body;      /* of what has a length */
} field;

static uint64_t read_varint(span* from) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && from->at < from->end; shift += 7) {
    unsigned char byte = *from->at++;
    value |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) break;
  }
  return value;
}

/* Returns 0 at the end, and where the bytes are not a message: the rest is skipped then. */
static int read_field(span* from, field* to) {
  if (from->at >= from->end) return 0;
  uint64_t key = read_varint(from);
  size_t length = 0;
  *to = (field){.number = (unsigned)(key >> 3)};
  switch (key & 7) {
    case 0: to->value = read_varint(from); return 1;
    case 1: length = 8; break;
    case 2: length = (size_t)read_varint(from); break;
    case 5: length = 4; break;
    default: return 0;
  }
  if (length > (size_t)(from->end - from->at)) return 0;
  to->body = (span){from->at, from->at + length};
  from->at += length;
  return 1;
}

#endif
