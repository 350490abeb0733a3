/*
 * os_posix.c: os.h for Linux (glibc and musl) and macOS: files, folders, the lock and the environment; must not know
 * what a runtime is. Loaded images are in images_linux.c and images_macos.c.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if !defined(__APPLE__)
#include <sys/auxv.h>
#endif

#include "file_head.h"
#include "os.h"

/* ---- the lock --------------------------------------------------------------------------------------------------- */

static pthread_mutex_t lb_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t lb_holder; /* only a thread itself ever writes its own name here, so a stale one is never ours */
static int lb_held;
static int lb_fork_is_watched; /* guarded by the mutex */
static int lb_fork_has_lock;   /* set by the forking thread, which holds the mutex */

static int lb_is_holder(void) {
  return __atomic_load_n(&lb_held, __ATOMIC_ACQUIRE) &&
         pthread_equal(__atomic_load_n(&lb_holder, __ATOMIC_RELAXED), pthread_self());
}

/* A fork waits until no thread binds: a child has only the thread that forked, so it could never be unlocked. */
static void lb_before_fork(void) {
  if (lb_is_holder()) return; /* the runtime's own start-up code forks: its thread lives on in the child */
  pthread_mutex_lock(&lb_mutex);
  lb_fork_has_lock = 1;
}

static void lb_after_fork(void) {
  if (!lb_fork_has_lock) return;
  lb_fork_has_lock = 0;
  pthread_mutex_unlock(&lb_mutex);
}

#if defined(__GLIBC__)
/*
 * The handlers must go when this library is unloaded, or the next fork jumps into nothing. pthread_atfork() sees to
 * that only where the toolchain links its newer form and ends libraries as GNU's does; zig's does neither. So both
 * halves are called by name: they are interfaces of the Linux Standard Base.
 */
#define LB_OF_LIBC __attribute__((visibility("default"))) /* also where a pragma hides what is declared */
LB_OF_LIBC int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void* library);
LB_OF_LIBC void __cxa_finalize(void* library);
LB_OF_LIBC int __cxa_atexit(void (*handler)(void*), void* argument, void* library);
extern void* __dso_handle __attribute__((visibility("hidden")));

static int lb_watch_forks(void) {
  return __register_atfork(lb_before_fork, lb_after_fork, lb_after_fork, &__dso_handle) == 0;
}

__attribute__((destructor)) static void lb_forget_forks(void) {
  if (lb_fork_is_watched) __cxa_finalize(&__dso_handle);
}

static void (*lb_end)(void);

static void lb_end_or_unload(void* mark) {
  if (pthread_mutex_trylock(mark)) {
    lb_end();
  } else {
    pthread_mutex_unlock(mark);
  }
}

/*
 * Unloading this library calls its handlers, too. So another one, which belongs to no library and is called before it,
 * locks a mutex when the process ends: code and memory that are still there when this library is not.
 */
void lb_os_at_exit(void (*end)(void)) {
  pthread_mutex_t* mark = lb_allocate(sizeof *mark);
  if (!mark || pthread_mutex_init(mark, NULL)) return;
  lb_end = end;
  __cxa_atexit(lb_end_or_unload, mark, &__dso_handle);
  __cxa_atexit((void (*)(void*))(void (*)(void))pthread_mutex_trylock, mark, NULL);
}
#elif defined(__APPLE__)
/* dyld does not remove the handlers when a library is unloaded, so a library that has some stays for ever. */
static int lb_watch_forks(void) {
  Dl_info info;
  if (!dladdr((const void*)&lb_mutex, &info) || !dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE)) {
    return 0;
  }
  return pthread_atfork(lb_before_fork, lb_after_fork, lb_after_fork) == 0;
}
#else
static int lb_watch_forks(void) {
  return pthread_atfork(lb_before_fork, lb_after_fork, lb_after_fork) == 0;
}
#endif

#if !defined(__GLIBC__)
void lb_os_at_exit(void (*end)(void)) {
  atexit(end); /* this library is never unloaded: see above, and musl unloads none */
}
#endif

int lb_os_lock(void) {
  if (lb_is_holder()) return 1;
  pthread_mutex_lock(&lb_mutex);
  __atomic_store_n(&lb_holder, pthread_self(), __ATOMIC_RELAXED);
  __atomic_store_n(&lb_held, 1, __ATOMIC_RELEASE);
  if (!lb_fork_is_watched) lb_fork_is_watched = lb_watch_forks();
  return 0;
}

void lb_os_unlock(void) {
  __atomic_store_n(&lb_held, 0, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&lb_mutex);
}

#if !defined(__APPLE__) /* where that would keep each library that has a loader, used or not */
/* A fork that has begun does not see new handlers, so they are there before a second thread can lock. */
__attribute__((constructor)) static void lb_watch_forks_early(void) {
  if (!lb_os_lock()) lb_os_unlock();
}
#endif

