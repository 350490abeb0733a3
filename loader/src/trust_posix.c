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

#if defined(__APPLE__)
enum { LB_ADMINISTRATORS = 80 }; /* the group of those who may become root */
#else
enum { LB_ADMINISTRATORS = 0 };
#endif

enum { LB_PARTIES = 32, LB_LIST_MAX = 1024, LB_LINKS_MAX = 40 };

/* ---- who ----------------------------------------------------------------------------------------------------------
 */

typedef enum lb_party_kind { LB_USER, LB_GROUP, LB_EVERYBODY } lb_party_kind;

typedef struct lb_party {
  lb_party_kind kind;
  unsigned number;
} lb_party;

typedef struct lb_parties {
  lb_party list[LB_PARTIES];
  size_t count;
} lb_parties;

static int lb_has_party(const lb_parties* parties, lb_party party) {
  for (size_t i = 0; i < parties->count; i++) {
    if (parties->list[i].kind == party.kind && parties->list[i].number == party.number) return 1;
  }
  return 0;
}

static void lb_add_party(lb_parties* parties, lb_party party) {
  if (lb_has_party(parties, party) || parties->count == LB_PARTIES) return; /* those beyond are not trusted */
  parties->list[parties->count++] = party;
}

/* The number that stands for all users without one: in a user namespace, and on file systems of other machines. */
static unsigned lb_read_overflow(const char* path) {
  unsigned number = 65534;
  FILE* file = fopen(path, "re");
  if (file && fscanf(file, "%u", &number) != 1) number = 65534;
  if (file) fclose(file);
  return number;
}

/* A daemon that works for a client for a while: the client's files are not the daemon's. */
static int lb_has_mixed_ids(void) {
#if defined(__linux__)
  uid_t users[3];
  gid_t groups[3];
  if (getresuid(&users[0], &users[1], &users[2]) || getresgid(&groups[0], &groups[1], &groups[2])) return 1;
  return users[0] != users[1] || users[1] != users[2] || groups[0] != groups[1] || groups[1] != groups[2];
#else
  return getuid() != geteuid() || getgid() != getegid(); /* macOS does not report the saved ones */
#endif
}

/* ---- what: a folder, a link or a file, and who may write to it --------------------------------------------------- */

typedef struct lb_node {
  struct stat status;
  unsigned char list[LB_LIST_MAX]; /* its access control list, as Linux has it */
  size_t list_size;
  int has_unknown_list;
} lb_node;

typedef struct lb_entry_of_list {
  unsigned tag;
  unsigned permissions;
  unsigned number;
} lb_entry_of_list;

/* <linux/posix_acl_xattr.h>: a version, then entries of 8 bytes, little-endian. */
enum {
  LB_LIST_USER = 2,
  LB_LIST_OWNING_GROUP = 4,
  LB_LIST_GROUP = 8,
  LB_LIST_MASK = 16,
  LB_MAY_WRITE = 2,
  LB_MAY_PASS = 1
};

static int lb_read_entry(const lb_node* node, size_t index, lb_entry_of_list* entry) {
  size_t at = 4 + 8 * index;
  if (at + 8 > node->list_size) return 0;
  const unsigned char* bytes = node->list + at;
  entry->tag = bytes[0] | (unsigned)bytes[1] << 8;
  entry->permissions = bytes[2];
  entry->number = bytes[4] | (unsigned)bytes[5] << 8 | (unsigned)bytes[6] << 16 | (unsigned)bytes[7] << 24;
  return 1;
}

