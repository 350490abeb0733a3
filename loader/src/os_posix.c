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
#include <sys/syscall.h>
#include <sys/vfs.h>
#endif

#include "file_head.h"
#include "os.h"
#include "os_posix.h"

enum { LB_PLAIN_LIMIT = 1 << 24 };

/* Whether a path is not below /proc, or what is there is the kernel's. By its path: qemu opens a copy of its own. */
static int lb_is_kernels(const char* path) {
  if (strncmp(path, "/proc/", 6) != 0) return 1;
#if defined(__APPLE__)
  return 0;
#else
  struct statfs status;
  return !statfs(path, &status) && status.f_type == LB_PROC_MAGIC;
#endif
}

FILE* lb_open_plain(const char* path) {
  struct stat found;
  int handle = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (handle < 0) return NULL;
  int is_plain = !fstat(handle, &found) && S_ISREG(found.st_mode) && found.st_size <= LB_PLAIN_LIMIT;
  is_plain = is_plain && lb_is_kernels(path);
  FILE* file = is_plain ? fdopen(handle, "r") : NULL;
  int error = is_plain ? errno : 0;
  if (!file) close(handle);
  errno = error;
  return file;
}

void lb_os_append(const char* path, const char* text) {
  struct stat found;
  int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY;
  int handle = open(path, flags, 0666);
  if (handle < 0) return;
  if (!fstat(handle, &found) && S_ISREG(found.st_mode) && write(handle, text, strlen(text)) < 0) {
    /* Nobody asked for it in this process, so that nobody is told. */
  }
  close(handle);
}

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

/* What errors mean, and which pass. strerror() is not thread-safe and uses the user's language: people see these. */
static const struct {
  int error;
  lb_place place;
  const char* words;
} lb_errors[] = {
    {ENOENT, LB_PLACE_ABSENT, "no such file or folder"},
    {ENOTDIR, LB_PLACE_ABSENT, "a part of the path is not a folder"},
    {ENAMETOOLONG, LB_PLACE_ABSENT, "the path is too long"},
    {ELOOP, LB_PLACE_ABSENT, "the links go round in a circle"},
    {EACCES, LB_PLACE_REFUSED, LB_DENIED},
    {EPERM, LB_PLACE_REFUSED, LB_DENIED},
    {EMFILE, LB_PLACE_BUSY, "too many open files in this process"},
    {ENFILE, LB_PLACE_BUSY, "too many open files on this machine"},
    {ENOMEM, LB_PLACE_BUSY, "out of memory"},
    {EINTR, LB_PLACE_BUSY, "a signal interrupted it"},
    {EAGAIN, LB_PLACE_BUSY, "the system is busy"},
    {ETXTBSY, LB_PLACE_BUSY, "another program is writing it"},
    {EIO, LB_PLACE_BUSY, "the disk or the file server reports an error"},
    {ESTALE, LB_PLACE_BUSY, "the file server no longer knows it"},
    {ETIMEDOUT, LB_PLACE_BUSY, "the file server does not answer"},
    {EHOSTDOWN, LB_PLACE_BUSY, "the file server does not answer"},
    {EHOSTUNREACH, LB_PLACE_BUSY, "the file server cannot be reached"},
    {ENETUNREACH, LB_PLACE_BUSY, "the file server cannot be reached"},
    {ENOTCONN, LB_PLACE_BUSY, "the file server has gone"},
};

lb_place lb_say_errno(int error, char* why, size_t why_size) {
  snprintf(why, why_size, "system error %d", error);
  for (size_t i = 0; i < sizeof lb_errors / sizeof *lb_errors; i++) {
    if (lb_errors[i].error != error) continue;
    snprintf(why, why_size, "%s", lb_errors[i].words);
    return lb_errors[i].place;
  }
  return LB_PLACE_REFUSED;
}

lb_place lb_os_look(const char* path, lb_identity* identity, char* why, size_t why_size) {
  struct stat found;
  why[0] = 0;
  if (stat(path, &found)) return lb_say_errno(errno, why, why_size);
  identity->device = (uint64_t)found.st_dev;
  identity->file = (uint64_t)found.st_ino;
  if (S_ISREG(found.st_mode)) return LB_PLACE_FILE;
  return S_ISDIR(found.st_mode) ? LB_PLACE_FOLDER : LB_PLACE_OTHER;
}

