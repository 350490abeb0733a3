/*
 * trust_posix.c: os.h for Linux and macOS: who may change a file, or put another in its place. docs/threats.md has the
 * rule: a file counts if nobody may change the way to it but root, this user, and those who may replace this library or
 * this program, whose code runs here already.
 *
 * The way is walked from the top, as the kernel goes: each folder, each link, the file. Once only trusted users may
 * change all of it, what was judged is what will be opened.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <limits.h>
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
#include "os_posix.h"

enum { LB_OVERFLOW = 65534 }; /* unless the administrator sets another */
enum { LB_PARTIES = 128, LB_LINKS_MAX = 40, LB_MAY_WRITE = 2, LB_MAY_PASS = 1 };

/* ---- who --------------------------------------------------------------------------------------------------------- */

typedef enum lb_party_kind { LB_USER, LB_GROUP, LB_EVERYBODY } lb_party_kind;

/* A user or a group, and what it may do with a place. One that is trusted may be so on one mount alone. */
typedef struct lb_party {
  lb_party_kind kind;
  unsigned number;
  unsigned rights;
  uint64_t mount; /* lb_mount_of() */
} lb_party;

#define LB_EVERYWHERE UINT64_MAX

typedef struct lb_parties {
  lb_party list[LB_PARTIES];
  size_t count;
  int has_others; /* there are more, which nobody knows */
} lb_parties;

static void lb_add_party(lb_parties* parties, lb_party_kind kind, unsigned number, unsigned rights, uint64_t mount) {
  if (parties->count == LB_PARTIES) parties->has_others = 1;
  if (!parties->has_others) parties->list[parties->count++] = (lb_party){kind, number, rights, mount};
}

/* The number that stands for all users without one: in a user namespace, and on file systems of other machines. */
static unsigned lb_read_overflow(const char* path) {
  unsigned number = LB_OVERFLOW;
  FILE* file = lb_open_plain(path);
  if (file && fscanf(file, "%u", &number) != 1) number = LB_OVERFLOW;
  if (file) fclose(file);
  return number;
}

#if defined(__linux__)
/* A daemon that works for a client for a while: the client's files are not the daemon's. Threads may have ids of their
 * own: this one's are asked for, and the first one's are read. */
