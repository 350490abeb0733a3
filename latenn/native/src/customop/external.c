/* external.c: whether a wrapped model keeps data in other files, and where; must not trust a byte of it. LiteRT and
 * older versions of ONNX Runtime open whatever path is there, for a model from memory relative to the current folder.
 */
#include <stdlib.h>
#include <string.h>

#include "../common/paths.h"
#include "../common/reader.h"
#include "customop.h"

/* ---- ONNX ----------------------------------------------------------------------------------------------------------
 */

/* Protobuf's parsers stop at 100 messages within each other. */
enum { EXTERNAL_DEPTH = 128, EXTERNAL_TEXT = 4096 };

typedef enum external_kind {
  EXTERNAL_MODEL,
  EXTERNAL_TRAINING,
  EXTERNAL_FUNCTION,
  EXTERNAL_GRAPH,
  EXTERNAL_NODE,
  EXTERNAL_ATTRIBUTE,
  EXTERNAL_SPARSE,
  EXTERNAL_TENSOR,
  EXTERNAL_ENTRY,
  EXTERNAL_WORD /* the text of a key or a value: not a message */
} external_kind;

/* The fields of ONNX's messages on the way to a tensor, and in it to the name of a file. */
typedef struct external_row {
  external_kind of;
  uint32_t number;
  external_kind kind;
} external_row;

static const external_row external_rows[] = {
    {EXTERNAL_MODEL, 7, EXTERNAL_GRAPH},         {EXTERNAL_MODEL, 20, EXTERNAL_TRAINING},
    {EXTERNAL_MODEL, 25, EXTERNAL_FUNCTION},     {EXTERNAL_TRAINING, 1, EXTERNAL_GRAPH},
    {EXTERNAL_TRAINING, 2, EXTERNAL_GRAPH},      {EXTERNAL_FUNCTION, 7, EXTERNAL_NODE},
    {EXTERNAL_FUNCTION, 11, EXTERNAL_ATTRIBUTE}, {EXTERNAL_GRAPH, 1, EXTERNAL_NODE},
    {EXTERNAL_GRAPH, 5, EXTERNAL_TENSOR},        {EXTERNAL_GRAPH, 15, EXTERNAL_SPARSE},
    {EXTERNAL_NODE, 5, EXTERNAL_ATTRIBUTE},      {EXTERNAL_ATTRIBUTE, 5, EXTERNAL_TENSOR},
    {EXTERNAL_ATTRIBUTE, 6, EXTERNAL_GRAPH},     {EXTERNAL_ATTRIBUTE, 10, EXTERNAL_TENSOR},
    {EXTERNAL_ATTRIBUTE, 11, EXTERNAL_GRAPH},    {EXTERNAL_ATTRIBUTE, 22, EXTERNAL_SPARSE},
    {EXTERNAL_ATTRIBUTE, 23, EXTERNAL_SPARSE},   {EXTERNAL_SPARSE, 1, EXTERNAL_TENSOR},
    {EXTERNAL_SPARSE, 2, EXTERNAL_TENSOR},       {EXTERNAL_TENSOR, 13, EXTERNAL_ENTRY},
    {EXTERNAL_ENTRY, 1, EXTERNAL_WORD},          {EXTERNAL_ENTRY, 2, EXTERNAL_WORD},
};
enum { EXTERNAL_DATA_LOCATION = 14 }; /* of a tensor; 0 is: in the model itself */

typedef struct external_scan {
  latenn_reader reader;
  const char* path;   /* of the model; NULL for one from memory */
  const char* folder; /* that it is in */
  char last[EXTERNAL_TEXT];
} external_scan;

/* Keys and values have to follow the same rule: a number or a checksum is a plain name, too. */
static latenn_status* external_check_word(external_scan* scan, uint64_t end) {
  char word[EXTERNAL_TEXT];
  size_t size = 0;
  while (size + 1 < sizeof word && scan->reader.at < end) {
    int byte = reader_byte(&scan->reader);
    if (byte < 0) return NULL; /* the file ends here: no runtime reads it */
    word[size++] = (char)byte;
  }
  word[size] = 0;
  if (!size) return NULL;
  int is_below = scan->reader.at == end && customop_is_below(word, size);
  if (is_below && strcmp(word, scan->last) == 0) return NULL; /* thousands of tensors in one file */
  static const char what[] = "The model keeps data in";
  latenn_status* status =
      is_below ? customop_check_inside(what, word, scan->folder) : customop_leads_out(what, word, scan->folder);
  if (status) return status;
  memcpy(scan->last, word, size + 1);
  return NULL;
}

static latenn_status* external_in_files(void) {
  return latenn_failure(LATENN_INVALID_ARGUMENT,
                        "The model keeps data in other files, and inside a graph it has no folder to find them in. "
                        "Wrap one that holds its data, or the model's path: python -m latenn wrap MODEL --external.");
}

static latenn_status* external_check_tensor(const external_scan* scan, const protobuf_field* field) {
  if (scan->path || field->wire != PROTOBUF_VARINT || field->number != EXTERNAL_DATA_LOCATION || !field->value) {
    return NULL;
  }
  return external_in_files();
}

