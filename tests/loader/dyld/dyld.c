/*
 * dyld.c: runs images_macos.c on Linux, over the images of this very process, two of which another thread has unloaded
 * since dyld listed them: the memory of their headers is gone, and that of one's name. Prints what was found.
 */
#include <crt_externs.h>
#include <dlfcn.h>
#include <link.h>
#include <mach-o/dyld.h>
#include <mach/mach.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os.h"
#include "os_posix.h"

enum { MAX_IMAGES = 64, PAGE = 4096 };

typedef struct image {
  const char* name;
  const void* header;
} image;

static image images[MAX_IMAGES];
static uint32_t count;
static const void* program;

/* What os_posix.c has, for a process that lacks nothing and has entered no other root folder. */
lb_place lb_say_errno(int error, char* why, size_t why_size) {
  snprintf(why, why_size, "%s", strerror(error));
  return LB_PLACE_REFUSED;
}

int lb_os_is_elsewhere(void) {
  return 0;
}

uint32_t _dyld_image_count(void) {
  return count;
}

const char* _dyld_get_image_name(uint32_t index) {
  return index < count ? images[index].name : NULL;
}

const struct mach_header* _dyld_get_image_header(uint32_t index) {
  return index < count ? images[index].header : NULL;
}

const struct mach_header* _NSGetMachExecuteHeader(void) {
  return program;
}

int _NSGetExecutablePath(char* path, uint32_t* size) {
  ssize_t length = readlink("/proc/self/exe", path, *size - 1);
  if (length > 0) path[length] = 0;
  return length <= 0;
}

int mach_task_self(void) {
  return getpid();
}

int vm_read_overwrite(int task, vm_address_t address, vm_size_t size, vm_address_t data, vm_size_t* out_size) {
  struct iovec from = {(void*)address, size};
  struct iovec into = {(void*)data, size};
  ssize_t got = process_vm_readv(task, &into, 1, &from, 1, 0);
  *out_size = got > 0 ? (vm_size_t)got : 0;
  return got != (ssize_t)size;
}

static void add(const char* name, const void* header) {
  if (count < MAX_IMAGES) images[count++] = (image){name, header};
}

static int note(struct dl_phdr_info* info, size_t size, void* context) {
  (void)size;
  (void)context;
  Dl_info found;
  const void* inside = (const char*)info->dlpi_addr + info->dlpi_phdr[0].p_vaddr;
  if (!dladdr(inside, &found)) return 0;
  if (!*info->dlpi_name) program = found.dli_fbase;
  add(*info->dlpi_name ? info->dlpi_name : "program", found.dli_fbase);
  return 0;
}

static int print_image(void* context, const char* path, void* handle, void* address) {
  (void)context;
  char* file = lb_os_file_of(address);
  void* held = lb_os_hold(address);
  printf("%s %d %d\n", path, file && strcmp(file, path) == 0, held == handle);
  if (held) lb_os_close(held);
  lb_free(file);
  return 0;
}

int main(int words, char** arguments) {
  if (words != 3 || !dlopen(arguments[1], RTLD_NOW)) return 64;
  char* gone = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  add("/unloaded/name.dylib", gone);
  add(gone + 64, gone);
  dl_iterate_phdr(note, NULL);
  return lb_os_loaded(arguments[2], print_image, NULL);
}
