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

static bool next_word(case_file* file) {
  if (fscanf(file->text, "%511s", file->word) == 1) return true;
  file->word[0] = 0;
  return false;
}

static bool at(const case_file* file, const char* word) {
  return strcmp(file->word, word) == 0;
}

bool cases_open(case_file* file, const char* folder) {
  file->text = open_beside(folder, "cases.txt");
  file->data = open_beside(folder, "cases.bin");
  return file->text && file->data && next_word(file);
}

void cases_close(case_file* file) {
  if (file->text) fclose(file->text);
  if (file->data) fclose(file->data);
}

size_t cases_count(const char* folder) {
  case_file file = {0};
  size_t count = 0;
  if (cases_open(&file, folder)) {
    do {
      count += at(&file, "case");
    } while (next_word(&file));
  }
  cases_close(&file);
  return count;
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

bool cases_next(case_file* file, test_case* one) {
  long long offset;
  while (!at(file, "case")) {
    if (!next_word(file)) return false;
  }
  if (fscanf(file->text, "%511s %lf %lf %lld %zu", one->name, &one->relative, &one->absolute, &offset,
             &one->model_bytes) != 5)
    return false;
  one->model = read_bytes(file, offset, one->model_bytes);
  next_word(file);
  return true;
}

static bool read_tensor(case_file* file, tensor* one) {
  long long offset;
  memset(one, 0, sizeof *one);
  if (fscanf(file->text, "%511s %" SCNd32 " %lld %zu %" SCNd32, one->name, &one->view.type, &offset, &one->view.bytes,
             &one->view.rank) != 5)
    return false;
  if (one->view.rank < 0 || one->view.rank > RANK_MAX) return false;
  for (int32_t i = 0; i < one->view.rank; i++) {
    if (fscanf(file->text, "%" SCNd64, &one->shape[i]) != 1) return false;
  }
  one->view.shape = one->shape;
  one->view.data = read_bytes(file, offset, one->view.bytes);
  return true;
}

bool cases_next_set(case_file* file, tensor_set* set) {
  set->inputs = set->count = 0;
  if (!at(file, "set")) return false;
  next_word(file);
  while ((at(file, "input") || at(file, "output")) && set->count < TENSORS_MAX) {
    set->inputs += at(file, "input");
    if (!read_tensor(file, &set->tensors[set->count])) return false;
    set->count++;
    next_word(file);
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
