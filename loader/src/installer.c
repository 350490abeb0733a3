/*
 * installer.c: which package manager installed this library, and what its users type to get the runtime; must not look
 * for the runtime.
 */
#include <string.h>

#include "internal.h"
#include "os.h"

typedef enum lb_installer { LB_INSTALLER_OTHER, LB_INSTALLER_NPM, LB_INSTALLER_NUGET, LB_INSTALLER_MAVEN } lb_installer;

static int lb_has_installers(const lb_runtime* runtime) {
  return runtime->size >= LB_RUNTIME_SIZE_4;
}

const char* lb_npm_of(const lb_runtime* runtime) {
  return lb_has_installers(runtime) && runtime->npm ? runtime->npm : "";
}

const char* lb_nuget_of(const lb_runtime* runtime) {
  return lb_has_installers(runtime) && runtime->nuget ? runtime->nuget : "";
}

static const char* lb_maven_of(const lb_runtime* runtime) {
  return lb_has_installers(runtime) && runtime->maven ? runtime->maven : "";
}

/* ---- which one: as far as this library's folder and this process show -------------------------------------------- */

/* What .NET applications have in their base folder: a list of their parts; for .NET Framework, settings. */
static int lb_is_application(lb_search* search, const char* folder) {
  static const char* const files[] = {"*.deps.json", "*.exe.config", NULL};
  lb_names list = {files, NULL, 0};
  lb_list_folder(search, LB_SOURCE_PACKAGE, folder, &list);
  int is_one = list.count > 0;
  lb_names_clear(&list);
  return is_one;
}

static int lb_stop(void* context, const char* path, void* handle, void* function) {
  (void)context;
  (void)path;
  (void)handle;
  (void)function;
  return 1;
}

/* A folder to which a JAR's class NativeLibrary copied this library, and would have copied the runtime. */
static int lb_is_of_jar(const char* folder) {
  static const char start[] = "latebind-jar-"; /* FOLDER_START of ecosystems/maven/pack.py */
  const char* name = folder;
  for (const char* at = folder; *at; at++) {
    if (*at == '/' || *at == '\\') name = at + 1;
  }
  return strncmp(name, start, sizeof start - 1) == 0 && lb_os_loaded("JNI_GetCreatedJavaVMs", lb_stop, NULL);
}

/* NuGet's package cache has native folders, too. */
static lb_installer lb_installer_of_file(lb_search* search, const char* file) {
  char* folder = file ? lb_os_folder_of(file) : NULL;
  if (!folder) return LB_INSTALLER_OTHER;
  lb_installer installer = LB_INSTALLER_OTHER;
  char* base = lb_dotnet_base(folder);
  if ((strstr)(folder, "node_modules")) {
    installer = LB_INSTALLER_NPM;
  } else if (lb_is_of_jar(folder)) {
    installer = LB_INSTALLER_MAVEN;
  } else if (base || lb_is_application(search, folder)) {
    installer = LB_INSTALLER_NUGET;
  }
  lb_free(base);
  lb_free(folder);
  return installer;
}

static lb_installer lb_installer_of(lb_search* search) {
  const lb_own_names* own = lb_own_names_of(search);
  lb_installer installer = lb_installer_of_file(search, own->name);
  return installer == LB_INSTALLER_OTHER ? lb_installer_of_file(search, own->file) : installer;
}

/* ---- its command ------------------------------------------------------------------------------------------------- */

char* lb_installer_advice(lb_search* search) {
  const lb_runtime* runtime = search->runtime;
  const char *npm = lb_npm_of(runtime), *nuget = lb_nuget_of(runtime), *maven = lb_maven_of(runtime);
  lb_installer installer = *npm || *nuget || *maven ? lb_installer_of(search) : LB_INSTALLER_OTHER;
  lb_text text = {NULL, 0, 0, 0};
  if (installer == LB_INSTALLER_NPM && *npm) {
    lb_text_add(&text, "npm install \"");
    lb_text_add(&text, npm);
    lb_text_add(&text, "@>=");
    lb_text_add_version(&text, search->minimum);
    lb_text_add(&text, "\"");
  } else if (installer == LB_INSTALLER_NUGET && *nuget) {
    lb_text_add(&text, "dotnet add package "); /* takes the newest */
    lb_text_add(&text, nuget);
  } else if (installer == LB_INSTALLER_MAVEN && *maven) {
    lb_text_add(&text, "the dependency ");
    lb_text_add(&text, maven);
    lb_text_add(&text, ":");
    lb_text_add_version(&text, search->minimum);
    lb_text_add(&text, " or newer");
  } else {
    return NULL;
  }
  return lb_text_take(&text);
}
