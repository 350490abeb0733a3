/*
 * images_linux.c: os.h for Linux: opening libraries, and finding those that are open already; must not judge them.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
/* Parentheses around strchr and similar functions keep newer glibc headers from making C11 macros of them. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "os.h"
#include "os_posix.h"

/*
 * The system's text begins with the object at fault, then a colon, then words in the user's language: so the
 * object is read and the words are not. (musl: "Error loading shared library X: ... (needed by Y)".)
 */
static lb_outcome lb_explain(const char* path, const char* why) {
  static const char musl[] = "Error loading shared library ";
  if (strncmp(why, musl, sizeof musl - 1) == 0) why += sizeof musl - 1;
  const char* colon = (strstr)(why, ": ");
  size_t length = colon ? (size_t)(colon - why) : 0;
  int same = length && strlen(path) == length && memcmp(why, path, length) == 0;
  if (same || !length) return LB_OUTCOME_LOAD_FAILED;
  /* An object with a folder is there but unfit. */
  int has_folder = (memchr)(why, '/', length) != NULL;
  if (!has_folder) return LB_OUTCOME_MISSING_DEPENDENCY;
  return LB_OUTCOME_LOAD_FAILED;
}

#if defined(__GLIBC__)
/*
 * glibc opens libraries in a static program, too, but with a second C library, which is not set up for the program's
 * threads: ONNX Runtime crashes in its first call. A static program has dlopen() in itself, and no library exports it.
 */
static int lb_is_static(void) {
  return !dlsym(RTLD_DEFAULT, "dlopen");
}
#else
static int lb_is_static(void) {
  return 0; /* musl reports it itself */
}
#endif

/* glibc replaces $ORIGIN, $LIB and $PLATFORM in paths, too: what was judged would not be what is opened. */
static int lb_is_rewritten(const char* path) {
  static const char* const tokens[] = {"$ORIGIN", "${ORIGIN", "$LIB", "${LIB", "$PLATFORM", "${PLATFORM", NULL};
  for (const char* const* token = tokens; *token; token++) {
    if ((strstr)(path, *token)) return 1;
  }
  return 0;
}

/* The first bytes of a file in memory, or all of it for a size of 0, which is then written; NULL: errno says why. */
static void* lb_map(const char* path, size_t* size) {
  struct stat status;
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return NULL;
  if (!*size && !fstat(file, &status)) *size = (size_t)status.st_size;
  void* page = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
  int error = errno;
  close(file);
  errno = error;
  return page == MAP_FAILED ? NULL : page;
}

/* What the system's loader lacked, it does not tell: what it would have done is done again. */
static int lb_lacks_something(const char* path, char* why, size_t why_size) {
  size_t size = 0;
  void* pages = lb_map(path, &size);
  if (!pages) return lb_say_errno(errno, why, why_size) == LB_PLACE_BUSY;
  munmap(pages, size);
  return 0;
}

void* lb_os_open(const char* path, uint32_t flags, lb_outcome* outcome, char* why, size_t why_size) {
  if (lb_is_rewritten(path)) {
    snprintf(why, why_size, "the system's loader replaces $LIB, $ORIGIN and $PLATFORM in paths: rename the folder");
    *outcome = LB_OUTCOME_LOAD_FAILED;
    return NULL;
  }
  if (lb_is_static()) {
    snprintf(why, why_size, "%s", LB_STATIC_PROGRAM);
    *outcome = LB_OUTCOME_LOAD_FAILED;
    return NULL;
  }
  void* handle = dlopen(path, RTLD_NOW | (flags & LB_FLAG_GLOBAL ? RTLD_GLOBAL : RTLD_LOCAL));
  if (handle) return handle;
  const char* words = dlerror();
  *outcome = LB_OUTCOME_TRY_AGAIN;
  if (lb_lacks_something(path, why, why_size)) return NULL;
  snprintf(why, why_size, "%s", words ? words : "the system's loader gave no reason");
  *outcome = lb_explain(path, why);
  return NULL;
}

void* lb_os_symbol(void* handle, const char* name) {
  return dlsym(handle, name);
}

void lb_os_close(void* handle) {
  dlclose(handle);
}

