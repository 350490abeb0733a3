/* A C library whose functions take and return vectors. */
#ifndef WIDE_H
#define WIDE_H
#include <stdarg.h>

typedef double wide_four __attribute__((vector_size(32)));
typedef struct wide_pair {
  wide_four left, right;
} wide_pair;

#define WIDE __attribute__((visibility("default"), target("avx")))
WIDE const char* wide_version(void);
WIDE double wide_sum(wide_four a, wide_four b, wide_four c, wide_four d, wide_four e, wide_four f, wide_four g,
                     wide_four h, wide_four on_stack);
WIDE wide_four wide_scale(wide_four value, double factor);
WIDE wide_pair wide_swap(wide_pair pair, wide_four added);
WIDE double wide_more(wide_four first, int count, ...);
#endif