#if defined(__linux__)
/* The mode's rights of the group are then the most that an entry of the list has. */
static void lb_read_list(const char* path, lb_node* node) {
  if (S_ISLNK(node->status.st_mode) || !(node->status.st_mode & S_IRWXG)) return;
  ssize_t size = lgetxattr(path, "system.posix_acl_access", node->list, sizeof node->list);
  if (size > 0) node->list_size = (size_t)size;
  node->has_unknown_list = size < 0 && errno != ENODATA && errno != ENOTSUP;
}
#elif defined(__APPLE__)
/* An entry that lets someone write. They are rare, and their names are for people: so each is taken for everybody's. */
static void lb_read_list(const char* path, lb_node* node) {
  static const acl_perm_t writes[] = {ACL_WRITE_DATA, ACL_APPEND_DATA, ACL_DELETE_CHILD, ACL_WRITE_SECURITY,
                                      ACL_CHANGE_OWNER};
  acl_t list = acl_get_link_np(path, ACL_TYPE_EXTENDED);
  acl_entry_t entry = NULL;
  if (!list) return;
  for (int which = ACL_FIRST_ENTRY; acl_get_entry(list, which, &entry) == 0; which = ACL_NEXT_ENTRY) {
    acl_tag_t tag = ACL_UNDEFINED_TAG;
    acl_permset_t permissions = NULL;
    if (acl_get_tag_type(entry, &tag) || tag != ACL_EXTENDED_ALLOW || acl_get_permset(entry, &permissions)) continue;
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
      if (acl_get_perm_np(permissions, writes[i]) == 1) node->has_unknown_list = 1;
    }
  }
  acl_free(list);
}
#else
static void lb_read_list(const char* path, lb_node* node) {
  (void)path;
  (void)node;
}
#endif

static int lb_read_node(const char* path, lb_node* node) {
  node->list_size = 0;
  node->has_unknown_list = 0;
  if (lstat(path, &node->status)) return 0;
  lb_read_list(path, node);
  return 1;
}

/* The rights of an entry of the list, or of the group without one. */
static unsigned lb_group_rights(const lb_node* node, lb_entry_of_list entry) {
  unsigned most = (unsigned)node->status.st_mode >> 3 & 7;
  return entry.permissions & most;
}

/* Those with a right, but the owner, who may give it to himself: calls `each` until it returns 0. */
static int lb_each_party(const lb_node* node, unsigned right, int (*each)(void* context, lb_party party),
                         void* context) {
  const struct stat* status = &node->status;
  lb_entry_of_list entry = {0, 0, 0};
  if (status->st_mode & right && !each(context, (lb_party){LB_EVERYBODY, 0})) return 0;
  if (node->list_size < 4) {
    return !(status->st_mode & right << 3) || each(context, (lb_party){LB_GROUP, status->st_gid});
  }
  for (size_t i = 0; lb_read_entry(node, i, &entry); i++) {
    if (!(lb_group_rights(node, entry) & right)) continue;
    lb_party party = {entry.tag == LB_LIST_USER ? LB_USER : LB_GROUP, entry.number};
    if (entry.tag == LB_LIST_OWNING_GROUP) party.number = status->st_gid;
    int is_named = entry.tag == LB_LIST_USER || entry.tag == LB_LIST_GROUP || entry.tag == LB_LIST_OWNING_GROUP;
    if (is_named && !each(context, party)) return 0;
  }
  return 1;
}

/* ---- groups of one user ------------------------------------------------------------------------------------------ */

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
static int lb_is_private(unsigned group, unsigned user) {
  return group == user && lb_all_lines("/etc/group", 2, group, lb_has_no_members, 0) &&
         lb_all_lines("/etc/passwd", 3, group, lb_is_user, user);
}

/* ---- the way to a file ------------------------------------------------------------------------------------------- */

/* `is_last`: the file, or a link to it. */
typedef int (*lb_visit_place)(void* context, const char* place, const lb_node* node, int is_last);

/* The link's target, and after it what follows the link; NULL where it can't be read. The caller frees. */
static char* lb_follow(const char* link, const char* rest) {
  char target[PATH_MAX];
  lb_text path = {NULL, 0, 0, 0};
  ssize_t length = readlink(link, target, sizeof target);
  if (length <= 0 || length == sizeof target) return NULL;
  if (*target != '/') lb_text_add_bytes(&path, link, (size_t)((strrchr)(link, '/') + 1 - link));
  lb_text_add_bytes(&path, target, (size_t)length);
  lb_text_add(&path, rest);
  return lb_text_take(&path);
}

/* Visits the first `length` bytes of the way. A link is replaced by its target: then the way begins again. */
static int lb_step_on(char** way, size_t* length, lb_visit_place each, void* context) {
  lb_node node;
  lb_text text = {NULL, 0, 0, 0};
  const char* rest = *way + *length;
  lb_text_add_bytes(&text, *way, *length);
  char* place = lb_text_take(&text);
  int result = place && lb_read_node(place, &node) ? 1 : -1;
  if (result == 1) result = each(context, place, &node, !rest[strspn(rest, "/")]);
  if (result == 1 && S_ISLNK(node.status.st_mode)) {
    char* target = lb_follow(place, rest);
    lb_free(*way);
    *way = target;
    *length = 0;
  }
  lb_free(place);
  return result;
}

