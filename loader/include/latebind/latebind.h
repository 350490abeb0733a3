/*
 * latebind.h: bind a native runtime late.
 *
 * A library that needs a runtime R from another package does not link R. It describes R once (lb_runtime),
 * calls lb_bind() when it first needs R, and gets R's entry point or a report of everything that was tried.
 *
 * This header is for C99 and C++ hosts on Linux, macOS and Windows. It depends on libc and the operating system's
 * loader only. Nothing happens before lb_bind() is called, and the library that contains the loader exports none of
 * its symbols. Paths are UTF-8 on all three systems, and of any length.
 *
 * Contents: versions - describing a runtime - options - report - binding.
 * Stability: lb_runtime, lb_options, lb_report and lb_attempt begin with their size; fields are only ever added at the
 * end. lb_version and lb_binding never change. Anything added after 0.1 is marked "since".
 */
#ifndef LATEBIND_LATEBIND_H
#define LATEBIND_LATEBIND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LATEBIND_VERSION "0.1.0" /* of this loader */

/* The compiler warns where a result is ignored. */
#if defined(__GNUC__)
#define LB_NODISCARD __attribute__((warn_unused_result))
#else
#define LB_NODISCARD
#endif
#if defined(__cplusplus) && __cplusplus >= 201703L
#undef LB_NODISCARD
#define LB_NODISCARD [[nodiscard]]
#endif

/* ---- versions ------------------------------------------------------------------------------------------- */

typedef struct lb_version {
  uint32_t major;
  uint32_t minor;
  uint32_t patch;
} lb_version;

/* LATEBIND_VERSION of the compiled-in loader, which may differ from this header's */
const char* lb_loader_version(void);

/* Reads "1.19", "1.19.2" or "1.20.0-rc1" (what follows the numbers is ignored). Returns 0 on success. */
int lb_version_parse(const char* text, lb_version* version);
/* Negative, 0 or positive: left is older than, the same as or newer than right. */
int lb_version_compare(lb_version left, lb_version right);

/* ---- describing a runtime ------------------------------------------------------------------------------- */

/*
 * Reads the version of a loaded runtime. `entry` is the address of the runtime's entry symbol. On success
 * writes a NUL-terminated version text ("1.19.2") to `text` (at most `size` bytes) and returns 0; any other
 * value means that the image is not the runtime that it claims to be; `text` may then say why, for the report. The
 * function must call nothing in the runtime but what it needs to read the version: the image may be too old for the
 * rest.
 */
typedef int (*lb_read_version)(void* entry, char* text, size_t size);

/*
 * Checks, once the version is accepted, that a loaded runtime has everything that the host will use, such as every
 * function of a table. Returns 0 on success; otherwise the search goes on, and `text` (at most `size` bytes,
 * NUL-terminated) says what is missing: "GetApi(25) returns NULL".
 */
typedef int (*lb_check_runtime)(void* entry, lb_version version, char* text, size_t size);

/*
 * The address of another exported symbol of the loaded image that holds `entry`, or NULL when it has no such symbol.
 * For an lb_read_version that needs more than the entry symbol. Opens no file.
 */
void* lb_image_symbol(const void* entry, const char* name);

/*
 * Keeps the image that holds `entry` loaded for the life of the process. Once the loader has read the version of a
 * copy that is too old, it unloads the copy: call this function in the lb_read_version of a runtime that crashes when
 * it is unloaded. Returns 0 on success.
 */
int lb_image_keep(const void* entry);

/*
 * For an lb_read_version: writes the version that `returned`, a text of the runtime, begins with or contains ("1.19.2"
 * of "thing v1.19.2"). Returns 0 on success; otherwise `text` says why: the address cannot be read, since the entry
 * symbol is a function of another kind, or there is no number in the text.
 */
int lb_read_text(const char* returned, char* text, size_t size);
/* The same for `count` numbers of `width` bytes each (1, 2 or 4) at `numbers`, from the major version on. */
int lb_read_numbers(const void* numbers, size_t width, size_t count, char* text, size_t size);

/* Which versions at or above the minimum have the same interface. */
typedef enum lb_compatible {
  LB_COMPATIBLE_MAJOR = 0, /* those of the same major version */
  LB_COMPATIBLE_MINOR = 1, /* those of the same major and minor version */
  LB_COMPATIBLE_ALWAYS = 2 /* all */
} lb_compatible;

/*
 * One of several major versions of a runtime that a library can use, or one of several suppliers of the same. The next
 * one is `size` bytes further.
 */
