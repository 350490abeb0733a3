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

typedef struct lb_judgement {
  lb_get_security get_security;
  unsigned char user[LB_SID_SIZE];  /* this process's */
  unsigned char owner[LB_SID_SIZE]; /* of this library's own file */
  int has_everybody;                /* everybody may write to this library's own file */
  int has_links;                    /* a place that was judged is a link or a junction */
  char* file;                       /* this library's own; NULL where that is unknown */
  char* why;
  size_t why_size;
} lb_judgement;

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
  switch (sid[7]) {
    case 1: return 1; /* Everyone */
    case 2: return 1; /* LOCAL, CONSOLE LOGON */
    case 5: break;    /* NT AUTHORITY */
    default: return 0;
  }
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

static int lb_refuse(const lb_judgement* judgement, const char* reason, const char* path) {
  snprintf(judgement->why, judgement->why_size, "%s %s", reason, path);
  return 0;
}

static int lb_judge_security(const lb_judgement* judgement, const char* path, const unsigned char* owner,
                             const ACL* list, int is_nearest) {
  if (judgement->has_everybody) return 1;
  if (!owner || !(lb_is_administrator(owner) || lb_is_same_sid(owner, judgement->user) ||
                  lb_is_same_sid(owner, judgement->owner))) {
    return lb_refuse(judgement, "another user owns", path);
  }
  DWORD rights = is_nearest ? LB_MAY_REPLACE | LB_MAY_ADD : LB_MAY_REPLACE;
  if (lb_lets_everybody(list, rights)) return lb_refuse(judgement, "every user may write to", path);
  return 1;
}

/* Opens a place itself, also where it is a link or a junction. */
static HANDLE lb_open_place(const char* path) {
  wchar_t* wide = lb_wide_path(path);
  HANDLE place = wide ? CreateFileW(wide, READ_CONTROL, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL)
                      : INVALID_HANDLE_VALUE;
  lb_free(wide);
  return place;
}

static int lb_judge_place(lb_judgement* judgement, const char* path, int is_nearest) {
  void* owner = NULL;
  void* descriptor = NULL;
  ACL* list = NULL;
  BY_HANDLE_FILE_INFORMATION file;
  HANDLE place = lb_open_place(path);
  if (place == INVALID_HANDLE_VALUE) return lb_refuse(judgement, "nothing is known of", path);
  if (!GetFileInformationByHandle(place, &file) || file.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) {
    judgement->has_links = 1;
  }
  DWORD error =
      judgement->get_security(place, LB_OBJECT_FILE, LB_OWNER_AND_LIST, &owner, NULL, &list, NULL, &descriptor);
  int is_trusted = error ? lb_refuse(judgement, "nothing is known of", path)
                         : lb_judge_security(judgement, path, owner, list, is_nearest);
  if (descriptor) LocalFree(descriptor);
  CloseHandle(place);
  return is_trusted;
}

/* Those who may write to a folder above this library can replace it already. */
static int lb_is_above_own(const lb_judgement* judgement, const char* folder) {
  size_t length = strlen(folder);
  return judgement->file && !_strnicmp(judgement->file, folder, length) &&
         (judgement->file[length] == '\\' || folder[length - 1] == '\\');
}

/* The place and each folder above it, up to a folder that this library is in, or to the top of the drive. */
static int lb_judge_path(lb_judgement* judgement, const char* path) {
  char* place = lb_duplicate(path);
  int is_trusted = place ? 1 : lb_refuse(judgement, "out of memory: nothing is known of", path);
  for (int depth = 0; place && is_trusted; depth++) {
    if (depth >= 2 && lb_is_above_own(judgement, place)) break;
    is_trusted = lb_judge_place(judgement, place, depth < 2);
    char* above = is_trusted ? lb_os_folder_of(place) : NULL;
    if (above && (strlen(above) >= strlen(place) || (above[0] == '\\' && !strchr(above + 2, '\\')))) {
      lb_free(above); /* the top of a drive, or a server */
      above = NULL;
    }
    lb_free(place);
    place = above;
  }
  lb_free(place);
  return is_trusted;
}

/* ---- this process ------------------------------------------------------------------------------------------------ */

static void lb_find_address(HMODULE library, const char* name, void* function, size_t size) {
  void* address = library ? lb_os_symbol((void*)library, name) : NULL;
  memcpy(function, &address, size);
}

static void lb_find_user(HMODULE library, unsigned char* user) {
  lb_open_token open_token = NULL;
  lb_get_token get_token = NULL;
  union {
    TOKEN_USER user;
    unsigned char bytes[sizeof(TOKEN_USER) + LB_SID_SIZE];
  } answer;
  HANDLE token = NULL;
  DWORD size = 0;
  lb_find_address(library, "OpenProcessToken", &open_token, sizeof open_token);
  lb_find_address(library, "GetTokenInformation", &get_token, sizeof get_token);
  if (!open_token || !get_token || !open_token(GetCurrentProcess(), TOKEN_QUERY, &token)) return;
  if (get_token(token, TokenUser, &answer, sizeof answer, &size)) lb_copy_sid(user, answer.user.User.Sid);
  CloseHandle(token);
}

/* Those who may change this library's own file may choose the runtime, too. */
static void lb_find_writers(lb_judgement* judgement) {
  void* owner = NULL;
  void* descriptor = NULL;
  ACL* list = NULL;
  lb_own_names names = lb_os_own_names();
  HANDLE own = names.file ? lb_open_place(names.file) : INVALID_HANDLE_VALUE;
  judgement->file = names.file;
  lb_free(names.name);
  if (own == INVALID_HANDLE_VALUE) return;
  if (!judgement->get_security(own, LB_OBJECT_FILE, LB_OWNER_AND_LIST, &owner, NULL, &list, NULL, &descriptor)) {
    lb_copy_sid(judgement->owner, owner);
    judgement->has_everybody = lb_lets_everybody(list, LB_MAY_REPLACE | FILE_WRITE_DATA);
  }
  if (descriptor) LocalFree(descriptor);
  CloseHandle(own);
}

int lb_os_is_trusted(const char* path, char* why, size_t why_size) {
  lb_judgement judgement;
  HMODULE library = LoadLibraryExW(L"advapi32.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
  memset(&judgement, 0, sizeof judgement);
  judgement.why = why;
  judgement.why_size = why_size;
  lb_find_address(library, "GetSecurityInfo", &judgement.get_security, sizeof judgement.get_security);
  int is_trusted = 0;
  if (!judgement.get_security) {
    lb_refuse(&judgement, "Windows does not say who may write to", path);
  } else {
    lb_find_user(library, judgement.user);
    lb_find_writers(&judgement);
    is_trusted = lb_judge_path(&judgement, path);
    char* real = is_trusted && judgement.has_links ? lb_real_path(path) : NULL;
    if (real) {
      is_trusted = lb_judge_path(&judgement, real);
    } else if (is_trusted && judgement.has_links) {
      is_trusted = lb_refuse(&judgement, "nothing is known of", path);
    }
    lb_free(real);
  }
  lb_free(judgement.file);
  if (library) FreeLibrary(library);
  return is_trusted;
}
