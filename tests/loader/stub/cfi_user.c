/* Calls functions of a stub by name, through pointers and through a table. */
#include <stdio.h>
#include <stdlib.h>

#include "many.h"

static int (*volatile pointer)(void) = many_status;
static const char* (*const table[])(void) = {many_version, many_why};

int main(int count, char** words) {
  int first = count > 1 ? atoi(words[1]) : 0;
  printf("%d %d", many_status(), pointer());
  for (int i = 0; i < 2; i++) printf(" %s", table[(first + i) % 2]());
  puts("");
  return 0;
}
