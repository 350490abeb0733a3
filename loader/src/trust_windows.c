/*
 * trust_windows.c: os.h for Windows: who may change a file, or put another in its place. docs/threats.md has the rule.
 * The security of files is read by ADVAPI32, found by name, so that a library with this loader links KERNEL32 alone.
 */
#include <stdio.h>
#include <string.h>

#include "os_windows.h"

enum { LB_OBJECT_FILE = 1, LB_OWNER_AND_LIST = 5 }; /* SE_FILE_OBJECT; OWNER_ and DACL_SECURITY_INFORMATION */

typedef DWORD(WINAPI* lb_get_security)(HANDLE handle, int object, DWORD what, void** owner, void** group, ACL** list,
                                       void** system_list, void** descriptor);
enum { LB_SID_SIZE = 68 }; /* SECURITY_MAX_SID_SIZE */

struct lb_judge {
  lb_get_security get_security;
  unsigned char user[LB_SID_SIZE];  /* this process's */
  unsigned char owner[LB_SID_SIZE]; /* of this library's own file */
  int has_everybody;                /* everybody may write to this library's own file */
  int has_links;                    /* a place that was judged is a link or a junction */
  const char* file;                 /* this library's own; NULL where that is unknown */
  char* why;
  size_t why_size;
};

/* What is known of a place. */
typedef struct lb_security {
  HANDLE place;
  void* owner;
  ACL* list;
  void* descriptor; /* holds both; LocalFree() frees it */
  int is_link;      /* or a junction */
} lb_security;

/* ---- who: a SID is a revision, a count, an authority of 6 bytes and that many numbers ---------------------------- */

static size_t lb_sid_size(const unsigned char* sid) {
  return 8 + (size_t)4 * sid[1];
}

static uint32_t lb_sid_number(const unsigned char* sid, unsigned index) {
  uint32_t number = 0;
  if (index < sid[1]) memcpy(&number, sid + 8 + (size_t)4 * index, sizeof number);
  return number;
}

static int lb_is_same_sid(const unsigned char* left, const unsigned char* right) {
  return left[0] && left[0] == right[0] && left[1] == right[1] && memcmp(left, right, lb_sid_size(left)) == 0;
}

static void lb_copy_sid(unsigned char* into, const unsigned char* sid) {
  if (sid && lb_sid_size(sid) <= LB_SID_SIZE) memcpy(into, sid, lb_sid_size(sid));
}

/* Groups that people are in without being given anything. */
static int lb_is_everybody(const unsigned char* sid) {
  uint32_t first = lb_sid_number(sid, 0);
  uint32_t last = lb_sid_number(sid, sid[1] ? sid[1] - 1u : 0);
  if (sid[7] == 1 || sid[7] == 2) return 1;                                      /* Everyone; LOCAL, CONSOLE LOGON */
  if (sid[7] != 5) return 0;                                                     /* NT AUTHORITY */
  if (sid[1] == 1) return first == 2 || first == 4 || first == 7 || first == 11; /* Authenticated Users and similar */
  if (first == 32) return last == 545 || last == 546 || last == 547;             /* Users, Guests, Power Users */
  return first == 21 && (last == 513 || last == 514);                            /* of a domain */
}

/* SYSTEM, the administrators, and the installer of Windows' own files. */
static int lb_is_administrator(const unsigned char* sid) {
  if (sid[7] != 5) return 0;
  uint32_t first = lb_sid_number(sid, 0);
  if (sid[1] == 1) return first == 18;
  if (first == 32) return lb_sid_number(sid, 1) == 544;
  return first == 80 && lb_sid_number(sid, 1) == 956008885u;
}

/* ---- what: an access control list -------------------------------------------------------------------------------- */

enum {
  LB_MAY_REPLACE = FILE_DELETE_CHILD | DELETE | WRITE_DAC | WRITE_OWNER,
  LB_MAY_ADD = FILE_WRITE_DATA | FILE_APPEND_DATA
};

/* Whether everybody has one of these rights. No list at all lets everybody do everything. */
static int lb_lets_everybody(const ACL* list, DWORD rights) {
  if (!list) return 1;
  const unsigned char* at = (const unsigned char*)(list + 1);
  const unsigned char* end = (const unsigned char*)list + list->AclSize;
  for (unsigned i = 0; i < list->AceCount; i++) {
    ACE_HEADER head;
    DWORD mask = 0;
    if ((size_t)(end - at) < sizeof head + sizeof mask + 8) break;
    memcpy(&head, at, sizeof head);
    memcpy(&mask, at + sizeof head, sizeof mask);
    const unsigned char* sid = at + sizeof head + sizeof mask;
    int allows = head.AceType == ACCESS_ALLOWED_ACE_TYPE || head.AceType == ACCESS_ALLOWED_CALLBACK_ACE_TYPE;
    if (allows && !(head.AceFlags & INHERIT_ONLY_ACE) && mask & (rights | GENERIC_ALL | GENERIC_WRITE) &&
        lb_is_everybody(sid)) {
      return 1;
    }
    if (head.AceSize < sizeof head || head.AceSize > end - at) break;
    at += head.AceSize;
  }
  return 0;
}

static int lb_refuse(const lb_judge* judge, const char* reason, const char* path) {
  snprintf(judge->why, judge->why_size, "%s %s", reason, path);
  return 0;
}

