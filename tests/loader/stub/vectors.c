/*
 * Vectors of every size that the processor has go through a trampoline unharmed: all registers in which a call may have
 * arguments, and C functions with such arguments. Prints the sizes that were tried, then "right", or what is wrong.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trampolines.h"

/* Jumps go through these; none is called here. */
void* volatile lb_entries[LB_TRAMPOLINE_COUNT];

static lb_function target;
static void (*spoil)(void);
static int failed;

/* What a search for a runtime may do to registers: all that a function may change is changed. */
lb_function lb_trampoline_target(size_t number, uintptr_t* first) {
  if (number == LB_TRAMPOLINE_COUNT) *first = 0;
  spoil();
  return target;
}

#define CHECK(condition)                                    \
  do {                                                      \
    if (!(condition)) ++failed, printf("%s\n", #condition); \
  } while (0)

/* The trampoline of any number, which then leads to `function`. */
static lb_function leads_to(lb_function function) {
  static size_t number;
  target = function;
  number = (number + 123) % LB_TRAMPOLINE_COUNT;
  return lb_trampoline(number);
}

#define NAME(name) LB_ASM_NAME(name)

/* On arm64: Windows has no calling convention that keeps more than the arguments. */
#if defined(_WIN32)
#define KEPT 8
#else
#define KEPT 24
#endif

#if defined(__x86_64__)
#include <cpuid.h>

#if defined(_WIN32)
#define CONVENTION   __attribute__((vectorcall))
#define PASSES(size) CONVENTION __attribute__((noinline, target(size)))
#define ASSEMBLY(name, code) \
  void name(void);           \
  __asm__(".text\n.globl " #name "\n" #name ":\n" code "ret\n");
#else
#define CONVENTION
#define PASSES(size) __attribute__((noinline, target(size)))
#define ASSEMBLY(name, code) \
  void name(void);           \
  __asm__(".text\n.globl " NAME(name) "\n" NAME(name) ":\n" code "ret\n");
#endif

/* Windows' functions keep xmm6 to xmm15 for their callers, but not what is beyond. */
#if defined(_WIN32)
#define VOLATILE "0,1,2,3,4,5"
#else
#define VOLATILE "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
#endif
ASSEMBLY(spoil_xmm, ".irp n," VOLATILE "\nxorps %xmm\\n, %xmm\\n\n.endr\n")
ASSEMBLY(spoil_ymm, ".irp n," VOLATILE "\nvxorps %xmm\\n, %xmm\\n, %xmm\\n\n.endr\nvzeroupper\n")
ASSEMBLY(spoil_zmm, ".irp n," VOLATILE
                    "\nvpxorq %zmm\\n, %zmm\\n, %zmm\\n\n.endr\nvzeroupper\n"
                    ".irp n,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\nvpxorq %zmm\\n, %zmm\\n, %zmm\\n\n.endr\n"
                    ".irp n,0,1,2,3,4,5,6,7\nkxorw %k\\n, %k\\n, %k\\n\n.endr\n")

typedef double four __attribute__((vector_size(32)));
typedef double eight __attribute__((vector_size(64)));

PASSES("avx") static double takes_four(four a, four b, four c, four d, four e, four f, int g, double h) {
  return a[3] + 2 * b[0] + 3 * c[1] + 4 * d[2] + 5 * e[3] + 6 * f[3] + 7 * g + 8 * h;
}
PASSES("avx") static four returns_four(four a, long long b, four c) {
  return a * (double)b + c;
}
PASSES("avx512f") static double takes_eight(eight a, eight b, eight c, eight d, eight e, eight f, int g, double h) {
  return a[7] + 2 * b[0] + 3 * c[4] + 4 * d[5] + 5 * e[6] + 6 * f[7] + 7 * g + 8 * h;
}
PASSES("avx512f") static eight returns_eight(eight a, long long b, eight c) {
  return a * (double)b + c;
}

PASSES("avx") static void check_four(void) {
  four a = {1, 2, 3, 4};
  four b = {5, 6, 7, 8};
  double(CONVENTION * takes)(four, four, four, four, four, four, int, double) = NULL;
  takes = (__typeof__(takes))leads_to((lb_function)takes_four);
  CHECK(takes(a, b, a + b, b - a, b * a, -b, 9, 10) == takes_four(a, b, a + b, b - a, b * a, -b, 9, 10));
  four(CONVENTION * returns)(four, long long, four) = NULL;
  returns = (__typeof__(returns))leads_to((lb_function)returns_four);
  four made = returns(a, 3, b);
  CHECK(made[0] == 8 && made[1] == 12 && made[2] == 16 && made[3] == 20);
}
PASSES("avx512f") static void check_eight(void) {
  eight a = {1, 2, 3, 4, 5, 6, 7, 8};
  eight b = {5, 6, 7, 8, 9, 10, 11, 12};
  double(CONVENTION * takes)(eight, eight, eight, eight, eight, eight, int, double) = NULL;
  takes = (__typeof__(takes))leads_to((lb_function)takes_eight);
  CHECK(takes(a, b, a + b, b - a, b * a, -b, 9, 10) == takes_eight(a, b, a + b, b - a, b * a, -b, 9, 10));
  eight(CONVENTION * returns)(eight, long long, eight) = NULL;
  returns = (__typeof__(returns))leads_to((lb_function)returns_eight);
  eight made = returns(a, 3, b);
  CHECK(made[0] == 8 && made[3] == 20 && made[4] == 24 && made[7] == 36);
}

#if !defined(_WIN32)
/* Many on the stack, a struct in memory, and "...". */
typedef struct large {
  four value;
  long long numbers[5];
} large;
PASSES("avx")
static large returns_large(four a, four b, four c, four d, four e, four f, four g, four h, four i, large j, int k) {
  large made = {a + b + c + d + e + f + g + h + i + j.value, {j.numbers[0], j.numbers[4], k, 4, 5}};
  return made;
}
PASSES("avx") static double sums(four first, int count, ...) {
  va_list list;
  double sum = first[3];
  va_start(list, count);
  for (int i = 0; i < count; i++) sum = sum * 3 + va_arg(list, double);
  four last = va_arg(list, four);
  va_end(list);
  return sum + last[2];
}
PASSES("avx") static void check_memory(void) {
  four a = {1, 2, 3, 4};
  large given = {{5, 6, 7, 8}, {9, 10, 11, 12, 13}};
  large (*returns)(four, four, four, four, four, four, four, four, four, large, int) = NULL;
  returns = (__typeof__(returns))leads_to((lb_function)returns_large);
  large made = returns(a, a, a, a, a, a, a, a + 1, a + 2, given, 14);
  large expected = returns_large(a, a, a, a, a, a, a, a + 1, a + 2, given, 14);
  CHECK(memcmp(&made.value, &expected.value, sizeof made.value) == 0);
  CHECK(memcmp(made.numbers, expected.numbers, sizeof made.numbers) == 0);
  double (*adds)(four, int, ...) = (double (*)(four, int, ...))leads_to((lb_function)sums);
  CHECK(adds(a, 9, 1., 2., 3., 4., 5., 6., 7., 8., 9., a) == sums(a, 9, 1., 2., 3., 4., 5., 6., 7., 8., 9., a));
}

/* Every register: vectors of all sizes, masks, and integers that are the function's own. */
#define INTEGERS "rax,rcx,rdx,rsi,rdi,r8,r9,r10"
#define EACH_16  "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
#define EACH_32  EACH_16 ",16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"
unsigned char given[32][64];
unsigned char arrived[32][64];
uint64_t given_masks[8];
uint64_t arrived_masks[8];
uint64_t given_integers[8];
uint64_t arrived_integers[8];
#define LOAD_INTEGERS \
  ".set at, 0\n.irp r," INTEGERS "\nmovq " NAME(given_integers) "+at(%rip), %\\r\n.set at, at + 8\n.endr\n"
#define STORE_INTEGERS \
  ".set at, 0\n.irp r," INTEGERS "\nmovq %\\r, " NAME(arrived_integers) "+at(%rip)\n.set at, at + 8\n.endr\n"
#define LOADS(move, register, each) ".irp n," each "\n" move " 64*\\n+" NAME(given) "(%rip), %" register "\\n\n.endr\n"
#define STORES(move, register, each) \
  ".irp n," each "\n" move " %" register "\\n, 64*\\n+" NAME(arrived) "(%rip)\n.endr\n"
#define LOAD_MASKS  ".irp n,0,1,2,3,4,5,6,7\nkmovw 8*\\n+" NAME(given_masks) "(%rip), %k\\n\n.endr\n"
#define STORE_MASKS ".irp n,0,1,2,3,4,5,6,7\nkmovw %k\\n, 8*\\n+" NAME(arrived_masks) "(%rip)\n.endr\n"
#define CALL        "subq $8, %rsp\ncall *" NAME(called) "(%rip)\naddq $8, %rsp\n"
lb_function called;
ASSEMBLY(call_xmm, LOADS("movups", "xmm", EACH_16) LOAD_INTEGERS CALL)
ASSEMBLY(call_ymm, LOADS("vmovups", "ymm", EACH_16) LOAD_INTEGERS CALL "vzeroupper\n")
ASSEMBLY(call_zmm, LOADS("vmovups", "zmm", EACH_32) LOAD_MASKS LOAD_INTEGERS CALL "vzeroupper\n")
ASSEMBLY(store_xmm, STORES("movups", "xmm", EACH_16) STORE_INTEGERS)
ASSEMBLY(store_ymm, STORES("vmovups", "ymm", EACH_16) STORE_INTEGERS)
ASSEMBLY(store_zmm, STORES("vmovups", "zmm", EACH_32) STORE_MASKS STORE_INTEGERS)

static void check_registers(void (*call)(void), void (*store)(void), size_t count, size_t size) {
  for (size_t i = 0; i < sizeof given; i++) ((unsigned char*)given)[i] = (unsigned char)(i * 7 + size);
  for (uint64_t i = 0; i < 8; i++) given_masks[i] = 0x1234 + i;
  for (uint64_t i = 0; i < 8; i++) given_integers[i] = 0x123456789abcdef0u + i;
  memset(arrived, 0, sizeof arrived);
  memset(arrived_integers, 0, sizeof arrived_integers);
  called = leads_to(store);
  call();
  for (size_t i = 0; i < count; i++) {
    if (memcmp(given[i], arrived[i], size) != 0) ++failed, printf("register %d of %d bytes\n", (int)i, (int)size);
  }
  CHECK(memcmp(given_integers, arrived_integers, sizeof given_integers) == 0);
  CHECK(size < 64 || memcmp(given_masks, arrived_masks, sizeof given_masks) == 0);
}
#endif

/* The size of vectors that the processor has and the system keeps. */
static int vector_bytes(void) {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return 16;
  __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  if ((a & 0xe6) == 0xe6 && __get_cpuid_count(7, 0, &d, &b, &c, &d) && (b & bit_AVX512F)) return 64;
  return (a & 6) == 6 ? 32 : 16;
}

static void check(void) {
  static const uint64_t by_fxsave = 512;
  uint64_t found = by_fxsave;
  for (int round = 0; round < 3; round++) {
    spoil = spoil_xmm;
    lb_kept_state = round == 1 ? by_fxsave : found;
    if (round == 0) lb_kept_state = 0; /* asks */
#if defined(_WIN32)
    (void)leads_to;
#else
    check_registers(call_xmm, store_xmm, 16, 16);
#endif
    if (round == 0) found = lb_kept_state, printf("xmm ");
    if (round == 1) continue;
    if (vector_bytes() >= 32) {
      spoil = spoil_ymm;
      check_four();
#if !defined(_WIN32)
      check_memory();
      check_registers(call_ymm, store_ymm, 16, 32);
#endif
      if (round == 0) printf("ymm ");
    }
    if (vector_bytes() >= 64) {
      spoil = spoil_zmm;
      check_eight();
#if !defined(_WIN32)
      check_registers(call_zmm, store_zmm, 32, 64);
#endif
      if (round == 0) printf("zmm ");
    }
  }
}

#elif defined(__aarch64__)
#if defined(__linux__)
#include <sys/auxv.h>
#endif

/* Everything that one of the calling conventions with vectors keeps or passes. */
unsigned char given[24][256];
unsigned char arrived[24][256];
unsigned char given_masks[16][32];
unsigned char arrived_masks[16][32];
lb_function called;
#define ASSEMBLY(name, code) RETURNS(void, name, code)
#define RETURNS(type, name, code) \
  type name(void);                \
  __asm__(".text\n.balign 4\n.globl " NAME(name) "\n" NAME(name) ":\n" code "ret\n");
#if defined(__APPLE__)
#define PLACE(register, name) \
  "adrp " register ", " NAME(name) "@PAGE\nadd " register ", " register ", " NAME(name) "@PAGEOFF\n"
#else
#define PLACE(register, name) \
  "adrp " register ", " NAME(name) "\nadd " register ", " register ", :lo12:" NAME(name) "\n"
#endif
#define EACH_8  "0,1,2,3,4,5,6,7"
#define EACH_16 "8,9,10,11,12,13,14,15"
#define EACH_24 "16,17,18,19,20,21,22,23"
#define EACH    EACH_8 "," EACH_16 "," EACH_24
#define REST    "24,25,26,27,28,29,30,31"
#define KEEP                                                                                                           \
  "stp x29, x30, [sp, #-80]!\nstp d8, d9, [sp, #16]\nstp d10, d11, [sp, #32]\nstp d12, d13, [sp, #48]\nstp d14, d15, " \
  "[sp, "                                                                                                              \
  "#64]\n"
#define TAKE                                                                                                         \
  "ldp d8, d9, [sp, #16]\nldp d10, d11, [sp, #32]\nldp d12, d13, [sp, #48]\nldp d14, d15, [sp, #64]\nldp x29, x30, " \
  "[sp], "                                                                                                           \
  "#80\n"
#define CALL PLACE("x9", called) "ldr x9, [x9]\nblr x9\n"
/* The base convention keeps the lower halves of q8 to q15. */
ASSEMBLY(spoil_q, ".irp n," EACH_8 "," EACH_24 "," REST "\nmovi v\\n\\().2d, #0\n.endr\n.irp n," EACH_16
                  "\nfmov d\\n, d\\n\n.endr\n")
ASSEMBLY(call_q, KEEP PLACE("x10", given) ".irp n," EACH "\nldr q\\n, [x10]\nadd x10, x10, #256\n.endr\n" CALL TAKE)
ASSEMBLY(store_q, PLACE("x10", arrived) ".irp n," EACH "\nstr q\\n, [x10]\nadd x10, x10, #256\n.endr\n")
#if defined(__linux__)
#define MASKS   "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
#define Z(move) ".irp n," EACH "\n" move " z\\n, [x10]\nadd x10, x10, #256\n.endr\n"
#define P(move) ".irp n," MASKS "\n" move " p\\n, [x11]\nadd x11, x11, #32\n.endr\n"
__asm__(".arch_extension sve\n");
ASSEMBLY(spoil_z, ".irp n," MASKS "\npfalse p\\n\\().b\n.endr\nb spoil_q\n")
ASSEMBLY(call_z, KEEP PLACE("x10", given) PLACE("x11", given_masks) Z("ldr") P("ldr") CALL TAKE)
ASSEMBLY(store_z, PLACE("x10", arrived) PLACE("x11", arrived_masks) Z("str") P("str"))
RETURNS(size_t, vector_bytes, "rdvl x0, #1\n")
#if !defined(__ARM_FEATURE_SVE)
__asm__(".arch_extension nosve\n");
#endif
#endif

static void check_registers(void (*call)(void), void (*store)(void), size_t size) {
  for (size_t i = 0; i < sizeof given; i++) ((unsigned char*)given)[i] = (unsigned char)(i * 7 + i / 256);
  for (size_t i = 0; i < sizeof given_masks; i++) ((unsigned char*)given_masks)[i] = (unsigned char)(i * 5 + 1);
  memset(arrived, 0, sizeof arrived);
  memset(arrived_masks, 0, sizeof arrived_masks);
  called = leads_to(store);
  call();
  for (int i = 0; i < KEPT; i++) {
    if (memcmp(given[i], arrived[i], size) != 0) ++failed, printf("register %d of %d bytes\n", i, (int)size);
  }
  for (int i = 0; i < 16 && size > 16; i++) {
    if (memcmp(given_masks[i], arrived_masks[i], size / 8) != 0) ++failed, printf("predicate %d\n", i);
  }
}

static void check(void) {
  spoil = spoil_q;
  check_registers(call_q, store_q, 16);
  printf("q ");
#if defined(__linux__)
  if (getauxval(AT_HWCAP) & 1 << 22) {
    spoil = spoil_z;
    size_t size = vector_bytes();
    check_registers(call_z, store_z, size);
    check_registers(call_q, store_q, 16);
    lb_kept_state = 0; /* asks again, with vectors in use */
    check_registers(call_z, store_z, size);
    printf("z%d ", (int)size);
  }
#endif
}
#else
static void check(void) {
  (void)leads_to;
  (void)spoil;
}
#endif

int main(void) {
  check();
  if (!failed) puts("right");
  return failed != 0;
}
