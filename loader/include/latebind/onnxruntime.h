/*
 * onnxruntime.h: how ONNX Runtime is called and recognized.
 *
 * Generated from packaging/latebind/tables/runtimes/onnxruntime.toml by ci/gen_loader.py; do not edit.
 * latebind_add_runtime() in CMake sets the floor; without it the preset's own holds.
 */
#ifndef LATEBIND_ONNXRUNTIME_H
#define LATEBIND_ONNXRUNTIME_H

#include "latebind/latebind.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef LATEBIND_ONNXRUNTIME_MINIMUM_MAJOR
#define LATEBIND_ONNXRUNTIME_MINIMUM_MAJOR 1
#define LATEBIND_ONNXRUNTIME_MINIMUM_MINOR 19
#define LATEBIND_ONNXRUNTIME_MINIMUM_PATCH 0
#endif

#define LATEBIND_ONNXRUNTIME_TEXT_(number) #number
#define LATEBIND_ONNXRUNTIME_TEXT(number)  LATEBIND_ONNXRUNTIME_TEXT_(number)
/* The floor as text, from the same numbers: "1.19". */
#if LATEBIND_ONNXRUNTIME_MINIMUM_PATCH > 0
#define LATEBIND_ONNXRUNTIME_MINIMUM                                                               \
  LATEBIND_ONNXRUNTIME_TEXT(LATEBIND_ONNXRUNTIME_MINIMUM_MAJOR)                                    \
  "." LATEBIND_ONNXRUNTIME_TEXT(LATEBIND_ONNXRUNTIME_MINIMUM_MINOR) "." LATEBIND_ONNXRUNTIME_TEXT( \
      LATEBIND_ONNXRUNTIME_MINIMUM_PATCH)
#else
#define LATEBIND_ONNXRUNTIME_MINIMUM                            \
  LATEBIND_ONNXRUNTIME_TEXT(LATEBIND_ONNXRUNTIME_MINIMUM_MAJOR) \
  "." LATEBIND_ONNXRUNTIME_TEXT(LATEBIND_ONNXRUNTIME_MINIMUM_MINOR)
#endif

/* Reads the version without calling anything that an old runtime may lack. */
int lb_onnxruntime_read_version(void* entry, char* text, size_t size);
/* Checks that no function that the loader declares is missing from the runtime's table. */
int lb_onnxruntime_check(void* entry, lb_version version, char* text, size_t size);

static const char* const lb_onnxruntime_file_names[] = {
#if defined(_WIN32)
    "onnxruntime.dll",
#elif defined(__APPLE__)
    "libonnxruntime.1.dylib", "libonnxruntime.dylib",
#else
    "libonnxruntime.so.1", "libonnxruntime.so",
#endif
    NULL};

static const char* const lb_onnxruntime_file_globs[] = {
#if defined(_WIN32)
#elif defined(__APPLE__)
    "libonnxruntime.*.dylib",
#else
    "libonnxruntime.so.*",
#endif
    NULL};

static const lb_runtime lb_onnxruntime = {
    sizeof(lb_runtime),
    "onnxruntime",
    "ONNX Runtime",
    "ONNXRUNTIME_LIB_PATH",
    lb_onnxruntime_file_names,
    lb_onnxruntime_file_globs,
    "OrtGetApiBase",
    lb_onnxruntime_read_version,
    {LATEBIND_ONNXRUNTIME_MINIMUM_MAJOR, LATEBIND_ONNXRUNTIME_MINIMUM_MINOR, LATEBIND_ONNXRUNTIME_MINIMUM_PATCH},
    {1, 31, 0},
    "pip install \"onnxruntime>=" LATEBIND_ONNXRUNTIME_MINIMUM "\"",
    0,
    lb_onnxruntime_check};

#ifdef __cplusplus
}
#endif
#endif
