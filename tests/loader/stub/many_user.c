/* Calls every function of many.h. With "stops", calls last what ends the program. */
#include <stdio.h>

#include "latebind/stub.h"
#include "many.h"

LB_DECLARE_STUB(many);

static int wrong(void) {
  char text[64];
  many_large large = {{1, 2, 3, 4, 50}};
  for (int round = 0; round < 2; ++round) { /* a trampoline, then the table */
    if (many_integers(1, 2, 3, 4, 5, 6, 7, 8, 9, 1) != 1000000000LL + 987654321) return 1;
    if (many_reals(1, 1, 1, 1, 1, 1, 1, 1, 1, 1) < 54.9) return 2;
    many_large given = many_returns(7, 8.5, large);
    if (given.values[0] != 7 || given.values[1] != 8 || given.values[2] != 1 || given.values[3] != 50) return 3;
    if (many_prints(text, sizeof text, "%d %.1f %s %d %d %d", 1, 2.5, "x", 4, 5, 6) != 13) return 4;
  }
  return 0;
}

int main(int count, char** words) {
  int status = many_status();
  printf("status %d: %s\n", status, many_why());
  if (status == 0) printf("wrong %d\n", wrong());
  printf("new %d\n", many_new());
  const char* message = lb_many_message();
  many_newer();
  many_new();
  if (message != lb_many_message()) puts("each failure makes a new text");
  printf("available %d %d\n", lb_many_available(NULL), lb_many_available("many_newer"));
  printf("%s\n", lb_many_message());
  fflush(stdout);
  return count > 1 && words[1][0] ? many_new_stops() : 0;
}
