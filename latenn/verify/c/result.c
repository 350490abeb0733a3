/* Collects what happened and writes it as JSON. */
#include <stdlib.h>
#include <string.h>

#include "consumer.h"

static void put_text(FILE* out, const char* text) {
  fputc('"', out);
  for (const unsigned char* c = (const unsigned char*)text; *c; c++) {
    if (*c == '"' || *c == '\\')
      fprintf(out, "\\%c", *c);
    else if (*c < ' ')
      fprintf(out, "\\u%04x", *c);
    else
      fputc(*c, out);
  }
  fputc('"', out);
}

bool result_open(result* out) {
  memset(out, 0, sizeof *out);
  out->passed = tmpfile();
  out->failed = tmpfile();
  out->skipped = tmpfile();
  return out->passed && out->failed && out->skipped;
}

void result_passed(result* out, const char* name) {
  if (out->passes++) fputc(',', out->passed);
  put_text(out->passed, name);
}

void result_failed(result* out, const char* name, const char* message) {
  fputs(out->failures++ ? ",{\"name\":" : "{\"name\":", out->failed);
  put_text(out->failed, name);
  fputs(",\"message\":", out->failed);
  put_text(out->failed, message);
  fputc('}', out->failed);
}

void result_skipped(result* out, const char* name, const char* why) {
  if (out->skips++) fputc(',', out->skipped);
  put_text(out->skipped, name);
  fputc(':', out->skipped);
  put_text(out->skipped, why);
}

void result_report(result* out, const char* report) {
  free(out->report);
  out->report = report && *report ? strdup(report) : NULL;
}

static void put_file(FILE* out, FILE* part) {
  char block[4096];
  rewind(part);
  for (size_t got; (got = fread(block, 1, sizeof block, part)) > 0;) fwrite(block, 1, got, out);
  fclose(part);
}

/* Whether the file of a mapping is one of the packages' or the runtime's libraries. */
static bool is_ours(const char* path) {
  const char* name = strrchr(path, '/') + 1;
  return (strstr(name, "latenn") || strstr(name, "onnxruntime")) && strstr(name, ".so");
}

/* The libraries in this process, each once: mappings of one file follow each other. */
static void put_libraries(FILE* out) {
  char line[4096], last[4096] = "";
  bool first = true;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    char* path = strchr(line, '/');
    if (!path) continue;
    path[strcspn(path, "\n")] = 0;
    if (!is_ours(path) || strcmp(path, last) == 0) continue;
    if (!first) fputc(',', out);
    put_text(out, path);
    strcpy(last, path);
    first = false;
  }
  if (maps) fclose(maps);
}

bool result_write(result* out, const char* path, const char* error) {
  FILE* file = fopen(path, "w");
  if (!file) return false;
  fprintf(file, "{\"report\":%s,\"backend\":\"\",\"passed\":[", out->report ? out->report : "null");
  put_file(file, out->passed);
  fputs("],\"failed\":[", file);
  put_file(file, out->failed);
  fputs("],\"out_of_scope\":{", file);
  put_file(file, out->skipped);
  fputs("},\"libraries\":[", file);
  put_libraries(file);
  fputs("]", file);
  if (error) {
    fputs(",\"error\":{\"message\":", file);
    put_text(file, error);
    fputs("}", file);
  }
  fputs("}\n", file);
  free(out->report);
  return fclose(file) == 0;
}