static const external_row* external_row_of(external_kind of, const protobuf_field* field) {
  for (size_t i = 0; i < sizeof external_rows / sizeof *external_rows; i++) {
    const external_row* row = &external_rows[i];
    if (row->of == of && row->number == field->number && field->wire == PROTOBUF_LENGTH) return row;
  }
  return NULL;
}

/* What is not ONNX, or damaged, is left to the runtime: its parser reads no further than this one. Fields of a group,
 * which ONNX does not have, are taken for those of the message around it. */
static latenn_status* external_check(external_scan* scan, external_kind of, uint64_t end, int depth) {
  protobuf_field field;
  latenn_status* status = NULL;
  if (of == EXTERNAL_WORD) return external_check_word(scan, end);
  if (depth > EXTERNAL_DEPTH) {
    return latenn_failure(LATENN_MODEL_INVALID, "The model has more than %d messages within each other.", depth - 1);
  }
  while (!status && protobuf_next(&scan->reader, end, &field)) {
    const external_row* row = external_row_of(of, &field);
    int is_read = row && (row->kind != EXTERNAL_ENTRY || scan->path);
    if (of == EXTERNAL_TENSOR) status = external_check_tensor(scan, &field);
    if (!status && is_read) status = external_check(scan, row->kind, field.content_end, depth + 1);
    if (!status && reader_seek(&scan->reader, field.content_end)) break;
  }
  return status;
}

/* ---- TensorFlow Lite ----------------------------------------------------------------------------------------------
 */

/* Flatbuffers: a table begins with the distance back to its list of fields. */
enum { EXTERNAL_GROUPS = 8, EXTERNAL_GROUP_NAME = 0, EXTERNAL_FIELDS = 4 };

/* A number of so many bytes; anything beyond the end reads as 0, which ends whatever is being followed. */
static uint32_t external_number(external_scan* scan, uint64_t at, int bytes) {
  uint32_t number = 0;
  if (reader_seek(&scan->reader, at)) return 0;
  for (int i = 0; i < bytes; i++) {
    int byte = reader_byte(&scan->reader);
    if (byte < 0) return 0;
    number |= (uint32_t)byte << (8 * i);
  }
  return number;
}

/* Where a field of a table leads to; 0 when the table does not have it. */
static uint64_t external_follow(external_scan* scan, uint64_t table, uint32_t field) {
  uint64_t list = table - (uint64_t)(int64_t)(int32_t)external_number(scan, table, 4);
  uint32_t entry = EXTERNAL_FIELDS + 2 * field;
  if (!table || external_number(scan, list, 2) < entry + 2) return 0;
  uint32_t distance = external_number(scan, list + entry, 2);
  return distance ? table + distance + external_number(scan, table + distance, 4) : 0;
}

/* The files with a model's weights: LiteRT opens each, from the model's folder or from the current one. */
static latenn_status* external_check_groups(external_scan* scan) {
  uint64_t groups = external_follow(scan, external_number(scan, 0, 4), EXTERNAL_GROUPS);
  uint32_t count = groups ? external_number(scan, groups, 4) : 0;
  latenn_status* status = NULL;
  if (count && !scan->path) return external_in_files();
  for (uint64_t i = 0; i < count && !status; i++) {
    uint64_t at = groups + 4 + 4 * i;
    uint32_t distance = external_number(scan, at, 4);
    uint64_t name = external_follow(scan, at + distance, EXTERNAL_GROUP_NAME);
    uint32_t size = name ? external_number(scan, name, 4) : 0;
    if (!distance) break; /* beyond the model's end */
    if (size && !reader_seek(&scan->reader, name + 4)) status = external_check_word(scan, name + 4 + size);
  }
  return status;
}

/* ---- both ---------------------------------------------------------------------------------------------------------
 */

static latenn_status* external_check_all(external_scan* scan, uint64_t size) {
  static const uint32_t tflite = 0x334C4654; /* TFL3: LiteRT reads nothing else */
  if (external_number(scan, 4, 4) == tflite) {
    latenn_status* status = external_check_groups(scan);
    if (status) return status;
  }
  return reader_seek(&scan->reader, 0) ? NULL : external_check(scan, EXTERNAL_MODEL, size, 1);
}

latenn_status* customop_check_bytes(const customop_text* model) {
  external_scan scan = {{NULL, (const unsigned char*)model->bytes, model->size, 0}, NULL, NULL, ""};
  return external_check_all(&scan, model->size);
}

latenn_status* customop_check_file(const char* path) {
  const char* why = "";
  external_scan scan = {{latenn_open_file(path, &why), NULL, 0, 0}, path, NULL, ""};
  if (!scan.reader.file) return NULL; /* loading says so */
  char* folder = customop_folder_of(path);
  scan.folder = folder;
  latenn_status* status = folder ? external_check_all(&scan, INT64_MAX) : latenn_no_memory();
  free(folder);
  fclose(scan.reader.file);
  return status;
}
