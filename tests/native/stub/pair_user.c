#include <stdio.h>

#include "latebind/stub.h"

LB_DECLARE_STUB(pair);

int pair_status(void);

int main(void) {
  printf("%d %s\n", pair_status(), lb_pair_version());
  printf("%s%s\n", lb_pair_file(), lb_pair_message());
  return 0;
}
