/*
 * crt.h: what Visual C++'s libraries add to each program, for programs that are linked without them: the start, the
 * stack cookie, and a table for control-flow guard (synthetic); what DLLs export is imported.
 */
#ifndef LATEBIND_TEST_CRT_H
#define LATEBIND_TEST_CRT_H

#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

__declspec(noreturn) void exit(int status);
int fflush(FILE* file);
int puts(const char* text);
int _configure_narrow_argv(int mode);
int* __p___argc(void);
char*** __p___argv(void);
__declspec(dllimport) void WINAPI RaiseException(DWORD code, DWORD flags, DWORD count, const uintptr_t* arguments);

#define stdout      (__acrt_iob_func(1))
#define printf(...) fprintf(stdout, __VA_ARGS__)

/* Programs declare it in different ways. */
int call_main(int count, char** words) __asm__("main");
void mainCRTStartup(void);
void mainCRTStartup(void) {
  _configure_narrow_argv(1);
  exit(call_main(*__p___argc(), *__p___argv()));
}

uintptr_t __security_cookie = 0x2B992DDFA232u;
void __security_check_cookie(uintptr_t cookie);
void __security_check_cookie(uintptr_t cookie) {
  if (cookie != __security_cookie) exit(99);
}
int _fltused = 1;

/* IMAGE_LOAD_CONFIG_DIRECTORY64 up to the long jumps; the linker defines what it points to. */
extern const char __guard_fids_table[], __guard_fids_count[], __guard_longjmp_table[], __guard_longjmp_count[];
extern const char __guard_iat_table[], __guard_iat_count[];
static void check_nothing(void) {}
static void (*const guard_check)(void) = check_nothing;
const volatile struct { /* volatile: compilers would compute what is in it, and not read it */
  uint32_t size, first[5];
  uint64_t second[8];
  const void *cookie, *handlers[2], *check, *dispatch, *functions, *function_count;
  uint32_t flags, third[3];
  const void *imports, *import_count, *jumps, *jump_count;
} _load_config_used = {.size = sizeof _load_config_used,
                       .cookie = &__security_cookie,
                       .check = &guard_check,
                       .dispatch = &guard_check,
                       .functions = __guard_fids_table,
                       .function_count = __guard_fids_count,
                       .flags = 0x10500, /* instrumented, with the tables of functions and of long jumps */
                       .imports = __guard_iat_table,
                       .import_count = __guard_iat_count,
                       .jumps = __guard_longjmp_table,
                       .jump_count = __guard_longjmp_count};

#endif