/* ---- images that are loaded ------------------------------------------------------------------------------------ */

typedef struct lb_image {
  char* path;      /* "" is the program itself */
  uintptr_t start; /* of its segments in memory */
  uintptr_t end;
} lb_image;

typedef struct lb_images {
  lb_image* list;
  size_t count;
  size_t capacity;
} lb_images;

static void lb_measure(const struct dl_phdr_info* info, lb_image* image) {
  image->start = UINTPTR_MAX;
  image->end = 0;
  for (size_t i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    uintptr_t start = (uintptr_t)info->dlpi_addr + (uintptr_t)info->dlpi_phdr[i].p_vaddr;
    uintptr_t end = start + (uintptr_t)info->dlpi_phdr[i].p_memsz;
    if (start < image->start) image->start = start;
    if (end > image->end) image->end = end;
  }
}

/*
 * ThreadSanitizer does not see the lock of the system's loader, which wrote the name in another thread: so this reads
 * it unseen, by no function that it watches.
 */
#if defined(__GNUC__)
__attribute__((no_sanitize("thread")))
#endif
static char*
lb_copy_unwatched(const char* text) {
  size_t size = 1;
  for (const volatile char* at = text; *at; at++) size++;
  char* copy = lb_allocate(size);
  for (size_t i = 0; copy && i < size; i++) copy[i] = ((const volatile char*)text)[i];
  return copy;
}

/* Runs under the system loader's own lock: it may only take notes. */
static int lb_note_image(struct dl_phdr_info* info, size_t size, void* context) {
  lb_images* images = context;
  (void)size;
  if (images->count == images->capacity) {
    size_t capacity = images->capacity ? images->capacity * 2 : 64;
    lb_image* list = lb_resize(images->list, capacity * sizeof *list);
    if (!list) return 1;
    images->list = list;
    images->capacity = capacity;
  }
  char* path = lb_copy_unwatched(info->dlpi_name ? info->dlpi_name : "");
  if (!path) return 1;
  lb_image* image = &images->list[images->count++];
  image->path = path;
  lb_measure(info, image);
  return 0;
}

/* The symbol's address if this very image has it: dlsym() alone would also look into what the image depends on. */
static void* lb_own_symbol(void* handle, const lb_image* image, const char* symbol) {
  void* address = dlsym(handle, symbol);
  return (uintptr_t)address >= image->start && (uintptr_t)address < image->end ? address : NULL;
}

int lb_os_loaded(const char* symbol, int (*each)(void* context, const char* path, void* handle, void* address),
                 void* context) {
  lb_images images = {NULL, 0, 0};
  int kept = 0;
  dl_iterate_phdr(lb_note_image, &images);
  for (size_t i = 0; i < images.count; i++) {
    lb_image* image = &images.list[i];
    if (!kept) {
      /* RTLD_NOLOAD: an image that was unloaded meanwhile, and the kernel's own, give NULL. */
      void* handle = dlopen(*image->path ? image->path : NULL, RTLD_LAZY | RTLD_NOLOAD);
      void* address = handle ? lb_own_symbol(handle, image, symbol) : NULL;
      if (address) kept = each(context, image->path, handle, address);
      if (handle && !kept) dlclose(handle);
    }
    lb_free(image->path);
  }
  lb_free(images.list);
  return kept;
}

void* lb_os_hold(const void* address) {
  lb_images images = {NULL, 0, 0};
  void* handle = NULL;
  dl_iterate_phdr(lb_note_image, &images);
  for (size_t i = 0; i < images.count; i++) {
    const lb_image* image = &images.list[i];
    if ((uintptr_t)address >= image->start && (uintptr_t)address < image->end && !handle) {
      handle = dlopen(*image->path ? image->path : NULL, RTLD_LAZY | RTLD_NOLOAD);
    }
    lb_free(image->path);
  }
  lb_free(images.list);
  return handle;
}

static int lb_is_named(const char* path, const char* name) {
  const char* last = (strrchr)(path, '/');
  return last && !strcmp(last + 1, name);
}

int lb_os_has_loaded(const char* name) {
  lb_images images = {NULL, 0, 0};
  int has = 0;
  dl_iterate_phdr(lb_note_image, &images);
  for (size_t i = 0; i < images.count; i++) {
    has |= lb_is_named(images.list[i].path, name);
    lb_free(images.list[i].path);
  }
  lb_free(images.list);
  return has;
}

