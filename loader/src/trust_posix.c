/*
 * trust_posix.c: os.h for Linux and macOS: who may change a file, or put another in its place. docs/threats.md has the
 * rule; a place is no less safe than this library's own file, which those who installed it could change anyway.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/xattr.h>
#endif
#if defined(__APPLE__)
#include <sys/acl.h>
#endif

#include "os.h"

#if defined(__APPLE__)
enum { LB_ADMINISTRATORS = 80 }; /* the group of those who may become root */
#else
enum { LB_ADMINISTRATORS = 0 };
#endif

/* Who may write, besides root: this user, and those who can change this library's own file. Nobody in a process with
 * raised rights: both may be the user who started it. */
typedef struct lb_writers {
  uid_t user;
  uid_t owner;       /* of this library's file; root where that is unknown */
  gid_t groups[2];   /* that may write to this library's file, to its folder; root's where none may */
  int has_everybody; /* everybody may write to this library's file */
  char* file;        /* this library's own, to be freed; NULL where that is unknown */
} lb_writers;

static gid_t lb_writing_group(const struct stat* status) {
  return status->st_mode & S_IWGRP ? status->st_gid : 0;
}

static lb_writers lb_find_writers(void) {
  lb_writers writers = {0, 0, {0, 0}, 0, NULL};
  struct stat status;
  if (lb_os_is_raised()) return writers;
  writers.user = geteuid();
  char* file = lb_os_own_file();
  char* folder = file ? lb_os_folder_of(file) : NULL;
  if (file && !stat(file, &status)) {
    writers.owner = status.st_uid;
    writers.groups[0] = lb_writing_group(&status);
    writers.has_everybody = (status.st_mode & S_IWOTH) != 0;
  }
  if (folder && !stat(folder, &status)) writers.groups[1] = lb_writing_group(&status);
  lb_free(folder);
  writers.file = file;
  return writers;
}

/* ---- groups ----------------------------------------------------------------------------------------------------- */

/* Field number `index` of a line of /etc/passwd or /etc/group; NULL where there are fewer. */
static const char* lb_field(const char* line, int index) {
  while (line && index-- > 0) {
    line = (strchr)(line, ':');
    if (line) line++;
  }
  return line;
}

/*
 * Calls `each` for the lines of such a file whose field `index` is a number. 1 when there are some and it never
 * answered 0: users and groups of a directory service are in no file, and so are not known. Read as a file: the C
 * library's functions for it open libraries of the administrator's choice.
 */
static int lb_all_lines(const char* path, int index, unsigned number, int (*each)(const char* line, unsigned user),
                        unsigned user) {
  char line[4096];
  int holds = 1;
  int count = 0;
  FILE* file = fopen(path, "re");
  if (!file) return 0;
  while (holds && fgets(line, sizeof line, file)) {
    const char* field = lb_field(line, index);
    char* end = NULL;
    unsigned long value = field ? strtoul(field, &end, 10) : 0;
    if (!field || end == field || value != number) continue;
    holds = each(line, user);
    count++;
  }
  holds = holds && count && !ferror(file);
  fclose(file);
  return holds;
}

static int lb_has_no_members(const char* line, unsigned user) {
  const char* members = lb_field(line, 3);
  (void)user;
  return members && (*members == '\n' || *members == 0);
}

static int lb_is_user(const char* line, unsigned user) {
  const char* number = lb_field(line, 2);
  return number && strtoul(number, NULL, 10) == user;
}

/*
 * Many systems give each user a group of the same number, and write permission to it (umask 002). It is as good as the
 * user's own when it has no other member.
 */
static int lb_is_private(gid_t group, uid_t user) {
  return group == (gid_t)user && lb_all_lines("/etc/group", 2, group, lb_has_no_members, 0) &&
         lb_all_lines("/etc/passwd", 3, group, lb_is_user, user);
}

/* An access control list may let others write where the permissions name a group. */
static int lb_has_list(const char* path) {
#if defined(__linux__)
  return getxattr(path, "system.posix_acl_access", NULL, 0) > 0;
#else
  (void)path;
  return 0;
#endif
}

#if defined(__APPLE__)
/* An entry of an access control list that lets someone write. They are rare, and their names are for people: so each
 * one counts as another user's. */
static int lb_list_lets_write(const char* path) {
  static const acl_perm_t writes[] = {ACL_WRITE_DATA, ACL_APPEND_DATA, ACL_DELETE_CHILD, ACL_WRITE_SECURITY,
                                      ACL_CHANGE_OWNER};
  acl_t list = acl_get_link_np(path, ACL_TYPE_EXTENDED);
  acl_entry_t entry = NULL;
  int lets = 0;
  if (!list) return 0;
  for (int which = ACL_FIRST_ENTRY; !lets && acl_get_entry(list, which, &entry) == 0; which = ACL_NEXT_ENTRY) {
    acl_tag_t tag = ACL_UNDEFINED_TAG;
    acl_permset_t permissions = NULL;
    if (acl_get_tag_type(entry, &tag) || tag != ACL_EXTENDED_ALLOW || acl_get_permset(entry, &permissions)) continue;
    for (size_t i = 0; i < sizeof writes / sizeof *writes && !lets; i++) {
      lets = acl_get_perm_np(permissions, writes[i]) == 1;
    }
  }
  acl_free(list);
  return lets;
}
#endif

