/* What the parts of the consumer share: a case as it was read, and what became of it. */
#ifndef CONSUMER_H
#define CONSUMER_H

#include <latenn.h>
#include <stdbool.h>
#include <stdio.h>

enum { NAME_MAX_BYTES = 512, RANK_MAX = 16, TENSORS_MAX = 64, MESSAGE_MAX = 512 };

/* A tensor of a case; `view.data` belongs to it. */
typedef struct tensor {
  char name[NAME_MAX_BYTES];
  latenn_tensor view;
  int64_t shape[RANK_MAX];
} tensor;

/* One set of inputs and expected outputs; the first `inputs` tensors are inputs. */
typedef struct tensor_set {
  tensor tensors[TENSORS_MAX];
  size_t inputs;
  size_t count;
} tensor_set;

typedef struct test_case {
  char name[NAME_MAX_BYTES];
  double relative;
  double absolute;
  void* model;
  size_t model_bytes;
} test_case;

/* cases.txt and cases.bin, read from the front. */
typedef struct case_file {
  char* text; /* with a zero at the end of each line */
  char* end;
  char* line; /* the next one that was not used */
  FILE* data;
  size_t count; /* of the cases */
} case_file;

/* False when a file cannot be read, or has no case. */
bool cases_open(case_file* file, const char* folder);
void cases_close(case_file* file);
/* Leaves out that many cases, and what was not read of the one before; false at the end. */
bool cases_skip(case_file* file, size_t number);
/* The next case, without its sets; false at the end. What was not read of the one before is skipped. */
bool cases_next(case_file* file, test_case* one);
/* The next set of the case that was read last; false when it has no more. Free it. */
bool cases_next_set(case_file* file, tensor_set* set);
void set_free(tensor_set* set);

/* Whether this program can compare that type: floats and doubles within the tolerance, whole numbers exactly. */
bool comparable(int32_t type);
/* Whether two tensors agree; if not, `message` says where. */
bool agrees(const test_case* one, const latenn_tensor* actual, const latenn_tensor* expected, char* message);

/* A text that grows; `lost` once there was no memory for all of it. */
typedef struct text {
  char* start;
  size_t length;
  size_t room;
  bool lost;
} text;

/* The result, collected while the cases run; docs/consumers.md of latebind says what it holds. */
typedef struct result {
  text passed;
  text failed;
  text skipped;
  size_t passes;
  size_t failures;
  size_t skips;
  char* report;
} result;

void result_open(result* out);
void result_passed(result* out, const char* name);
void result_failed(result* out, const char* name, const char* message);
void result_skipped(result* out, const char* name, const char* why);
void result_report(result* out, const char* report);
/* Writes the JSON; `error` is the message when nothing could be loaded, else NULL. False when it cannot. */
bool result_write(result* out, const char* path, const char* error);

#endif