typedef struct lb_variant {
  uint32_t size;                 /* sizeof(lb_variant) */
  lb_version minimum;            /* suitable: this version and newer ones of the same major version; 0.0.0: any */
  const char* advice;            /* the command that installs it */
  const char* const* companions; /* NULL-terminated, or NULL: files that the runtime opens by itself. Those without
                                    numbers, which all variants must have, are looked for before the version is read;
                                    then "libnvrtc-builtins.so.{major}.{minor}" */
  const char* const* signs;      /* NULL-terminated, or NULL: files of packages that need this one, below site-packages:
                                    if there is one, messages do not advise to install the others */
} lb_variant;

/*
 * What a runtime is called and how it is recognized. Constant data, generated by latebind from a preset or a
 * description (`latebind_add_runtime()` in CMake); the strings must stay valid until the process ends.
 */
typedef struct lb_runtime {
  uint32_t size;                 /* sizeof(lb_runtime) */
  const char* name;              /* "onnxruntime" */
  const char* title;             /* "ONNX Runtime", for messages */
  const char* environment;       /* "ONNXRUNTIME_LIB_PATH": an explicit file or folder given by the user */
  const char* const* file_names; /* NULL-terminated, names to try in a folder and in the system's search, best
                                    first: "libonnxruntime.so.1", "libonnxruntime.so" */
  const char* const* file_globs; /* NULL-terminated, '*' only, for folders: "libonnxruntime.so.*" */
  const char* entry_symbol;      /* "OrtGetApiBase": an image without it is not the runtime */
  lb_read_version read_version;  /* NULL if the runtime does not report its version: every copy is suitable */
  lb_version minimum; /* an older version is unsuitable, and one that is not `compatible`; 0.0.0 accepts any */
  lb_version built;   /* the newest version whose interface the host was written for */
  const char* advice; /* the command that fixes a missing runtime, or NULL */
  lb_compatible compatible;
  lb_check_runtime check;     /* or NULL */
  const lb_variant* variants; /* or NULL; the best first. `minimum` is then that of the oldest */
  size_t variant_count;
  const char* npm;   /* the package of npm that has it, "onnxruntime-node", for messages; "" or NULL if none has */
  const char* nuget; /* the same of NuGet: "Microsoft.ML.OnnxRuntime" */
  const char* maven; /* the same of Maven: "com.microsoft.onnxruntime:onnxruntime" */
} lb_runtime;

/* ---- options -------------------------------------------------------------------------------------------- */

enum {
  LB_FLAG_GLOBAL = 1u << 0,    /* RTLD_GLOBAL: exports the runtime's symbols to later libraries; no effect on Windows */
  LB_FLAG_NO_SYSTEM = 1u << 1, /* leave out the system's search */
  LB_FLAG_DRIVER = 1u << 3,    /* the runtime is a part of a driver: Windows has it in the system folder, which is
                                  refused otherwise */
  LB_FLAG_NO_LOADED = 1u << 2  /* leave out loaded images: for plugins that all have the same entry symbol */
};

/*
 * Set `size`; every other field may be zero. Paths are UTF-8. lb_bind() keeps no pointer to the struct after it
 * returns. It refuses unknown flags, and a longer struct whose extra bytes are not all zero: only a newer loader knows
 * what they mean.
 */
typedef struct lb_options {
  uint32_t size;                  /* sizeof(lb_options): lb_bind() refuses a struct without it */
  uint32_t flags;                 /* LB_FLAG_* */
  const char* path;               /* explicit file or folder, in place of the environment variable */
  const char* const* directories; /* folders or files that the host offers, in order */
  size_t directory_count;
  lb_version minimum; /* raises the runtime's minimum version; 0.0.0: unchanged */
  const char* advice; /* replaces runtime->advice when the host knows better, or NULL */
} lb_options;

/* ---- report --------------------------------------------------------------------------------------------- */

typedef enum lb_source {
  LB_SOURCE_EXPLICIT = 1,    /* options.path */
  LB_SOURCE_ENVIRONMENT = 2, /* runtime.environment */
  LB_SOURCE_LOADED = 3,      /* already loaded in this process */
  LB_SOURCE_HOST = 4,        /* options.directories */
  LB_SOURCE_BESIDE = 5,      /* the folder of the library that the loader is compiled into */
  LB_SOURCE_PACKAGE = 6,     /* a package of the runtime: around the library of a stub, or of a .NET application */
  LB_SOURCE_SYSTEM = 7       /* the operating system's search */
} lb_source;