static int lb_has_mixed_ids(void) {
  char line[256];
  unsigned ids[4]; /* real, effective, saved, for files */
  uid_t users[3];
  gid_t groups[3];
  if (getresuid(&users[0], &users[1], &users[2]) || getresgid(&groups[0], &groups[1], &groups[2])) return 1;
  int is_mixed = users[0] != users[1] || users[1] != users[2] || groups[0] != groups[1] || groups[1] != groups[2];
  FILE* file = lb_open_plain("/proc/self/status");
  while (file && !is_mixed && fgets(line, sizeof line, file)) {
    if (*line != 'U' && *line != 'G') continue;
    unsigned own = *line == 'U' ? users[0] : groups[0];
    int is_read = sscanf(line, "%*[UG]id: %u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) == 4;
    is_mixed = is_read && (ids[0] != own || ids[1] != own || ids[2] != own || ids[3] != own);
  }
  if (file) fclose(file);
  return is_mixed;
}
#else
static int lb_has_mixed_ids(void) {
  return getuid() != geteuid() || getgid() != getegid(); /* macOS does not report the saved ones */
}
#endif

/* Field number `index` of a line of /etc/passwd or /etc/group; "" where there are fewer. Fields may be empty. */
static const char* lb_field(const char* line, int index) {
  while (index-- > 0 && *line) line += strcspn(line, ":") + (line[strcspn(line, ":")] == ':');
  return line;
}

/* Whether exactly one line of such a file has a number in a field, and begins with a text in another. Read as a file:
 * the C library's functions for it open libraries of the administrator's choice. */
static int lb_only_line_has(const char* path, int index, unsigned number, int other, const char* start) {
  char* line = NULL;
  size_t size = 0;
  int count = 0;
  int has_start = 0;
  FILE* file = lb_open_plain(path);
  while (file && getline(&line, &size, file) > 0) {
    char* end = NULL;
    const char* field = lb_field(line, index);
    if (strtoul(field, &end, 10) != number || end == field) continue;
    count++;
    has_start = !strncmp(lb_field(line, other), start, strlen(start));
  }
  if (file) fclose(file);
  free(line);
  return count == 1 && has_start;
}

/*
 * Many systems give each user a group of the same number, and write permission to it (umask 002). It is as good as the
 * user's own when it has no other member. Groups of a directory service are in no file, and so are not known.
 */
static int lb_is_private(unsigned group, unsigned user) {
  char number[16];
  snprintf(number, sizeof number, "%u:", user);
  return group && group == user && lb_only_line_has("/etc/group", 2, group, 3, "\n") &&
         lb_only_line_has("/etc/passwd", 3, group, 2, number);
}

/* ---- what: a folder, a link or a file, and who may do something with it ------------------------------------------ */

typedef struct lb_node {
  const struct lb_node* folder; /* the one before on the way */
  char place[PATH_MAX];
  int is_last; /* the file, or a link to it; of a folder that is searched, its "." */
  struct stat status;
  lb_parties parties; /* but for the owner, who may take every right */
  int has_list;       /* an access control list */
} lb_node;

#if defined(__linux__)
/* <linux/posix_acl_xattr.h>: a version, then entries of 8 bytes, little-endian. Its mask is the mode's group: without
 * the right that is asked for there, no entry gives it. */
static void lb_read_list(const char* path, lb_node* node, unsigned right) {
  enum { USER = 2, OWNING_GROUP = 4, GROUP = 8, SIZE = 4 + 8 * LB_PARTIES };
  unsigned char list[SIZE] = {0};
  unsigned mask = (unsigned)node->status.st_mode >> 3 & 7;
  ssize_t size =
      mask & right && !S_ISLNK(node->status.st_mode) ? lgetxattr(path, "system.posix_acl_access", list, SIZE) : 0;
  node->has_list = size > 0 || (size < 0 && errno != ENODATA && errno != ENOTSUP);
  node->parties.has_others = size < 0 && node->has_list;
  for (const unsigned char* at = list + 4; at + 8 <= list + (size > 0 ? size : 0); at += 8) {
    unsigned number = at[4] | (unsigned)at[5] << 8 | (unsigned)at[6] << 16 | (unsigned)at[7] << 24;
    if (at[0] == OWNING_GROUP) number = node->status.st_gid;
    if (at[0] != USER && at[0] != GROUP && at[0] != OWNING_GROUP) continue;
    lb_add_party(&node->parties, at[0] == USER ? LB_USER : LB_GROUP, number, at[2] & mask, LB_EVERYWHERE);
  }
}
#else
/* An entry of macOS that lets someone write. They are rare, and their names are for people: so nobody knows them. */
static void lb_read_list(const char* path, lb_node* node, unsigned right) {
  static const acl_perm_t writes[] = {ACL_WRITE_DATA, ACL_APPEND_DATA, ACL_DELETE_CHILD, ACL_WRITE_SECURITY,
                                      ACL_CHANGE_OWNER};
  acl_t list = acl_get_link_np(path, ACL_TYPE_EXTENDED);
  acl_entry_t entry = NULL;
  (void)right;
  if (!list) return;
  for (int which = ACL_FIRST_ENTRY; acl_get_entry(list, which, &entry) == 0; which = ACL_NEXT_ENTRY) {
    acl_tag_t tag = ACL_UNDEFINED_TAG;
    acl_permset_t permissions = NULL;
    if (acl_get_tag_type(entry, &tag) || tag != ACL_EXTENDED_ALLOW || acl_get_permset(entry, &permissions)) continue;
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
      if (acl_get_perm_np(permissions, writes[i]) == 1) node->parties.has_others = 1;
    }
  }
  acl_free(list);
}
#endif

