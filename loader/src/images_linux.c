/*
 * images_linux.c: os.h for Linux: opening libraries, and finding those that are open already; must not judge them.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
/* Parentheses around strchr and similar functions keep newer glibc headers from making C11 macros of them. */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "os.h"

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

void* lb_os_open(const char* path, uint32_t flags, lb_outcome* outcome, char* why, size_t why_size) {
  void* handle = dlopen(path, RTLD_NOW | (flags & LB_FLAG_GLOBAL ? RTLD_GLOBAL : RTLD_LOCAL));
  if (handle) return handle;
  const char* error = dlerror();
  snprintf(why, why_size, "%s", error ? error : "the system's loader gave no reason");
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
  char* path = lb_duplicate(info->dlpi_name ? info->dlpi_name : "");
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

/* The file that the kernel has mapped there, whatever the name was by which it was opened. */
static char* lb_mapped_file(const void* address) {
  char line[PATH_MAX + 256];
  char* path = NULL;
  FILE* maps = fopen("/proc/self/maps", "re");
  while (maps && !path && fgets(line, sizeof line, maps)) {
    unsigned long start = 0;
    unsigned long end = 0;
    int at = 0;
    if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &start, &end, &at) < 2 || !at || line[at] != '/') continue;
    if ((uintptr_t)address < start || (uintptr_t)address >= end) continue;
    line[strcspn(line, "\n")] = 0;
    path = lb_duplicate(line + at);
  }
  if (maps) fclose(maps);
  return path;
}

/* A relative name counts from the folder that was the current one when the image was opened. By now that may be another
 * one, in which anybody may have put a library. */
char* lb_os_file_of(const void* address) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname || !*info.dli_fname) return NULL;
  char* path = info.dli_fname[0] == '/' ? NULL : lb_mapped_file(address);
  return path ? path : lb_duplicate(info.dli_fname);
}
