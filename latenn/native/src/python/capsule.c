/* capsule.c: the names of PyCapsules around DLPack tensors, and the end of one that nobody took, which must run without
 * Python code, since the interpreter may be ending. */
#include "capsule.h"

#include <stdatomic.h>
#include <stddef.h>

#include "../core/dlpack.h"
#include "latebind/latebind.h"

typedef int (*latenn_is_valid_fn)(void* capsule, const char* name);
typedef void* (*latenn_get_pointer_fn)(void* capsule, const char* name);

/* Addresses in the one Python of this process, the same in every call that sets them. */
static _Atomic(latenn_is_valid_fn) latenn_is_valid;
static _Atomic(latenn_get_pointer_fn) latenn_get_pointer;

char* latenn_environment(const char* name) {
  return lb_environment(name);
}

const char* latenn_dlpack_name(int versioned, int used) {
  static const char* const names[2][2] = {{"dltensor", "used_dltensor"},
                                          {"dltensor_versioned", "used_dltensor_versioned"}};
  return names[versioned != 0][used != 0];
}

void latenn_python_begin(int (*is_valid)(void* capsule, const char* name),
                         void* (*get_pointer)(void* capsule, const char* name)) {
  atomic_store(&latenn_is_valid, is_valid);
  atomic_store(&latenn_get_pointer, get_pointer);
}

/* A consumer renames the capsule: then the tensor is the consumer's. */
void latenn_capsule_discard(void* capsule) {
  latenn_is_valid_fn is_valid = atomic_load(&latenn_is_valid);
  latenn_get_pointer_fn get_pointer = atomic_load(&latenn_get_pointer);
  if (!is_valid || !get_pointer) return;
  if (is_valid(capsule, latenn_dlpack_name(1, 0))) {
    dlpack_versioned* versioned = get_pointer(capsule, latenn_dlpack_name(1, 0));
    versioned->deleter(versioned);
  } else if (is_valid(capsule, latenn_dlpack_name(0, 0))) {
    dlpack_managed* plain = get_pointer(capsule, latenn_dlpack_name(0, 0));
    plain->deleter(plain);
  }
}
