/*
 * os.h: all that the loader asks of an operating system. Files whose names end in a system's answer (os_, files_,
 * forks_, images_, loaded_, search_, trust_). Paths are UTF-8. No function prints, and none keeps what it is given.
 */
#ifndef LATEBIND_OS_H
#define LATEBIND_OS_H

#include <stddef.h>

#include "internal.h"

/* A number of the calling thread that no other thread of the system has now. Never 0. */
uintptr_t lb_os_thread(void);
/* Another number of it, which later threads don't get again where the system has such a one. Never 0. */
uintptr_t lb_os_thread_number(void);
/* 0 when the thread with that number has ended. */
int lb_os_has_thread(uintptr_t number);
/* The calling thread is not cancelled until lb_os_allow_cancelling(). Returns 1 when it could be before. */
int lb_os_forbid_cancelling(void);
void lb_os_allow_cancelling(void);
/* About a millisecond. */
void lb_os_wait(void);
/* From now on a fork waits a moment for threads that are opening a runtime. Called before the first search. */
void lb_os_watch_forks(void);
/*
 * Calls `end` when the process ends: before the handlers that were registered so far, and so before the destructors of
 * the libraries that are loaded. Not when this library is unloaded. Does nothing on Windows.
 */
void lb_os_at_exit(void (*end)(void));
/*
 * Calls `forget` when this library is unloaded, after the destructors of its C++ objects, but not when the process
 * ends. Only glibc unloads a library with the loader; on Windows, what `forget` would free is lost.
 */
void lb_os_at_unload(void (*forget)(void));

/*
 * A pointer that one thread publishes and others read: a thread that sees it sees all that was written before. They are
 * here because compilers have no common form of it in C99. The loader has no lock: one that is held while the system's
 * loader works would meet that loader's own lock in the other order (docs/decisions/0062-no-lock.md).
 */
void* lb_os_load(void* const volatile* place);
void lb_os_publish(void* volatile* place, void* value);
/* Publishes `value` if the place still holds `expected`; returns what it held before. */
void* lb_os_exchange(void* volatile* place, void* expected, void* value);

/*
 * 1 when this process has more rights than the user who started it, who then must not choose what it opens: set-id
 * programs and those with file capabilities; on Windows one that UAC elevated.
 */
int lb_os_is_raised(void);
/* A copy of an environment variable; NULL when unset, empty, or in a process with raised rights. */
char* lb_os_environment(const char* name);
/* Adds a text to a file, which is made if there is none; nothing to a link, a pipe or a device. */
void lb_os_append(const char* path, const char* text);

typedef enum lb_place {
  LB_PLACE_FILE,
  LB_PLACE_FOLDER,
  LB_PLACE_OTHER,     /* a device, a pipe, a socket */
  LB_PLACE_ABSENT,    /* nothing there */
  LB_PLACE_REFUSED,   /* there may be something, but we may not look */
  LB_PLACE_UNTRUSTED, /* others may change the way to it */
  LB_PLACE_BUSY       /* it could not be looked at now, for a reason that passes */
} lb_place;

/* The words for LB_PLACE_REFUSED: more of the file's package, or its name, helps nobody who may not read it. */
#define LB_DENIED "permission denied"
/* Why a program opens no library at all. */
#define LB_STATIC_PROGRAM "this program is linked statically with glibc, and shared libraries don't work in it"

/* What became of a candidate in a place that is no file. */
lb_outcome lb_outcome_of(lb_place place);

/* What `path` is. `identity` distinguishes files by more than name; `why` gets the system's words on failure. */
lb_place lb_os_look(const char* path, lb_identity* identity, char* why, size_t why_size);
/* `path` made absolute without resolving links (a library may look for others next to the link). */
char* lb_os_absolute(const char* path);
int lb_os_is_absolute(const char* path);
char* lb_os_folder_of(const char* path); /* "/a" of "/a/b"; NULL where there is none */
char* lb_os_join(const char* folder, const char* name);
/* The names in a folder, unsorted; `each` returns non-zero to stop. Returns LB_PLACE_FOLDER, or why it can't be read.
 */
lb_place lb_os_list(const char* folder, int (*each)(void* context, const char* name), void* context, char* why,
                    size_t why_size);

/*
 * 1 when libraries in that place are never the runtime, though they would load: on Windows the system folder, where
 * copies belong to other programs and get outdated.
 */
int lb_os_is_refused(const char* path, char* why, size_t why_size);

/* ---- trusted places: docs/threats.md has the rule ---------------------------------------------------------------- */

/* Who is trusted: the administrator, this user, and those who may replace this library or this program. */
typedef struct lb_judge lb_judge;

