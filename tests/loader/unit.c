/* unit.c: tests of the loader's small parts that need no library; prints what failed and returns how many did. */
#include <stdio.h>
#include <string.h>

#include "latebind/onnxruntime.h"
#include "latebind/ort_api.h"
#include "os.h"

static int failures;

static void check(int holds, const char* what, int line) {
  if (holds) return;
  failures++;
  printf("unit.c:%d: %s\n", line, what);
}
#define CHECK(holds) check((holds) != 0, #holds, __LINE__)

static int is_version(const char* text, uint32_t major, uint32_t minor, uint32_t patch) {
  lb_version version = {77, 77, 77};
  if (lb_version_parse(text, &version)) return 0;
  return version.major == major && version.minor == minor && version.patch == patch;
}

static int is_no_version(const char* text) {
  lb_version version = {77, 77, 77};
  return lb_version_parse(text, &version) != 0 && version.major == 77;
}

static void test_versions(void) {
  CHECK(is_version("1.19", 1, 19, 0));
  CHECK(is_version("1.19.2", 1, 19, 2));
  CHECK(is_version("1.20.0-rc1+cuda", 1, 20, 0));
  CHECK(is_version("1.20.x", 1, 20, 0));
  CHECK(is_version("0.0.0", 0, 0, 0));
  CHECK(is_version("4294967295.1", 4294967295u, 1, 0));
  CHECK(is_no_version(NULL));
  CHECK(is_no_version(""));
  CHECK(is_no_version("1"));
  CHECK(is_no_version("1."));
  CHECK(is_no_version("v1.2"));
  CHECK(is_no_version("4294967296.1"));
  CHECK(is_no_version("99999999999999999999999999.1"));
  lb_version a = {1, 9, 9}, b = {1, 19, 0};
  CHECK(lb_version_compare(a, b) < 0 && lb_version_compare(b, a) > 0 && lb_version_compare(a, a) == 0);
}

static void test_names(void) {
  CHECK(lb_glob_match("libonnxruntime.so.*", "libonnxruntime.so.1.31.1"));
  CHECK(!lb_glob_match("libonnxruntime.so.*", "libonnxruntime.so"));
  CHECK(lb_glob_match("*.so*", "a.so.so"));
  CHECK(lb_glob_match("*", ""));
  CHECK(!lb_glob_match("a*b*c", "a-b-"));
  CHECK(lb_glob_match("a*b*c", "a-b-b-c"));
  CHECK(lb_name_compare("so.1.9", "so.1.19") < 0);
  CHECK(lb_name_compare("so.1.19.10", "so.1.19.9") > 0);
  CHECK(lb_name_compare("so.1.19", "so.1.19") == 0);
  CHECK(lb_name_compare("so.1.19", "so.1.19.1") < 0);
  CHECK(lb_name_compare("so.0001", "so.1") == 0);
  CHECK(lb_name_compare("so.99999999999999999999998", "so.99999999999999999999999") < 0);
}

static int note_folder(void* context, const char* folder, lb_trust trust) {
  char* noted = context;
  CHECK(trust == LB_TRUST_NAMED);
  snprintf(noted + strlen(noted), 200 - strlen(noted), "[%s]", folder);
  return strcmp(folder, "/stop") == 0;
}

static int lists(const char* list, const char* wanted, int stops) {
  char noted[200] = "";
  int stop = lb_each_folder(list, ":;", LB_TRUST_NAMED, note_folder, noted);
  if (strcmp(noted, wanted) != 0) printf("  got: %s\n", noted);
  return stop == stops && strcmp(noted, wanted) == 0;
}

/* An empty or relative element of a list is the current folder to the systems' own loaders. */
static void test_lists_of_folders(void) {
  CHECK(lists("/a:/b c;/d/", "[/a][/b c][/d/]", 0));
  CHECK(lists("", "", 0));
  CHECK(lists(":", "", 0));
  CHECK(lists("::/a::.:./b:b:../c:", "[/a]", 0));
  CHECK(lists("$ORIGIN/lib:~/lib:/a", "[/a]", 0));
  CHECK(lists("/a:/stop:/b", "[/a][/stop]", 1));
}

static int runs_in(const char* path, const char* loader, const char* program, const char* wanted) {
  char* folder = lb_run_path(path, loader, program);
  int same = folder && wanted ? strcmp(folder, wanted) == 0 : folder == NULL && wanted == NULL;
  lb_free(folder);
  return same;
}

