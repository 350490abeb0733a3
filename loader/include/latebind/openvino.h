/*
 * openvino.h: how OpenVINO is called and recognized.
 *
 * Generated from packaging/latebind/tables/runtimes/openvino.toml by ci/gen_loader.py; do not edit.
 * latebind_add_runtime() in CMake sets the floor; without it the preset's own holds.
 */
#ifndef LATEBIND_OPENVINO_H
#define LATEBIND_OPENVINO_H

#include "latebind/latebind.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef LATEBIND_OPENVINO_MINIMUM_MAJOR
#define LATEBIND_OPENVINO_MINIMUM_MAJOR 2025
#define LATEBIND_OPENVINO_MINIMUM_MINOR 0
#define LATEBIND_OPENVINO_MINIMUM_PATCH 0
#endif

#define LATEBIND_OPENVINO_TEXT_(number) #number
#define LATEBIND_OPENVINO_TEXT(number)  LATEBIND_OPENVINO_TEXT_(number)
/* The floor as text, from the same numbers: "2025.0". */
#if LATEBIND_OPENVINO_MINIMUM_PATCH > 0
#define LATEBIND_OPENVINO_MINIMUM                                                         \
  LATEBIND_OPENVINO_TEXT(LATEBIND_OPENVINO_MINIMUM_MAJOR)                                 \
  "." LATEBIND_OPENVINO_TEXT(LATEBIND_OPENVINO_MINIMUM_MINOR) "." LATEBIND_OPENVINO_TEXT( \
      LATEBIND_OPENVINO_MINIMUM_PATCH)
#else
#define LATEBIND_OPENVINO_MINIMUM \
  LATEBIND_OPENVINO_TEXT(LATEBIND_OPENVINO_MINIMUM_MAJOR) "." LATEBIND_OPENVINO_TEXT(LATEBIND_OPENVINO_MINIMUM_MINOR)
#endif

/* Reads the version without calling anything that an old runtime may lack. */
int lb_openvino_read_version(void* entry, char* text, size_t size);

static const char* const lb_openvino_file_names[] = {
#if defined(_WIN32)
    "openvino_c.dll",
#elif defined(__APPLE__)
    "libopenvino_c.dylib",
#else
    "libopenvino_c.so",
#endif
    NULL};

static const char* const lb_openvino_file_globs[] = {
#if defined(_WIN32)
#elif defined(__APPLE__)
    "libopenvino_c.*.dylib",
#else
    "libopenvino_c.so.*",
#endif
    NULL};

static const lb_runtime lb_openvino = {
    sizeof(lb_runtime),
    "openvino",
    "OpenVINO",
    "OPENVINO_LIB_PATH",
    lb_openvino_file_names,
    lb_openvino_file_globs,
    "ov_get_openvino_version",
    lb_openvino_read_version,
    {LATEBIND_OPENVINO_MINIMUM_MAJOR, LATEBIND_OPENVINO_MINIMUM_MINOR, LATEBIND_OPENVINO_MINIMUM_PATCH},
    {2026, 4, 0},
    "pip install \"openvino>=" LATEBIND_OPENVINO_MINIMUM "\"",
    1,
    NULL};

#ifdef __cplusplus
}
#endif
#endif
