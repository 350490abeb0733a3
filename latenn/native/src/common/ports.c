/* ports.c: what a model takes and gives, as every backend reports it; must not know where it was read. */
#include <stdlib.h>
#include <string.h>

#include "backend.h"

static const backend_described* backend_of(const latenn_backend_model* model) {
  return (const backend_described*)model;
}

char* backend_copy_text(const char* text) {
  size_t size = strlen(text ? text : "") + 1;
  char* copy = malloc(size);
  if (copy) memcpy(copy, text ? text : "", size);
  return copy;
}

latenn_status* backend_make_ports(const latenn_host* host, size_t count, backend_ports* ports) {
  ports->list = calloc(count + 1, sizeof *ports->list);
  ports->count = ports->list ? count : 0;
  return ports->list ? NULL : backend_no_memory(host);
}

latenn_status* backend_make_shape(const latenn_host* host, size_t rank, latenn_port* port) {
  int64_t* shape = calloc(rank + 1, sizeof *shape);
  const char** names = calloc(rank + 1, sizeof *names);
  int is_short = !shape || !names;
  port->shape = shape;
  port->dimensions = names;
  if (is_short) return backend_no_memory(host);
  port->rank = (int32_t)rank;
  for (size_t i = 0; i < rank; i++) {
    shape[i] = -1;
    names[i] = backend_copy_text("");
    is_short |= !names[i];
  }
  return is_short ? backend_no_memory(host) : NULL;
}

static void backend_release_port(latenn_port* port) {
  for (int32_t i = 0; port->dimensions && i < port->rank; i++) free((void*)(uintptr_t)port->dimensions[i]);
  free((void*)(uintptr_t)port->dimensions);
  free((void*)(uintptr_t)port->shape);
  free((void*)(uintptr_t)port->name);
}

static void backend_release_ports(backend_ports* ports) {
  for (size_t i = 0; ports->list && i < ports->count; i++) backend_release_port(&ports->list[i]);
  free(ports->list);
}

void backend_release_described(backend_described* described) {
  backend_release_ports(&described->inputs);
  backend_release_ports(&described->outputs);
  free(described->report);
}

size_t backend_input_count(const latenn_backend_model* model) {
  return backend_of(model)->inputs.count;
}

size_t backend_output_count(const latenn_backend_model* model) {
  return backend_of(model)->outputs.count;
}

const latenn_port* backend_input(const latenn_backend_model* model, size_t index) {
  return index < backend_input_count(model) ? &backend_of(model)->inputs.list[index] : NULL;
}

const latenn_port* backend_output(const latenn_backend_model* model, size_t index) {
  return index < backend_output_count(model) ? &backend_of(model)->outputs.list[index] : NULL;
}

const char* backend_model_report(const latenn_backend_model* model) {
  return backend_of(model)->report ? backend_of(model)->report : "{}";
}

void backend_free_text(char* text) {
  free(text);
}

size_t backend_count_bytes(int32_t type, size_t count) {
  static const unsigned char bits[LATENN_INT4 + 1] = {
      [LATENN_FLOAT32] = 32,       [LATENN_UINT8] = 8,          [LATENN_INT8] = 8,
      [LATENN_UINT16] = 16,        [LATENN_INT16] = 16,         [LATENN_INT32] = 32,
      [LATENN_INT64] = 64,         [LATENN_BOOL] = 8,           [LATENN_FLOAT16] = 16,
      [LATENN_FLOAT64] = 64,       [LATENN_UINT32] = 32,        [LATENN_UINT64] = 64,
      [LATENN_COMPLEX64] = 64,     [LATENN_COMPLEX128] = 128,   [LATENN_BFLOAT16] = 16,
      [LATENN_FLOAT8E4M3FN] = 8,   [LATENN_FLOAT8E4M3FNUZ] = 8, [LATENN_FLOAT8E5M2] = 8,
      [LATENN_FLOAT8E5M2FNUZ] = 8, [LATENN_UINT4] = 4,          [LATENN_INT4] = 4};
  size_t each = type > 0 && type <= LATENN_INT4 ? bits[type] : 0;
  return each < 8 ? (count * each + 7) / 8 : count * (each / 8);
}