/* Reads what the first `length` bytes of a way name, and who has a right there. Returns 0, or an error. */
static int lb_read_node(const char* way, size_t length, unsigned right, lb_node* node) {
  memset(node, 0, sizeof *node);
  if (length >= sizeof node->place) return ENAMETOOLONG;
  memcpy(node->place, way, length);
  if (lstat(node->place, &node->status)) return errno;
  if (S_ISLNK(node->status.st_mode)) return 0; /* a link has no permissions */
  unsigned mode = node->status.st_mode;
  lb_add_party(&node->parties, LB_EVERYBODY, 0, mode & 7, LB_EVERYWHERE);
  lb_read_list(node->place, node, right);
  if (!node->has_list) lb_add_party(&node->parties, LB_GROUP, node->status.st_gid, mode >> 3 & 7, LB_EVERYWHERE);
  return 0;
}

/* In a sticky folder nobody removes what is another's. */
static int lb_is_sticky(const lb_node* node) {
  return S_ISDIR(node->status.st_mode) && node->status.st_mode & S_ISVTX;
}

/* ---- the way to a file ------------------------------------------------------------------------------------------- */

typedef int (*lb_visit_node)(void* context, const lb_node* node);

/* Replaces a link, with which a way begins, by its target. Returns 0, or an error. */
static int lb_follow(char** way, const char* link) {
  char target[PATH_MAX];
  lb_text path = {NULL, 0, 0, 0};
  ssize_t size = readlink(link, target, sizeof target);
  if (size <= 0 || size == sizeof target) return ENAMETOOLONG;
  if (*target != '/') lb_text_add_bytes(&path, link, (size_t)((strrchr)(link, '/') + 1 - link));
  lb_text_add_bytes(&path, target, (size_t)size);
  lb_text_add(&path, *way + strlen(link));
  lb_free(*way);
  *way = lb_text_take(&path);
  return *way ? 0 : ENOMEM;
}

/*
 * Calls `each` for all that the kernel goes through from the top to a file: folders, links, the file; it asks who has
 * `right`. After a link, the way begins again, with the target. To a folder that is searched, the way ends with ".".
 * Returns 0 at the end; ECANCELED when `each` returned 0; else why something can't be read.
 */
static int lb_walk(const char* path, int is_folder, unsigned right, lb_visit_node each, void* context) {
  lb_node nodes[2] = {{0}}; /* the one before, and this one */
  char* way = is_folder ? lb_os_join(path, ".") : lb_duplicate(path);
  int error = !way ? ENOMEM : *way == '/' ? 0 : EINVAL;
  int links = 0;
  for (size_t length = 1, step = 0; !error && length; step++) {
    lb_node* node = &nodes[step % 2];
    size_t next = length + strspn(way + length, "/");
    error = lb_read_node(way, length, right, node);
    node->folder = &nodes[!(step % 2)];
    node->is_last = !way[next];
    if (!error && !each(context, node)) error = ECANCELED;
    length = node->is_last ? 0 : next + strcspn(way + next, "/");
    if (error || !S_ISLNK(node->status.st_mode)) continue;
    error = ++links > LB_LINKS_MAX ? ELOOP : lb_follow(&way, node->place);
    length = 1;
  }
  lb_free(way);
  return error;
}

/* ---- those who may replace this library or this program ---------------------------------------------------------- */

/* Whether all of a party surely have a right: what other groups its users are in is not known, and an entry of a list
 * may keep one of them out. */
static int lb_have_all(const lb_node* node, const lb_party* party, unsigned right) {
  unsigned all = right | right << 3;
  int have = 0;
  if (!node->has_list && ((unsigned)node->status.st_mode & all) == all) return 1;
  for (size_t i = 0; i < node->parties.count && party->kind != LB_EVERYBODY; i++) {
    const lb_party* one = &node->parties.list[i];
    if (party->kind == LB_GROUP && one->kind == LB_USER && !(one->rights & right)) return 0;
    have |= one->kind == party->kind && one->number == party->number && one->rights & right;
  }
  return have;
}

/* Whether a party surely gets through a folder. */
static int lb_lets_pass(void* context, const lb_node* node) {
  const lb_party* party = context;
  if (node->is_last) return 1;
  if (party->kind == LB_USER && node->status.st_uid == party->number) return (node->status.st_mode & S_IXUSR) != 0;
  return lb_have_all(node, party, LB_MAY_PASS);
}

struct lb_judge {
  lb_parties trusted;
  unsigned nobody[2];   /* the numbers of unknown users and groups */
  const char* own_file; /* NULL where that is unknown */
  uint64_t own_mount;
  lb_identity last; /* of the way so far */
  int is_refused;
  char* why;
  size_t why_size;
};

