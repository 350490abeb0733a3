/* names.c: what a file calls its inputs and outputs: names FILE, or names FILE SCRATCH ROUNDS for damaged copies. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx.h"
#include "port.h"

static size_t letters;

static void print(void* context, int is_input, const char* name) {
  (void)context;
  printf("%s %s\n", is_input ? "input" : "output", name);
}

static void count(void* context, int is_input, const char* name) {
  (void)context;
  (void)is_input;
  letters += strlen(name);
}

static unsigned char* read_all(const char* path, size_t* size) {
  FILE* stream = port_open(path);
  if (!stream || fseek(stream, 0, SEEK_END)) exit(66);
  *size = (size_t)ftell(stream);
  rewind(stream);
  unsigned char* bytes = malloc(*size + 1);
  if (!bytes || fread(bytes, 1, *size, stream) != *size) exit(66);
  fclose(stream);
  return bytes;
}

static uint32_t next(uint32_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}

/* A copy of exactly its size, so that a sanitizer sees anyone who reads on. */
static void damage(const unsigned char* good, size_t size, uint32_t* state, const char* scratch) {
  size_t kept = next(state) % 4 ? size : 1 + next(state) % size;
  unsigned char* bytes = malloc(kept);
  if (!bytes) exit(71);
  memcpy(bytes, good, kept);
  for (uint32_t left = next(state) % 5; left; left--) {
    bytes[next(state) % kept] = next(state) % 2 ? 0xFF : (unsigned char)next(state);
  }
  onnx_names(NULL, bytes, kept, count, NULL);
  if (next(state) % 64 == 0) {
    FILE* stream = fopen(scratch, "wb");
    if (!stream || fwrite(bytes, 1, kept, stream) != kept || fclose(stream)) exit(73);
    onnx_names(scratch, NULL, 0, count, NULL);
  }
  free(bytes);
}

int main(int argument_count, char** arguments) {
  size_t size = 0;
  arguments = port_arguments(argument_count, arguments);
  if (argument_count != 2 && argument_count != 4) return 64;
  unsigned char* bytes = read_all(arguments[1], &size);
  uint32_t state = 1;
  if (argument_count == 2) {
    onnx_names(NULL, bytes, size, print, NULL);
    onnx_names(arguments[1], NULL, 0, print, NULL);
  } else {
    for (long left = atol(arguments[3]); left > 0 && size; left--) damage(bytes, size, &state, arguments[2]);
    printf("%zu letters\n", letters);
  }
  free(bytes);
  return 0;
}
