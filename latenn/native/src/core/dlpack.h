/* dlpack.h: DLPack's structs as its specification lays them out (version 1.1); nothing of latenn is in them. */
#ifndef LATENN_DLPACK_H
#define LATENN_DLPACK_H

#include <stdint.h>

#include "latenn.h"

/* The major version says whether the struct can be read at all; minor ones only add types and flags. */
enum { DLPACK_MAJOR = 1, DLPACK_MINOR = 1 };

#define DLPACK_READ_ONLY (UINT64_C(1) << 0)

typedef struct dlpack_type {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} dlpack_type;

typedef struct dlpack_tensor {
  void* data;
  latenn_device device; /* DLDevice has the same members */
  int32_t ndim;
  dlpack_type type;
  int64_t* shape;
  int64_t* strides; /* in elements; NULL is C-contiguous */
  uint64_t byte_offset;
} dlpack_tensor;

typedef struct dlpack_managed {
  dlpack_tensor tensor;
  void* context;
  void (*deleter)(struct dlpack_managed* self);
} dlpack_managed;

typedef struct dlpack_versioned {
  uint32_t major;
  uint32_t minor;
  void* context;
  void (*deleter)(struct dlpack_versioned* self);
  uint64_t flags;
  dlpack_tensor tensor;
} dlpack_versioned;

#endif
