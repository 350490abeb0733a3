/*
 * internal.h: what the loader's own files share; nothing here is for hosts, and nothing here names an operating
 * system (see os.h).
 */
#ifndef LATEBIND_INTERNAL_H
#define LATEBIND_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "latebind/latebind.h"

/* ---- memory.c: every allocation of the loader, so that tests can make each of them fail -------------------- */

void* lb_allocate(size_t size);
void* lb_resize(void* memory, size_t size);
void lb_free(void* memory);
char* lb_duplicate(const char* text);           /* NULL when out of memory, and for NULL */
char* lb_copy(const char* bytes, size_t count); /* a text of so many bytes */

/* ---- text.c: text that grows; a failed allocation is remembered and all later additions are ignored -------- */

typedef struct lb_text {
  char* data;
  size_t length;
  size_t capacity;
  int failed;
} lb_text;

void lb_text_add(lb_text* text, const char* piece);
void lb_text_add_bytes(lb_text* text, const char* bytes, size_t count);
void lb_text_add_number(lb_text* text, unsigned long long number);
/* Words that came from outside, for people: bad UTF-8 and hidden characters become U+FFFD; it is cut if long. */
void lb_text_add_foreign(lb_text* text, const char* piece);
void lb_text_add_version(lb_text* text, lb_version version); /* "1.19", "1.19.2" */
char* lb_text_take(lb_text* text);                           /* the caller frees; NULL when anything failed */
/* The length of the UTF-8 sequence at `at`, 0 when it is none (truncated, overlong, surrogate, out of range). */
size_t lb_utf8_length(const char* at);

/* ---- names.c: versions and file names ----------------------------------------------------------------------- */

int lb_glob_match(const char* pattern, const char* name); /* '*' only */
uint64_t lb_hash(uint64_t hash, const char* text);        /* NULL is not "" */
int lb_name_compare(const char* left, const char* right); /* digits by value: "so.1.9" before "so.1.19" */

/* ---- variants.c ------------------------------------------------------------------------------------------------ */

enum { LB_VARIANTS_MAX = 32 }; /* the bits of lb_record.signs */

size_t lb_variant_count(const lb_runtime* runtime);
const lb_variant* lb_variant_at(const lb_runtime* runtime, size_t index);
/* The first variant of a version's major; NULL when there is none. */
const lb_variant* lb_variant_of(const lb_runtime* runtime, lb_version version);
/* The variant's minimum, or a higher one that the caller asked for. */
lb_version lb_variant_minimum(const lb_variant* variant, lb_version minimum);
/* The command that installs what is missing: that of the variant of `version`, or those of all variants that are new
 * enough for `minimum` and, if bits of `signs` are set, belong to what is installed. It repairs what `is_installed`.
 * The caller frees; NULL for none. */
char* lb_variant_advice(const lb_runtime* runtime, lb_version version, lb_version minimum, uint32_t signs,
                        int is_installed);
/* Adds a command that installs. An installer does nothing for what `is_installed`, even if a file of it is damaged, so
 * the command then repairs. */
void lb_add_advice(lb_text* text, const char* advice, int is_installed);
/* The name of a companion of a version; the caller frees. */
char* lb_companion_name(const char* companion, lb_version version);

/* ---- listing.c ------------------------------------------------------------------------------------------------- */

typedef struct lb_names {
  const char* const* globs; /* NULL-terminated; set before the names are read */
  char** names;
  size_t count;
} lb_names;

enum { LB_NAMES_MAX = 256 }; /* of those that match, whichever the system lists first */

/* Reads the names in a folder that match one of the globs, newest first. Returns what os.h's lb_os_list() does. */
int lb_names_read(lb_names* list, const char* folder, char* why, size_t why_size);
void lb_names_clear(lb_names* list);

/* ---- folders.c ------------------------------------------------------------------------------------------------ */

/* Whether two paths lead to the same file, or to the same folder. */
int lb_is_same_place(const char* left, const char* right);
/* The folder above; NULL at the top. Takes `folder`. */
char* lb_take_above(char* folder);
/* A run path of macOS as a folder, given the folders of the image that has it and of the program (NULL: refuse paths
 * that begin there). NULL for a relative one. The caller frees. */
char* lb_run_path(const char* path, const char* loader, const char* program);

/* ---- record.c: what was tried, and what came of it ----------------------------------------------------------- */

