/* ort_stub.h: what the stub's own files share. */
#ifndef LATEBIND_ORT_STUB_H
#define LATEBIND_ORT_STUB_H

#include "latebind/ort_api.h"
#include "ort_tables.h"
#include "stub_bind.h"

/*
 * Another function that the runtime exports. On failure, writes NULL to `function` and returns a status: the runtime is
 * missing, or this build of it doesn't have the function.
 */
OrtStatus* lb_stub_symbol(const char* name, lb_function* function);

/* The runtime's function in a slot of OrtApi; NULL before it is bound. */
lb_function lb_stub_function(size_t slot);

/* ---- ort_status.c: OrtApi's functions of the same names, and a status with a code and a copy of a text ---------- */

OrtStatus* lb_own_status(OrtErrorCode code, const char* text);
OrtErrorCode LB_ORT_CALL lb_status_code(const OrtStatus* status);
const char* LB_ORT_CALL lb_status_message(const OrtStatus* status);
void LB_ORT_CALL lb_status_release(OrtStatus* status);
OrtStatus* LB_ORT_CALL lb_status_create(OrtErrorCode code, const char* text);

#endif
