/* Runs the cases with core library, backend and runtime of unpacked NuGet packages, or with those of the SDK and a
 * folder of the runtime, and writes what happened. */
#include <stdlib.h>
#include <string.h>

#include "consumer.h"

enum { ALL_PASSED = 0, SOME_FAILED = 1, USAGE = 2, NOTHING_LOADED = 3 };

typedef struct arguments {
  const char* cases;
  const char* out;
  const char* folder;
  const char* backend;
  const char* runtime_path;
  const char* runtime_minimum;
  size_t sample;
} arguments;

static bool parse(int count, char** words, arguments* given) {
  if (count < 4 || count % 2) return false;
  *given = (arguments){.cases = words[1], .out = words[2], .folder = words[3]};
  for (int i = 4; i < count; i += 2) {
    if (strcmp(words[i], "--sample") == 0)
      given->sample = strtoul(words[i + 1], NULL, 10);
    else if (strcmp(words[i], "--runtime") == 0)
      given->backend = words[i + 1];
    else if (strcmp(words[i], "--runtime-path") == 0)
      given->runtime_path = words[i + 1];
    else if (strcmp(words[i], "--runtime-minimum") == 0)
      given->runtime_minimum = words[i + 1];
    else
      return false;
  }
  return true;
}

/* The first thing that is wrong in `message`, and its status unless that is a plain difference. */
static latenn_status* compute(latenn_model* model, const test_case* one, tensor_set* set, char* message) {
  latenn_context* context = NULL;
  latenn_status* status = latenn_context_create(model, &context);
  for (size_t i = 0; !status && i < set->inputs; i++)
    status = latenn_set_input_by_name(context, set->tensors[i].name, &set->tensors[i].view);
  if (!status) status = latenn_compute(context);
  for (size_t i = set->inputs; !status && !*message && i < set->count; i++) {
    latenn_tensor actual = {0};
    status = latenn_get_output_by_name(context, set->tensors[i].name, &actual);
    if (!status) agrees(one, &actual, &set->tensors[i].view, message);
  }
  if (status) snprintf(message, MESSAGE_MAX, "%s", latenn_status_message(status));
  latenn_context_release(context);
  return status;
}

/* Whether all tensors of a set are of types that this program compares; else `why` names one that is not. */
static bool in_scope(const tensor_set* set, const char** why) {
  for (size_t i = 0; i < set->count; i++) {
    if (!comparable(set->tensors[i].view.type)) {
      *why = latenn_type_name(set->tensors[i].view.type);
      return false;
    }
  }
  return true;
}

static void run_case(case_file* file, const test_case* one, latenn_model* model, result* out) {
  tensor_set* set = malloc(sizeof *set); /* large */
  char message[MESSAGE_MAX] = "";
  const char* foreign = NULL;
  size_t sets = 0;
  for (; set && !*message && !foreign && cases_next_set(file, set); sets++) {
    if (in_scope(set, &foreign)) latenn_status_release(compute(model, one, set, message));
    set_free(set);
  }
  free(set);
  if (!sets) snprintf(message, MESSAGE_MAX, "the case has no set of inputs");
  if (foreign)
    result_skipped(out, one->name, foreign);
  else if (*message)
    result_failed(out, one->name, message);
  else
    result_passed(out, one->name);
}

static bool ends_the_run(latenn_code code) {
  return code == LATENN_BACKEND_MISSING || code == LATENN_BACKEND_UNUSABLE || code == LATENN_RUNTIME_UNAVAILABLE;
}

/* NULL, or the status with which nothing could be loaded. */
static latenn_status* run_cases(const arguments* given, const latenn_load_options* options, result* out) {
  case_file file = {0};
  test_case one;
  latenn_status* end = NULL;
  if (!cases_open(&file, given->cases)) result_failed(out, "(no case)", "cases.txt holds none");
  size_t wanted = given->sample && given->sample < file.count ? given->sample : file.count, next = 0;
  for (size_t chosen = 0; chosen < wanted && !end; chosen++) {
    size_t number = chosen * file.count / wanted;
    latenn_model* model = NULL;
    if (!cases_skip(&file, number - next) || !cases_next(&file, &one)) break;
    next = number + 1;
    latenn_status* status = latenn_load_bytes(one.model, one.model_bytes, options, &model);
    if (!status) {
      result_report(out, latenn_model_report(model));
      run_case(&file, &one, model, out);
    } else if (ends_the_run(latenn_status_code(status))) {
      end = status;
    } else {
      result_failed(out, one.name, latenn_status_message(status));
      latenn_status_release(status);
    }
    latenn_model_release(model);
    free(one.model);
  }
  cases_close(&file);
  return end;
}

int main(int count, char** words) {
  arguments given;
  result out;
  if (!parse(count, words, &given)) {
    fprintf(stderr,
            "usage: consumer CASES RESULT.json FOLDER [--sample N] [--runtime NAME] [--runtime-path P] "
            "[--runtime-minimum V]\n");
    return USAGE;
  }
  result_open(&out);
  latenn_load_options options = {
      .size = sizeof options,
      .backend = given.backend,
      .runtime_path = given.runtime_path,
      .runtime_directories = (const char*[]){given.folder},
      .runtime_directory_count = 1,
      .runtime_minimum = given.runtime_minimum,
  };
#ifdef RID /* the folder holds NuGet packages; backends of the SDK are next to the core */
  char backend[4096], runtime[4096];
  snprintf(backend, sizeof backend, "%s/latenn.onnxruntime/runtimes/" RID "/native", given.folder);
  snprintf(runtime, sizeof runtime, "%s/microsoft.ml.onnxruntime/runtimes/" RID "/native", given.folder);
  options.backend_directories = (const char*[]){backend};
  options.backend_directory_count = 1;
  options.runtime_directories = (const char*[]){runtime};
  options.runtime_advice = "nuget install Microsoft.ML.OnnxRuntime";
#endif
  latenn_status* error = run_cases(&given, &options, &out);
  int status = error ? NOTHING_LOADED : out.failures ? SOME_FAILED : ALL_PASSED;
  if (error) fprintf(stderr, "%s\n", latenn_status_message(error));
  if (!result_write(&out, given.out, error ? latenn_status_message(error) : NULL)) status = USAGE;
  latenn_status_release(error);
  return status;
}
