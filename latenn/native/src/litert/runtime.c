/* runtime.c: binds LiteRT and puts its statuses into words; must not know about models. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "latebind/litert.h"
#include "litert.h"

static lb_binding litert_binding = LB_BINDING_INIT;

static const backend_symbol litert_symbols[] = {
#define LITERT_SYMBOL(result, name, parameters) {"LiteRt" #name, offsetof(litert_api, name)},
    LITERT_FUNCTIONS(LITERT_SYMBOL)
#undef LITERT_SYMBOL
};

typedef struct litert_word {
  LiteRtStatus status;
  const char* text;
} litert_word;

static const litert_word litert_words[] = {
    {LITERT_INVALID_ARGUMENT, "invalid argument"},
    {LITERT_NO_MEMORY, "out of memory"},
    {3, "runtime failure"},
    {4, "an input is missing"},
    {LITERT_UNSUPPORTED, "unsupported"},
    {6, "not found"},
    {8, "wrong version"},
    {LITERT_FILE_IO, "the file cannot be read"},
    {501, "not a valid flatbuffer"},
    {502, "a library of its own cannot be loaded"},
    {503, "broken serialization"},
    {504, "compilation failed"},
    {1000, "index out of bounds"},
    {1001, "invalid type"},
    {1002, "invalid graph"},
    {5001, "shape inference failed"},
};

static const char* litert_word_of(LiteRtStatus status, char* text, size_t size) {
  for (size_t i = 0; i < sizeof litert_words / sizeof *litert_words; i++) {
    if (litert_words[i].status == status) return litert_words[i].text;
  }
  snprintf(text, size, "status %d", status);
  return text;
}

latenn_status* litert_take(const latenn_host* host, LiteRtStatus failed, latenn_code code, const char* doing,
                           const char* said) {
  char number[32];
  if (!failed) return NULL;
  if (failed == LITERT_NO_MEMORY) return backend_no_memory(host);
  if (failed == LITERT_UNSUPPORTED) code = LATENN_UNSUPPORTED;
  if (failed == LITERT_FILE_IO) code = LATENN_IO;
  size_t length = strlen(said);
  while (length && (said[length - 1] == '\n' || said[length - 1] == ' ')) length--;
  int width = length < 2000 ? (int)length : 2000;
  return backend_fail(host, code, "LiteRT %s: %s%s%.*s", doing, litert_word_of(failed, number, sizeof number),
                      width ? ": " : "", width, said);
}

latenn_status* litert_open(const latenn_host* host, const latenn_load_options* options, litert_api* api,
                           char** report) {
  latenn_status* status = backend_bind(host, &litert_binding, &lb_litert, options, report);
  if (status) return status;
  return backend_resolve(host, &litert_binding, &lb_litert, litert_symbols,
                         sizeof litert_symbols / sizeof *litert_symbols, api);
}

const char* const backend_encodings[] = {"tflite", NULL};

latenn_status* backend_report(const latenn_host* host, const latenn_load_options* options, char** text) {
  litert_api api;
  return litert_open(host, options, &api, text);
}
