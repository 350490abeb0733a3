// A C interface over Ort::, in a library: as it is, it lets Ort::Exception out of its function; with CATCHES, it
// doesn't.
#include <onnxruntime_cxx_api.h>

#ifdef _WIN32
#define API extern "C" __declspec(dllexport)
#else
#define API extern "C" __attribute__((visibility("default")))
#endif

API int speech_opens(void);
#ifdef CATCHES
API int speech_opens(void) try {
  Ort::Env env(ORT_LOGGING_LEVEL_WARNING, "speech");
  return env ? 1 : 0;
} catch (const Ort::Exception&) {
  return -1;
}
#else
API int speech_opens(void) {
  Ort::Env env(ORT_LOGGING_LEVEL_WARNING, "speech");
  return env ? 1 : 0;
}
#endif

// What a program that links the library may ask of it.
#include <latebind/stub.h>

#include <cstdio>

static void print(const char* message, void* context) {
  std::fprintf(stderr, "%s: %s\n", static_cast<const char*>(context), message);
}

API int speech_is_available(void);
API int speech_is_available(void) {
  return lb_onnxruntime_available(nullptr);
}

API int speech_prints(const char* name);
API int speech_prints(const char* name) {
  return lb_onnxruntime_on_missing(print, const_cast<char*>(name));
}
