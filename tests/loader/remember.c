/*
 * remember FOLDER: calls the stub without a runtime, lets the script on stdin's other end add one to FOLDER/.local, and
 * calls again: first as it is, then with HOME set to FOLDER. Prints what became of each call.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "latebind/stub.h"

typedef struct base {
  void* const* (*get_api)(uint32_t version);
  const char* (*get_version)(void);
} base;

const base* OrtGetApiBase(void);

enum { RELEASE_STATUS = 93, CREATE_ENV = 3 };

/* CreateEnv(), which gives a status when it fails. */
static void call(void) {
  void* const* api = OrtGetApiBase()->get_api(19);
  union {
    void* address;
    void* (*create)(int level, const char* name, void** env);
    void (*release)(void* status);
  } function = {api[CREATE_ENV]};
  void* env = NULL;
  void* status = function.create(2, "remember", &env);
  puts(status ? "no runtime" : "called");
  function.address = api[RELEASE_STATUS];
  function.release(status);
  fflush(stdout);
}

int main(int count, char** words) {
  if (count < 2) return 2;
  call();
  if (getchar() == EOF) return 3; /* the runtime is there now */
  call();
  setenv("HOME", words[1], 1);
  call();
  return 0;
}