static int lb_is_trusted(const lb_judge* judge, const char* place, lb_party_kind kind, unsigned number) {
  for (size_t i = 0; i < judge->trusted.count; i++) {
    const lb_party* one = &judge->trusted.list[i];
    if (one->kind != LB_EVERYBODY && (one->kind != kind || one->number != number)) continue;
    if (one->mount == LB_EVERYWHERE || (one->mount && one->mount == lb_mount_of(place))) return 1;
  }
  return 0;
}

/* A party counts if it has a number of its own and reaches the file. */
static void lb_trust_party(lb_judge* judge, const char* file, lb_party party) {
  int is_known =
      party.kind == LB_EVERYBODY || (party.number != judge->nobody[party.kind] && party.number != (unsigned)-1);
  if (!is_known || lb_is_trusted(judge, file, party.kind, party.number)) return;
  if (lb_walk(file, 0, LB_MAY_PASS, lb_lets_pass, &party)) return;
  lb_add_party(&judge->trusted, party.kind, party.number, LB_MAY_WRITE, party.mount);
}

/* Those who may write to a place on the way to a file. They are trusted on its mount: if that is for reading alone,
 * they may change nothing there, nor put anything there, and elsewhere they are strangers. */
static void lb_trust_writers(lb_judge* judge, const char* file, const lb_node* node, int with_everybody) {
  uint64_t mount = lb_mount_of(file);
  for (size_t i = 0; i < node->parties.count; i++) {
    lb_party party = node->parties.list[i];
    int counts = party.rights & LB_MAY_WRITE && (party.kind != LB_EVERYBODY || with_everybody);
    party.mount = mount;
    if (counts && lb_have_all(node, &party, LB_MAY_WRITE)) lb_trust_party(judge, file, party);
  }
}

/* The owner of the file, and those who may write to it or, unless it is sticky, to its folder; everybody only if they
 * may write to this library's own. */
static int lb_trust_file(void* context, const lb_node* node) {
  lb_judge* judge = context;
  if (!node->is_last) return 1;
  lb_trust_party(judge, node->place, (lb_party){LB_USER, node->status.st_uid, LB_MAY_WRITE, LB_EVERYWHERE});
  lb_trust_writers(judge, node->place, node, judge->own_file && !strcmp(node->place, judge->own_file));
  if (!lb_is_sticky(node->folder)) lb_trust_writers(judge, node->place, node->folder, 0);
  return 1;
}

/* In a process with raised rights, and in one with mixed ones: root alone. Where this library is out of reach: root and
 * this user, who must have a number there. */
lb_judge* lb_os_find_trusted(const char* own_file) {
  lb_judge* judge = lb_allocate(sizeof *judge);
  if (!judge) return NULL;
  judge->nobody[LB_USER] = lb_read_overflow("/proc/sys/kernel/overflowuid");
  judge->nobody[LB_GROUP] = lb_read_overflow("/proc/sys/kernel/overflowgid");
  judge->own_file = own_file;
  judge->own_mount = own_file ? lb_mount_of(own_file) : 0;
  int is_elsewhere = lb_os_is_elsewhere();
  int is_known = geteuid() != judge->nobody[LB_USER] && !(is_elsewhere && geteuid() == LB_OVERFLOW);
  if (is_elsewhere && !is_known) return judge; /* in another's user namespace, root is that user */
  lb_add_party(&judge->trusted, LB_USER, 0, LB_MAY_WRITE, LB_EVERYWHERE);
#if defined(__APPLE__)
  lb_add_party(&judge->trusted, LB_GROUP, 80, LB_MAY_WRITE, LB_EVERYWHERE); /* those who may become root */
#endif
  if (lb_os_is_raised() || lb_has_mixed_ids()) return judge;
  if (is_known) lb_add_party(&judge->trusted, LB_USER, geteuid(), LB_MAY_WRITE, LB_EVERYWHERE);
  char* program = is_elsewhere ? NULL : lb_os_program_file();
  if (own_file) lb_walk(own_file, 0, LB_MAY_WRITE, lb_trust_file, judge);
  if (program && (!own_file || strcmp(program, own_file) != 0)) lb_walk(program, 0, LB_MAY_WRITE, lb_trust_file, judge);
  lb_free(program);
  return judge;
}