typedef enum lb_outcome {
  LB_OUTCOME_BOUND = 0,
  LB_OUTCOME_NOT_FOUND = 1,          /* no such file or folder, or none in this folder */
  LB_OUTCOME_NOT_A_LIBRARY = 2,      /* not a binary of this system, or truncated */
  LB_OUTCOME_WRONG_ARCHITECTURE = 3, /* a library for another processor */
  LB_OUTCOME_MISSING_DEPENDENCY = 4, /* one of the runtime's own libraries is missing: see detail */
  LB_OUTCOME_NO_ENTRY = 5,           /* loads, but has no entry symbol */
  LB_OUTCOME_TOO_OLD = 6,
  LB_OUTCOME_OTHER_MAJOR = 7,
  LB_OUTCOME_NO_VERSION = 8,        /* the version could not be read */
  LB_OUTCOME_REFUSED = 9,           /* others may write there, lb_bind() excludes the folder, or access is denied */
  LB_OUTCOME_LOAD_FAILED = 10,      /* any other error of the system's loader: see detail; or out of memory */
  LB_OUTCOME_INVALID_ARGUMENT = 11, /* a mistake in the call itself: a struct without its size, a NULL */
  LB_OUTCOME_BOUND_OLDER = 12,      /* bound already, and older than the minimum of this call */
  LB_OUTCOME_INCOMPLETE = 13,       /* of the right version, but lacks what its check() looks for */
  LB_OUTCOME_OTHER_MINOR = 14,
  LB_OUTCOME_TRY_AGAIN = 15 /* a failure that passes, such as too many open files: see detail */
} lb_outcome;

/*
 * One candidate that was tried. Strings belong to the report. The next attempt is `size` bytes further, which may be
 * more than sizeof(lb_attempt) of this header: use lb_report_attempt().
 */
typedef struct lb_attempt {
  uint32_t size; /* sizeof(lb_attempt) of the loader */
  lb_source source;
  lb_outcome outcome;
  const char* path;    /* the file, folder or name that was tried, UTF-8 */
  const char* version; /* the version that the runtime reports, or "" */
  const char* detail;  /* why, in the words of the system or the loader, or "" */
} lb_attempt;

/*
 * What lb_bind() did. The caller owns it: set `size`, leave the rest zero, and give it to lb_report_clear()
 * when done. lb_bind() first clears a report that is reused. After lb_bind() no text in the report is NULL, whatever
 * the outcome.
 */
typedef struct lb_report {
  uint32_t size;       /* sizeof(lb_report), set by the caller */
  int bound;           /* 1 when this call got the runtime: its outcome is LB_OUTCOME_BOUND */
  const char* runtime; /* runtime->name */
  const char* path;    /* the file that is bound, or "" */
  const char* version; /* the bound runtime's own version, or "" */
  lb_version minimum;  /* the minimum version that was used */
  lb_version built;
  size_t image_count; /* once bound: how many images in this process have the entry symbol; > 1 sets `warning` */
  const lb_attempt* attempts;
  size_t attempt_count;
  const char* message; /* the message: what was wrong and the command that fixes it; or what was bound */
  const char* warning; /* a message about more than one image; or "" */
  void* storage;       /* private */
} lb_report;

/* The field `message`. Never NULL; "" for NULL. */
const char* lb_report_message(const lb_report* report);

/* Attempt number `index`, in the order in which they were made; NULL past the last */
const lb_attempt* lb_report_attempt(const lb_report* report, size_t index);

/* The report as lines of text. The text belongs to the report. Never NULL; the message alone when out of memory, and
 * after LB_OUTCOME_INVALID_ARGUMENT. */
const char* lb_report_text(lb_report* report);

/*
 * The report as one JSON object, always valid UTF-8. The text belongs to the report. Never NULL; "{}" when out of
 * memory, before lb_bind(), after LB_OUTCOME_INVALID_ARGUMENT, and after an lb_bind() that the runtime called while it
 * was opened. Keys: runtime, title, bound, path, version, minimum, built, images, message, warning, complete (false
 * when memory ran out and attempts are missing), attempts: [{source, outcome, path, version, detail}]. Keys are only
 * ever added.
 */
const char* lb_report_json(lb_report* report);

/* Frees what the report holds and zeroes it (except `size`). NULL is allowed. */
void lb_report_clear(lb_report* report);

/* Names for people and for JSON: "host", "too-old". Never NULL. */
const char* lb_source_name(lb_source source);
const char* lb_outcome_name(lb_outcome outcome);

/* ---- binding -------------------------------------------------------------------------------------------- */

/*
 * The place where a host keeps what was bound: one static per runtime, `static lb_binding ort = LB_BINDING_INIT;`.
 * Fields are private; read them with lb_entry().
 */
typedef struct lb_binding {
  void* volatile state;
  void* reserved;
} lb_binding;

#define LB_BINDING_INIT {0, 0}

