/* program.c: a program in Visual C++'s ABI that is written for a linked ONNX Runtime; it says what its calls give. */
#include "crt.h"
#include "latebind/stub.h"

typedef struct base {
  const void* const* (*GetApi)(uint32_t version);
  const char* (*GetVersionString)(void);
} base;
const base* OrtGetApiBase(void);

enum { OUR_EXCEPTION = 0x60001234, SLOTS = 400 };
extern const char __ImageBase[];

static const void* (*create_env)(int, const char*, const char**);
static const void* (*take_all)(int, double, const char*, double, long long, double, double, const char**);
static const void* (*raise_exception)(const char*, const char*, const char*, const char*);
static const char* (*get_message)(const void* status);

static int say_status(const void* status) {
  printf("%s\n", get_message(status));
  return 1;
}

/* The very first call: it goes through a trampoline, with the arguments of all kinds. */
static int call(void) {
  const char *name = "none", *answer = "none";
  const void* status = take_all(1, 2.5, "c", 4.5, -5, 6.5, 7.5, &answer);
  if (status) return say_status(status);
  status = create_env(3, "mine", &name);
  if (status) return say_status(status);
  printf("%s %s %s\n", answer, name, lb_onnxruntime_version());
  return 0;
}

/* The arguments are addresses in code. A trampoline keeps them on the stack, where an unwinder without data about the
 * trampoline takes them for return addresses. */
static int catch_exception(int again) {
  const char* code = (const char*)call_main + 64; /* after the prologue */
  const char* name = NULL;
  if (again && create_env(3, "mine", &name)) return 1;
  __try {
    const void* status = raise_exception(code, code, code, code);
    printf("no exception%s\n", status ? get_message(status) : "");
  } __except (_exception_code() == OUR_EXCEPTION) {
    printf("caught\n");
  }
  return 0;
}

static void throw_up(const char* message, void* context) {
  (void)message, (void)context;
  RaiseException(OUR_EXCEPTION, 0, 0, NULL);
}

/* Control-flow guard ends a program that calls an address which is not in this table, sorted and relative. */
static int is_listed(const void* function) {
  const uint32_t* functions = _load_config_used.functions;
  uint32_t address = (uint32_t)((const char*)function - __ImageBase);
  for (uintptr_t i = 0; i < (uintptr_t)_load_config_used.function_count; i++) {
    if (functions[i] == address) return 1;
  }
  return 0;
}

static int count_listed(const void* const* api) {
  int listed = 0;
  for (int slot = 0; slot < SLOTS; slot++) listed += is_listed(api[slot]);
  printf("%d of %d\n", listed, SLOTS);
  return 0;
}

void throw_number(const char* message, void* context);
int catch_number(const void* (*call)(const char*, const char*, const char*, const char*), const char* code);

/* As catch_exception() does, with an exception of C++ that the program's handler throws. */
static int catch_thrown(void) {
  lb_onnxruntime_on_missing(throw_number, NULL);
  printf("caught %d\n", catch_number(raise_exception, (const char*)catch_exception + 64));
  return 0;
}

static int has(char** words, const char* word) {
  while (*words && strcmp(*words, word) != 0) words++;
  return *words != NULL;
}

int main(int count, char** words) {
  const base* runtime = OrtGetApiBase();
  const void* const* api = runtime->GetApi(19);
  get_message = (const char* (*)(const void*))api[2];
  create_env = (const void* (*)(int, const char*, const char**))api[3];
  take_all = (const void* (*)(int, double, const char*, double, long long, double, double, const char**))api[4];
  raise_exception = (const void* (*)(const char*, const char*, const char*, const char*))api[5];
  if (has(words, "guarded")) return count_listed(api);
  if (has(words, "throw")) return catch_thrown();
  if (has(words, "on-missing")) lb_onnxruntime_on_missing(throw_up, NULL);
  return count > 1 ? catch_exception(has(words, "again")) : call();
}
