/*
 * os_posix.c: os.h for Linux (glibc and musl) and macOS: files, folders, threads and the environment; must not
 * know what a runtime is. Loaded images are in images_linux.c and images_macos.c, who may write where in trust_posix.c.
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

/* ---- threads -------------------------------------------------------------------------------------------------- */

uintptr_t lb_os_thread(void) {
  return (uintptr_t)pthread_self();
}

void* lb_os_load(void* const volatile* place) {
  return __atomic_load_n(place, __ATOMIC_SEQ_CST);
}

void lb_os_publish(void* volatile* place, void* value) {
  __atomic_store_n(place, value, __ATOMIC_SEQ_CST);
}

void* lb_os_exchange(void* volatile* place, void* expected, void* value) {
  void* held = expected;
  __atomic_compare_exchange_n(place, &held, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return held;
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
  return slash ? lb_copy(path, slash == path ? 1 : (size_t)(slash - path)) : NULL;
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
    if (got < 0 && errno == EINTR) continue; /* a signal, not the end */
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

int lb_os_search_drivers(lb_visit_folder each, void* context) {
  (void)each;
  (void)context;
  return 0;
}

int lb_os_is_refused(const char* path, char* why, size_t why_size) {
  (void)path;
  (void)why;
  (void)why_size;
  return 0;
}