static int lb_judge_security(const lb_judge* judge, const char* path, const lb_security* security, int is_nearest) {
  const unsigned char* owner = security->owner;
  if (judge->has_everybody) return 1;
  if (!owner ||
      !(lb_is_administrator(owner) || lb_is_same_sid(owner, judge->user) || lb_is_same_sid(owner, judge->owner))) {
    return lb_refuse(judge, "another user owns", path);
  }
  DWORD rights = is_nearest ? LB_MAY_REPLACE | LB_MAY_ADD : LB_MAY_REPLACE;
  if (lb_lets_everybody(security->list, rights)) return lb_refuse(judge, "every user may write to", path);
  return 1;
}

/* In this order: LocalFree() of Debian's wine 8 for arm64 spoils the register that Windows reserves, and the next call
 * of the system sets it again. */
static void lb_release_security(lb_security* security) {
  LocalFree(security->descriptor);
  CloseHandle(security->place);
}

/* Reads what is known of a place itself, also where it is a link or a junction; release it where that is 1. */
static int lb_read_security(const lb_judge* judge, const char* path, lb_security* security) {
  BY_HANDLE_FILE_INFORMATION file;
  memset(security, 0, sizeof *security);
  HANDLE place = judge->get_security ? lb_open(path, READ_CONTROL, FILE_FLAG_OPEN_REPARSE_POINT) : INVALID_HANDLE_VALUE;
  if (place == INVALID_HANDLE_VALUE) return 0;
  security->place = place;
  security->is_link = !GetFileInformationByHandle(place, &file) || file.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT;
  DWORD error = judge->get_security(place, LB_OBJECT_FILE, LB_OWNER_AND_LIST, &security->owner, NULL, &security->list,
                                    NULL, &security->descriptor);
  if (error) lb_release_security(security);
  return !error;
}

static int lb_judge_place(lb_judge* judge, const char* path, int is_nearest) {
  lb_security security;
  if (!lb_read_security(judge, path, &security)) return lb_refuse(judge, "nothing is known of", path);
  judge->has_links |= security.is_link;
  int is_trusted = lb_judge_security(judge, path, &security, is_nearest);
  lb_release_security(&security);
  return is_trusted;
}

/* Those who may write to a folder above this library can replace it already. */
static int lb_is_above_own(const lb_judge* judge, const char* folder) {
  size_t length = strlen(folder);
  return judge->file && !_strnicmp(judge->file, folder, length) &&
         (judge->file[length] == '\\' || folder[length - 1] == '\\');
}

/* The place and each folder above it, up to a folder that this library is in, or to the top of the drive. */
static int lb_judge_path(lb_judge* judge, const char* path, int is_folder) {
  char* place = lb_duplicate(path);
  int is_trusted = place ? 1 : lb_refuse(judge, "out of memory: nothing is known of", path);
  for (int depth = is_folder; place && is_trusted; depth++) {
    int is_server = place[0] == '\\' && !strchr(place + 2, '\\');
    if (is_server || (depth >= 2 && lb_is_above_own(judge, place))) break;
    is_trusted = lb_judge_place(judge, place, depth < 2);
    place = lb_take_above(place);
  }
  lb_free(place);
  return is_trusted;
}

/* ---- this process ------------------------------------------------------------------------------------------------ */

static void lb_find_user(unsigned char* user) {
  union {
    TOKEN_USER user;
    unsigned char bytes[sizeof(TOKEN_USER) + LB_SID_SIZE];
  } answer;
  if (lb_ask_token(TokenUser, &answer, sizeof answer)) lb_copy_sid(user, answer.user.User.Sid);
}

/* Those who may change this library's own file may choose the runtime, too. */
static void lb_find_writers(lb_judge* judge) {
  lb_security security;
  if (!lb_read_security(judge, judge->file, &security)) return;
  lb_copy_sid(judge->owner, security.owner);
  judge->has_everybody = lb_lets_everybody(security.list, LB_MAY_REPLACE | FILE_WRITE_DATA);
  lb_release_security(&security);
}

lb_judge* lb_os_find_trusted(const char* own_file) {
  lb_judge* judge = lb_allocate(sizeof *judge);
  if (!judge) return NULL;
  judge->file = own_file;
  lb_find_security("GetSecurityInfo", &judge->get_security, sizeof judge->get_security);
  lb_find_user(judge->user);
  if (own_file) lb_find_writers(judge);
  return judge;
}

lb_place lb_os_judge(lb_judge* judge, const char* path, int is_folder, lb_identity* identity, char* why,
                     size_t why_size) {
  if (!judge) return lb_say_error(ERROR_NOT_ENOUGH_MEMORY, why, why_size);
  lb_place place = lb_os_look(path, identity, why, why_size);
  if (place != LB_PLACE_FILE && place != LB_PLACE_FOLDER) return place;
  judge->why = why;
  judge->why_size = why_size;
  judge->has_links = 0;
  if (!lb_judge_path(judge, path, is_folder)) return LB_PLACE_UNTRUSTED;
  if (!judge->has_links) return place;
  char* real = lb_real_path(path);
  int is_trusted = real ? lb_judge_path(judge, real, is_folder) : lb_refuse(judge, "nothing is known of", path);
  lb_free(real);
  return is_trusted ? place : LB_PLACE_UNTRUSTED;
}