void* lb_os_load(void* const volatile* place) {
  return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

void lb_os_publish(void* volatile* place, void* value) {
  __atomic_store_n(place, value, __ATOMIC_RELEASE);
}

/* ---- environment and places ------------------------------------------------------------------------------------ */

int lb_os_is_raised(void) {
#if defined(__APPLE__)
  return issetugid() != 0;
#else
  return getauxval(AT_SECURE) != 0; /* the kernel's own answer: for set-id programs and file capabilities */
#endif
}

char* lb_os_environment(const char* name) {
  const char* value = lb_os_is_raised() ? NULL : getenv(name);
  return value && *value ? lb_duplicate(value) : NULL;
}

static void lb_say_error(int error, char* why, size_t why_size) {
  switch (error) { /* strerror() is not thread-safe and uses the user's language: these are what people see */
    case ENOENT: snprintf(why, why_size, "no such file or folder"); break;
    case ENOTDIR: snprintf(why, why_size, "a part of the path is not a folder"); break;
    case EACCES:
    case EPERM: snprintf(why, why_size, "permission denied"); break;
    case ENAMETOOLONG: snprintf(why, why_size, "the path is too long"); break;
    case ELOOP: snprintf(why, why_size, "the links go round in a circle"); break;
    case EMFILE:
    case ENFILE: snprintf(why, why_size, "too many files are open"); break;
    case ENOMEM: snprintf(why, why_size, "out of memory"); break;
    default: snprintf(why, why_size, "system error %d", error); break;
  }
}

lb_place lb_os_look(const char* path, lb_identity* identity, char* why, size_t why_size) {
  struct stat found;
  why[0] = 0;
  if (stat(path, &found)) {
    lb_say_error(errno, why, why_size);
    return errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG || errno == ELOOP ? LB_PLACE_ABSENT
                                                                                          : LB_PLACE_REFUSED;
  }
  identity->device = (uint64_t)found.st_dev;
  identity->file = (uint64_t)found.st_ino;
  if (S_ISREG(found.st_mode)) return LB_PLACE_FILE;
  return S_ISDIR(found.st_mode) ? LB_PLACE_FOLDER : LB_PLACE_OTHER;
}

char* lb_os_join(const char* folder, const char* name) {
  lb_text path = {NULL, 0, 0, 0};
  size_t length = strlen(folder);
  lb_text_add(&path, folder);
  if (length && folder[length - 1] != '/') lb_text_add(&path, "/");
  lb_text_add(&path, name);
  return lb_text_take(&path);
}

char* lb_os_folder_of(const char* path) {
  const char* slash = (strrchr)(path, '/');
  if (!slash) return NULL;
  lb_text folder = {NULL, 0, 0, 0};
  lb_text_add_bytes(&folder, path, slash == path ? 1 : (size_t)(slash - path));
  return lb_text_take(&folder);
}

char* lb_os_absolute(const char* path) {
  if (path[0] == '/') return lb_duplicate(path);
  char* here = getcwd(NULL, 0); /* glibc, musl and macOS allocate */
  if (!here) return lb_os_join(".", path);
  char* whole = lb_os_join(here, path);
  free(here);
  return whole;
}

int lb_os_list(const char* folder, int (*each)(void* context, const char* name), void* context, char* why,
               size_t why_size) {
  DIR* open = opendir(folder);
  if (!open) {
    lb_say_error(errno, why, why_size);
    return 1;
  }
  const struct dirent* entry;
  while ((entry = readdir(open)) != NULL) {
    if (each(context, entry->d_name)) break;
  }
  closedir(open);
  return 0;
}

static size_t lb_read(const lb_file* file, void* into, size_t size, uint64_t at) {
  size_t done = 0;
  while (done < size && at + done < file->size) {
    ssize_t got = pread((int)file->handle, (char*)into + done, size - done, (off_t)(at + done));
    if (got <= 0) break;
    done += (size_t)got;
  }
  return done;
}

int lb_with_file(const char* path, void (*use)(void* context, const lb_file* file), void* context) {
  struct stat found;
  /* O_NONBLOCK: the file may have become a pipe since we looked, and nobody may be writing. */
  int handle = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (handle < 0) return 0;
  int error = fstat(handle, &found) ? errno : 0;
  if (!error) {
    lb_file file = {(uint64_t)found.st_size, lb_read, handle};
    use(context, &file);
  }
  close(handle);
  errno = error;
  return !error;
}

typedef struct lb_inspection {
  lb_outcome outcome;
  char* why;
  size_t why_size;
} lb_inspection;

static void lb_inspect_file(void* context, const lb_file* file) {
  lb_inspection* inspection = context;
#if defined(__APPLE__)
  inspection->outcome = lb_macho_inspect(file, inspection->why, inspection->why_size);
#else
  inspection->outcome = lb_elf_inspect(file, inspection->why, inspection->why_size);
#endif
}

lb_outcome lb_os_inspect(const char* path, char* why, size_t why_size) {
  lb_inspection inspection = {LB_OUTCOME_REFUSED, why, why_size};
  if (!lb_with_file(path, lb_inspect_file, &inspection)) {
    int error = errno;
    lb_say_error(error, why, why_size);
    return error == ENOENT ? LB_OUTCOME_NOT_FOUND : LB_OUTCOME_REFUSED;
  }
  return inspection.outcome;
}

int lb_os_is_refused(const char* path, char* why, size_t why_size) {
  (void)path;
  (void)why;
  (void)why_size;
  return 0;
}

/* ---- where we are ----------------------------------------------------------------------------------------------- */

char* lb_os_own_folder(void) {
  static const char anchor = 0;
  char* path = lb_os_file_of(&anchor);
  char* real = path && *path == '/' ? realpath(path, NULL) : NULL;
  char* folder = real ? lb_os_folder_of(real) : NULL;
  free(real);
  lb_free(path);
  return folder;
}