/* ---- files of images -------------------------------------------------------------------------------------------- */

/* What the kernel has mapped at an address: /proc/self/maps has addresses, permissions, offset, device, inode, path. */
typedef struct lb_mapping {
  unsigned major; /* of the device, as maps has it: stat() has another on btrfs and overlayfs */
  unsigned minor;
  unsigned long long file; /* its inode; 0 without a file */
  char path[PATH_MAX];
} lb_mapping;

/* Reads a line of maps if it is about an address; most are about others. */
static int lb_read_mapping(const char* line, uintptr_t address, lb_mapping* mapping) {
  char* end = NULL;
  int at = 0;
  int is_here = strtoul(line, &end, 16) <= address && *end == '-' && strtoul(end + 1, &end, 16) > address;
  if (!is_here || sscanf(end, " %*s %*s %x:%x %llu %n", &mapping->major, &mapping->minor, &mapping->file, &at) != 3) {
    return 0;
  }
  snprintf(mapping->path, sizeof mapping->path, "%.*s", (int)strcspn(end + at, "\n"), end + at);
  return at;
}

/* Whether /proc is the kernel's: in a root folder of its own, a program may have any folder there. */
static int lb_has_proc(void) {
  struct statfs status;
  return !statfs("/proc/self", &status) && status.f_type == LB_PROC_MAGIC;
}

/* What is mapped at an address; NULL where it is not a file, errno is then 0, and where that is unknown. The caller
 * frees. */
static lb_mapping* lb_find_mapping(const void* address) {
  char* line = NULL;
  size_t size = 0;
  lb_mapping* mapping = lb_allocate(sizeof *mapping);
  FILE* maps = mapping ? lb_open_plain("/proc/self/maps") : NULL;
  int error = maps ? 0 : mapping ? errno : ENOMEM;
  int found = 0;
  while (maps && !found && getline(&line, &size, maps) > 0) {
    found = lb_read_mapping(line, (uintptr_t)address, mapping);
  }
  if (maps) fclose(maps);
  free(line);
  int is_file = found && mapping->file && lb_has_proc();
  if (!is_file) lb_free(mapping);
  errno = error;
  return is_file ? mapping : NULL;
}

/* Whether a path leads to a mapped file. Where stat() has other numbers than maps, as on btrfs and overlayfs, the file
 * that it leads to is mapped for a moment, too. */
static int lb_leads_to(const char* path, const lb_mapping* mapping) {
  struct stat status;
  if (*path != '/' || stat(path, &status)) return 0;
  if (status.st_ino == mapping->file && major(status.st_dev) == mapping->major &&
      minor(status.st_dev) == mapping->minor) {
    return 1;
  }
  size_t size = 1;
  void* page = lb_map(path, &size);
  lb_mapping* other = page ? lb_find_mapping(page) : NULL;
  int is_same =
      other && other->file == mapping->file && other->major == mapping->major && other->minor == mapping->minor;
  lb_free(other);
  if (page) munmap(page, size);
  return is_same;
}

/* The kernel writes a newline in a path as \012, and leaves a backslash alone: what leads to the file was meant. */
static void lb_unescape(lb_mapping* mapping) {
  if (!mapping || !(strstr)(mapping->path, "\\012") || lb_leads_to(mapping->path, mapping)) return;
  char* into = mapping->path;
  for (const char* at = mapping->path; *at; into++) {
    int is_newline = strncmp(at, "\\012", 4) == 0;
    *into = is_newline ? '\n' : *at;
    at += is_newline ? 4 : 1;
  }
  *into = 0;
}

/* The path if it has no links. To the name of a file that is no more, the kernel adds a mark: another file of that name
 * is another's. */
static char* lb_keep_real(const char* path) {
  static const char mark[] = " (deleted)";
  size_t length = strlen(path);
  int is_deleted = length >= sizeof mark - 1 && !strcmp(path + length - (sizeof mark - 1), mark);
  char* real = *path == '/' && !is_deleted ? realpath(path, NULL) : NULL;
  char* kept = real && !strcmp(real, path) ? lb_duplicate(path) : NULL;
  free(real);
  return kept;
}

