/* type.c: element types, their names and sizes; must not overflow, whatever shape it is given. */
#include "core.h"

typedef struct latenn_type_row {
  const char* name;
  uint8_t bits;
} latenn_type_row;

static const latenn_type_row latenn_types[] = {
    [LATENN_UNDEFINED] = {"unknown", 0},
    [LATENN_FLOAT32] = {"float32", 32},
    [LATENN_UINT8] = {"uint8", 8},
    [LATENN_INT8] = {"int8", 8},
    [LATENN_UINT16] = {"uint16", 16},
    [LATENN_INT16] = {"int16", 16},
    [LATENN_INT32] = {"int32", 32},
    [LATENN_INT64] = {"int64", 64},
    [LATENN_STRING] = {"string", 0},
    [LATENN_BOOL] = {"bool", 8},
    [LATENN_FLOAT16] = {"float16", 16},
    [LATENN_FLOAT64] = {"float64", 64},
    [LATENN_UINT32] = {"uint32", 32},
    [LATENN_UINT64] = {"uint64", 64},
    [LATENN_COMPLEX64] = {"complex64", 64},
    [LATENN_COMPLEX128] = {"complex128", 128},
    [LATENN_BFLOAT16] = {"bfloat16", 16},
    [LATENN_FLOAT8E4M3FN] = {"float8e4m3fn", 8},
    [LATENN_FLOAT8E4M3FNUZ] = {"float8e4m3fnuz", 8},
    [LATENN_FLOAT8E5M2] = {"float8e5m2", 8},
    [LATENN_FLOAT8E5M2FNUZ] = {"float8e5m2fnuz", 8},
    [LATENN_UINT4] = {"uint4", 4},
    [LATENN_INT4] = {"int4", 4},
};

static const latenn_type_row* latenn_type_of(int32_t type) {
  int known = type >= 0 && type < (int32_t)(sizeof latenn_types / sizeof *latenn_types);
  return &latenn_types[known ? type : LATENN_UNDEFINED];
}

const char* latenn_type_name(int32_t type) {
  return latenn_type_of(type)->name;
}

size_t latenn_type_bits(int32_t type) {
  return latenn_type_of(type)->bits;
}

int latenn_count_elements(int32_t rank, const int64_t* shape, size_t* count) {
  size_t product = 1;
  int empty = 0;
  for (int32_t i = 0; i < rank; i++) {
    if (shape[i] < 0) return 1;
    if (shape[i] == 0) empty = 1;
  }
  for (int32_t i = 0; i < rank && !empty; i++) {
    if ((uint64_t)shape[i] > SIZE_MAX / product) return 1;
    product *= (size_t)shape[i];
  }
  *count = empty ? 0 : product;
  return 0;
}

int latenn_count_bytes(int32_t type, size_t count, size_t* bytes) {
  size_t bits = latenn_type_bits(type);
  if (!bits) return 1;
  if (bits < 8) {
    size_t per_byte = 8 / bits;
    *bytes = count / per_byte + (count % per_byte != 0);
    return 0;
  }
  if (count > SIZE_MAX / (bits / 8)) return 1;
  *bytes = count * (bits / 8);
  return 0;
}
