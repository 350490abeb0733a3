/*
 * loader.c: the whole loader as one translation unit, in the order of its layers. One call of the compiler builds it,
 * not 25 for each library, and what a library never calls is left out of it.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
/* clang-format off */
#include "memory.c"
#include "text.c"
#include "names.c"
#include "version.c"
#include "variants.c"
#include "folders.c"
#include "record.c"
#include "message.c"
#include "report.c"
#include "report_json.c"
#include "candidate.c"
#include "listing.c"
#include "dotnet.c"
#include "installer.c"
#include "search.c"
#include "opening.c"
#include "bind.c"
#include "file_head.c"
#if defined(__linux__)
#include "elf_head.c"
#include "ld_cache.c"
#include "os_posix.c"
#include "trust_posix.c"
#include "forks_posix.c"
#include "search_linux.c"
#include "images_linux.c"
#elif defined(__APPLE__)
#include "macho_head.c"
#include "macho_paths.c"
#include "os_posix.c"
#include "trust_posix.c"
#include "forks_posix.c"
#include "search_macos.c"
#include "images_macos.c"
#elif defined(_WIN32)
#include "pe_head.c"
#include "imports.c"
#include "os_windows.c"
#include "trust_windows.c"
#include "files_windows.c"
#include "images_windows.c"
#include "loaded_windows.c"
#else
#error "the loader does not know this system"
#endif