/* Whether the kernel has that name for the file that is mapped, and the name leads to another one or nowhere. */
static int lb_was_replaced(const lb_mapping* mapping) {
  struct stat status;
  errno = 0;
  return *mapping->path != '/' || !stat(mapping->path, &status) || errno == ENOENT || errno == ENOTDIR;
}

static void lb_find_own(lb_own_names* own, const lb_mapping* mapping, const char* name) {
  errno = 0;
  if (lb_leads_to(mapping->path, mapping)) own->file = lb_keep_real(mapping->path);
  int error = errno;
  own->is_busy = !own->file && lb_say_errno(error, own->why, sizeof own->why) == LB_PLACE_BUSY;
  if (!own->file && !own->is_busy && lb_was_replaced(mapping)) {
    snprintf(own->why, sizeof own->why, "its file was deleted, moved or replaced");
  }
  if (lb_leads_to(name, mapping)) own->name = lb_duplicate(name);
}

lb_own_names lb_os_own_names(void) {
  static const char anchor = 0;
  Dl_info info;
  lb_own_names own = {.file = NULL, .why = "its code is in no file"};
  lb_mapping* mapping = lb_find_mapping(&anchor);
  int error = mapping ? 0 : errno;
  if (error) own.is_busy = lb_say_errno(error, own.why, sizeof own.why) == LB_PLACE_BUSY;
  if (!mapping && !own.is_busy && !lb_has_proc()) snprintf(own.why, sizeof own.why, "/proc is not mounted");
  lb_unescape(mapping);
  if (!own.is_busy && lb_os_is_elsewhere()) {
    snprintf(own.why, sizeof own.why, "this process has entered another root folder or mount namespace since");
  } else if (mapping) {
    lb_find_own(&own, mapping, dladdr(&anchor, &info) && info.dli_fname ? info.dli_fname : "");
  }
  lb_free(mapping);
  return own;
}

/* The kernel, or the system's loader where that was started with the program's name, says where the program is. */
int lb_os_is_in_program(void) {
  static const char anchor = 0;
  Dl_info own;
  Dl_info program;
  const void* heads = (const void*)getauxval(AT_PHDR);
  return heads && dladdr(&anchor, &own) && dladdr(heads, &program) && own.dli_fbase == program.dli_fbase;
}

char* lb_os_program_file(void) {
  char path[PATH_MAX];
  struct stat named;
  struct stat running;
  ssize_t length = lb_has_proc() ? readlink("/proc/self/exe", path, sizeof path - 1) : 0;
  if (length <= 0) return NULL;
  path[length] = 0;
  if (stat("/proc/self/exe", &running) || lstat(path, &named)) return NULL;
  return named.st_dev == running.st_dev && named.st_ino == running.st_ino ? lb_keep_real(path) : NULL;
}

/* msync() only asks here: with MS_ASYNC it writes nothing, and it fails where a page is not mapped. */
int lb_os_can_read(const void* address, size_t size) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t start = (uintptr_t)address / page * page;
  return msync((void*)start, (uintptr_t)address - start + size, MS_ASYNC) == 0;
}

/* By the kernel's name where the system's loader has another: it calls a program by the first of its arguments. */
char* lb_os_file_of(const void* address) {
  Dl_info info;
  lb_mapping* mapping = lb_find_mapping(address);
  lb_unescape(mapping);
  const char* opened = dladdr(address, &info) && info.dli_fname && *info.dli_fname == '/' ? info.dli_fname : NULL;
  char* file = lb_duplicate(mapping && !(opened && lb_leads_to(opened, mapping)) ? mapping->path : opened);
  lb_free(mapping);
  return file;
}

static int lb_read_generation(struct dl_phdr_info* info, size_t size, void* context) {
  if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs) {
    *(uint64_t*)context = (uint64_t)info->dlpi_adds << 32 ^ (uint64_t)info->dlpi_subs;
  }
  return 1;
}

uint64_t lb_os_generation(void) {
  uint64_t generation = 0;
  dl_iterate_phdr(lb_read_generation, &generation);
  return generation;
}
