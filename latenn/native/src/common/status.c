/* status.c: words and options that all backends handle in the same way; must not know a runtime. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

latenn_status* backend_no_memory(const latenn_host* host) {
  return host->status(LATENN_OUT_OF_MEMORY, "Out of memory.", NULL);
}

latenn_status* backend_fail(const latenn_host* host, latenn_code code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  char* message = length < 0 ? NULL : malloc((size_t)length + 1);
  if (!message) return backend_no_memory(host);
  va_start(arguments, format);
  vsnprintf(message, (size_t)length + 1, format, arguments);
  va_end(arguments);
  latenn_status* status = host->status(code, message, NULL);
  free(message);
  return status;
}

latenn_status* backend_copy_options(const latenn_host* host, const latenn_load_options* given,
                                    latenn_load_options* own) {
  memset(own, 0, sizeof *own);
  if (given && given->size < LATENN_LOAD_OPTIONS_SIZE_1) {
    return backend_fail(host, LATENN_INVALID_ARGUMENT, "options.size is %u: set it to sizeof(latenn_load_options).",
                        (unsigned)given->size);
  }
  if (given) memcpy(own, given, given->size < sizeof *own ? given->size : sizeof *own);
  return NULL;
}

latenn_status* backend_check_list(const latenn_host* host, const latenn_load_options* options) {
  if (options->option_count && !options->options) {
    return backend_fail(host, LATENN_INVALID_ARGUMENT, "option_count is %zu but options is NULL.",
                        options->option_count);
  }
  for (size_t i = 0; i < options->option_count; i++) {
    if (!options->options[i].key || !options->options[i].value) {
      return backend_fail(host, LATENN_INVALID_ARGUMENT, "An option is NULL.");
    }
  }
  return NULL;
}

int backend_read_number(const char* text, int lowest, int highest, int* value) {
  char* end = NULL;
  errno = 0;
  long number = strtol(text, &end, 10);
  if (errno || end == text || *end || number < lowest || number > highest) return 1;
  *value = (int)number;
  return 0;
}
