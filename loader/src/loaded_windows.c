/* loaded_windows.c: os.h for Windows: the modules that this process has loaded already; must not judge them. */
#include "os_windows.h"

/* Of <psapi.h>, which has to come after <windows.h> and may not be sorted. KERNEL32 itself has it. */
BOOL WINAPI K32EnumProcessModules(HANDLE process, HMODULE* modules, DWORD size, DWORD* needed);

/* Takes notes first: another thread may load and unload meanwhile. */
static HMODULE* lb_note_modules(size_t* count) {
  HMODULE* modules = NULL;
  DWORD room = 0;
  DWORD needed = 256 * sizeof *modules;
  *count = 0;
  while (needed > room) {
    HMODULE* more = lb_resize(modules, needed);
    if (!more) break;
    modules = more;
    room = needed;
    if (!K32EnumProcessModules(GetCurrentProcess(), modules, room, &needed)) needed = 0;
    *count = (needed < room ? needed : room) / sizeof *modules;
  }
  return modules;
}

int lb_os_loaded(const char* symbol, int (*each)(void* context, const char* path, void* handle, void* address),
                 void* context) {
  size_t count = 0;
  int kept = 0;
  HMODULE* modules = lb_note_modules(&count);
  for (size_t i = 0; i < count && !kept; i++) {
    HMODULE held = lb_module_at((const void*)modules[i], 1); /* NULL when it was unloaded meanwhile */
    void* address = held == modules[i] ? lb_os_symbol((void*)held, symbol) : NULL;
    /* An export that is forwarded is another module's. */
    char* path = address && lb_module_at(address, 0) == held ? lb_module_path(held) : NULL;
    if (path) kept = each(context, path, (void*)held, address);
    lb_free(path);
    if (held && !kept) FreeLibrary(held);
  }
  lb_free(modules);
  return kept;
}

uint64_t lb_os_generation(void) {
  size_t count = 0;
  uint64_t sum = 0;
  HMODULE* modules = lb_note_modules(&count);
  for (size_t i = 0; i < count; i++) sum = sum * 31 + (uint64_t)(uintptr_t)modules[i];
  lb_free(modules);
  return sum;
}
