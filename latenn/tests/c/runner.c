/*
 * runner.c: loads a model with latenn, feeds it from lines on stdin and prints every output as a line of JSON.
 * Commands: "input NAME TYPE RANK DIM... HEX|- OFFSET...", "compute", "outputs", "output NAME", "ports", "report",
 * "again PATH|-", "again-minimum VERSION", "metadata", "profile", "run KEY=VALUE..." (what computations get from here
 * on), "cancel MILLISECONDS" (that run, from another thread), "release" (the model, before its context). Errors are
 * lines.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "latenn.h"
#include "port.h"

enum { MAX_ITEMS = 64, MAX_LINE = 1 << 16, MAX_INPUTS = 16 };

static latenn_load_options base_options;
static const char* model_path;
static void* kept[MAX_INPUTS * 3]; /* inputs must outlive the computation */
static size_t kept_count;
static latenn_run* run; /* of computations, or NULL */

static void print_text(const char* text) {
  putchar('"');
  for (; *text; text++) {
    unsigned char byte = (unsigned char)*text;
    if (byte == '"' || byte == '\\')
      printf("\\%c", byte);
    else if (byte < 0x20)
      printf("\\u%04x", byte);
    else
      putchar(byte);
  }
  putchar('"');
}

/* Prints and releases; 0 when there was nothing to tell. */
static int told(latenn_status* status) {
  if (!status) return 0;
  printf("{\"error\": %d, \"message\": ", (int)latenn_status_code(status));
  print_text(latenn_status_message(status));
  printf(", \"report\": %s}\n", *latenn_status_report(status) ? latenn_status_report(status) : "null");
  latenn_status_release(status);
  return 1;
}

static void print_tensor(const char* name, const latenn_tensor* tensor) {
  size_t count = 1;
  printf("{\"output\": ");
  print_text(name);
  printf(", \"type\": %" PRId32 ", \"shape\": [", tensor->type);
  for (int32_t i = 0; i < tensor->rank; i++) {
    printf("%s%" PRId64, i ? ", " : "", tensor->shape[i]);
    count *= (size_t)tensor->shape[i];
  }
  printf("], \"hex\": \"");
  for (size_t i = 0; i < tensor->bytes; i++) printf("%02x", ((const unsigned char*)tensor->data)[i]);
  printf("\", \"offsets\": ");
  if (!tensor->offsets) printf("null");
  for (size_t i = 0; tensor->offsets && i <= count; i++) printf("%s%zu", i ? ", " : "[", tensor->offsets[i]);
  printf("%s}\n", tensor->offsets ? "]" : "");
}

static void print_ports(const char* what, const latenn_model* model, size_t count,
                        const latenn_port* (*get)(const latenn_model*, size_t)) {
  for (size_t i = 0; i < count; i++) {
    const latenn_port* port = get(model, i);
    printf("{\"%s\": ", what);
    print_text(port->name);
    printf(", \"type\": \"%s\", \"rank\": %" PRId32 ", \"shape\": [", latenn_type_name(port->type), port->rank);
    for (int32_t k = 0; k < port->rank; k++) printf("%s%" PRId64, k ? ", " : "", port->shape[k]);
    printf("], \"names\": [");
    for (int32_t k = 0; k < port->rank; k++) {
      if (k) printf(", ");
      print_text(port->dimensions[k]);
    }
    printf("]}\n");
  }
}

static unsigned char* read_hex(const char* hex, size_t* bytes) {
  size_t length = strcmp(hex, "-") == 0 ? 0 : strlen(hex) / 2;
  unsigned char* data = malloc(length + 1);
  for (size_t i = 0; data && i < length; i++) {
    unsigned value = 0;
    sscanf(hex + 2 * i, "%2x", &value);
    data[i] = (unsigned char)value;
  }
  *bytes = length;
  return data;
}

