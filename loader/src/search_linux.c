/*
 * search_linux.c: os.h for Linux: the folders in which the system's loader would look for a library, in its order;
 * must not judge what is there. dlopen() with a bare name would map a file before its head was read, and would look in
 * the current folder where a list has an empty or relative element.
 *
 * glibc: LD_LIBRARY_PATH, the run paths of this library and of the program, /etc/ld.so.cache, the default folders (man
 * 8 ld.so; an RPATH, which is deprecated, comes before LD_LIBRARY_PATH there). musl: LD_LIBRARY_PATH,
 * /etc/ld-musl-<processor>.path, else its default folders.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "cpu.h"
#include "file_head.h"
#include "os.h"

enum { LB_LARGEST = 64 << 20 };

typedef struct lb_content {
  char* data; /* a zero follows */
  size_t size;
} lb_content;

static void lb_read_content(void* context, const lb_file* file) {
  lb_content* content = context;
  size_t size = file->size <= LB_LARGEST ? (size_t)file->size : 0;
  content->data = lb_allocate(size + 1);
  if (content->data && lb_read_whole(file, content->data, size, 0)) content->size = size;
}

#if defined(__GLIBC__)
typedef struct lb_lookup {
  lb_visit_folder each;
  void* context;
} lb_lookup;

static int lb_visit_cached(void* context, const char* path) {
  const lb_lookup* lookup = context;
  char* folder = lb_os_folder_of(path);
  int stop = folder ? lookup->each(lookup->context, folder, LB_TRUST_SYSTEM) : 0;
  lb_free(folder);
  return stop;
}

static int lb_search_cache(const char* name, lb_visit_folder each, void* context) {
  lb_content cache = {NULL, 0};
  lb_lookup lookup = {each, context};
  lb_with_file("/etc/ld.so.cache", lb_read_content, &cache);
  int stop = lb_cache_find((const unsigned char*)cache.data, cache.size, name, lb_visit_cached, &lookup);
  lb_free(cache.data);
  return stop;
}

/* What the system's loader would search for what an image needs: run paths, LD_LIBRARY_PATH as the process was started
 * with it, default folders. NULL when it cannot tell. Takes the reference. */
static Dl_serinfo* lb_system_folders(void* image) {
  Dl_serinfo size;
  if (!image) return NULL;
  Dl_serinfo* folders = dlinfo(image, RTLD_DI_SERINFOSIZE, &size) ? NULL : lb_allocate(size.dls_size);
  if (folders) memcpy(folders, &size, offsetof(Dl_serinfo, dls_serpath)); /* its size and their number */
  if (folders && dlinfo(image, RTLD_DI_SERINFO, folders)) {
    lb_free(folders);
    folders = NULL;
  }
  dlclose(image);
  return folders;
}

/* One of glibc's own: /lib, /usr/lib64, /usr/lib/x86_64-linux-gnu. */
static int lb_is_default(const char* folder) {
  if (strncmp(folder, "/usr/", 5) == 0) folder += 4;
  if (strncmp(folder, "/lib", 4) != 0) return 0;
  folder += 4;
  if (!*folder || !strcmp(folder, "64") || !strcmp(folder, "32") || !strcmp(folder, "x32")) return 1;
  return *folder == '/' && (strstr)(folder, "-linux-") && !(strchr)(folder + 1, '/');
}

static int lb_search_some(const Dl_serinfo* folders, size_t from, size_t to, lb_trust trust, lb_visit_folder each,
                          void* context) {
  int stop = 0;
  for (size_t i = from; i < to && !stop; i++) {
    const char* folder = folders->dls_serpath[i].dls_name;
    if (*folder == '/') stop = each(context, folder, trust);
  }
  return stop;
}

/* How many are before the default folders. */
static size_t lb_count_run_paths(const Dl_serinfo* folders) {
  size_t count = folders ? folders->dls_cnt : 0;
  while (count && lb_is_default(folders->dls_serpath[count - 1].dls_name)) count--;
  return count;
}

/* The program's run paths are those by which it would find a runtime that it links. */
static int lb_search_own(const char* name, lb_visit_folder each, void* context) {
  static const char anchor = 0;
  Dl_serinfo* own = lb_system_folders(lb_os_hold(&anchor));
  Dl_serinfo* program = lb_system_folders(dlopen(NULL, RTLD_LAZY));
  size_t defaults = lb_count_run_paths(own);
  int stop = lb_search_some(own, 0, defaults, LB_TRUST_JUDGED, each, context) ||
             lb_search_some(program, 0, lb_count_run_paths(program), LB_TRUST_JUDGED, each, context) ||
             lb_search_cache(name, each, context) ||
             lb_search_some(own, defaults, own ? own->dls_cnt : 0, LB_TRUST_SYSTEM, each, context);
  lb_free(program);
  lb_free(own);
  return stop;
}

const char* lb_os_searched(void) {
  return "not in LD_LIBRARY_PATH, the run paths of this library and the program, ldconfig's cache or the default "
         "folders";
}
#else
#define LB_MUSL_PATHS "/etc/ld-musl-" LB_MUSL_CPU ".path"

static int lb_search_own(const char* name, lb_visit_folder each, void* context) {
  lb_content listed = {NULL, 0};
  (void)name;
  lb_with_file(LB_MUSL_PATHS, lb_read_content, &listed);
  int stop =
      lb_each_folder(listed.data ? listed.data : "/lib:/usr/local/lib:/usr/lib", ":\n", LB_TRUST_SYSTEM, each, context);
  lb_free(listed.data);
  return stop;
}

const char* lb_os_searched(void) {
  return "not in LD_LIBRARY_PATH or the system's folders for libraries";
}
#endif

int lb_os_search(const char* name, lb_visit_folder each, void* context) {
  char* listed = lb_os_environment("LD_LIBRARY_PATH");
  int stop = listed ? lb_each_folder(listed, ":;\n", LB_TRUST_NAMED, each, context) : 0;
  lb_free(listed);
  return stop ? stop : lb_search_own(name, each, context);
}

const char* const* lb_os_variables(void) {
  static const char* const variables[] = {"LD_LIBRARY_PATH", NULL};
  return variables;
}
