/*
 * images_windows.c: os.h for Windows: opening libraries, saying why they do not open, and where they may come from;
 * must not judge what is in them. Those that are open already are in loaded_windows.c.
 *
 * A library is opened by absolute path only. What it needs may come from its own folder, the application's, those of
 * AddDllDirectory() and the system's; never from PATH or the current folder.
 */
#include <stdio.h>
#include <string.h>

#include "file_head.h"
#include "os_windows.h"

/* ---- what is missing -------------------------------------------------------------------------------------------- */

/* Where Windows looks for what a library needs, as lb_os_open() asks it to. */
typedef struct lb_places {
  const char* beside; /* the folder of the library that was opened */
  char* application;
  char* system;
} lb_places;

/* Contracts of the system (api-ms-win-..., ext-ms-...) are not files. */
static int lb_is_contract(const char* name) {
  return _strnicmp(name, "api-ms-", 7) == 0 || _strnicmp(name, "ext-ms-", 7) == 0;
}

int lb_os_has_loaded(const char* name) {
  wchar_t* wide = lb_wide(name);
  int loaded = wide && GetModuleHandleW(wide) != NULL;
  lb_free(wide);
  return loaded;
}

/* 1 when folder/name is a file; `use` may be NULL. */
static int lb_use_in(const char* folder, const char* name, void (*use)(void* imports, const lb_file* file),
                     void* imports) {
  char why[64];
  lb_identity identity;
  char* path = folder ? lb_os_join(folder, name) : NULL;
  int found = path && lb_os_look(path, &identity, why, sizeof why) == LB_PLACE_FILE;
  if (found && use) lb_with_file(path, use, imports);
  lb_free(path);
  return found;
}

static size_t lb_read_mapped(const lb_file* file, void* into, size_t size, uint64_t at) {
  if (at >= file->size) return 0;
  size_t count = file->size - at < size ? (size_t)(file->size - at) : size;
  memcpy(into, (const char*)file->handle + at, count);
  return count;
}

/* AddDllDirectory()'s folders: Windows has no list of them, but maps a file from one of them, as data. */
static int lb_use_added(const char* name, void (*use)(void* imports, const lb_file* file), void* imports) {
  MEMORY_BASIC_INFORMATION region;
  wchar_t* wide = lb_wide(name);
  HMODULE mapped = wide ? LoadLibraryExW(wide, NULL, LOAD_LIBRARY_AS_DATAFILE | LOAD_LIBRARY_SEARCH_USER_DIRS) : NULL;
  lb_free(wide);
  if (!mapped) return 0;
  uintptr_t start = (uintptr_t)mapped & ~(uintptr_t)3; /* the low bits say that it is data */
  if (VirtualQuery((const void*)start, &region, sizeof region)) {
    lb_file file = {region.RegionSize, lb_read_mapped, (intptr_t)start};
    use(imports, &file);
  }
  FreeLibrary(mapped);
  return 1;
}

static int lb_find_here(void* context, const char* name, void (*use)(void* imports, const lb_file* file),
                        void* imports) {
  const lb_places* places = context;
  if (lb_is_contract(name) || lb_os_has_loaded(name)) return 1;
  return lb_use_in(places->beside, name, use, imports) || lb_use_in(places->application, name, use, imports) ||
         lb_use_added(name, use, imports) || lb_use_in(places->system, name, NULL, NULL);
}

static const char* lb_supplier(const char* name) {
  if (_strnicmp(name, "vcruntime", 9) == 0 || _strnicmp(name, "msvcp", 5) == 0) {
    return "; it comes with Microsoft's Visual C++ Redistributable";
  }
  if (_strnicmp(name, "cudart", 6) == 0 || _strnicmp(name, "cublas", 6) == 0) return "; it comes with CUDA";
  return "";
}

typedef struct lb_question {
  lb_places places;
  lb_missing missing;
} lb_question;

static void lb_ask_file(void* context, const lb_file* file) {
  lb_question* question = context;
  lb_find_missing(file, lb_find_here, &question->places, &question->missing);
}

/* Windows says only "126": the import table names what it looked for. */
static void lb_name_missing(const char* path, char* why, size_t why_size) {
  lb_question question;
  memset(&question, 0, sizeof question);
  char* folder = lb_os_folder_of(path);
  char* program = lb_module_path(NULL);
  question.places.beside = folder;
  question.places.application = program ? lb_os_folder_of(program) : NULL;
  question.places.system = lb_system_folder(0);
  lb_with_file(path, lb_ask_file, &question);
  const lb_missing* missing = &question.missing;
  if (!*missing->name) {
    snprintf(why, why_size, "error 126: a library that it needs was not found");
  } else if (*missing->needer) {
    snprintf(why, why_size, "%s, which its %s needs (error 126%s)", missing->name, missing->needer,
             lb_supplier(missing->name));
  } else {
    snprintf(why, why_size, "%s (error 126%s)", missing->name, lb_supplier(missing->name));
  }
  lb_free(question.places.application);
  lb_free(question.places.system);
  lb_free(program);
  lb_free(folder);
}

#if !defined(ERROR_VIRUS_INFECTED)
#define ERROR_VIRUS_INFECTED 225 /* older headers of mingw-w64 lack it */
#endif

