/*
 * runtime.c: a library that looks like ONNX Runtime to the stub, made in Visual C++'s ABI (synthetic); VERSION is its
 * version, and RAISES makes it raise an exception while the stub asks for that.
 */
#include <windows.h>

typedef struct base {
  const void* (*GetApi)(uint32_t version);
  const char* (*GetVersionString)(void);
} base;

enum { OUR_EXCEPTION = 0x60001234 };
__declspec(dllimport) void WINAPI RaiseException(DWORD code, DWORD flags, DWORD count, const uintptr_t* arguments);
int _fltused = 1;

static const void* give_nothing(void) {
  return NULL;
}

static const void* create_env(int level, const char* name, const void** env) {
  (void)level;
  *env = name;
  return NULL;
}

/* In registers of both kinds, and on the stack. */
static const void* take_all(int a, double b, const char* c, double d, long long e, double f, double g, const char** h) {
  *h = a == 1 && b == 2.5 && *c == 'c' && d == 4.5 && e == -5 && f == 6.5 && g == 7.5 ? "right" : "wrong";
  return NULL;
}

static const void* raise_exception(void) {
  RaiseException(OUR_EXCEPTION, 0, 0, NULL);
  return NULL;
}

static const void* get_api(uint32_t version) {
  static const void* table[512];
  (void)version;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) table[i] = (const void*)give_nothing;
  table[3] = (const void*)create_env;
  table[4] = (const void*)take_all;
  table[5] = (const void*)raise_exception;
  return table;
}

static const char* get_version(void) {
#ifdef RAISES
  RaiseException(OUR_EXCEPTION, 0, 0, NULL);
#endif
  return VERSION;
}

__declspec(dllexport) const base* OrtGetApiBase(void);
const base* OrtGetApiBase(void) {
  static const base functions = {get_api, get_version};
  return &functions;
}

BOOL WINAPI _DllMainCRTStartup(HMODULE module, DWORD reason, void* reserved);
BOOL WINAPI _DllMainCRTStartup(HMODULE module, DWORD reason, void* reserved) {
  (void)module, (void)reason, (void)reserved;
  return 1;
}
