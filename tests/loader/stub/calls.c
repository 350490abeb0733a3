/* Every kind of argument and result goes through a trampoline unharmed. Prints the names of those that do not. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trampolines.h"

typedef struct large {
  long long values[5];
} large;
typedef struct pair {
  double left, right;
} pair;
typedef struct mixed {
  long long number;
  float real;
} mixed;

static long long integers(int a, long long b, short c, unsigned char d, long e, int f, long long g, int h, int i,
                          int j) {
  return a + 10 * b + 100 * c + 1000 * d + 10000LL * e + 100000LL * f + 1000000 * g + 10000000LL * h + 100000000LL * i +
         1000000000LL * j;
}
static double reals(double a, float b, double c, float d, double e, double f, double g, double h, double i, float j) {
  return a + b / 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8 + i * 9 + (double)j * 10;
}
static double both(int a, double b, const char* c, float d, long long e, double f, int g, double h, int i, double j) {
  return a + b + c[0] + (double)d + (double)e + f + g + h + i + j;
}
static large returns_large(int a, double b, large c) {
  large result = {{a, (long long)b, c.values[0], c.values[4], 5}};
  return result;
}
static pair returns_pair(pair a, double b) {
  pair result = {a.right + b, a.left - b};
  return result;
}
static mixed returns_mixed(mixed a, int b) {
  mixed result = {a.number * b, a.real / 2};
  return result;
}
static int prints(char* text, size_t size, const char* format, ...) {
  va_list list;
  va_start(list, format);
  int length = vsnprintf(text, size, format, list);
  va_end(list);
  return length;
}

static const struct {
  const char* name;
  lb_function target;
} targets[] = {{"integers", (lb_function)integers},
               {"reals", (lb_function)reals},
               {"both", (lb_function)both},
               {"returns_large", (lb_function)returns_large},
               {"returns_pair", (lb_function)returns_pair},
               {"returns_mixed", (lb_function)returns_mixed},
               {"prints", (lb_function)prints}};

static double scratch(double a, double b, double c, double d, double e, double f, double g, double h, int i) {
  return i ? scratch(b, c, d, e, f, g, h, a, i - 1) + a : a;
}

/* Jumps go through these; none is called here. */
void* volatile lb_entries[LB_TRAMPOLINE_COUNT];

/* What a search for a runtime does to registers, at least: calls, with vectors and strings. */
lb_function lb_trampoline_target(size_t number, uintptr_t* first) {
  char text[256];
  memset(text, (int)number, sizeof text);
  if (scratch(1, 2, 3, 4, 5, 6, 7, 8, (unsigned char)text[7] % 13 + 3) < 0) *first = 0;
  return targets[number % (sizeof targets / sizeof *targets)].target;
}

#define CHECK(condition)                                    \
  do {                                                      \
    if (!(condition)) ++failed, printf("%s\n", #condition); \
  } while (0)

int main(void) {
  int failed = 0;
  char text[64];
  char direct[64];
  large given = {{7, 8, 9, 10, 11}};
  for (size_t number = 0; number + 7 <= LB_TRAMPOLINE_COUNT; number += 7) {
    long long (*f)(int, long long, short, unsigned char, long, int, long long, int, int, int) = NULL;
    f = (long long (*)(int, long long, short, unsigned char, long, int, long long, int, int, int))lb_trampoline(number);
    CHECK(f(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) == integers(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    double (*g)(double, float, double, float, double, double, double, double, double, float) = NULL;
    g = (double (*)(double, float, double, float, double, double, double, double, double, float))lb_trampoline(number +
                                                                                                               1);
    CHECK(g(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) == reals(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    double (*h)(int, double, const char*, float, long long, double, int, double, int, double) = NULL;
    h = (double (*)(int, double, const char*, float, long long, double, int, double, int, double))lb_trampoline(number +
                                                                                                                2);
    CHECK(h(1, .5, "x", .25F, 1LL << 40, 6, 7, 8, 9, 10) == both(1, .5, "x", .25F, 1LL << 40, 6, 7, 8, 9, 10));
    large big = ((large(*)(int, double, large))lb_trampoline(number + 3))(1, 2, given);
    large expected = returns_large(1, 2, given);
    CHECK(memcmp(&big, &expected, sizeof big) == 0);
    pair two = ((pair(*)(pair, double))lb_trampoline(number + 4))((pair){1, 2}, 3);
    CHECK(two.left == 5 && two.right == -2);
    mixed odd = ((mixed(*)(mixed, int))lb_trampoline(number + 5))((mixed){21, 3}, 2);
    CHECK(odd.number == 42 && odd.real == 1.5F);
    int (*v)(char*, size_t, const char*, ...) = (int (*)(char*, size_t, const char*, ...))lb_trampoline(number + 6);
    CHECK(v(text, sizeof text, "%d %s %.2f %lld %.1f %d", 1, "two", 3.25, 1LL << 40, 5.5, 6) ==
          prints(direct, sizeof direct, "%d %s %.2f %lld %.1f %d", 1, "two", 3.25, 1LL << 40, 5.5, 6));
    CHECK(strcmp(text, direct) == 0);
  }
  if (!failed) puts("right");
  return failed != 0;
}
