/* dlpack.c: values to DLPack tensors and back, without a copy; must not need Python, nor its lock. */
#include "dlpack.h"

#include <stdlib.h>
#include <string.h>

#include "core.h"

enum { DLPACK_INT = 0, DLPACK_UINT = 1, DLPACK_FLOAT = 2, DLPACK_BFLOAT = 4, DLPACK_COMPLEX = 5, DLPACK_BOOL = 6 };
/* Since version 1.1. */
enum { DLPACK_E4M3FN = 10, DLPACK_E4M3FNUZ = 11, DLPACK_E5M2 = 12, DLPACK_E5M2FNUZ = 13 };

enum { DLPACK_NONE = 255 };

static const uint8_t latenn_codes[] = {
    [LATENN_UNDEFINED] = DLPACK_NONE,
    [LATENN_FLOAT32] = DLPACK_FLOAT,
    [LATENN_UINT8] = DLPACK_UINT,
    [LATENN_INT8] = DLPACK_INT,
    [LATENN_UINT16] = DLPACK_UINT,
    [LATENN_INT16] = DLPACK_INT,
    [LATENN_INT32] = DLPACK_INT,
    [LATENN_INT64] = DLPACK_INT,
    [LATENN_STRING] = DLPACK_NONE,
    [LATENN_BOOL] = DLPACK_BOOL,
    [LATENN_FLOAT16] = DLPACK_FLOAT,
    [LATENN_FLOAT64] = DLPACK_FLOAT,
    [LATENN_UINT32] = DLPACK_UINT,
    [LATENN_UINT64] = DLPACK_UINT,
    [LATENN_COMPLEX64] = DLPACK_COMPLEX,
    [LATENN_COMPLEX128] = DLPACK_COMPLEX,
    [LATENN_BFLOAT16] = DLPACK_BFLOAT,
    [LATENN_FLOAT8E4M3FN] = DLPACK_E4M3FN,
    [LATENN_FLOAT8E4M3FNUZ] = DLPACK_E4M3FNUZ,
    [LATENN_FLOAT8E5M2] = DLPACK_E5M2,
    [LATENN_FLOAT8E5M2FNUZ] = DLPACK_E5M2FNUZ,
    [LATENN_UINT4] = DLPACK_UINT,
    [LATENN_INT4] = DLPACK_INT,
};

enum { LATENN_TYPES = sizeof latenn_codes / sizeof *latenn_codes };

/* ---- out -------------------------------------------------------------------------------------------------------- */

/* One block: the struct, which is either of the two, then the shape, then the strides. */
typedef struct latenn_lent {
  union {
    dlpack_managed plain;
    dlpack_versioned versioned;
  } as;
  int64_t numbers[];
} latenn_lent;

static void latenn_delete_plain(dlpack_managed* self) {
  if (!self) return;
  latenn_value_release(self->context);
  free(self);
}

static void latenn_delete_versioned(dlpack_versioned* self) {
  if (!self) return;
  latenn_value_release(self->context);
  free(self);
}

/* The step from one row to the next. A tensor without elements may have dimensions whose product does not fit into
 * int64_t: what its strides are then does not matter, since they lead nowhere. */
static int64_t latenn_next_stride(int64_t stride, int64_t size) {
  return size > 0 && stride <= INT64_MAX / size ? stride * size : stride;
}

/* Strides are always written: some consumers refuse NULL, and DLPack has required them since 1.2. */
static void latenn_fill_dlpack(dlpack_tensor* out, const latenn_value* value, int64_t* numbers) {
  const latenn_tensor* tensor = &value->tensor;
  out->data = tensor->data;
  out->device = value->device;
  out->ndim = tensor->rank;
  out->type.code = latenn_codes[tensor->type];
  out->type.bits = (uint8_t)latenn_type_bits(tensor->type);
  out->type.lanes = 1;
  out->shape = numbers;
  out->strides = numbers + tensor->rank;
  int64_t stride = 1;
  for (int32_t i = tensor->rank; i-- > 0;) {
    out->shape[i] = tensor->shape[i];
    out->strides[i] = stride;
    stride = latenn_next_stride(stride, tensor->shape[i]);
  }
}

