/*
 * images_macos.c: os.h for macOS: opening libraries, and finding those that are open already; must not judge them.
 */
#include <dlfcn.h>
#include <mach-o/dyld.h>
#include <mach-o/loader.h>
#include <stdio.h>
#include <string.h>

#include "os.h"

/* dyld speaks English only; these words have been the same since macOS 10.15. */
static lb_outcome lb_explain(const char* path, const char* why) {
  if (strstr(why, "Library not loaded:") || strstr(why, "Symbol not found:")) return LB_OUTCOME_MISSING_DEPENDENCY;
  if (strstr(why, "incompatible architecture")) return LB_OUTCOME_WRONG_ARCHITECTURE;
  if (strstr(why, "code signature")) return LB_OUTCOME_REFUSED;
  int bare = strchr(path, '/') == NULL;
  if (bare && (strstr(why, "no such file") || strstr(why, "image not found"))) return LB_OUTCOME_NOT_FOUND;
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
  char* path;
  const struct mach_header* header;
} lb_image;

/* Takes notes first: opening and closing renumbers dyld's list. */
static lb_image* lb_note_images(size_t* count) {
  uint32_t total = _dyld_image_count();
  lb_image* images = lb_allocate(total * sizeof *images);
  *count = 0;
  for (uint32_t i = 0; images && i < total; i++) {
    const char* name = _dyld_get_image_name(i);
    const struct mach_header* header = _dyld_get_image_header(i);
    char* path = name && header ? lb_duplicate(name) : NULL;
    if (!path) continue;
    images[*count].path = path;
    images[(*count)++].header = header;
  }
  return images;
}

/* RTLD_NOLOAD: an image that was unloaded meanwhile gives NULL. RTLD_FIRST: not what the image depends on. */
static void* lb_hold(const lb_image* image) {
  int flags = RTLD_LAZY | RTLD_NOLOAD | RTLD_FIRST;
  return dlopen(image->header->filetype == MH_EXECUTE ? NULL : image->path, flags);
}

/* The symbol's address if this very image has it, and does not hand on another's. */
static void* lb_own_symbol(void* handle, const lb_image* image, const char* symbol) {
  Dl_info info;
  void* address = dlsym(handle, symbol);
  return address && dladdr(address, &info) && info.dli_fbase == (const void*)image->header ? address : NULL;
}

int lb_os_loaded(const char* symbol, int (*each)(void* context, const char* path, void* handle, void* address),
                 void* context) {
  size_t count = 0;
  int kept = 0;
  lb_image* images = lb_note_images(&count);
  for (size_t i = 0; i < count; i++) {
    if (!kept) {
      void* handle = lb_hold(&images[i]);
      void* address = handle ? lb_own_symbol(handle, &images[i], symbol) : NULL;
      if (address) kept = each(context, images[i].path, handle, address);
      if (handle && !kept) dlclose(handle);
    }
    lb_free(images[i].path);
  }
  lb_free(images);
  return kept;
}
