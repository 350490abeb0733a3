/* reader.c: reads model files; must accept as a field whatever the parsers of protobuf accept. */
#include "reader.h"

int reader_byte(latenn_reader* reader) {
  int byte = EOF;
  if (reader->file) {
    byte = getc(reader->file);
  } else if (reader->at < reader->size) {
    byte = reader->bytes[reader->at];
  }
  if (byte != EOF) reader->at++;
  return byte;
}

int reader_seek(latenn_reader* reader, uint64_t at) {
  if (at > INT64_MAX || (!reader->file && at > reader->size)) return 1;
  if (at == reader->at) return 0;
  reader->at = at;
#if defined(_WIN32)
  return reader->file && _fseeki64(reader->file, (int64_t)at, SEEK_SET);
#else
  return reader->file && fseek(reader->file, (long)at, SEEK_SET);
#endif
}

static int protobuf_number(latenn_reader* reader, uint64_t* number) {
  *number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    int byte = reader_byte(reader);
    if (byte == EOF) return 1;
    *number |= (uint64_t)(byte & 0x7F) << shift;
    if (byte < 0x80) return 0;
  }
  return 1;
}

int protobuf_next(latenn_reader* reader, uint64_t end, protobuf_field* field) {
  uint64_t tag = 0;
  uint64_t length = 0;
  if (reader->at >= end || protobuf_number(reader, &tag)) return 0;
  field->number = (uint32_t)tag >> 3; /* protobuf, too, drops the bits above 32 */
  field->wire = (int)(tag & 7);
  field->value = 0;
  switch (field->wire) {
    case PROTOBUF_VARINT:
      if (protobuf_number(reader, &field->value)) return 0;
      break;
    case PROTOBUF_8_BYTES: length = 8; break;
    case PROTOBUF_4_BYTES: length = 4; break;
    case PROTOBUF_LENGTH:
      if (protobuf_number(reader, &length)) return 0;
      break;
    case PROTOBUF_GROUP:
    case PROTOBUF_END_GROUP: break;
    default: return 0;
  }
  if (reader->at > end || length > end - reader->at) return 0; /* a number may have reached beyond the message */
  field->content_end = reader->at + length;
  return 1;
}