typedef struct lb_record {
  const lb_runtime* runtime;
  lb_version minimum;
  lb_attempt* attempts;
  size_t attempt_count;
  size_t attempt_capacity;
  struct lb_chain* chains; /* of each attempt: finds those of the same kind */
  size_t first[64];        /* of each chain; 0: none */
  size_t image_count;
  int bound;
  int raised;        /* environment variables are ignored: this process has more rights than its user */
  int elsewhere;     /* this process has entered another root folder, where names mean other places */
  uint32_t signs;    /* bit n: a sign of variant n was found */
  char* unknown;     /* why this library's own folder is not known, and was not searched; or NULL */
  int is_named_only; /* what the command installs is in no folder that is searched: the user names its file */
  int out_of_memory; /* something could not be recorded: the outcome holds, the record is incomplete */
  char* path;        /* of the bound file */
  char* version;
  char* message;
  char* warning;
} lb_record;

lb_record* lb_record_create(const lb_runtime* runtime, lb_version minimum);
void lb_record_release(lb_record* record);
/* A file has several names in a folder, and several steps look into it: once for each outcome and path. */
void lb_record_add(lb_record* record, lb_source source, lb_outcome outcome, const char* path, const char* version,
                   const char* detail);
/* A place that can't be used, as enum lb_place. One that others may change: once for each reason, which names the file
 * or folder at fault. */
void lb_record_place(lb_record* record, lb_source source, int place, const char* path, const char* why);
/* The attempt that explains a failure best; NULL when nothing was tried. */
const lb_attempt* lb_record_telling(const lb_record* record);

/* ---- message.c ------------------------------------------------------------------------------------------------- */

/* Advice that names a minimum (">=1.19") with another one instead. The caller frees; NULL when out of memory. */
char* lb_advice_for(const char* advice, lb_version named, lb_version minimum);

/* Writes record->message and record->warning. `advice` is the host's own, or NULL for the runtime's. */
void lb_record_conclude(lb_record* record, const char* advice);

/* ---- report.c, report_json.c ------------------------------------------------------------------------------------ */

/* Bytes of each struct's first version: no caller has a shorter one, so less means that `size` was not set. */
#define LB_RUNTIME_SIZE_1 (offsetof(lb_runtime, compatible) + sizeof(lb_compatible))
#define LB_RUNTIME_SIZE_2 (offsetof(lb_runtime, check) + sizeof(lb_check_runtime))
#define LB_RUNTIME_SIZE_3 (offsetof(lb_runtime, variant_count) + sizeof(size_t))
#define LB_RUNTIME_SIZE_4 (offsetof(lb_runtime, maven) + sizeof(const char*))
#define LB_VARIANT_SIZE_1 (offsetof(lb_variant, signs) + sizeof(const char* const*))
#define LB_OPTIONS_SIZE_1 (offsetof(lb_options, advice) + sizeof(const char*))
#define LB_FLAGS          (LB_FLAG_GLOBAL | LB_FLAG_NO_SYSTEM | LB_FLAG_NO_LOADED | LB_FLAG_DRIVER) /* all that there are */
#define LB_REPORT_SIZE_1  (offsetof(lb_report, storage) + sizeof(void*))
#define LB_REPORT_WITHOUT_SIZE \
  "lb_report.size is not set. Set it to sizeof(lb_report) before the report is given to lb_bind()."

/* Fills a caller's report. An owned record is released with the report; one that is not must live for ever. */
void lb_report_fill(lb_report* report, lb_record* record, int owned);
/* A report of one message, which must live for ever. */
void lb_report_fill_message(lb_report* report, const lb_runtime* runtime, const char* message);
void lb_report_fill_out_of_memory(lb_report* report, const lb_runtime* runtime);
int lb_report_is_usable(const lb_report* report);
char* lb_record_json(const lb_record* record); /* the caller frees; NULL when out of memory */

/* ---- opening.c ------------------------------------------------------------------------------------------------- */

/* Whether this very thread is looking for what `binding` will hold: the runtime that it opens called back. */
int lb_is_opening(const void* binding);
/* Whether another thread was in the system's loader for it when this process was forked, longer than the fork waited.
 */
int lb_is_half_open(const void* binding);
#define LB_HALF_OPEN                                                                                       \
  " was being opened when this process was forked, and is half open here. Make the first call before the " \
  "fork, or run another program (exec)."
/* Notes that this thread begins to use the system's loader; lb_end_opening() takes the result. */
size_t lb_begin_opening(const void* binding);
void lb_end_opening(size_t opening);
/* lb_os_open(), which a child that is forked meanwhile knows of. */
void* lb_open_library(const char* path, uint32_t flags, lb_outcome* outcome, char* why, size_t why_size);
/* Around a fork: it waits for other threads, and they for it, for a limited time. The child has no other threads. */
void lb_before_fork(void);
void lb_after_fork(void);
void lb_after_fork_in_child(void);

/* ---- bind.c ---------------------------------------------------------------------------------------------------- */

/* The record of what is bound, which lives for ever; NULL when nothing is. */
const lb_record* lb_bound_record(const lb_binding* binding);