latenn_status* latenn_value_to_dlpack(latenn_value* value, int versioned, void** managed) {
  if (!value || !managed) {
    return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_value_to_dlpack: an argument is NULL.");
  }
  *managed = NULL;
  const latenn_tensor* tensor = &value->tensor;
  if (tensor->type <= 0 || tensor->type >= LATENN_TYPES || latenn_codes[tensor->type] == DLPACK_NONE) {
    return latenn_failure(LATENN_UNSUPPORTED, "DLPack has no type for %s.", latenn_type_name(tensor->type));
  }
  if (value->read_only && !versioned) {
    return latenn_failure(LATENN_UNSUPPORTED, "The tensor is read-only, which DLPack before 1.0 cannot say.");
  }
  latenn_lent* lent = calloc(1, sizeof *lent + 2 * (size_t)tensor->rank * sizeof(int64_t));
  if (!lent) return latenn_no_memory();
  latenn_fill_dlpack(versioned ? &lent->as.versioned.tensor : &lent->as.plain.tensor, value, lent->numbers);
  latenn_value_hold(value);
  if (versioned) {
    lent->as.versioned.major = DLPACK_MAJOR;
    lent->as.versioned.minor = DLPACK_MINOR;
    lent->as.versioned.context = value;
    lent->as.versioned.deleter = latenn_delete_versioned;
    lent->as.versioned.flags = value->read_only ? DLPACK_READ_ONLY : 0;
  } else {
    lent->as.plain.context = value;
    lent->as.plain.deleter = latenn_delete_plain;
  }
  *managed = lent;
  return NULL;
}

/* ---- in --------------------------------------------------------------------------------------------------------- */

static int32_t latenn_type_of_dlpack(dlpack_type type) {
  for (int32_t i = 1; i < LATENN_TYPES && type.lanes == 1; i++) {
    if (latenn_codes[i] == type.code && latenn_type_bits(i) == type.bits) return i;
  }
  return LATENN_UNDEFINED;
}

static int latenn_is_contiguous(const dlpack_tensor* tensor) {
  int64_t stride = 1;
  if (!tensor->strides) return 1;
  for (int32_t i = 0; i < tensor->ndim; i++) {
    if (tensor->shape[i] == 0) return 1; /* it has no elements */
  }
  for (int32_t i = tensor->ndim; i-- > 0;) {
    if (tensor->shape[i] != 1 && tensor->strides[i] != stride) return 0;
    stride = latenn_next_stride(stride, tensor->shape[i]);
  }
  return 1;
}

static latenn_status* latenn_read_dlpack(const dlpack_tensor* given, latenn_tensor* tensor) {
  size_t count = 0;
  int32_t type = latenn_type_of_dlpack(given->type);
  if (type == LATENN_UNDEFINED) {
    return latenn_failure(LATENN_INVALID_ARGUMENT,
                          "A DLPack tensor has elements of code %d with %d bits and %d lanes, "
                          "which are none of latenn's.",
                          given->type.code, given->type.bits, given->type.lanes);
  }
  if (given->ndim < 0 || (given->ndim && !given->shape) || latenn_count_elements(given->ndim, given->shape, &count) ||
      latenn_count_bytes(type, count, &tensor->bytes)) {
    return latenn_failure(LATENN_INVALID_ARGUMENT, "A DLPack tensor of %d dimensions has a shape that cannot be.",
                          (int)given->ndim);
  }
  if (!latenn_is_contiguous(given)) {
    return latenn_failure(LATENN_INVALID_ARGUMENT, "A DLPack tensor is not C-contiguous. Give a contiguous copy.");
  }
  tensor->type = type;
  tensor->rank = given->ndim;
  tensor->shape = given->shape;
  tensor->data = given->data ? (unsigned char*)given->data + given->byte_offset : NULL;
  return NULL;
}

static void latenn_return_plain(void* managed) {
  dlpack_managed* given = managed;
  if (given->deleter) given->deleter(given);
}

static void latenn_return_versioned(void* managed) {
  dlpack_versioned* given = managed;
  if (given->deleter) given->deleter(given);
}

latenn_status* latenn_value_from_dlpack(latenn_model* model, void* managed, int versioned, latenn_value** value) {
  if (!model || !managed || !value) {
    return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_value_from_dlpack: an argument is NULL.");
  }
  *value = NULL;
  const dlpack_versioned* newer = managed;
  const dlpack_managed* older = managed;
  if (versioned && newer->major != DLPACK_MAJOR) {
    return latenn_failure(LATENN_UNSUPPORTED, "A tensor is of DLPack %u; latenn knows version %d.",
                          (unsigned)newer->major, DLPACK_MAJOR);
  }
  latenn_tensor tensor = {0};
  const dlpack_tensor* given = versioned ? &newer->tensor : &older->tensor;
  latenn_status* status = latenn_read_dlpack(given, &tensor);
  if (status) return status;
  status = latenn_value_wrap(model, &tensor, given->device, versioned ? latenn_return_versioned : latenn_return_plain,
                             managed, value);
  if (!status) (*value)->read_only = !versioned || (newer->flags & DLPACK_READ_ONLY);
  return status;
}
