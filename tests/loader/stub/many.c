#define MANY_EXPORTS
#include "many.h"

#include <stdarg.h>
#include <stdio.h>

int many_number = 3;

const char* many_version(void) {
#ifdef NEWER
  return "1.1.0";
#else
  return "1.0.1";
#endif
}
long long many_integers(int a, long long b, short c, unsigned char d, long long e, int f, long long g, int h, int i,
                        int j) {
  return a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000LL * f + 1000000 * g + 10000000LL * h + 100000000LL * i +
         1000000000LL * j;
}
double many_reals(double a, float b, double c, float d, double e, float f, double g, float h, double i, float j) {
  return a + (double)b * 2 + c * 3 + (double)d * 4 + e * 5 + (double)f * 6 + g * 7 + (double)h * 8 + i * 9 +
         (double)j * 10;
}
many_large many_returns(int a, double b, many_large c) {
  many_large result = {{a, (long long)b, c.values[0], c.values[4], 5}};
  return result;
}
int many_prints(char* text, size_t size, const char* format, ...) {
  va_list list;
  va_start(list, format);
  int length = vsnprintf(text, size, format, list);
  va_end(list);
  return length;
}
int many_status(void) {
  return 0;
}
const char* many_why(void) {
  return "fine";
}
#ifdef NEWER
int many_newer(void) {
  return 0;
}
int many_new(void) {
  return 0;
}
int many_new_stops(void) {
  return 0;
}
#endif