struct lb_around;
/* lb_bind(), which also looks into packages; `around` may be NULL. */
int lb_bind_around(lb_binding* binding, const lb_runtime* runtime, const lb_options* options,
                   const struct lb_around* around, lb_report* report);

/* ---- candidate.c, search.c -------------------------------------------------------------------------------------- */

typedef struct lb_identity {
  uint64_t device;
  uint64_t file;
} lb_identity;

/* The library (or program) that this loader is compiled into; each is NULL if it doesn't lead to the mapped file. */
typedef struct lb_own_names {
  char* file;   /* the kernel's name, without links */
  char* name;   /* by which it was opened, with its links */
  int is_busy;  /* `file` is unknown for a reason that passes */
  char why[80]; /* `file` is unknown, as a part of a message */
} lb_own_names;

struct lb_judge;

enum { LB_COMPANIONS_MAX = 16 }; /* further ones stay open */

/* One run of the search. Holds what was found in `handle` and `entry`. */
typedef struct lb_search {
  const lb_runtime* runtime;
  const lb_options* options;
  const struct lb_around* around; /* or NULL */
  lb_version minimum;
  lb_record* record;
  lb_identity* seen; /* files that were tried, so that links to them are not tried again */
  size_t seen_count;
  int is_file; /* the place that was given last is a file, not a folder */
  int trust;   /* lb_trust of the folder of the system that is searched */
  int has_own;
  lb_own_names own;                    /* lb_own_names_of() */
  struct lb_judge* judge;              /* who is trusted; NULL as long as nobody asked */
  void* companions[LB_COMPANIONS_MAX]; /* what was opened for the candidate */
  size_t companion_count;
  int is_incomplete; /* the last candidate was */
  void* handle;
  void* entry;
  lb_version version;
} lb_search;

/* How a place of a step is trusted, as enum lb_trust. */
int lb_trust_at(const lb_search* search, lb_source source);
/* What is at a path, as enum lb_place; judged if its trust asks for it. Systems' own folders have other programs'
 * copies: files there are refused, but for one that the user named. */
int lb_look_at(lb_search* search, int trust, const char* path, int is_folder, lb_identity* identity, char* why,
               size_t why_size);
/* Lists a folder, if it is there and may be searched: returns 1 then. What speaks against that is recorded. */
int lb_list_folder(lb_search* search, lb_source source, const char* folder, lb_names* list);

/* Each returns 1 when the candidate is bound, 0 when the search goes on; -1 when there is no such file. */
int lb_try_file(lb_search* search, lb_source source, const char* path);
int lb_try_handle(lb_search* search, lb_source source, const char* path, void* handle, void* entry);
/* This library's names. The kernel is asked once. */
const lb_own_names* lb_own_names_of(lb_search* search);

/* Tries the files in a folder that have the runtime's names. A folder of a package may be absent. */
int lb_try_folder(lb_search* search, lb_source source, const char* folder);
/* ---- dotnet.c --------------------------------------------------------------------------------------------------- */

/* The folder of a .NET application's native libraries for this platform, below its base folder. */
#if defined(_WIN32)
#define LB_DOTNET_RID "win-" LB_CPU
#elif defined(__APPLE__)
#define LB_DOTNET_RID "osx-" LB_CPU
#elif defined(__GLIBC__)
#define LB_DOTNET_RID "linux-" LB_CPU
#else
#define LB_DOTNET_RID "linux-musl-" LB_CPU
#endif
#define LB_DOTNET_NATIVE "runtimes/" LB_DOTNET_RID "/native"

/* The base folder of a .NET application if `folder` is that one, else NULL. The caller frees. */
char* lb_dotnet_base(const char* folder);
/* Tries the folders in which the application of .NET that runs in this process has native libraries. */
int lb_search_dotnet(lb_search* search);

/* What a stub adds to a search. */
typedef struct lb_around {
  const struct lb_packages* packages;
  /* Looks into the packages around this library; returns 1 when the runtime is bound. */
  int (*look)(lb_search* search);
  /* The same after everything else: folders that variables name. */
  int (*look_last)(lb_search* search);
} lb_around;

/* ---- installer.c ------------------------------------------------------------------------------------------------ */

/* The package of npm that has the runtime; "" if none has. */
const char* lb_npm_of(const lb_runtime* runtime);
/* The same of NuGet. */
const char* lb_nuget_of(const lb_runtime* runtime);
/* What users of the package manager type that installed this library; NULL: the runtime's own command. The caller
 * frees. */
char* lb_installer_advice(lb_search* search);

/* Whether the system's own folder may have the runtime. */
int lb_is_driver(const lb_search* search);
int lb_search_run(lb_search* search);
void lb_search_clear(lb_search* search); /* frees what the search noted; not the handle, not the record */
/* Counts the images in this process that have the entry symbol. */
size_t lb_count_images(const char* symbol);

#endif
