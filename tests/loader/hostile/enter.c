/*
 * enter.c: opens a library, enters another root folder or mount namespace, and then calls the library's go():
 * enter LIBRARY WAY PLACE, where the way is chroot, unshare or pivot_root into a folder, or setns or setns-user into
 * the namespaces of a process. `stay` enters nothing.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

static int enter_namespace(const char* process, const char* kind, int flag) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%s/ns/%s", process, kind);
  int space = open(path, O_RDONLY | O_CLOEXEC);
  return space < 0 || setns(space, flag);
}

static int pivot(const char* folder) {
  return unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
         mount(folder, folder, NULL, MS_BIND | MS_REC, NULL) || chdir(folder) || syscall(SYS_pivot_root, ".", ".") ||
         umount2(".", MNT_DETACH);
}

static int enter(const char* way, const char* place) {
  if (!strcmp(way, "chroot")) return chroot(place) || chdir("/");
  if (!strcmp(way, "unshare")) return unshare(CLONE_FS | CLONE_NEWNS) || chroot(place) || chdir("/");
  if (!strcmp(way, "pivot_root")) return pivot(place) || chdir("/");
  if (!strcmp(way, "setns")) return enter_namespace(place, "mnt", CLONE_NEWNS);
  if (!strcmp(way, "setns-user")) {
    return enter_namespace(place, "user", CLONE_NEWUSER) || enter_namespace(place, "mnt", CLONE_NEWNS);
  }
  return strcmp(way, "stay");
}

int main(int count, char** arguments) {
  int (*go)(void) = NULL;
  void* library = count == 4 ? dlopen(arguments[1], RTLD_NOW) : NULL;
  void* address = library ? dlsym(library, "go") : NULL;
  if (!address) return puts("the library cannot be opened"), 2;
  memcpy(&go, &address, sizeof go);
  if (enter(arguments[2], arguments[3])) return perror(arguments[2]), 77;
  return go();
}