/*
 * Write this before a function that calls functions of the runtime by their addresses: clang's -fsanitize=cfi accepts
 * only functions of the same program or library there.
 */
#if defined(__clang__)
#define LB_CALLS_RUNTIME __attribute__((no_sanitize("cfi-icall")))
#else
#define LB_CALLS_RUNTIME
#endif

/*
 * Finds, opens and checks the runtime, once. Returns LB_OUTCOME_BOUND, which is 0, when `binding` holds a usable
 * runtime, otherwise why it holds none. Thread-safe and without a lock: threads that call at the same time each search,
 * the first to find a runtime decides, and none waits for another. A success is kept for the life of the process and
 * later calls return it at once, whatever places they name; the runtime is never unloaded. A failure is not kept: the
 * next call tries again.
 *
 * A later call whose minimum is above the bound version returns LB_OUTCOME_BOUND_OLDER: the binding stays as it is for
 * callers with a lower minimum, and the report names both versions. A mistake in the arguments (such as a `size` that
 * is not set, an unknown flag, or a required pointer that is NULL) returns LB_OUTCOME_INVALID_ARGUMENT, even when the
 * runtime is bound already; the report names the mistake.
 *
 * Order: that of enum lb_source, whose `package` is for stubs alone. A failure at options->path, or else at the
 * environment variable, is final. Elsewhere, an unsuitable candidate is recorded and the search goes on.
 *
 * Trust: what options->directories names is trusted as the host trusts it. Beside the library, in packages, in run
 * paths and, on Windows, in the system's search, lb_bind() refuses a candidate unless only the administrator, this
 * user, and users who can replace this library or this program can change the way to it: each folder from the top of
 * the file system, each link, the file. In a process with raised privileges, and on Linux and macOS in one whose real,
 * effective and saved ids differ, only the administrator may. docs/threats.md has the rule. On Linux and macOS, a
 * process that enters another root folder or mount namespace should call lb_bind() before: after that, every candidate
 * is judged but loaded images, and only the administrator and this user are trusted.
 *
 * The runtime is opened by absolute path only, after its file header was checked. The system's search is in the folders
 * that the system's own loader would search, except the current folder: it skips empty and relative entries of search
 * paths. Linux (glibc): LD_LIBRARY_PATH, the run paths of the library that contains this loader, /etc/ld.so.cache, the
 * default folders. musl: LD_LIBRARY_PATH, /etc/ld-musl-<processor>.path or musl's default folders. macOS:
 * DYLD_LIBRARY_PATH, the run paths of the library and of the program, DYLD_FALLBACK_LIBRARY_PATH or /usr/local/lib and
 * /usr/lib. Windows: the application's folder and PATH. A process with raised privileges reads no environment variable:
 * see lb_environment().
 *
 * On Windows, a copy in the system folder is refused, even one that is loaded already, unless options->path or the
 * environment variable names that very file. The libraries that the runtime needs may be in the system folder. On
 * macOS, the library that contains this loader stays loaded after the first call, for its fork handlers.
 *
 * `options` and `report` may be NULL. If the runtime is bound already, the report describes the first binding. Writes
 * nothing to stdout or stderr.
 */
LB_NODISCARD lb_outcome lb_bind(lb_binding* binding, const lb_runtime* runtime, const lb_options* options,
                                lb_report* report);

/*
 * Forgets what is bound and gives back the loader's reference to it, so that the next lb_bind() searches again: for
 * tests, which try several runtimes in one process. The caller sees to it that no other thread uses the binding, that
 * all pointers into the runtime are forgotten, and that reports on this binding are cleared. Since 0.1
 */
void lb_reset(lb_binding* binding);

/* The address of the runtime's entry symbol, or NULL when not bound. Costs one atomic read. */
void* lb_entry(const lb_binding* binding);

/* Looks up another exported symbol of the bound runtime; NULL when there is none or nothing is bound. */
void* lb_symbol(const lb_binding* binding, const char* name);

/* 1 when the bound runtime is the file `path`, under any of its names, or is in the folder `path`; else 0. For hosts
 * whose users give a path after the runtime was bound. */
int lb_is_bound_from(const lb_binding* binding, const char* path);

/* The bound runtime's version; 0.0.0 when not bound. */
lb_version lb_bound_version(const lb_binding* binding);

/*
 * A copy of an environment variable in UTF-8, for a host that lets users choose what is opened. NULL when it is unset
 * or empty, when memory runs out, and in a process with more rights than the user who started it: a set-id program, one
 * with file capabilities, and on Windows one that UAC elevated. Release it with free().
 */
char* lb_environment(const char* name);

#ifdef __cplusplus
}
#endif
#endif
