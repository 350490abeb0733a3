/* Collects what happened and writes it as JSON. */
#include <stdlib.h>
#include <string.h>

#include "consumer.h"

/* Adds bytes to a text; what there is no memory for is left out, and the text says so by `lost`. */
static void add_bytes(text* out, const char* more, size_t length) {
  if (out->length + length >= out->room) {
    size_t room = 2 * (out->length + length) + 4096;
    char* larger = realloc(out->start, room);
    if (!larger) {
      out->lost = true;
      return;
    }
    out->start = larger;
    out->room = room;
  }
  memcpy(out->start + out->length, more, length);
  out->length += length;
  out->start[out->length] = 0;
}

static void add(text* out, const char* more) {
  add_bytes(out, more, strlen(more));
}

static bool is_plain(char c) {
  return (unsigned char)c >= ' ' && c != '"' && c != '\\';
}

/* Adds a text as a string of JSON. */
static void add_string(text* out, const char* string) {
  add(out, "\"");
  for (const char* c = string; *c; c++) {
    const char* start = c;
    while (is_plain(*c)) c++;
    add_bytes(out, start, (size_t)(c - start));
    if (!*c) break;
    char escaped[8];
    snprintf(escaped, sizeof escaped, (unsigned char)*c < ' ' ? "\\u%04x" : "\\%c", (unsigned char)*c);
    add(out, escaped);
  }
  add(out, "\"");
}

void result_open(result* out) {
  memset(out, 0, sizeof *out);
}

void result_passed(result* out, const char* name) {
  if (out->passes++) add(&out->passed, ",");
  add_string(&out->passed, name);
}

void result_failed(result* out, const char* name, const char* message) {
  add(&out->failed, out->failures++ ? ",{\"name\":" : "{\"name\":");
  add_string(&out->failed, name);
  add(&out->failed, ",\"message\":");
  add_string(&out->failed, message);
  add(&out->failed, "}");
}

void result_skipped(result* out, const char* name, const char* why) {
  if (out->skips++) add(&out->skipped, ",");
  add_string(&out->skipped, name);
  add(&out->skipped, ":");
  add_string(&out->skipped, why);
}

void result_report(result* out, const char* report) {
  free(out->report);
  out->report = report && *report ? strdup(report) : NULL;
}

/* Whether the file of a mapping is one of the packages' or the runtime's libraries. */
static bool is_ours(const char* path) {
  const char* name = strrchr(path, '/') + 1;
  return (strstr(name, "latenn") || strstr(name, "onnxruntime")) && strstr(name, ".so");
}

/* The libraries in this process, each once: mappings of one file follow each other. */
static void add_libraries(text* out) {
  char line[4096], last[4096] = "";
  bool first = true;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    char* path = strchr(line, '/');
    if (!path) continue;
    path[strcspn(path, "\n")] = 0;
    if (!is_ours(path) || strcmp(path, last) == 0) continue;
    if (!first) add(out, ",");
    add_string(out, path);
    strcpy(last, path);
    first = false;
  }
  if (maps) fclose(maps);
}

static void add_part(text* out, const char* before, text* part) {
  add(out, before);
  add(out, part->start ? part->start : "");
  out->lost |= part->lost;
  free(part->start);
}

bool result_write(result* out, const char* path, const char* error) {
  text all = {0};
  add(&all, "{\"report\":");
  add(&all, out->report ? out->report : "null");
  add_part(&all, ",\"backend\":\"\",\"passed\":[", &out->passed);
  add_part(&all, "],\"failed\":[", &out->failed);
  add_part(&all, "],\"out_of_scope\":{", &out->skipped);
  add(&all, "},\"libraries\":[");
  add_libraries(&all);
  add(&all, "]");
  if (error) {
    add(&all, ",\"error\":{\"message\":");
    add_string(&all, error);
    add(&all, "}");
  }
  add(&all, "}\n");
  free(out->report);
  FILE* file = all.lost ? NULL : fopen(path, "wb");
  bool is_written = file && fwrite(all.start, 1, all.length, file) == all.length;
  free(all.start);
  return file && fclose(file) == 0 && is_written;
}
