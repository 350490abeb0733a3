/* exchange.c: exchanges two names until it is killed. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char** names) {
  while (count == 3 && !syscall(SYS_renameat2, AT_FDCWD, names[1], AT_FDCWD, names[2], 2 /* RENAME_EXCHANGE */)) {
  }
  perror("exchange");
  return 1;
}