static void test_run_paths(void) {
  CHECK(runs_in("/abs/lib", "/l", "/p", "/abs/lib"));
  CHECK(runs_in("@loader_path", "/l", "/p", "/l"));
  CHECK(runs_in("@loader_path/../lib", "/l", "/p", "/l/../lib"));
  CHECK(runs_in("@executable_path/../Frameworks", "/l", "/p", "/p/../Frameworks"));
  CHECK(runs_in("@loader_path/x", NULL, NULL, NULL)); /* a process with raised rights */
  CHECK(runs_in("@executable_path/x", NULL, NULL, NULL));
  CHECK(runs_in("@loader_pathology/x", "/l", "/p", NULL));
  CHECK(runs_in("@rpath/x", "/l", "/p", NULL));
  CHECK(runs_in("lib", "/l", "/p", NULL));
  CHECK(runs_in("", "/l", "/p", NULL));
}

static int cleans_to(const char* given, const char* wanted) {
  lb_text text = {NULL, 0, 0, 0};
  lb_text_add_foreign(&text, given);
  int same = text.data ? strcmp(text.data, wanted) == 0 : *wanted == 0;
  if (!same) printf("  got: %s\n", text.data ? text.data : "");
  lb_free(lb_text_take(&text));
  return same;
}

static void test_text(void) {
  CHECK(cleans_to("plain\n", "plain"));
  CHECK(cleans_to("M\xC3\xBCll", "M\xC3\xBCll"));
  CHECK(cleans_to("a\xFFz", "a\xEF\xBF\xBDz"));
  CHECK(cleans_to("a\x1B[0m", "a\xEF\xBF\xBD[0m"));
  CHECK(cleans_to("\xE2\x82", "\xEF\xBF\xBD\xEF\xBF\xBD")); /* truncated at the end of the string */
  CHECK(lb_utf8_length("\xC0\xAF") == 0);                   /* overlong */
  CHECK(lb_utf8_length("\xED\xA0\x80") == 0);               /* a surrogate */
  CHECK(lb_utf8_length("\xF4\x90\x80\x80") == 0);           /* past U+10FFFF */
  CHECK(lb_utf8_length("\xF0\x9F\x98\x80") == 4);
  CHECK(lb_utf8_length("") == 0);
  char huge[5000];
  memset(huge, 'x', sizeof huge - 1);
  huge[sizeof huge - 1] = 0;
  lb_text text = {NULL, 0, 0, 0};
  lb_text_add_foreign(&text, huge);
  CHECK(text.length < 700);
  lb_free(lb_text_take(&text));
  char* empty = lb_text_take(&text);
  CHECK(empty && *empty == 0);
  lb_free(empty);
}

static void test_json(void) {
  lb_version floor = {1, 19, 0};
  lb_record* record = lb_record_create(&lb_onnxruntime, floor);
  lb_record_add(record, LB_SOURCE_HOST, LB_OUTCOME_REFUSED, "a\"b\\c\x01\xFF", NULL, "tab\there");
  lb_record_conclude(record, NULL);
  char* json = lb_record_json(record);
  CHECK(json && strstr(json, "\"a\\\"b\\\\c\\u0001\\ufffd\""));
  CHECK(json && strstr(json, "tab\\u0009here"));
  lb_free(json);
  lb_record_release(record);
}

static void test_names_of_enums(void) {
  for (int i = 0; i <= LB_OUTCOME_OTHER_MINOR; i++) CHECK(strcmp(lb_outcome_name((lb_outcome)i), "unknown") != 0);
  for (int i = 1; i <= LB_SOURCE_SYSTEM; i++) CHECK(strcmp(lb_source_name((lb_source)i), "unknown") != 0);
  CHECK(strcmp(lb_outcome_name((lb_outcome)99), "unknown") == 0);
  CHECK(strcmp(lb_source_name((lb_source)99), "unknown") == 0);
}

static void test_unbound(void) {
  lb_binding binding = LB_BINDING_INIT;
  lb_ort_api api;
  CHECK(lb_entry(&binding) == NULL);
  CHECK(lb_entry(NULL) == NULL);
  CHECK(lb_symbol(&binding, "x") == NULL);
  CHECK(lb_image_symbol(NULL, "x") == NULL);
  CHECK(lb_image_symbol(&binding, NULL) == NULL); /* on a stack: in no image */
  CHECK(lb_image_symbol(&binding, "x") == NULL);
  CHECK(lb_image_keep(NULL) != 0);
  CHECK(lb_image_keep(&binding) != 0);
  CHECK(lb_bound_version(&binding).major == 0);
  CHECK(lb_ort_attach(&binding, &api) != 0);
  lb_report_clear(NULL);
  CHECK(strcmp(lb_report_text(NULL), "") == 0);
  CHECK(strcmp(lb_report_json(NULL), "{}") == 0);
}

