/* A library of which several major versions are installed next to each other. MAJOR and MINOR are of this copy. */
#include <stdlib.h>
#if defined(_WIN32)
#include <windows.h>
#define EXPORT __declspec(dllexport)
#else
#include <dlfcn.h>
#define EXPORT __attribute__((visibility("default")))
#endif

EXPORT void pair_version(int* major, int* minor) {
#ifdef NEEDS
  if (!dlopen(NEEDS, RTLD_NOW)) abort(); /* as cudnnGetVersion() does */
#endif
  *major = MAJOR;
  *minor = MINOR;
}

/* Opens what it has in another library, by its name. */
EXPORT int pair_status(void) {
#if defined(_WIN32)
  return LoadLibraryA(PART) ? MAJOR : -MAJOR;
#else
  return dlopen(PART, RTLD_NOW) ? MAJOR : -MAJOR; /* as libnvrtc of CUDA 13.0, which has no run path */
#endif
}