static void set_input(latenn_context* context, char** words, size_t count) {
  latenn_tensor tensor = {0};
  if (count < 4 || kept_count + 3 > MAX_INPUTS * 3) exit(64);
  int64_t* shape = calloc(MAX_ITEMS, sizeof *shape);
  size_t* offsets = calloc(MAX_ITEMS, sizeof *offsets);
  size_t next = 3;
  tensor.type = (int32_t)strtol(words[1], NULL, 10);
  tensor.rank = (int32_t)strtol(words[2], NULL, 10);
  for (int32_t i = 0; i < tensor.rank && next < count; i++) shape[i] = strtoll(words[next++], NULL, 10);
  tensor.shape = shape;
  tensor.data = read_hex(words[next++], &tensor.bytes);
  for (size_t i = 0; next < count; i++) {
    offsets[i] = (size_t)strtoull(words[next++], NULL, 10);
    tensor.offsets = offsets;
  }
  kept[kept_count++] = shape;
  kept[kept_count++] = offsets;
  kept[kept_count++] = tensor.data;
  told(latenn_set_input_by_name(context, words[0], &tensor));
}

static void print_outputs(latenn_model* model, latenn_context* context) {
  for (size_t i = 0; i < latenn_output_count(model); i++) {
    latenn_tensor tensor;
    if (!told(latenn_get_output(context, i, &tensor))) print_tensor(latenn_output(model, i)->name, &tensor);
  }
}

static void print_output(latenn_context* context, const char* name) {
  latenn_tensor tensor;
  if (!told(latenn_get_output_by_name(context, name, &tensor))) print_tensor(name, &tensor);
}

/* Loads the same model once more, with another path of the runtime or another minimum. */
static void load_again(const char* runtime_path, const char* minimum) {
  latenn_load_options options = base_options;
  latenn_model* model = NULL;
  options.runtime_path = strcmp(runtime_path, "-") ? runtime_path : NULL;
  options.runtime_minimum = minimum;
  if (!told(latenn_load_path(model_path, &options, &model))) puts("{\"again\": true}");
  latenn_model_release(model);
}

static void make_run(latenn_model* model, char** words, size_t count) {
  latenn_option rows[MAX_ITEMS];
  for (size_t i = 0; i < count; i++) {
    char* equals = strchr(words[i], '=');
    if (!equals) exit(64);
    *equals = 0;
    rows[i].key = words[i];
    rows[i].value = equals + 1;
  }
  latenn_run_release(run);
  told(latenn_run_create(model, rows, count, &run));
}

static void* cancel_later(void* milliseconds) {
  port_sleep(*(unsigned*)milliseconds);
  return latenn_run_cancel(run);
}

/* Computes, while another thread cancels. */
static void cancel(latenn_context* context, unsigned milliseconds) {
  pthread_t thread;
  void* status = NULL;
  if (pthread_create(&thread, NULL, cancel_later, &milliseconds)) exit(70);
  told(latenn_compute_with(context, run));
  pthread_join(thread, &status);
  told(status);
}

static void print_metadata(latenn_model* model, int is_profile) {
  char* text = NULL;
  if (told(is_profile ? latenn_model_end_profile(model, &text) : latenn_model_metadata(model, &text))) return;
  printf(is_profile ? "\"%s\"\n" : "%s\n", text);
  latenn_text_release(text);
}

/* Gives back the model, NULL when a command released it. */
static latenn_model* serve(latenn_model* model, latenn_context* context) {
  static char line[MAX_LINE];
  while (fgets(line, sizeof line, stdin)) {
    char* words[MAX_ITEMS];
    size_t count = 0;
    for (char* word = strtok(line, " \n"); word && count < MAX_ITEMS; word = strtok(NULL, " \n")) words[count++] = word;
    if (!count) continue;
    if (!strcmp(words[0], "input"))
      set_input(context, words + 1, count - 1);
    else if (!strcmp(words[0], "compute"))
      told(run ? latenn_compute_with(context, run) : latenn_compute(context));
    else if (!strcmp(words[0], "run"))
      make_run(model, words + 1, count - 1);
    else if (!strcmp(words[0], "cancel") && count == 2)
      cancel(context, (unsigned)strtoul(words[1], NULL, 10));
    else if (!strcmp(words[0], "metadata") || !strcmp(words[0], "profile"))
      print_metadata(model, *words[0] == 'p');
    else if (!strcmp(words[0], "again") && count == 2)
      load_again(words[1], base_options.runtime_minimum);
    else if (!strcmp(words[0], "again-minimum") && count == 2)
      load_again("-", words[1]);
    else if (!strcmp(words[0], "outputs"))
      print_outputs(model, context);
    else if (!strcmp(words[0], "output") && count == 2)
      print_output(context, words[1]);
    else if (!strcmp(words[0], "release")) {
      latenn_model_release(model);
      model = NULL;
    } else if (!strcmp(words[0], "ports")) {
      print_ports("in", model, latenn_input_count(model), latenn_input);
      print_ports("out", model, latenn_output_count(model), latenn_output);
    } else if (!strcmp(words[0], "report")) {
      printf("{\"backend\": \"%s\", \"report\": %s}\n", latenn_model_backend(model), latenn_model_report(model));
    } else
      exit(64);
  }
  return model;
}

