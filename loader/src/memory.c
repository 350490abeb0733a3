/* memory.c: the loader's allocations, all through one place; must not be bypassed, or tests cannot make them fail. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#ifdef LB_TEST_ALLOCATIONS
/* A test program defines these and lets the n-th call fail. */
void* lb_test_realloc(void* memory, size_t size);
#define LB_REALLOC lb_test_realloc
#else
#define LB_REALLOC realloc
#endif

void* lb_allocate(size_t size) {
  void* memory = LB_REALLOC(NULL, size ? size : 1);
  if (memory) memset(memory, 0, size ? size : 1);
  return memory;
}

void* lb_resize(void* memory, size_t size) {
  return LB_REALLOC(memory, size ? size : 1);
}

void lb_free(void* memory) {
  free(memory);
}

char* lb_copy(const char* bytes, size_t count) {
  char* copy = lb_allocate(count + 1);
  if (copy) memcpy(copy, bytes, count);
  return copy;
}

char* lb_duplicate(const char* text) {
  return text ? lb_copy(text, strlen(text)) : NULL;
}
