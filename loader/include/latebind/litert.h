/*
 * litert.h: how LiteRT is called and recognized.
 *
 * Generated from packaging/latebind/tables/runtimes/litert.toml by ci/gen_loader.py; do not edit.
 * latebind_add_runtime() in CMake sets the floor; without it the preset's own holds.
 */
#ifndef LATEBIND_LITERT_H
#define LATEBIND_LITERT_H

#include "latebind/latebind.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef LATEBIND_LITERT_MINIMUM_MAJOR
#define LATEBIND_LITERT_MINIMUM_MAJOR 2
#define LATEBIND_LITERT_MINIMUM_MINOR 1
#define LATEBIND_LITERT_MINIMUM_PATCH 0
#endif

#define LATEBIND_LITERT_TEXT_(number) #number
#define LATEBIND_LITERT_TEXT(number)  LATEBIND_LITERT_TEXT_(number)
/* The floor as text, from the same numbers: "2.1". */
#if LATEBIND_LITERT_MINIMUM_PATCH > 0
#define LATEBIND_LITERT_MINIMUM                       \
  LATEBIND_LITERT_TEXT(LATEBIND_LITERT_MINIMUM_MAJOR) \
  "." LATEBIND_LITERT_TEXT(LATEBIND_LITERT_MINIMUM_MINOR) "." LATEBIND_LITERT_TEXT(LATEBIND_LITERT_MINIMUM_PATCH)
#else
#define LATEBIND_LITERT_MINIMUM \
  LATEBIND_LITERT_TEXT(LATEBIND_LITERT_MINIMUM_MAJOR) "." LATEBIND_LITERT_TEXT(LATEBIND_LITERT_MINIMUM_MINOR)
#endif

/* Reads the version without calling anything that an old runtime may lack. */
int lb_litert_read_version(void* entry, char* text, size_t size);

static const char* const lb_litert_file_names[] = {
#if defined(_WIN32)
    "libLiteRt.dll",
#elif defined(__APPLE__)
    "libLiteRt.dylib",
#else
    "libLiteRt.so",
#endif
    NULL};

static const char* const lb_litert_file_globs[] = {
#if defined(_WIN32)
#elif defined(__APPLE__)
#else
#endif
    NULL};

static const lb_runtime lb_litert = {
    sizeof(lb_runtime),
    "litert",
    "LiteRT",
    "LITERT_LIB_PATH",
    lb_litert_file_names,
    lb_litert_file_globs,
    "LiteRtCreateEnvironment",
    lb_litert_read_version,
    {LATEBIND_LITERT_MINIMUM_MAJOR, LATEBIND_LITERT_MINIMUM_MINOR, LATEBIND_LITERT_MINIMUM_PATCH},
    {2, 3, 0},
    "pip install \"ai-edge-litert>=" LATEBIND_LITERT_MINIMUM "\"",
    0,
    NULL};

#ifdef __cplusplus
}
#endif
#endif