/*
 * Calls `each` for all that the kernel goes through from the top to a file: folders, links, the file. Returns 1 at the
 * end, 0 when `each` returned 0, and -1 where something can't be read.
 */
static int lb_walk(const char* path, lb_visit_place each, void* context) {
  char* way = *path == '/' ? lb_duplicate(path) : NULL;
  int result = 1;
  int links = 0;
  for (size_t length = 1; way && result == 1;) {
    result = lb_step_on(&way, &length, each, context);
    if (!length && ++links > LB_LINKS_MAX) result = -1;
    if (!length || !way) {
      length = 1;
      continue;
    }
    size_t next = length + strspn(way + length, "/");
    if (!way[next]) break;
    length = next + strcspn(way + next, "/");
  }
  if (!way) result = result == 0 ? 0 : -1;
  lb_free(way);
  return result;
}

/* ---- those who may replace this library or this program ---------------------------------------------------------- */

/* In a sticky folder nobody removes what is another's. */
static int lb_is_sticky(const lb_node* node) {
  return S_ISDIR(node->status.st_mode) && node->status.st_mode & S_ISVTX;
}

static int lb_is_not(void* context, lb_party party) {
  const lb_party* wanted = context;
  return party.kind != wanted->kind || party.number != wanted->number;
}

/* Whether a party surely gets through a folder: what other groups its users are in is not known. */
static int lb_lets_pass(void* context, const char* place, const lb_node* node, int is_last) {
  lb_party* party = context;
  mode_t all = S_IXGRP | S_IXOTH;
  int has_list = node->list_size || node->has_unknown_list;
  (void)place;
  if (is_last || (!has_list && (node->status.st_mode & all) == all)) return 1;
  if (party->kind == LB_USER && node->status.st_uid == party->number) return (node->status.st_mode & S_IXUSR) != 0;
  return party->kind != LB_EVERYBODY && !lb_each_party(node, LB_MAY_PASS, lb_is_not, party);
}

typedef struct lb_own_place {
  lb_parties* parties;
  const char* file;
  lb_node folder;
  int has_everybody; /* everybody counts, too */
} lb_own_place;

static int lb_note_party(void* context, lb_party party) {
  lb_own_place* own = context;
  int counts = !lb_has_party(own->parties, party) && (party.kind != LB_EVERYBODY || own->has_everybody);
  if (counts && lb_walk(own->file, lb_lets_pass, &party) == 1) lb_add_party(own->parties, party);
  return 1;
}

/* The owner of the file, and those who may write to it or, unless it is sticky, to its folder. */
static int lb_note_file(void* context, const char* place, const lb_node* node, int is_last) {
  lb_own_place* own = context;
  if (is_last) {
    own->file = place;
    lb_note_party(own, (lb_party){LB_USER, node->status.st_uid});
    lb_each_party(node, LB_MAY_WRITE, lb_note_party, own);
    own->has_everybody = 0;
    if (!lb_is_sticky(&own->folder)) lb_each_party(&own->folder, LB_MAY_WRITE, lb_note_party, own);
  }
  own->folder = *node;
  return 1;
}

static void lb_forget_party(lb_parties* parties, lb_party party) {
  for (size_t i = 0; i < parties->count; i++) {
    if (parties->list[i].kind == party.kind && parties->list[i].number == party.number) {
      parties->list[i] = (lb_party){LB_USER, 0};
    }
  }
}

/* In a process with raised rights, and in one with mixed ones: root alone. */
static void lb_find_parties(lb_parties* parties, const char* own_file) {
  lb_own_place own = {.parties = parties};
  lb_add_party(parties, (lb_party){LB_USER, 0});
  lb_add_party(parties, (lb_party){LB_GROUP, 0});
  lb_add_party(parties, (lb_party){LB_GROUP, LB_ADMINISTRATORS});
  if (lb_os_is_raised() || lb_has_mixed_ids()) return;
  lb_add_party(parties, (lb_party){LB_USER, geteuid()});
  char* program = lb_os_program_file();
  if (program) lb_walk(program, lb_note_file, &own);
  lb_free(program);
  own.has_everybody = 1;
  if (own_file) lb_walk(own_file, lb_note_file, &own);
  lb_forget_party(parties, (lb_party){LB_USER, lb_read_overflow("/proc/sys/kernel/overflowuid")});
  lb_forget_party(parties, (lb_party){LB_GROUP, lb_read_overflow("/proc/sys/kernel/overflowgid")});
}