#if defined(__APPLE__)
uint64_t lb_mount_of(const char* place) {
  struct stat found;
  return lstat(place, &found) ? 0 : (uint64_t)found.st_dev + 1;
}
#else
/*
 * Linux 5.8 and newer, by number, since older headers lack it: a mask is at the start of 256 bytes, the mount's number
 * at 144. Emulators may leave that out.
 */
static uint64_t lb_ask_mount(const char* place) {
#if defined(SYS_statx)
  enum { NO_FOLLOW = 0x100, MOUNT_ID = 0x1000 };
  uint64_t answer[32] = {0};
  long failed = syscall(SYS_statx, AT_FDCWD, place, NO_FOLLOW, MOUNT_ID, answer);
  return failed ? 0 : answer[18];
#else
  (void)place;
  return 0;
#endif
}

static uint64_t lb_read_mount(const char* place) {
  char text[256] = "";
  unsigned long long mount = 0;
  int handle = open(place, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  snprintf(text, sizeof text, "/proc/self/fdinfo/%d", handle);
  FILE* file = handle < 0 ? NULL : lb_open_plain(text);
  while (file && fgets(text, sizeof text, file) && sscanf(text, "mnt_id: %llu", &mount) != 1) {
  }
  if (file) fclose(file);
  if (handle >= 0) close(handle);
  return mount;
}

uint64_t lb_mount_of(const char* place) {
  uint64_t mount = lb_ask_mount(place);
  return mount ? mount : lb_read_mount(place);
}
#endif

/* ---- the root folder in which this library was loaded ------------------------------------------------------------ */

/* Where paths begin: the folder, and the mount, which is another in each mount namespace. */
typedef struct lb_root {
  lb_identity folder;
  uint64_t mount;
} lb_root;

static lb_root lb_first_root;

static lb_root lb_find_root(void) {
  struct stat status;
  lb_root root = {{0, 0}, lb_mount_of("/")};
  if (!stat("/", &status)) root.folder = (lb_identity){(uint64_t)status.st_dev, (uint64_t)status.st_ino};
  return root;
}

__attribute__((constructor)) static void lb_note_root(void) {
  lb_first_root = lb_find_root();
}

int lb_os_is_elsewhere(void) {
  lb_root root = lb_find_root();
  if (!lb_first_root.folder.file) lb_first_root = root; /* called by another constructor, which runs before this one */
  return root.folder.device != lb_first_root.folder.device || root.folder.file != lb_first_root.folder.file ||
         (lb_first_root.mount && root.mount != lb_first_root.mount);
}

/* ---- paths, folders and files ------------------------------------------------------------------------------------ */

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

int lb_os_is_absolute(const char* path) {
  return path[0] == '/';
}

char* lb_os_absolute(const char* path) {
  if (lb_os_is_absolute(path)) return lb_duplicate(path);
  char* here = getcwd(NULL, 0); /* glibc, musl and macOS allocate */
  if (!here) return lb_os_join(".", path);
  char* whole = lb_os_join(here, path);
  free(here);
  return whole;
}

lb_place lb_os_list(const char* folder, int (*each)(void* context, const char* name), void* context, char* why,
                    size_t why_size) {
  DIR* open = opendir(folder);
  if (!open) return lb_say_errno(errno, why, why_size);
  const struct dirent* entry;
  while ((entry = readdir(open)) != NULL) {
    if (each(context, entry->d_name)) break;
  }
  closedir(open);
  return LB_PLACE_FOLDER;
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
  if (lb_with_file(path, lb_inspect_file, &inspection)) return inspection.outcome;
  return lb_outcome_of(lb_say_errno(errno, why, why_size));
}

const char* lb_os_separator(void) {
  return ":";
}

char* lb_os_dotnet_property(void* function, const char* name) {
  int (*ask)(void* host, const char* name, const char** value);
  const char* value = NULL;
  memcpy(&ask, &function, sizeof ask);
  return ask(NULL, name, &value) ? NULL : lb_duplicate(value); /* NULL: the runtime that runs */
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
