/* wide_user FUNCTION: calls one function first, by name or through a pointer, and prints what it gives. */
#include <stdio.h>
#include <string.h>

#include "wide.h"

__attribute__((target("avx"))) static int is_right(const char* name) {
  wide_four a = {1, 2, 3, 4};
  wide_four b = {5, 6, 7, 8};
  if (strcmp(name, "sum") == 0) return wide_sum(a, b, a, b, a, b, a, b, a) == 283325;
  if (strcmp(name, "scale") == 0) {
    wide_four made = wide_scale(a, 3);
    return made[0] == 3 && made[1] == 6 && made[2] == 9 && made[3] == 12;
  }
  if (strcmp(name, "swap") == 0) {
    wide_pair made = wide_swap((wide_pair){a, b}, a);
    return made.left[0] == 6 && made.left[3] == 12 && made.right[0] == 0 && made.right[3] == 0;
  }
  double (*volatile more)(wide_four, int, ...) = wide_more;
  return more(a, 9, 1., 2., 3., 4., 5., 6., 7., 8., 9.) == 3061;
}

int main(int count, char** words) {
  return puts(count == 2 && is_right(words[1]) ? "right" : "wrong") < 0;
}
