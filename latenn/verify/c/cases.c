/* Reads cases.txt and cases.bin (cases.py says what they hold), and compares tensors. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "consumer.h"

static FILE* open_beside(const char* folder, const char* name) {
  char path[4096];
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return NULL;
  return fopen(path, "rb");
}

/* All of a file, with a zero at the end; free it. NULL when it cannot be read. */
static char* read_text(FILE* file, size_t* length) {
  long size = fseek(file, 0, SEEK_END) ? -1 : ftell(file);
  char* text = size < 0 ? NULL : malloc((size_t)size + 1);
  if (!text || fseek(file, 0, SEEK_SET) || fread(text, 1, (size_t)size, file) != (size_t)size) {
    free(text);
    return NULL;
  }
  text[size] = 0;
  *length = (size_t)size;
  return text;
}

static bool begins(const char* line, const char* word) {
  while (*word && *line == *word) line++, word++;
  return !*word && *line == ' ';
}

static void next_line(case_file* file) {
  while (*file->line) file->line++;
  if (file->line < file->end) file->line++;
}

bool cases_open(case_file* file, const char* folder) {
  size_t length = 0;
  FILE* text = open_beside(folder, "cases.txt");
  file->data = open_beside(folder, "cases.bin");
  file->text = file->line = text ? read_text(text, &length) : NULL;
  if (text) fclose(text);
  if (!file->text || !file->data) return false;
  file->end = file->text + length;
  for (char* c = file->text; c < file->end; c++) {
    if (*c == '\n') *c = 0;
    file->count += begins(c, "case") && (c == file->text || !c[-1]);
  }
  return file->count > 0;
}

void cases_close(case_file* file) {
  free(file->text);
  if (file->data) fclose(file->data);
}

/* The bytes at a place of cases.bin; free them. Ends the program when the file is not what cases.txt says. */
static void* read_bytes(case_file* file, long long offset, size_t size) {
  void* bytes = malloc(size ? size : 1);
  if (!bytes || fseek(file->data, (long)offset, SEEK_SET) || fread(bytes, 1, size, file->data) != size) {
    fprintf(stderr, "cases.bin ends before %lld + %zu\n", offset, size);
    exit(2);
  }
  return bytes;
}

bool cases_skip(case_file* file, size_t number) {
  while (file->line < file->end && !(begins(file->line, "case") && !number--)) next_line(file);
  return file->line < file->end;
}

bool cases_next(case_file* file, test_case* one) {
  long long offset;
  if (!cases_skip(file, 0) || sscanf(file->line, "case %511s %lf %lf %lld %zu", one->name, &one->relative,
                                     &one->absolute, &offset, &one->model_bytes) != 5)
    return false;
  one->model = read_bytes(file, offset, one->model_bytes);
  next_line(file);
  return true;
}

static bool read_tensor(case_file* file, tensor* one) {
  long long offset;
  char* rest = file->line;
  memset(one, 0, sizeof *one);
  if (sscanf(rest, "%*s %511s %" SCNd32 " %lld %zu %" SCNd32, one->name, &one->view.type, &offset, &one->view.bytes,
             &one->view.rank) != 5)
    return false;
  if (one->view.rank < 0 || one->view.rank > RANK_MAX) return false;
  for (int words = 6; words && *rest; rest++) words -= *rest == ' ';
  for (int32_t i = 0; i < one->view.rank; i++) one->shape[i] = strtoll(rest, &rest, 10);
  one->view.shape = one->shape;
  one->view.data = read_bytes(file, offset, one->view.bytes);
  return true;
}

bool cases_next_set(case_file* file, tensor_set* set) {
  set->inputs = set->count = 0;
  if (file->line == file->end || strcmp(file->line, "set") != 0) return false;
  next_line(file);
  while ((begins(file->line, "input") || begins(file->line, "output")) && set->count < TENSORS_MAX) {
    set->inputs += begins(file->line, "input");
    if (!read_tensor(file, &set->tensors[set->count])) return false;
    set->count++;
    next_line(file);
  }
  return true;
}

void set_free(tensor_set* set) {
  for (size_t i = 0; i < set->count; i++) free(set->tensors[i].view.data);
}

bool comparable(int32_t type) {
  return (type >= LATENN_FLOAT32 && type <= LATENN_BOOL && type != LATENN_STRING) || type == LATENN_FLOAT64 ||
         type == LATENN_UINT32 || type == LATENN_UINT64;
}

static bool near_enough(const test_case* one, double got, double want) {
  if (isnan(got) || isnan(want)) return isnan(got) && isnan(want);
  if (isinf(got) || isinf(want)) return got == want;
  return fabs(got - want) <= one->absolute + one->relative * fabs(want);
}

bool agrees(const test_case* one, const latenn_tensor* actual, const latenn_tensor* expected, char* message) {
  size_t shape = (size_t)expected->rank * sizeof *expected->shape;
  if (actual->type != expected->type || actual->rank != expected->rank || actual->bytes != expected->bytes ||
      (shape && memcmp(actual->shape, expected->shape, shape) != 0)) {
    snprintf(message, MESSAGE_MAX, "another type or shape than expected: %s of rank %d, not %s of rank %d",
             latenn_type_name(actual->type), (int)actual->rank, latenn_type_name(expected->type), (int)expected->rank);
    return false;
  }
  bool single = expected->type == LATENN_FLOAT32;
  if (!single && expected->type != LATENN_FLOAT64) {
    if (!expected->bytes || memcmp(actual->data, expected->data, expected->bytes) == 0) return true;
    snprintf(message, MESSAGE_MAX, "other values than expected");
    return false;
  }
  for (size_t i = 0; i < expected->bytes / (single ? sizeof(float) : sizeof(double)); i++) {
    double got = single ? ((const float*)actual->data)[i] : ((const double*)actual->data)[i];
    double want = single ? ((const float*)expected->data)[i] : ((const double*)expected->data)[i];
    if (!near_enough(one, got, want)) {
      snprintf(message, MESSAGE_MAX, "element %zu is %.9g instead of %.9g", i, got, want);
      return false;
    }
  }
  return true;
}