static int lb_may_group_write(const lb_writers* writers, const char* path, const struct stat* status) {
  gid_t group = status->st_gid;
  if (lb_has_list(path)) return 0;
  return group == 0 || group == LB_ADMINISTRATORS || group == writers->groups[0] || group == writers->groups[1] ||
         lb_is_private(group, status->st_uid);
}

/* ---- a path ------------------------------------------------------------------------------------------------------ */

typedef struct lb_judgement {
  lb_writers writers;
  const char* root; /* where to stop; NULL: at the top */
  char* why;
  size_t why_size;
} lb_judgement;

static int lb_refuse(const lb_judgement* judgement, const char* reason, const char* path) {
  snprintf(judgement->why, judgement->why_size, "%s %s", reason, path);
  return 0;
}

static int lb_judge_owner(const lb_judgement* judgement, const char* path, const struct stat* status) {
  const lb_writers* writers = &judgement->writers;
  if (status->st_uid == 0 || status->st_uid == writers->user || status->st_uid == writers->owner) return 1;
  return lb_refuse(judgement, "another user owns", path);
}

/*
 * `is_nearest`: the file, or the folder that it is in. In a sticky folder nobody removes what is another's: that is
 * enough above, but new files would be found next to the library.
 */
static int lb_judge_mode(const lb_judgement* judgement, const char* path, const struct stat* status, int is_nearest) {
  if (S_ISLNK(status->st_mode)) return 1; /* a link has no permissions */
  if (S_ISDIR(status->st_mode) && status->st_mode & S_ISVTX && !is_nearest) return 1;
  if (status->st_mode & S_IWOTH && !judgement->writers.has_everybody) {
    return lb_refuse(judgement, "every user may write to", path);
  }
  if (status->st_mode & S_IWGRP && !lb_may_group_write(&judgement->writers, path, status)) {
    return lb_refuse(judgement, "other users of its group may write to", path);
  }
#if defined(__APPLE__)
  if (lb_list_lets_write(path)) return lb_refuse(judgement, "an access control list lets others write to", path);
#endif
  return 1;
}

/* Those who may write to a folder above this library can replace it already. */
static int lb_is_above_own(const lb_writers* writers, const char* folder) {
  size_t length = strlen(folder);
  return writers->file && !strncmp(writers->file, folder, length) && writers->file[length] == '/';
}

/* A root may end with a slash. */
static int lb_is_root(const char* place, const char* root) {
  size_t length = root ? strlen(root) : 0;
  while (length > 1 && root[length - 1] == '/') length--;
  return !strcmp(place, "/") || (length && strlen(place) == length && !memcmp(place, root, length));
}

/*
 * The place and each folder above it, up to the root or to a folder that this library is in, too. `has_links`: one of
 * them is a link.
 */
static int lb_judge_path(const lb_judgement* judgement, const char* path, int* has_links) {
  struct stat status;
  char* place = lb_duplicate(path);
  int is_trusted = place ? 1 : lb_refuse(judgement, "out of memory: nothing is known of", path);
  for (int depth = 0; place && is_trusted; depth++) {
    if (depth >= 2 && lb_is_above_own(&judgement->writers, place)) break;
    if (lstat(place, &status)) {
      is_trusted = lb_refuse(judgement, "nothing is known of", place);
      break;
    }
    *has_links |= S_ISLNK(status.st_mode);
    is_trusted = lb_judge_owner(judgement, place, &status) && lb_judge_mode(judgement, place, &status, depth < 2);
    char* above = is_trusted && !lb_is_root(place, judgement->root) ? lb_os_folder_of(place) : NULL;
    lb_free(place);
    place = above;
  }
  lb_free(place);
  return is_trusted;
}

static int lb_judge_all(const lb_judgement* judgement, const char* path) {
  int has_links = 0;
  if (*path != '/') return lb_refuse(judgement, "not an absolute path:", path);
  if (!lb_judge_path(judgement, path, &has_links)) return 0;
  if (!has_links) return 1;
  char* real = realpath(path, NULL);
  int is_trusted =
      real ? lb_judge_path(judgement, real, &has_links) : lb_refuse(judgement, "nothing is known of", path);
  free(real);
  return is_trusted;
}

int lb_os_is_trusted(const char* path, const char* root, char* why, size_t why_size) {
  lb_judgement judgement = {lb_find_writers(), lb_os_is_raised() ? NULL : root, why, why_size};
  int is_trusted = lb_judge_all(&judgement, path);
  lb_free(judgement.writers.file);
  return is_trusted;
}
