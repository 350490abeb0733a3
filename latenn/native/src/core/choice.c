/* choice.c: which of several backends a model is for, and what belongs to that one; must not open anything itself. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

enum { LATENN_WORD_MAX = 64 };

/* The next word of a list that commas divide; 0 when there is none. A word that is too long is cut, and so refused. */
static int latenn_next(const char** list, char* word) {
  size_t length = strcspn(*list, ",");
  if (!length && !(*list)[length]) return 0;
  size_t kept = length < LATENN_WORD_MAX ? length : LATENN_WORD_MAX;
  memcpy(word, *list, kept);
  word[kept] = 0;
  *list += length + ((*list)[length] == ',');
  return 1;
}

static int latenn_reads(const latenn_backend* backend, const latenn_encoding* encoding) {
  for (const char* const* known = backend->encodings; known && *known; known++) {
    if (!encoding || strcmp(*known, encoding->name) == 0) return 1;
  }
  return 0;
}

static int latenn_lists(const char* names, const char* wanted) {
  char word[LATENN_WORD_MAX + 1];
  while (latenn_next(&names, word)) {
    if (strcmp(word, wanted) == 0) return 1;
  }
  return 0;
}

latenn_status* latenn_choose(const latenn_load_options* options, const char* names, const latenn_encoding* encoding,
                             latenn_open_one open, latenn_backend* backend) {
  static const char origin[] = "the option \"backend\"";
  char word[LATENN_WORD_MAX + 1];
  latenn_status* first = NULL; /* the first failure, reported when nothing else serves */
  const char* suggested = encoding ? encoding->backend : "onnxruntime";
  if (latenn_lists(names, suggested)) return open(options, suggested, origin, backend);
  for (const char* rest = names; latenn_next(&rest, word);) {
    latenn_status* status = open(options, word, origin, backend);
    if (!status && latenn_reads(backend, encoding)) {
      latenn_status_release(first);
      return NULL;
    }
    memset(backend, 0, sizeof *backend);
    if (first) latenn_status_release(status);
    first = first ? first : status;
  }
  if (first) return first;
  /* None of them reads it: what is missing is the one that the encoding suggests. */
  return open(options, suggested, origin, backend);
}

const char* latenn_advice_of(const char* advice, const char* backend, char** copy) {
  size_t length = strlen(backend);
  *copy = NULL;
  if (!advice || !strchr(advice, '\n')) return advice;
  for (const char* line = advice; *line;) {
    size_t size = strcspn(line, "\n");
    if (size > length + 2 && strncmp(line, backend, length) == 0 && strncmp(line + length, ": ", 2) == 0) {
      size -= length + 2;
      *copy = malloc(size + 1);
      if (!*copy) return NULL;
      memcpy(*copy, line + length + 2, size);
      (*copy)[size] = 0;
      return *copy;
    }
    line += size + (line[size] == '\n');
  }
  return NULL;
}
