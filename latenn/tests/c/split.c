/* split.c: cuts texts of the operator into lines. Prints the lines of each, or that it was refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "customop.h"

#define REFUSED ((latenn_status*)(uintptr_t)1)

/* What settings.c calls besides. */
latenn_status* latenn_no_memory(void) {
  exit(71);
}
latenn_status* latenn_failure(latenn_code code, const char* format, ...) {
  (void)code, (void)format;
  return REFUSED;
}
latenn_status* customop_take(const lb_ort_api* api, OrtStatus* failed) {
  (void)api, (void)failed;
  return NULL;
}
latenn_status* customop_check_backend(const customop_text* text) {
  return (void)text, NULL;
}
latenn_status* customop_check_device(const customop_text* text) {
  return (void)text, NULL;
}
latenn_status* customop_check_lines(const customop_text* text) {
  return (void)text, NULL;
}
OrtStatus* lb_ort_missing(const lb_ort_api* api, lb_ort_function function) {
  (void)api, (void)function;
  return NULL;
}

/* A copy of exactly its size and a NUL, so that a sanitizer sees what is read or written beyond. */
static void split(const char* bytes, size_t size) {
  customop_text text = {malloc(size + 1), size};
  customop_lines lines = {NULL, 0};
  if (!text.bytes) exit(71);
  memcpy(text.bytes, bytes, size);
  text.bytes[size] = 0;
  if (customop_split(&text, &lines)) printf("refused");
  for (size_t i = 0; i < lines.count; i++) printf("[%s]", lines.list[i]);
  putchar('\n');
  free(lines.list);
  free(text.bytes);
}
#define SPLIT(text) split(text, sizeof(text) - 1)

int main(void) {
  customop_text none = {NULL, 0};
  customop_lines lines = {NULL, 1};
  if (customop_split(&none, &lines) || lines.count) puts("not empty");
  free(lines.list);
  SPLIT("");
  SPLIT("one");
  SPLIT("one\ntwo\n\nthree\n");
  SPLIT("a\0b\0c\0d\0e\0f\0g\0h\0i");
  SPLIT("one\ntwo\0");
  SPLIT("\0");
  return 0;
}
