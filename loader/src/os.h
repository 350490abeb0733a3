/*
 * os.h: all that the loader asks of an operating system; one os_<system>.c answers. Paths are UTF-8. No function
 * prints, and none keeps what it is given.
 */
#ifndef LATEBIND_OS_H
#define LATEBIND_OS_H

#include <stddef.h>

#include "internal.h"

/*
 * The lock of binding, one for each library that holds a loader. Returns 0, or non-zero when this very thread has
 * it already (a runtime that calls back while it is being opened). A fork waits for it, so a child never inherits
 * it from a thread that is gone.
 */
int lb_os_lock(void);
void lb_os_unlock(void);
/*
 * Calls `end` when the process ends: before the handlers that were registered so far, and so before the destructors of
 * the libraries that are loaded. Not when this library is unloaded. Does nothing on Windows.
 */
void lb_os_at_exit(void (*end)(void));

/*
 * A pointer that one thread publishes, under the lock, and others read without it: a thread that sees it sees all that
 * was written before. It is here because compilers have no common form of it in C99.
 */
void* lb_os_load(void* const volatile* place);
void lb_os_publish(void* volatile* place, void* value);

/*
 * 1 when this process has more rights than the user who started it, who then must not choose what it opens: set-id
 * programs and those with file capabilities; on Windows one that UAC elevated.
 */
int lb_os_is_raised(void);
/* A copy of an environment variable; NULL when unset, empty, or in a process with raised rights. */
char* lb_os_environment(const char* name);

typedef enum lb_place {
  LB_PLACE_FILE,
  LB_PLACE_FOLDER,
  LB_PLACE_OTHER,  /* a device, a pipe, a socket */
  LB_PLACE_ABSENT, /* nothing there */
  LB_PLACE_REFUSED /* there may be something, but we may not look */
} lb_place;

/* What `path` is. `identity` distinguishes files by more than name; `why` gets the system's words on failure. */
lb_place lb_os_look(const char* path, lb_identity* identity, char* why, size_t why_size);
/* `path` made absolute without resolving links (a library may look for others next to the link). */
char* lb_os_absolute(const char* path);
char* lb_os_folder_of(const char* path); /* "/a" of "/a/b"; NULL where there is none */
char* lb_os_join(const char* folder, const char* name);
/* The names in a folder, unsorted. Returns 0 on success; `each` returns non-zero to stop. */
int lb_os_list(const char* folder, int (*each)(void* context, const char* name), void* context, char* why,
               size_t why_size);

/*
 * 1 when libraries in that place are never the runtime, though they would load: on Windows the system folder, where
 * copies belong to other programs and get outdated.
 */
int lb_os_is_refused(const char* path, char* why, size_t why_size);
/*
 * Calls `each` for every folder where the system's own search would look for `name`, in its order, until it returns
 * non-zero; returns what it returned last. Folders are absolute: the current one is never searched.
 */
int lb_os_search(const char* name, int (*each)(void* context, const char* folder), void* context);
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
/* The loaded image that holds `address`, with one reference more; NULL when unknown. Opens no file. */
void* lb_os_hold(const void* address);

/* The file of the image that holds `address`; NULL when unknown. The caller frees. */
char* lb_os_file_of(const void* address);
/* The real folder of the library (or program) that this loader is compiled into. */
char* lb_os_own_folder(void);

/*
 * Calls `each` for every loaded image that itself has `symbol` (not through what it depends on). `handle` holds a
 * reference that `each` may keep; it returns 1 to keep it and stop, 0 to go on (then the reference is given back).
 */
int lb_os_loaded(const char* symbol, int (*each)(void* context, const char* path, void* handle, void* address),
                 void* context);

#endif