/* The report of a wrong call, in which nothing is NULL. */
static int is_refused(lb_binding* binding, const lb_runtime* runtime, const lb_options* options, lb_report* report,
                      const char* says) {
  lb_outcome outcome = lb_bind(binding, runtime, options, report);
  int same = outcome == LB_OUTCOME_INVALID_ARGUMENT && strstr(report->message, says) &&
             strstr(lb_report_text(report), says) && lb_report_json(report) && report->runtime && report->path &&
             report->version && report->warning && !report->bound;
  lb_report_clear(report);
  return same && lb_bind(binding, runtime, options, NULL) == outcome;
}

static void test_mistakes(void) {
  lb_binding binding = LB_BINDING_INIT;
  lb_runtime runtime = lb_onnxruntime;
  lb_options options = {0};
  lb_report report = {0};
  CHECK(lb_bind(NULL, NULL, NULL, NULL) == LB_OUTCOME_INVALID_ARGUMENT);
  CHECK(lb_bind(&binding, &lb_onnxruntime, NULL, &report) == LB_OUTCOME_INVALID_ARGUMENT);
  CHECK(report.message && strstr(report.message, "lb_report.size is not set"));
  CHECK(strstr(lb_report_text(&report), "lb_report.size is not set"));
  report.size = sizeof report;
  CHECK(is_refused(NULL, &lb_onnxruntime, NULL, &report, "without a binding"));
  CHECK(is_refused(&binding, NULL, NULL, &report, "without a description"));
  CHECK(is_refused(&binding, &lb_onnxruntime, &options, &report, "lb_options.size is not set"));
  options.size = sizeof options - 1;
  CHECK(is_refused(&binding, &lb_onnxruntime, &options, &report, "lb_options.size is not set"));
  options.size = sizeof options;
  options.directory_count = 1;
  CHECK(is_refused(&binding, &lb_onnxruntime, &options, &report, "directories is NULL"));
  runtime.size = 0;
  CHECK(is_refused(&binding, &runtime, NULL, &report, "lb_runtime.size is not set"));
}

static OrtStatus* create_status(OrtErrorCode code, const char* message) {
  static char kept[256];
  snprintf(kept, sizeof kept, "%d %s", (int)code, message);
  return (OrtStatus*)(void*)kept;
}

/* A runtime of 1.14: what is newer is reported by name, and its missing slot is never touched. */
static void test_gates(void) {
  lb_ort_table table;
  memset(&table, 0, sizeof table);
  table.CreateStatus = create_status;
  lb_ort_api api = {&table, 14, {1, 14, 1}};
  char* buffer = NULL;
  const char* said = (const char*)(void*)lb_ort_GetResizedStringTensorElementBuffer(&api, NULL, 0, 1, &buffer);
  CHECK(said && strcmp(said, "9 GetResizedStringTensorElementBuffer needs ONNX Runtime 1.15; this is 1.14.1") == 0);
  CHECK(lb_ort_TensorTypeAndShape_HasShape(&api, NULL)); /* `otherwise` of the table */
  CHECK(!lb_ort_available(&api, LB_ORT_TensorTypeAndShape_HasShape));
  CHECK(lb_ort_available(&api, LB_ORT_Run));
  CHECK(lb_ort_since(LB_ORT_TensorTypeAndShape_HasShape) == 24);
  CHECK(lb_ort_since((lb_ort_function)4999) == 0);
  api.version = 24;
  CHECK(lb_ort_available(&api, LB_ORT_TensorTypeAndShape_HasShape));
}

#if defined(_WIN32)
#include "os_windows.h"

/* Wine marks every process as elevated: so this shows that the token is read, and that wine's word does not count. */
static void test_elevation(void) {
  CHECK(lb_is_elevated());
  CHECK(!lb_os_is_raised());
  SetEnvironmentVariableW(L"LATEBIND_UNIT", L"value");
  char* value = lb_environment("LATEBIND_UNIT");
  CHECK(value && strcmp(value, "value") == 0);
  lb_free(value);
}
#endif

/* Texts that end with a zero, as messages show them. */
static int show_texts(void) {
  static char given[4096];
  for (size_t length = 0; fread(given + length, 1, 1, stdin) == 1;) {
    if (given[length] && length + 1 < sizeof given) {
      length++;
      continue;
    }
    given[length] = 0;
    lb_text text = {NULL, 0, 0, 0};
    lb_text_add_foreign(&text, given);
    char* shown = lb_text_take(&text);
    if (!shown || fwrite(shown, strlen(shown) + 1, 1, stdout) != 1) return 1;
    lb_free(shown);
    length = 0;
  }
  return 0;
}

int main(int count, char** arguments) {
  if (count == 2 && !strcmp(arguments[1], "show")) return show_texts();
#if defined(_WIN32)
  test_elevation();
#endif
  test_versions();
  test_names();
  test_text();
  test_json();
  test_names_of_enums();
  test_unbound();
  test_mistakes();
  test_lists_of_folders();
  test_run_paths();
  test_gates();
  if (!failures) puts("all well");
  return failures;
}