/* ---- the judgement ------------------------------------------------------------------------------------------------
 */

typedef struct lb_judgement {
  lb_parties parties;
  char* own_file; /* NULL where that is unknown */
  lb_node folder; /* the place before */
  unsigned owner; /* of the place */
  char* why;
  size_t why_size;
} lb_judgement;

static int lb_refuse(const lb_judgement* judgement, const char* reason, const char* path) {
  snprintf(judgement->why, judgement->why_size, "%s %s", reason, path);
  return 0;
}

static int lb_is_trusted_party(void* context, lb_party party) {
  const lb_judgement* judgement = context;
  if (lb_has_party(&judgement->parties, (lb_party){LB_EVERYBODY, 0}) || lb_has_party(&judgement->parties, party))
    return 1;
  return party.kind == LB_GROUP && lb_is_private(party.number, judgement->owner);
}

/* What only a team could put there, which may replace this library, and what still bears the team's group. */
static int lb_is_of_team(const lb_judgement* judgement, const lb_node* node) {
  lb_party group = {LB_GROUP, node->status.st_gid};
  lb_party everybody = {LB_EVERYBODY, 0};
  return node->status.st_gid && lb_has_party(&judgement->parties, group) && !lb_is_sticky(&judgement->folder) &&
         lb_each_party(&judgement->folder, LB_MAY_WRITE, lb_is_not, &everybody) &&
         !lb_each_party(&judgement->folder, LB_MAY_WRITE, lb_is_not, &group);
}

/* Those who may write to a folder above this library can replace it already. */
static int lb_is_above_own(const lb_judgement* judgement, const char* folder) {
  size_t length = strcmp(folder, "/") ? strlen(folder) : 0;
  return judgement->own_file && !strncmp(judgement->own_file, folder, length) && judgement->own_file[length] == '/';
}

static int lb_judge_owner(lb_judgement* judgement, const char* place, const lb_node* node) {
  const lb_party owner = {LB_USER, node->status.st_uid};
  if (lb_is_trusted_party(judgement, owner) || lb_is_of_team(judgement, node)) return 1;
  return lb_refuse(judgement, "another user owns", place);
}

static int lb_judge_writers(lb_judgement* judgement, const char* place, const lb_node* node) {
  lb_party everybody = {LB_EVERYBODY, 0};
  if (S_ISLNK(node->status.st_mode)) return 1; /* a link has no permissions */
  judgement->owner = node->status.st_uid;
  if (node->has_unknown_list) return lb_refuse(judgement, "an access control list may let others write to", place);
  if (lb_each_party(node, LB_MAY_WRITE, lb_is_trusted_party, judgement)) return 1;
  int is_open = !lb_each_party(node, LB_MAY_WRITE, lb_is_not, &everybody);
  return lb_refuse(judgement, is_open ? "every user may write to" : "other users of its group may write to", place);
}

/*
 * The folder of the file gets no new files, which would be found next to it: there, sticky is not enough, and others
 * may not write even if it is above this library.
 */
static int lb_judge_place(void* context, const char* place, const lb_node* node, int is_last) {
  lb_judgement* judgement = context;
  int is_trusted =
      lb_is_above_own(judgement, place) ||
      (lb_judge_owner(judgement, place, node) && (lb_is_sticky(node) || lb_judge_writers(judgement, place, node)));
  char* folder = is_last && is_trusted ? lb_os_folder_of(place) : NULL;
  if (folder) is_trusted = lb_judge_writers(judgement, folder, &judgement->folder);
  lb_free(folder);
  judgement->folder = *node;
  return is_trusted;
}

int lb_os_is_trusted(const char* path, char* why, size_t why_size) {
  lb_judgement* judgement = lb_allocate(sizeof *judgement);
  snprintf(why, why_size, "nothing is known of %s", path);
  if (!judgement) return 0;
  judgement->why = why;
  judgement->why_size = why_size;
  judgement->own_file = lb_os_own_file();
  lb_find_parties(&judgement->parties, judgement->own_file);
  int is_trusted = lb_walk(path, lb_judge_place, judgement) == 1;
  lb_free(judgement->own_file);
  lb_free(judgement);
  return is_trusted;
}
