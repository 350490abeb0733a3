/* reader.h: model files and models in memory, byte by byte and, of protocol buffers, field by field. */
#ifndef LATENN_READER_H
#define LATENN_READER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { PROTOBUF_VARINT = 0, PROTOBUF_8_BYTES = 1, PROTOBUF_LENGTH = 2, PROTOBUF_GROUP = 3, PROTOBUF_END_GROUP = 4 };
enum { PROTOBUF_4_BYTES = 5 };

typedef struct latenn_reader {
  FILE* file; /* or NULL: */
  const unsigned char* bytes;
  uint64_t size; /* of the bytes */
  uint64_t at;
} latenn_reader;

/* One field: the tag's two halves, and where the content ends. `content_end` of a number is `reader->at`. */
typedef struct protobuf_field {
  uint32_t number;
  int wire;
  uint64_t value; /* of a PROTOBUF_VARINT */
  uint64_t content_end;
} protobuf_field;

/* The next byte, or EOF. */
int reader_byte(latenn_reader* reader);
/* Returns 0, or non-zero when there is no such place. */
int reader_seek(latenn_reader* reader, uint64_t at);
/* The next field of a message that ends at `end`. Returns 1; 0 when there is no more, or what follows is not a field.
 */
int protobuf_next(latenn_reader* reader, uint64_t end, protobuf_field* field);

#endif