static lb_outcome lb_explain(DWORD error, const char* path, char* why, size_t why_size) {
  switch (error) {
    case ERROR_MOD_NOT_FOUND: lb_name_missing(path, why, why_size); return LB_OUTCOME_MISSING_DEPENDENCY;
    case ERROR_PROC_NOT_FOUND:
      snprintf(why, why_size, "a library that it needs is there but lacks a function (error 127)");
      return LB_OUTCOME_MISSING_DEPENDENCY;
    case ERROR_BAD_EXE_FORMAT:
      snprintf(why, why_size, "it, or a library that it needs, is damaged or for another processor (error 193)");
      return LB_OUTCOME_LOAD_FAILED;
    case ERROR_DLL_INIT_FAILED:
      snprintf(why, why_size, "its start-up code failed (error 1114)");
      return LB_OUTCOME_LOAD_FAILED;
    case ERROR_ACCESS_DENIED: lb_say_error(error, why, why_size); return LB_OUTCOME_REFUSED;
    case ERROR_ACCESS_DISABLED_BY_POLICY:
    case ERROR_VIRUS_INFECTED:
      snprintf(why, why_size, "a policy of this machine forbids it (error %lu)", (unsigned long)error);
      return LB_OUTCOME_REFUSED;
    default: return lb_say_error(error, why, why_size) == LB_PLACE_BUSY ? LB_OUTCOME_TRY_AGAIN : LB_OUTCOME_LOAD_FAILED;
  }
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

void* lb_os_open(const char* path, uint32_t flags, lb_outcome* outcome, char* why, size_t why_size) {
  DWORD mode = 0;
  (void)flags; /* LB_FLAG_GLOBAL: every module's exports can be found here */
  wchar_t* wide = lb_wide_path(path);
  if (!wide) {
    *outcome = LB_OUTCOME_TRY_AGAIN;
    snprintf(why, why_size, "out of memory");
    return NULL;
  }
  int quiet = SetThreadErrorMode(SEM_FAILCRITICALERRORS, &mode); /* no window that waits for someone */
  HMODULE module = LoadLibraryExW(wide, NULL, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
  DWORD error = GetLastError();
  if (quiet) SetThreadErrorMode(mode, NULL);
  lb_free(wide);
  if (!module) *outcome = lb_explain(error, path, why, why_size);
  return (void*)module;
}

/* ISO C has no conversion from a function pointer to an object pointer; Windows guarantees that the bytes agree. */
void* lb_os_symbol(void* handle, const char* name) {
  FARPROC function = GetProcAddress((HMODULE)handle, name);
  void* address = NULL;
  memcpy(&address, &function, sizeof address);
  return address;
}

void lb_os_close(void* handle) {
  FreeLibrary((HMODULE)handle);
}

void* lb_os_hold(const void* address) {
  return (void*)lb_module_at(address, 1);
}

/* ---- places ----------------------------------------------------------------------------------------------------- */

int lb_os_is_refused(const char* path, char* why, size_t why_size) {
  char* folder = lb_os_folder_of(path);
  int refused = 0;
  for (int which = 0; folder && which < 2 && !refused; which++) {
    char* system_folder = lb_system_folder(which);
    refused = system_folder && lb_is_same_place(folder, system_folder);
    lb_free(system_folder);
  }
  lb_free(folder);
  if (refused) {
    snprintf(why, why_size,
             "it is in the system folder, whose copy is another program's and often old; to use it, name this very "
             "file");
  }
  return refused;
}

/* One folder of PATH. An empty or relative one would mean the current folder, which anybody may have filled. */
static int lb_search_one(const char* start, size_t length, lb_visit_folder each, void* context) {
  if (length >= 2 && start[0] == '"' && start[length - 1] == '"') {
    start++;
    length -= 2;
  }
  int drive = length >= 3 && start[1] == ':' && (start[2] == '\\' || start[2] == '/');
  int server = length >= 3 && start[0] == '\\' && start[1] == '\\';
  if (!drive && !server) return 0;
  char* text = lb_copy(start, length);
  int stop = text ? each(context, text, LB_TRUST_JUDGED) : 0;
  lb_free(text);
  return stop;
}

int lb_os_search(const char* name, lb_visit_folder each, void* context) {
  (void)name;
  char* program = lb_module_path(NULL);
  char* folder = program ? lb_os_folder_of(program) : NULL;
  int stop = folder ? each(context, folder, LB_TRUST_JUDGED) : 0;
  char* path = stop ? NULL : lb_os_environment("PATH");
  for (const char* at = path; at && !stop;) {
    const char* end = strchr(at, ';');
    stop = lb_search_one(at, end ? (size_t)(end - at) : strlen(at), each, context);
    at = end ? end + 1 : NULL;
  }
  lb_free(path);
  lb_free(folder);
  lb_free(program);
  return stop;
}

const char* lb_os_separator(void) {
  return ";";
}

char* lb_os_dotnet_property(void* function, const char* name) {
  int(__cdecl * ask)(void* host, const wchar_t* name, const wchar_t** value);
  const wchar_t* value = NULL;
  wchar_t* wide = lb_wide(name);
  memcpy(&ask, &function, sizeof ask);
  int is_known = wide && !ask(NULL, wide, &value) && value; /* NULL: the runtime that runs */
  lb_free(wide);
  return is_known ? lb_narrow(value) : NULL;
}

int lb_os_search_drivers(lb_visit_folder each, void* context) {
  char* folder = lb_system_folder(0);
  int stop = folder ? each(context, folder, LB_TRUST_JUDGED) : 0;
  lb_free(folder);
  return stop;
}

const char* const* lb_os_variables(void) {
  static const char* const variables[] = {"PATH", NULL};
  return variables;
}

const char* lb_os_searched(void) {
  return "neither the application's folder nor one of PATH has it";
}
