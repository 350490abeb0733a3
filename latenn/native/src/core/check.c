/* check.c: compares what a caller gives with what the model takes, so that no backend sees a bad tensor. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core.h"

const char* latenn_write_shape(char* text, int32_t rank, const int64_t* shape, const char* const* dimensions) {
  size_t used = 0;
  text[used++] = '[';
  for (int32_t i = 0; i < rank; i++) {
    char number[32];
    const char* piece = dimensions && dimensions[i] && *dimensions[i] ? dimensions[i] : "?";
    if (shape[i] >= 0 || !dimensions) {
      snprintf(number, sizeof number, "%" PRId64, shape[i]);
      piece = number;
    }
    if (used + strlen(piece) + 8 > LATENN_SHAPE_TEXT) {
      memcpy(text + used, "...", 3);
      used += 3;
      break;
    }
    used += (size_t)snprintf(text + used, LATENN_SHAPE_TEXT - used, "%s%s", i ? ", " : "", piece);
  }
  text[used++] = ']';
  text[used] = 0;
  return text;
}

static latenn_status* latenn_check_shape(const char* what, const latenn_port* port, const latenn_tensor* tensor) {
  char wanted[LATENN_SHAPE_TEXT];
  char given[LATENN_SHAPE_TEXT];
  if (tensor->rank < 0 || (tensor->rank > 0 && !tensor->shape)) {
    return latenn_failure(LATENN_INVALID_ARGUMENT, "%s \"%s\": the tensor has rank %" PRId32 " but no shape.", what,
                          port->name, tensor->rank);
  }
  int bad = port->rank >= 0 && tensor->rank != port->rank;
  for (int32_t i = 0; i < tensor->rank && !bad; i++) {
    if (tensor->shape[i] < 0) {
      return latenn_failure(LATENN_INVALID_ARGUMENT, "%s \"%s\": the tensor's shape %s has a negative dimension.", what,
                            port->name, latenn_write_shape(given, tensor->rank, tensor->shape, NULL));
    }
    bad = port->rank >= 0 && port->shape[i] >= 0 && tensor->shape[i] != port->shape[i];
  }
  if (!bad) return NULL;
  return latenn_failure(LATENN_INVALID_ARGUMENT, "%s \"%s\" takes shape %s; it was given %s.", what, port->name,
                        latenn_write_shape(wanted, port->rank, port->shape, port->dimensions),
                        latenn_write_shape(given, tensor->rank, tensor->shape, NULL));
}

static latenn_status* latenn_check_strings(const char* what, const latenn_port* port, const latenn_tensor* tensor,
                                           size_t count) {
  const size_t* offsets = tensor->offsets;
  if (!offsets) {
    if (count == 0 && tensor->bytes == 0) return NULL;
    return latenn_failure(LATENN_INVALID_ARGUMENT, "%s \"%s\": a string tensor needs offsets.", what, port->name);
  }
  for (size_t i = 0; i < count; i++) {
    if (offsets[i] > offsets[i + 1]) {
      return latenn_failure(LATENN_INVALID_ARGUMENT, "%s \"%s\": offsets fall from %zu to %zu at element %zu.", what,
                            port->name, offsets[i], offsets[i + 1], i);
    }
  }
  if (offsets[0] != 0 || offsets[count] != tensor->bytes) {
    return latenn_failure(LATENN_INVALID_ARGUMENT,
                          "%s \"%s\": offsets run from %zu to %zu; they must run from 0 to %zu, the bytes given.", what,
                          port->name, offsets[0], offsets[count], tensor->bytes);
  }
  return NULL;
}

static latenn_status* latenn_check_size(const char* what, const latenn_port* port, const latenn_tensor* tensor) {
  size_t count = 0;
  size_t bytes = 0;
  char given[LATENN_SHAPE_TEXT];
  int strings = tensor->type == LATENN_STRING;
  if (latenn_count_elements(tensor->rank, tensor->shape, &count) ||
      (!strings && latenn_count_bytes(tensor->type, count, &bytes)) || (strings && count == SIZE_MAX)) {
    return latenn_failure(LATENN_INVALID_ARGUMENT, "%s \"%s\": a %s tensor of shape %s does not fit in memory.", what,
                          port->name, latenn_type_name(tensor->type),
                          latenn_write_shape(given, tensor->rank, tensor->shape, NULL));
  }
  if (!strings && tensor->bytes != bytes) {
    return latenn_failure(LATENN_INVALID_ARGUMENT, "%s \"%s\": shape %s of %s is %zu bytes; %zu were given.", what,
                          port->name, latenn_write_shape(given, tensor->rank, tensor->shape, NULL),
                          latenn_type_name(tensor->type), bytes, tensor->bytes);
  }
  if (!tensor->data && tensor->bytes) {
    return latenn_failure(LATENN_INVALID_ARGUMENT, "%s \"%s\": data is NULL.", what, port->name);
  }
  return strings ? latenn_check_strings(what, port, tensor, count) : NULL;
}

latenn_status* latenn_check_tensor(const char* what, const latenn_port* port, const latenn_tensor* tensor) {
  if (tensor->type != port->type) {
    return latenn_failure(LATENN_INVALID_ARGUMENT, "%s \"%s\" takes %s; it was given %s.", what, port->name,
                          latenn_type_name(port->type), latenn_type_name(tensor->type));
  }
  latenn_status* status = latenn_check_shape(what, port, tensor);
  return status ? status : latenn_check_size(what, port, tensor);
}
