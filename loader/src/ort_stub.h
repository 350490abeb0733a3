/* ort_stub.h: what the stub's own files share. */
#ifndef LATEBIND_ORT_STUB_H
#define LATEBIND_ORT_STUB_H

#include "latebind/ort_api.h"
#include "trampolines.h"

/*
 * Another function that the runtime exports. On failure, writes NULL to `function` and returns a status: the runtime is
 * missing, or this build of it doesn't have the function.
 */
OrtStatus* lb_stub_symbol(const char* name, lb_function* function);

#endif