/* ---- the judgement ----------------------------------------------------------------------------------------------- */

/* What strangers may do with a place; NULL: nothing. */
static const char* lb_find_writers(const lb_judge* judge, const lb_node* node) {
  for (size_t i = 0; i < node->parties.count; i++) {
    const lb_party* party = &node->parties.list[i];
    if (!(party->rights & LB_MAY_WRITE) || lb_is_trusted(judge, node->place, party->kind, party->number)) continue;
    if (party->kind == LB_EVERYBODY) return "every user may write to";
    if (party->kind == LB_GROUP && lb_is_private(party->number, node->status.st_uid)) continue;
    return "other users of its group may write to";
  }
  return node->parties.has_others ? "an access control list may let others write to" : NULL;
}

/* What still bears the group of a team that may replace this library, where nobody else could put it. */
static int lb_is_of_team(const lb_judge* judge, const lb_node* node) {
  unsigned group = node->status.st_gid;
  return group && lb_is_trusted(judge, node->place, LB_GROUP, group) && !lb_is_sticky(node->folder) &&
         !lb_find_writers(judge, node->folder);
}

/* Those who may write to a folder above this library can replace it already, but for what is mounted below. */
static int lb_is_above_own(const lb_judge* judge, const lb_node* node) {
  size_t length = strcmp(node->place, "/") ? strlen(node->place) : 0;
  return judge->own_mount && !strncmp(judge->own_file, node->place, length) && judge->own_file[length] == '/' &&
         lb_mount_of(node->place) == judge->own_mount;
}

static const char* lb_find_strangers(const lb_judge* judge, const lb_node* node) {
  int is_strangers = !lb_is_trusted(judge, node->place, LB_USER, node->status.st_uid) && !lb_is_of_team(judge, node);
  const char* writers = is_strangers || lb_is_sticky(node) ? NULL : lb_find_writers(judge, node);
  const char* reason = is_strangers ? "another user owns" : writers;
  return reason && !lb_is_above_own(judge, node) ? reason : NULL;
}

/*
 * A folder that is searched, or has the file, gets no new files, which would be found there: there, sticky is not
 * enough, and others may not write even if it is above this library. After a refusal, all that counts is whether there
 * is anything at the end, and no link is followed.
 */
static int lb_judge_node(void* context, const lb_node* node) {
  lb_judge* judge = context;
  if (judge->is_refused) return !S_ISLNK(node->status.st_mode);
  judge->last = (lb_identity){(uint64_t)node->status.st_dev, (uint64_t)node->status.st_ino};
  int is_own_dot = node->is_last && S_ISDIR(node->status.st_mode);
  const lb_node* at = node;
  const char* reason = is_own_dot ? NULL : lb_find_strangers(judge, node);
  if (!reason && node->is_last) reason = lb_find_writers(judge, at = node->folder);
  if (reason) snprintf(judge->why, judge->why_size, "%s %s", reason, at->place);
  judge->is_refused = reason != NULL;
  return !reason || !S_ISLNK(node->status.st_mode);
}

lb_place lb_os_judge(lb_judge* judge, const char* path, int is_folder, lb_identity* identity, char* why,
                     size_t why_size) {
  if (!judge) return lb_say_errno(ENOMEM, why, why_size);
  judge->is_refused = 0;
  judge->why = why;
  judge->why_size = why_size;
  int error = lb_walk(path, is_folder, LB_MAY_WRITE, lb_judge_node, judge);
  if (judge->is_refused) return error && error != ECANCELED ? LB_PLACE_ABSENT : LB_PLACE_UNTRUSTED;
  if (error) return lb_say_errno(error, why, why_size);
  lb_place place = lb_os_look(path, identity, why, why_size);
  /* The text of a link of /proc/<pid> isn't where the kernel goes. */
  if (identity->device == judge->last.device && identity->file == judge->last.file) return place;
  snprintf(why, why_size, "nothing is known of %s", path);
  return LB_PLACE_UNTRUSTED;
}
