/*
 * heads.c: prints what the loader's readers find in files. Its words: macho FILE, pe FILE, imports FILE, run-paths
 * FILE, cache FILE NAME (what an ld.so.cache has for a name), missing FILE FOLDER (what keeps a PE file from loading
 * when libraries are in that folder alone, and how many of them were opened to find out).
 */
#include <stdio.h>
#include <stdlib.h>
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

/* Gives the file to `use`; 0 when it cannot be opened. */
static int with_file(const char* path, void (*use)(void* context, const lb_file* file), void* context) {
  FILE* stream = port_open(path);
  if (!stream) return 0;
  if (fseek(stream, 0, SEEK_END)) exit(66);
  lb_file file = {(uint64_t)ftell(stream), read_bytes, (intptr_t)stream};
  use(context, &file);
  fclose(stream);
  return 1;
}

typedef struct folder {
  const char* path;
  int opened;
} folder;

static int find_in_folder(void* context, const char* name, void (*use)(void* imports, const lb_file* file),
                          void* imports) {
  char path[2048];
  folder* place = context;
  snprintf(path, sizeof path, "%s/%s", place->path, name);
  place->opened++;
  return with_file(path, use, imports);
}

static void print_cached(const lb_file* file, const char* name) {
  unsigned char* data = malloc((size_t)file->size + 1);
  if (!data || !lb_read_whole(file, data, (size_t)file->size, 0)) exit(70);
  lb_cache_find(data, (size_t)file->size, name, print_name, NULL);
  free(data);
}

static void answer(void* context, const lb_file* file) {
  char why[256] = "";
  char** words = context;
  if (strcmp(words[1], "imports") == 0) {
    lb_pe_imports(file, print_name, NULL);
  } else if (strcmp(words[1], "run-paths") == 0) {
    lb_macho_run_paths(file, print_name, NULL);
  } else if (strcmp(words[1], "cache") == 0) {
    print_cached(file, words[3]);
  } else if (strcmp(words[1], "missing") == 0) {
    folder place = {words[3], 0};
    lb_missing missing;
    lb_find_missing(file, find_in_folder, &place, &missing);
    printf("%d %s %s\n", place.opened, missing.name, missing.needer);
  } else {
    int is_pe = strcmp(words[1], "pe") == 0;
    int outcome = is_pe ? lb_pe_inspect(file, why, sizeof why) : lb_macho_inspect(file, why, sizeof why);
    printf("%d %s\n", outcome, why);
  }
}

int main(int count, char** arguments) {
  arguments = port_arguments(count, arguments);
  if (count < 3) return 64;
  if (count < 4 && (!strcmp(arguments[1], "cache") || !strcmp(arguments[1], "missing"))) return 64;
  return with_file(arguments[2], answer, arguments) ? 0 : 66;
}