/*
 * Asks the system who is trusted. In a process with raised rights, and on POSIX in one whose real, effective and saved
 * ids differ, it is the administrator alone. `own_file` is this library's, NULL where it is unknown, and must outlive
 * the judge. NULL when out of memory, which lb_os_judge() then reports; lb_free() frees it.
 */
lb_judge* lb_os_find_trusted(const char* own_file);
/*
 * What is at an absolute path, if nobody else may change the way to it: each folder from the top, each link, the file;
 * or the folder, where nobody else may add files either. LB_PLACE_UNTRUSTED: `why` says who may, and links of others
 * were not followed.
 */
lb_place lb_os_judge(lb_judge* judge, const char* path, int is_folder, lb_identity* identity, char* why,
                     size_t why_size);

/*
 * 1 when this process has entered another root folder or mount namespace since this library was loaded: paths then lead
 * to what its owner put there.
 */
int lb_os_is_elsewhere(void);

/* How a place is trusted: places.h has that of each step, lb_os_search() that of each of its folders. */
typedef enum lb_trust {
  LB_TRUST_NAMED,   /* the user named it: LD_LIBRARY_PATH */
  LB_TRUST_SYSTEM,  /* the system's configuration named it; judged where this library's own file is out of reach */
  LB_TRUST_HOST,    /* the host runs code from there anyway; judged in a process with raised rights */
  LB_TRUST_RUNNING, /* its code runs already */
  LB_TRUST_JUDGED,  /* a candidate there must be trusted: a run path, PATH */
  LB_TRUST_FOLDER   /* as its folder is */
} lb_trust;

typedef int (*lb_visit_folder)(void* context, const char* folder, lb_trust trust);

/* What is between the folders of a list. */
const char* lb_os_separator(void);
/* A property of the running .NET runtime, by hostfxr's function; NULL when there is none. The caller frees. */
char* lb_os_dotnet_property(void* function, const char* name);

/* Calls `each` for every absolute folder of a list until it returns non-zero; returns what it returned last. */
int lb_each_folder(const char* list, const char* separators, lb_trust trust, lb_visit_folder each, void* context);

/*
 * Calls `each` for every folder where the system's own search would look for `name`, in its order, until it returns
 * non-zero; returns what it returned last. Folders are absolute: the current one is never searched.
 */
int lb_os_search(const char* name, lb_visit_folder each, void* context);
/* The same for the folder that has drivers' libraries, where lb_os_search() does not look: on Windows the system's. */
int lb_os_search_drivers(lb_visit_folder each, void* context);
/* The environment variables that lb_os_search() reads; NULL ends them. */
const char* const* lb_os_variables(void);
/* Changes when a library is loaded or unloaded. */
uint64_t lb_os_generation(void);
/* Says where lb_os_search() looked, for a report: "not in ...". */
const char* lb_os_searched(void);

/*
 * Reads the head of a file before the system's loader sees it. LB_OUTCOME_BOUND means "nothing speaks against it";
 * else `why` says in words what is wrong.
 */
lb_outcome lb_os_inspect(const char* path, char* why, size_t why_size);

/*
 * Opens a library by path. On failure `outcome` is the kind of failure and `why` the system's own words, or ours where
 * its words say nothing.
 */
void* lb_os_open(const char* path, uint32_t flags, lb_outcome* outcome, char* why, size_t why_size);
void* lb_os_symbol(void* handle, const char* name);
void lb_os_close(void* handle);
/* 1 when the up to 64 bytes at an address from outside can be read. */
int lb_os_can_read(const void* address, size_t size);
/* The loaded image that holds `address`, with one reference more; NULL when unknown. Opens no file. */
void* lb_os_hold(const void* address);

/* 1 when an image with that file name is loaded. */
int lb_os_has_loaded(const char* name);

/* The file of the image that holds `address`, by the name by which it was opened; NULL when unknown. For reports. */
char* lb_os_file_of(const void* address);
/* The caller frees both. */
lb_own_names lb_os_own_names(void);
/* 1 when this code is in the program and not in a library. 0 on Windows, where nothing depends on it. */
int lb_os_is_in_program(void);
/* The real file of the running program, from the kernel: a program's arguments are its caller's. NULL when unknown. */
char* lb_os_program_file(void);

/*
 * Calls `each` for every loaded image that itself has `symbol` (not through what it depends on). `handle` holds a
 * reference that `each` may keep; it returns 1 to keep it and stop, 0 to go on (then the reference is given back).
 */
int lb_os_loaded(const char* symbol, int (*each)(void* context, const char* path, void* handle, void* address),
                 void* context);

#endif
