/*
 * dotnet.c: knows where applications of .NET have native libraries, and asks the .NET runtime of this process; must not
 * judge them.
 *
 * .NET knows them from deps.json and the packages' folders. It answers native code through hostfxr (.NET Core 3.0 and
 * newer; docs/design/features/native-hosting.md in dotnet/runtime). In a program of one file nobody is to be asked: the
 * libraries are beside it.
 */
#include "cpu.h"
#include "internal.h"
#include "os.h"

typedef struct lb_application {
  lb_search* search;
  char* folders;
} lb_application;

static int lb_ask_host(void* context, const char* path, void* handle, void* function) {
  lb_application* application = context;
  (void)path;
  (void)handle;
  if (!application->folders) application->folders = lb_os_dotnet_property(function, "NATIVE_DLL_SEARCH_DIRECTORIES");
  return 0;
}

static int lb_try_application_folder(void* context, const char* folder, lb_trust trust) {
  lb_application* application = context;
  (void)trust; /* the step's */
  return lb_try_folder(application->search, LB_SOURCE_PACKAGE, folder);
}

int lb_search_dotnet(lb_search* search) {
  lb_application application = {search, NULL};
  lb_os_loaded("hostfxr_get_runtime_property_value", lb_ask_host, &application);
  int stop = application.folders ? lb_each_folder(application.folders, lb_os_separator(), LB_TRUST_JUDGED,
                                                  lb_try_application_folder, &application)
                                 : 0;
  lb_free(application.folders);
  return stop;
}

char* lb_dotnet_base(const char* folder) {
  char* base = lb_duplicate(folder);
  for (int level = 0; base && level < 3; ++level) base = lb_take_above(base);
  char* native = base ? lb_os_join(base, LB_DOTNET_NATIVE) : NULL;
  int is_native = native && lb_is_same_place(native, folder);
  lb_free(native);
  if (is_native) return base;
  lb_free(base);
  return NULL;
}
