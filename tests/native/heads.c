/* heads.c: prints what the loader's readers say of files: heads macho|pe FILE, or heads imports FILE. */
#include <stdio.h>
#include <string.h>

#include "file_head.h"
#include "port.h"

static size_t read_bytes(const lb_file* file, void* into, size_t size, uint64_t at) {
  FILE* stream = (FILE*)file->handle;
  if (at >= file->size || fseek(stream, (long)at, SEEK_SET)) return 0;
  return fread(into, 1, size, stream);
}

static int print_name(void* context, const char* name) {
  (void)context;
  puts(name);
  return 0;
}

int main(int count, char** arguments) {
  char why[256] = "";
  if (count != 3) return 64;
  arguments = port_arguments(count, arguments);
  FILE* stream = port_open(arguments[2]);
  if (!stream || fseek(stream, 0, SEEK_END)) return 66;
  lb_file file = {(uint64_t)ftell(stream), read_bytes, (intptr_t)stream};
  if (strcmp(arguments[1], "imports") == 0) {
    lb_pe_imports(&file, print_name, NULL);
  } else {
    int is_pe = strcmp(arguments[1], "pe") == 0;
    int outcome = is_pe ? lb_pe_inspect(&file, why, sizeof why) : lb_macho_inspect(&file, why, sizeof why);
    printf("%d %s\n", outcome, why);
  }
  fclose(stream);
  return 0;
}
