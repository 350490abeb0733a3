/* plugin.c: a library whose initializer calls the stub of the program, or forks, while the system's loader has its
 * lock. */
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef FORKS
__attribute__((constructor)) static void start(void) {
  pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
}
#else
int call_the_stub(void);
__attribute__((constructor)) static void start(void) {
  call_the_stub();
}
#endif
