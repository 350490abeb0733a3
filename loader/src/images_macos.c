/*
 * images_macos.c: os.h for macOS: opening libraries, and finding those that are open already; must not judge them.
 */
#include <crt_externs.h>
#include <dlfcn.h>
#include <errno.h>
#include <mach-o/dyld.h>
#include <mach/mach.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os.h"
#include "os_posix.h"

/* dyld speaks English only; these words have been the same since macOS 10.15. */
static lb_outcome lb_explain(const char* why) {
  if (strstr(why, "Library not loaded:") || strstr(why, "Symbol not found:")) return LB_OUTCOME_MISSING_DEPENDENCY;
  if (strstr(why, "incompatible architecture")) return LB_OUTCOME_WRONG_ARCHITECTURE;
  if (strstr(why, "code signature")) return LB_OUTCOME_REFUSED;
  return LB_OUTCOME_LOAD_FAILED;
}

void* lb_os_open(const char* path, uint32_t flags, lb_outcome* outcome, char* why, size_t why_size) {
  errno = 0;
  void* handle = dlopen(path, RTLD_NOW | (flags & LB_FLAG_GLOBAL ? RTLD_GLOBAL : RTLD_LOCAL));
  if (handle) return handle;
  *outcome = LB_OUTCOME_TRY_AGAIN;
  if (lb_say_errno(errno, why, why_size) == LB_PLACE_BUSY) return NULL;
  const char* error = dlerror();
  snprintf(why, why_size, "%s", error ? error : "the system's loader gave no reason");
  *outcome = lb_explain(why);
  return NULL;
}

void* lb_os_symbol(void* handle, const char* name) {
  return dlsym(handle, name);
}

void lb_os_close(void* handle) {
  dlclose(handle);
}

/* ---- images that are loaded ------------------------------------------------------------------------------------ */

/* Another thread may unload an image at any time, and dyld has no lock for us: an address is compared and never read.
 */
typedef struct lb_image {
  char* path;
  const void* header;
} lb_image;

enum { LB_PATH_MAX = 4096, LB_PIECE = 512 };

/* A copy of a name that dyld may free meanwhile: the kernel copies it, and reports when the memory is gone. */
static char* lb_copy_name(const char* name) {
  char text[LB_PATH_MAX];
  for (size_t at = 0; at < sizeof text;) {
    size_t piece = LB_PIECE - ((uintptr_t)name + at) % LB_PIECE; /* never over the end of a page */
    if (piece > sizeof text - at) piece = sizeof text - at;
    vm_size_t got = 0;
    if (vm_read_overwrite(mach_task_self(), (vm_address_t)(name + at), piece, (vm_address_t)(text + at), &got)) break;
    if (memchr(text + at, 0, piece)) return lb_duplicate(text);
    at += piece;
  }
  return NULL;
}

/* For a few bytes, which the kernel reads. */
int lb_os_can_read(const void* address, size_t size) {
  char copy[64];
  vm_size_t got = 0;
  return size <= sizeof copy &&
         !vm_read_overwrite(mach_task_self(), (vm_address_t)address, size, (vm_address_t)copy, &got);
}

/* Takes notes first: opening and closing renumbers dyld's list. */
static lb_image* lb_note_images(size_t* count) {
  uint32_t total = _dyld_image_count();
  lb_image* images = lb_allocate(total * sizeof *images);
  *count = 0;
  for (uint32_t i = 0; images && i < total; i++) {
    const char* name = _dyld_get_image_name(i);
    const void* header = _dyld_get_image_header(i);
    char* path = name && header ? lb_copy_name(name) : NULL;
    if (!path) continue;
    images[*count].path = path;
    images[(*count)++].header = header;
  }
  return images;
}

static int lb_is_program(const void* header) {
  return header == (const void*)_NSGetMachExecuteHeader();
}

/* RTLD_NOLOAD: an image that was unloaded meanwhile gives NULL. RTLD_FIRST: not what the image depends on. */
static void* lb_hold(const char* path, const void* header) {
  return dlopen(lb_is_program(header) ? NULL : path, RTLD_LAZY | RTLD_NOLOAD | RTLD_FIRST);
}

/* The symbol's address if this very image has it, and does not hand on another's. */
static void* lb_own_symbol(void* handle, const lb_image* image, const char* symbol) {
  Dl_info info;
  void* address = dlsym(handle, symbol);
  return address && dladdr(address, &info) && info.dli_fbase == image->header ? address : NULL;
}

int lb_os_loaded(const char* symbol, int (*each)(void* context, const char* path, void* handle, void* address),
                 void* context) {
  size_t count = 0;
  int kept = 0;
  lb_image* images = lb_note_images(&count);
  for (size_t i = 0; i < count; i++) {
    if (!kept) {
      void* handle = lb_hold(images[i].path, images[i].header);
      void* address = handle ? lb_own_symbol(handle, &images[i], symbol) : NULL;
      if (address) kept = each(context, images[i].path, handle, address);
      if (handle && !kept) dlclose(handle);
    }
    lb_free(images[i].path);
  }
  lb_free(images);
  return kept;
}

int lb_os_has_loaded(const char* name) {
  size_t count = 0;
  int has = 0;
  lb_image* images = lb_note_images(&count);
  for (size_t i = 0; i < count; i++) {
    const char* last = strrchr(images[i].path, '/');
    has |= last && !strcmp(last + 1, name);
    lb_free(images[i].path);
  }
  lb_free(images);
  return has;
}

void* lb_os_hold(const void* address) {
  Dl_info info;
  return dladdr(address, &info) && info.dli_fname ? lb_hold(info.dli_fname, info.dli_fbase) : NULL;
}

/* The kernel's own path of the program: dyld keeps it apart from the arguments. */
char* lb_os_program_file(void) {
  char named[LB_PATH_MAX];
  uint32_t size = sizeof named;
  return _NSGetExecutablePath(named, &size) ? NULL : realpath(named, NULL); /* lb_free() frees it, too */
}

/* For the program itself, dyld's name may be as relative as the one that it was started by; the kernel's is asked. */
char* lb_os_file_of(const void* address) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname || !*info.dli_fname) return NULL;
  return lb_is_program(info.dli_fbase) ? lb_os_program_file() : lb_duplicate(info.dli_fname);
}

/* dyld keeps the name; that it still leads to the mapped file is not compared on macOS. */
lb_own_names lb_os_own_names(void) {
  static const char anchor = 0;
  char* name = lb_os_file_of(&anchor);
  char* real = name && *name == '/' ? realpath(name, NULL) : NULL;
  lb_own_names own = {lb_duplicate(real), real ? lb_duplicate(name) : NULL, 0, "its file was deleted or moved"};
  if (real && lb_os_is_elsewhere()) {
    lb_free(own.file);
    lb_free(own.name);
    own = (lb_own_names){NULL, NULL, 0, "this process has entered another root folder since"};
  }
  free(real);
  lb_free(name);
  return own;
}

int lb_os_is_in_program(void) {
  static const char anchor = 0;
  Dl_info info;
  return dladdr(&anchor, &info) && lb_is_program(info.dli_fbase);
}

uint64_t lb_os_generation(void) {
  return _dyld_image_count();
}
