/*
 * search_linux.c: os.h for Linux: the folders in which the system's loader would look for a library, in its order;
 * must not judge what is there. dlopen() with a bare name would map a file before its head was read, and would look in
 * the current folder where a list has an empty or relative element.
 *
 * glibc: LD_LIBRARY_PATH, the run paths of this library, /etc/ld.so.cache, the default folders (man 8 ld.so; an RPATH,
 * which is deprecated, comes before LD_LIBRARY_PATH there). musl: LD_LIBRARY_PATH, /etc/ld-musl-<processor>.path, else
 * its default folders.
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

/* What the system's loader would search for this library: run paths, LD_LIBRARY_PATH as the process was started with
 * it, default folders. NULL when it cannot tell. */
static Dl_serinfo* lb_system_folders(void) {
  static const char anchor = 0;
  Dl_serinfo size;
  void* own = lb_os_hold(&anchor);
  if (!own) return NULL;
  Dl_serinfo* folders = dlinfo(own, RTLD_DI_SERINFOSIZE, &size) ? NULL : lb_allocate(size.dls_size);
  if (folders) memcpy(folders, &size, offsetof(Dl_serinfo, dls_serpath)); /* its size and their number */
  if (folders && dlinfo(own, RTLD_DI_SERINFO, folders)) {
    lb_free(folders);
    folders = NULL;
  }
  dlclose(own);
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

static int lb_search_own(const char* name, lb_visit_folder each, void* context) {
  Dl_serinfo* folders = lb_system_folders();
  size_t count = folders ? folders->dls_cnt : 0;
  size_t defaults = count;
  int stop = 0;
  while (defaults && lb_is_default(folders->dls_serpath[defaults - 1].dls_name)) defaults--;
  for (size_t i = 0; i <= count && !stop; i++) {
    if (i == defaults) stop = lb_search_cache(name, each, context);
    const char* folder = i < count ? folders->dls_serpath[i].dls_name : "";
    lb_trust trust = i < defaults ? LB_TRUST_JUDGED : LB_TRUST_SYSTEM; /* run paths come before the defaults */
    if (*folder == '/' && !stop) stop = each(context, folder, trust);
  }
  lb_free(folders);
  return stop;
}

const char* lb_os_searched(void) {
  return "not in LD_LIBRARY_PATH, this library's run paths, ldconfig's cache or the default folders";
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
