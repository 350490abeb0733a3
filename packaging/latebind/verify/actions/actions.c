/* actions.c: what a scenario asks of a process, before and around the main() of a project's program.
 *
 *     consumer --preload FILE CASES RESULT ...         loads that library first
 *     consumer --beside LIBRARY FILE CASES RESULT ...  lets it compute with a runtime before and after main()
 *     consumer --threads N CASES RESULT ...            calls the program's main() in N threads at once
 *     consumer --fork CASES RESULT ...                 calls it, forks, and calls it in both processes
 *
 * Where main() is called several times, the first run has the given RESULT, and the others that with their number:
 * RESULT.1. Exit status: the highest of all runs; 9 where an action fails. It is C and C++.
 */
#define _GNU_SOURCE
#undef main
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

int latebind_consumer_main(int count, char** words);

enum { FAILED = 9, MOST_RUNS = 64, MOST_WORDS = 64, LONGEST = 4096 };

typedef struct run {
  int number;
  int count;
  int status;
  char result[LONGEST];
  char* words[MOST_WORDS + 1];
} run;

static run runs[MOST_RUNS];

static run* prepare(int number, int count, char** words) {
  run* one = &runs[number];
  one->number = number;
  one->count = count;
  memcpy(one->words, words, (size_t)count * sizeof *words);
  if (number && snprintf(one->result, LONGEST, "%s.%d", words[2], number) < LONGEST) one->words[2] = one->result;
  return one;
}

static int start(run* one) {
  one->status = latebind_consumer_main(one->count, one->words);
  return one->status;
}

/* ---- what systems do differently: all threads wait at a gate, so that they only race for the first call ---------- */

#ifdef _WIN32
static SRWLOCK gate = SRWLOCK_INIT;

static DWORD WINAPI start_thread(LPVOID one) {
  AcquireSRWLockShared(&gate);
  ReleaseSRWLockShared(&gate);
  start((run*)one);
  return 0;
}

static int run_threads(int number) {
  HANDLE threads[MOST_RUNS];
  int made = 0;
  AcquireSRWLockExclusive(&gate);
  while (made < number && (threads[made] = CreateThread(NULL, 0, start_thread, &runs[made], 0, NULL)) != NULL) made++;
  ReleaseSRWLockExclusive(&gate);
  for (int i = 0; i < made; i++) WaitForSingleObject(threads[i], INFINITE);
  return made == number;
}

static int run_forked(void) {
  return 0;
}

static void* load(const char* path) {
  return (void*)LoadLibraryA(path);
}

static void* find(void* library, const char* name) {
  return (void*)GetProcAddress((HMODULE)library, name);
}
#else
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void* start_thread(void* one) {
  pthread_mutex_lock(&gate);
  pthread_mutex_unlock(&gate);
  start((run*)one);
  return NULL;
}

static int run_threads(int number) {
  pthread_t threads[MOST_RUNS];
  pthread_attr_t attributes;
  int made = 0;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1 << 20); /* musl's own is 128 KiB */
  pthread_mutex_lock(&gate);
  while (made < number && pthread_create(&threads[made], &attributes, start_thread, &runs[made]) == 0) made++;
  pthread_mutex_unlock(&gate);
  for (int i = 0; i < made; i++) pthread_join(threads[i], NULL);
  return made == number;
}

static int run_forked(void) {
  int ended = 0;
  start(&runs[0]);
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) return 0;
  if (child == 0) {
    int status = start(&runs[1]);
    fflush(NULL);
    _exit(status);
  }
  start(&runs[2]);
  if (waitpid(child, &ended, 0) != child) return 0;
  runs[1].status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
  return 1;
}

static void* load(const char* path) {
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void* find(void* library, const char* name) {
  return dlsym(library, name);
}
#endif

/* ---- actions ----------------------------------------------------------------------------------------------------- */

static int fail(const char* action) {
  fprintf(stderr, "latebind's %s failed\n", action);
  return FAILED;
}

static int run_several(const char* action, int number, int count, char** words) {
  int highest = 0;
  if (number < 1 || number > MOST_RUNS || count > MOST_WORDS) return fail(action);
  for (int i = 0; i < number; i++) prepare(i, count, words);
  if (!(strcmp(action, "--fork") == 0 ? run_forked() : run_threads(number))) return fail(action);
  for (int i = 0; i < number; i++) highest = runs[i].status > highest ? runs[i].status : highest;
  return highest;
}

static int run_beside(const char* library, const char* file, int count, char** words) {
  union { /* ISO C converts no pointer to a function */
    void* address;
    int (*check)(const char* file);
  } beside;
  void* handle = load(library);
  beside.address = handle ? find(handle, "beside_check") : NULL;
  if (!beside.address || beside.check(file)) return fail("--beside before main()");
  int status = latebind_consumer_main(count, words);
  return beside.check(file) ? fail("--beside after main()") : status;
}

int main(int count, char** words) {
  static const struct {
    const char* name;
    int words;
  } actions[] = {{"--fork", 1}, {"--threads", 2}, {"--preload", 2}, {"--beside", 3}};
  const char* action = count > 1 ? words[1] : "";
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
    int taken = actions[i].words, left = count - taken;
    if (strcmp(action, actions[i].name) != 0 || left < 3) continue;
    char** rest = words + taken;
    const char* value = words[2];
    const char* file = words[taken];
    rest[0] = words[0];
    if (taken == 3) return run_beside(value, file, left, rest);
    if (strcmp(action, "--preload") == 0) return load(value) ? latebind_consumer_main(left, rest) : fail(action);
    return run_several(action, taken == 1 ? 3 : atoi(value), left, rest);
  }
  return latebind_consumer_main(count, words);
}
