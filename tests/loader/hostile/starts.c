/*
 * starts.c: starts a program as a user, again and again, and prints how often, and how often foreign code ran:
 * starts USER COUNT SECONDS PROGRAM ARGUMENT... It ends after COUNT starts, but not before SECONDS.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a program prints, cut off. Its end is awaited. */
static void start(unsigned user, char** command, char* printed, size_t size) {
  int pipes[2];
  size_t length = 0;
  if (pipe2(pipes, O_CLOEXEC)) exit(2);
  pid_t child = vfork();
  if (child == 0) {
    dup2(pipes[1], 1);
    if (setgroups(0, NULL) || setresgid(user, user, user) || setresuid(user, user, user)) _exit(3);
    execv(command[0], command);
    _exit(4);
  }
  close(pipes[1]);
  for (;;) {
    char rest[4096];
    int fits = length + 1 < size;
    ssize_t got = read(pipes[0], fits ? printed + length : rest, fits ? size - 1 - length : sizeof rest);
    if (got <= 0) break;
    if (fits) length += (size_t)got;
  }
  printed[length] = 0;
  close(pipes[0]);
  waitpid(child, NULL, 0);
}

int main(int count, char** arguments) {
  static char printed[1 << 16];
  long wanted = count > 4 ? atol(arguments[2]) : 0;
  time_t end = time(NULL) + (count > 4 ? atol(arguments[3]) : 0);
  long starts = 0;
  long foreign = 0;
  for (; starts < wanted || time(NULL) < end; starts++) {
    start((unsigned)atol(arguments[1]), arguments + 4, printed, sizeof printed);
    foreign += strstr(printed, "FOREIGN CODE RUNS") != NULL;
    if (!*printed) return puts("it printed nothing"), 1;
  }
  printf("%ld %ld\n", starts, foreign);
  return 0;
}
