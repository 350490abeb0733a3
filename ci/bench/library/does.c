/*
 * does WHAT: one thing that programs do with a linked library, for the table of ci/bench/library.py. Prints "yes" or
 * "no"; without WHAT, the library's version.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

static void* first_call(void* same) {
  return same && strcmp(zlibVersion(), ZLIB_VERSION) == 0 ? same : NULL;
}

static int from_threads(void) {
  pthread_t threads[8];
  for (int at = 0; at < 8; ++at) pthread_create(&threads[at], NULL, first_call, threads);
  int right = 0;
  for (int at = 0; at < 8; ++at) {
    void* same = NULL;
    pthread_join(threads[at], &same);
    right += same == threads;
  }
  return right == 8;
}

static int by_pointer(void) {
  uLong (*sum)(uLong, const Bytef*, uInt) = crc32;
  return sum(0, (const Bytef*)"123456789", 9) == 0xCBF43926u;
}

int main(int count, char** values) {
  if (count < 2) return puts(zlibVersion()) < 0;
  const char* what = values[1];
  int right = 0;
  if (strcmp(what, "threads") == 0) right = from_threads();
  if (strcmp(what, "pointer") == 0) right = by_pointer();
  /* without the library: a status that the program can act on */
  if (strcmp(what, "missing") == 0) right = compressBound(100) == 0;
  puts(right ? "yes" : "no");
  return !right;
}
