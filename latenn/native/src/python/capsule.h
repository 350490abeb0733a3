/* capsule.h: what the Python package calls of the core next to latenn.h; no part of the interface for C. */
#ifndef LATENN_CAPSULE_H
#define LATENN_CAPSULE_H

#include "latenn.h"

/* A copy of an environment variable, read as latenn reads its own (LATENN_BACKEND): NULL when it is unset or empty, and
 * in a process with more rights than the user who started it. Release it with latenn_text_release(). */
LATENN_API char* latenn_environment(const char* name);

/* The name of a PyCapsule around a DLPack tensor: "dltensor_versioned", "used_dltensor". Lives for ever. */
LATENN_API const char* latenn_dlpack_name(int versioned, int used);
/* The destructor of such a capsule; it deletes a tensor that nobody took. Written in C, because it may run while the
 * interpreter ends. It calls PyCapsule_IsValid and PyCapsule_GetPointer, whose addresses are the one thing that the
 * library keeps for the process: latenn_python_begin() must have been given them. */
LATENN_API void latenn_python_begin(int (*is_valid)(void* capsule, const char* name),
                                    void* (*get_pointer)(void* capsule, const char* name));
LATENN_API void latenn_capsule_discard(void* capsule);

#endif