static latenn_status* load(const char* how, const char* path, const latenn_load_options* options,
                           latenn_model** model) {
  if (strcmp(how, "path") == 0) return latenn_load_path(path, options, model);
  FILE* file = port_open(path);
  if (!file) exit(66);
  static unsigned char bytes[1 << 20];
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  latenn_status* status = latenn_load_bytes(bytes, size, options, model);
  if (options->file_count) memset((void*)(size_t)options->files->data, 0xA5, options->files->size);
  memset(bytes, 0xA5, sizeof bytes); /* the model must not look back */
  return status;
}

static void read_file(const char* path, latenn_file* file) {
  static unsigned char bytes[1 << 16];
  FILE* opened = port_open(path);
  if (!opened) exit(66);
  file->data = bytes;
  file->size = fread(bytes, 1, sizeof bytes, opened);
  fclose(opened);
}

int main(int count, char** arguments) {
  latenn_load_options options = {0};
  const char* runtimes[MAX_ITEMS];
  const char* backends[MAX_ITEMS];
  latenn_option extra[MAX_ITEMS];
  latenn_file file = {0};
  options.size = sizeof options;
  options.runtime_directories = runtimes;
  options.backend_directories = backends;
  options.options = extra;
  if (count < 3) return 64;
  arguments = port_arguments(count, arguments);
  for (int i = 3; i + 1 < count; i += 2) {
    char* value = arguments[i + 1];
    if (!strcmp(arguments[i], "--runtime-dir"))
      runtimes[options.runtime_directory_count++] = value;
    else if (!strcmp(arguments[i], "--backend-dir"))
      backends[options.backend_directory_count++] = value;
    else if (!strcmp(arguments[i], "--backend"))
      options.backend = value;
    else if (!strcmp(arguments[i], "--options-size"))
      options.size = (uint32_t)strtoul(value, NULL, 10);
    else if (!strcmp(arguments[i], "--device"))
      options.device = value;
    else if (!strcmp(arguments[i], "--runtime"))
      options.runtime_path = value;
    else if (!strcmp(arguments[i], "--minimum"))
      options.runtime_minimum = value;
    else if (!strcmp(arguments[i], "--advice"))
      options.runtime_advice = value;
    else if (!strcmp(arguments[i], "--option") || !strcmp(arguments[i], "--file")) {
      char* equals = strchr(value, '=');
      if (!equals) return 64;
      *equals = 0;
      if (!strcmp(arguments[i], "--file")) {
        file.name = value;
        read_file(equals + 1, &file);
        options.files = &file;
        options.file_count = 1;
        continue;
      }
      extra[options.option_count].key = value;
      extra[options.option_count++].value = equals + 1;
    } else
      return 64;
  }
  if (strcmp(arguments[1], "report") == 0) {
    char* report = NULL;
    told(latenn_runtime_report(&options, &report));
    printf("{\"runtime_report\": %s}\n", report ? report : "null");
    latenn_text_release(report);
    return 0;
  }
  base_options = options;
  model_path = arguments[2];
  latenn_model* model = NULL;
  latenn_context* context = NULL;
  if (told(load(arguments[1], arguments[2], &options, &model))) return 0;
  if (!told(latenn_context_create(model, &context))) model = serve(model, context);
  latenn_run_release(run);
  latenn_context_release(context);
  latenn_model_release(model);
  while (kept_count) free(kept[--kept_count]);
  return 0;
}
