/*
 * search_macos.c: os.h for macOS: the folders in which dyld would look for a library, in its order (man 3 dlopen); must
 * not judge what is there. dlopen() with a bare name would also look in the current folder.
 *
 * DYLD_LIBRARY_PATH; the run paths of this library and of the program; DYLD_FALLBACK_LIBRARY_PATH, else /usr/local/lib
 * and /usr/lib. A process with raised rights has only the last of them, and absolute run paths.
 */
#include "file_head.h"
#include "os.h"

typedef struct lb_run_paths {
  char* loader; /* the folder of the image that has them; NULL where @ paths do not count */
  char* program;
  lb_visit_folder each;
  void* context;
  int stop;
} lb_run_paths;

static int lb_visit_run_path(void* context, const char* path) {
  lb_run_paths* paths = context;
  char* folder = lb_run_path(path, paths->loader, paths->program);
  if (folder) paths->stop = paths->each(paths->context, folder, LB_TRUST_JUDGED);
  lb_free(folder);
  return paths->stop;
}

static void lb_read_run_paths(void* context, const lb_file* file) {
  lb_macho_run_paths(file, lb_visit_run_path, context);
}

static int lb_search_run_paths(lb_visit_folder each, void* context) {
  static const char anchor = 0;
  char* files[] = {lb_os_file_of(&anchor), lb_os_program_file()};
  lb_run_paths paths = {NULL, NULL, each, context, 0};
  int raised = lb_os_is_raised();
  paths.program = files[1] && !raised ? lb_os_folder_of(files[1]) : NULL;
  for (size_t i = 0; i < 2; i++) {
    paths.loader = files[i] && *files[i] == '/' && !raised ? lb_os_folder_of(files[i]) : NULL;
    if (files[i] && *files[i] == '/' && !paths.stop) lb_with_file(files[i], lb_read_run_paths, &paths);
    lb_free(paths.loader);
    lb_free(files[i]);
  }
  lb_free(paths.program);
  return paths.stop;
}

static int lb_search_list(const char* variable, const char* otherwise, lb_visit_folder each, void* context) {
  char* listed = lb_os_environment(variable);
  int stop = listed ? lb_each_folder(listed, ":", LB_TRUST_NAMED, each, context)
                    : lb_each_folder(otherwise, ":", LB_TRUST_SYSTEM, each, context);
  lb_free(listed);
  return stop;
}

int lb_os_search(const char* name, lb_visit_folder each, void* context) {
  (void)name;
  int stop = lb_search_list("DYLD_LIBRARY_PATH", "", each, context);
  if (!stop) stop = lb_search_run_paths(each, context);
  if (stop) return stop;
  const char* defaults = lb_os_is_raised() ? "/usr/lib" : "/usr/local/lib:/usr/lib";
  return lb_search_list("DYLD_FALLBACK_LIBRARY_PATH", defaults, each, context);
}

const char* lb_os_searched(void) {
  return "not in DYLD_LIBRARY_PATH, the run paths of this library and the program, or the default folders";
}

const char* const* lb_os_variables(void) {
  static const char* const variables[] = {"DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", NULL};
  return variables;
}
