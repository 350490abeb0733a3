#include "wide.h"

const char* wide_version(void) {
  return "1.0.0";
}
double wide_sum(wide_four a, wide_four b, wide_four c, wide_four d, wide_four e, wide_four f, wide_four g, wide_four h,
                wide_four on_stack) {
  wide_four sum = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * on_stack;
  return sum[0] + 10 * sum[1] + 100 * sum[2] + 1000 * sum[3];
}
wide_four wide_scale(wide_four value, double factor) {
  return value * factor;
}
wide_pair wide_swap(wide_pair pair, wide_four added) {
  return (wide_pair){pair.right + added, pair.left - added};
}
double wide_more(wide_four first, int count, ...) {
  double sum = first[3];
  va_list list;
  va_start(list, count);
  for (int i = 0; i < count; i++) sum = 2 * sum + va_arg(list, double);
  va_end(list);
  return sum;
}
