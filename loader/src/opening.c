/*
 * opening.c: which threads are looking for a runtime at this moment, in a table without a lock: a runtime that calls
 * back while it is opened is recognized by it, and a fork waits for it.
 *
 * A child has only the thread that forked. If another one is inside the system's loader just then, the child gets a
 * runtime that is half open, and locks that nobody will ever unlock. So a fork waits for such threads, but not for
 * ever: the one that forks may be inside the system's loader itself, from a library's initializer, and they for it.
 * What is half open then is refused in the child.
 *
 * A thread that is in the table cannot be cancelled. But it may end there by pthread_exit() in a library's initializer,
 * or leave by longjmp() from a signal handler. So an entry counts only as long as its thread is there, and for the
 * thread itself only as long as the function that made it is on the stack. What was left behind is cleared.
 */
#include "os.h"

enum { LB_OPENINGS = 256 }; /* threads beyond that many are not seen: they only lose the two uses above */
enum { LB_MOMENTS = 500 };  /* milliseconds that a fork waits at most; opening a runtime takes 20 to 60 */

typedef struct lb_opening {
  void* volatile thread;      /* lb_os_thread(); NULL is free */
  void* volatile number;      /* lb_os_thread_number(); NULL when it isn't written yet */
  void* volatile was_awaited; /* a fork waited in vain, so the next one doesn't */
  void* volatile call;        /* of the system's loader, in which the thread is; NULL: in none */
  const void* binding;        /* only its own thread reads and writes this and what follows */
  uintptr_t frame;
  uint64_t generation; /* lb_os_generation() */
  int is_second;       /* made where another one of this thread and binding might have been on the stack */
  int could_be_cancelled;
} lb_opening;

static lb_opening lb_openings[LB_OPENINGS];
static char lb_nobody;         /* the thread of what stays half open in a child */
static void* volatile lb_fork; /* the thread that forks */

/* Where the stack is now. It grows down on every processor that the loader knows. */
#if defined(__GNUC__)
#define LB_FRAME() ((uintptr_t)__builtin_frame_address(0))
#else
void* _AddressOfReturnAddress(void);
#pragma intrinsic(_AddressOfReturnAddress)
#define LB_FRAME() ((uintptr_t)_AddressOfReturnAddress())
#endif

/*
 * What a runtime calls while it is opened is deeper in the stack, by the functions of the search and of the system's
 * loader: by seven kilobytes on Linux x64, three of which are vectors. A thread that left by longjmp() and calls again
 * is about where it was.
 */
enum { LB_LEAST_DEPTH = 2048 };

static void lb_clear(lb_opening* opening) {
  lb_os_publish(&opening->number, NULL);
  lb_os_publish(&opening->was_awaited, NULL);
  lb_os_publish(&opening->call, NULL);
  lb_os_publish(&opening->thread, NULL);
}

static int lb_is_own(const lb_opening* opening) {
  return lb_os_load(&opening->thread) == (void*)lb_os_thread() &&
         lb_os_load(&opening->number) == (void*)lb_os_thread_number();
}

/* Whether the function that made this thread's own entry may be on the stack. */
static int lb_may_be_on_stack(const lb_opening* opening, uintptr_t frame) {
  return opening->frame > frame + LB_LEAST_DEPTH;
}

/*
 * A runtime that calls back has been loaded since. Without that, the entry is one that was left, or a function that the
 * search uses, such as malloc(), is the program's own and calls: it may search, too, but only once.
 */
int lb_is_opening(const void* binding) {
  uintptr_t frame = LB_FRAME();
  for (size_t i = 0; i < LB_OPENINGS; i++) {
    const lb_opening* opening = &lb_openings[i];
    if (!lb_is_own(opening) || opening->binding != binding || !lb_may_be_on_stack(opening, frame)) continue;
    if (opening->is_second || opening->generation != lb_os_generation()) return 1;
  }
  return 0;
}

/* Whether the thread of an entry is gone. */
static int lb_is_orphaned(const lb_opening* opening) {
  uintptr_t number = (uintptr_t)lb_os_load(&opening->number);
  return number && !lb_os_has_thread(number);
}

/*
 * Clears what threads left behind: this one, when it is about to make an entry itself, and others that have ended. Adds
 * to `made` what this thread's own entries say.
 */
static void lb_clear_left(lb_opening* made) {
  void* self = (void*)lb_os_thread();
  for (size_t i = 0; i < LB_OPENINGS; i++) {
    lb_opening* opening = &lb_openings[i];
    const void* thread = lb_os_load(&opening->thread);
    if (!thread) continue;
    if (!lb_is_own(opening)) { /* one with our address is an earlier thread's */
      if (thread == self || lb_is_orphaned(opening)) lb_clear(opening);
    } else if (opening->frame <= made->frame || opening->binding == made->binding) {
      made->could_be_cancelled |= opening->could_be_cancelled;
      made->is_second |= opening->binding == made->binding && lb_may_be_on_stack(opening, made->frame);
      lb_clear(opening);
    }
  }
}

static int lb_has_begun(void) {
  for (size_t i = 0; i < LB_OPENINGS; i++) {
    if (lb_is_own(&lb_openings[i])) return 1;
  }
  return 0;
}

/* Threads don't begin while another one forks, but for one that has begun: the fork waits for it. */
static int lb_must_wait(void) {
  const void* fork = lb_os_load(&lb_fork);
  return fork && fork != (const void*)lb_os_thread();
}

static size_t lb_take_opening(const lb_opening* made) {
  void* self = (void*)lb_os_thread();
  for (size_t i = 0; i < LB_OPENINGS; i++) {
    lb_opening* opening = &lb_openings[i];
    if (lb_os_load(&opening->thread) || lb_os_exchange(&opening->thread, NULL, self)) continue;
    opening->binding = made->binding;
    opening->frame = made->frame;
    opening->generation = made->generation;
    opening->is_second = made->is_second;
    opening->could_be_cancelled = made->could_be_cancelled;
    lb_os_publish(&opening->number, (void*)lb_os_thread_number());
    return i;
  }
  return LB_OPENINGS;
}

static void lb_give_opening(size_t opening) {
  if (opening < LB_OPENINGS && lb_is_own(&lb_openings[opening])) lb_clear(&lb_openings[opening]);
}

/* The entry's place, and in the lowest bit whether the thread could be cancelled before. */
size_t lb_begin_opening(const void* binding) {
  lb_opening made = {.binding = binding, .frame = LB_FRAME(), .could_be_cancelled = lb_os_forbid_cancelling()};
  made.generation = lb_os_generation();
  lb_clear_left(&made);
  int has_begun = lb_has_begun();
  size_t opening = lb_take_opening(&made);
  for (int waited = 0; waited < LB_MOMENTS && !has_begun && lb_must_wait(); waited++) {
    lb_give_opening(opening);
    lb_os_wait();
    opening = lb_take_opening(&made);
  }
  return 2 * opening + (made.could_be_cancelled ? 1 : 0);
}

void lb_end_opening(size_t opening) {
  lb_give_opening(opening / 2);
  if (opening % 2) lb_os_allow_cancelling();
}

/* Notes in this thread's entries which call of the system's loader it is in. A call inside another changes nothing. */
static void lb_exchange_call(void* before, void* now) {
  for (size_t i = 0; i < LB_OPENINGS; i++) {
    if (lb_is_own(&lb_openings[i])) lb_os_exchange(&lb_openings[i].call, before, now);
  }
}

void* lb_open_library(const char* path, uint32_t flags, lb_outcome* outcome, char* why, size_t why_size) {
  void* handle = NULL;
  lb_exchange_call(NULL, &handle);
  handle = lb_os_open(path, flags, outcome, why, why_size);
  lb_exchange_call(&handle, NULL);
  return handle;
}

/* Whether a fork waits for this entry. */
static int lb_is_awaited(const lb_opening* opening) {
  const void* thread = lb_os_load(&opening->thread);
  return thread && thread != (const void*)lb_os_thread() && !lb_os_load(&opening->was_awaited) &&
         !lb_is_orphaned(opening);
}

static int lb_has_openings_of_others(void) {
  for (size_t i = 0; i < LB_OPENINGS; i++) {
    if (lb_is_awaited(&lb_openings[i])) return 1;
  }
  return 0;
}

void lb_before_fork(void) {
  int can_be_cancelled = lb_os_forbid_cancelling(); /* POSIX: fork() does not cancel a thread */
  lb_os_exchange(&lb_fork, NULL, (void*)lb_os_thread());
  for (int waited = 0; waited < LB_MOMENTS && lb_has_openings_of_others(); waited++) lb_os_wait();
  for (size_t i = 0; i < LB_OPENINGS; i++) {
    lb_opening* opening = &lb_openings[i];
    if (lb_is_awaited(opening)) lb_os_publish(&opening->was_awaited, opening);
    if (lb_os_load(&opening->thread) == (void*)lb_os_thread() && !lb_is_own(opening)) lb_clear(opening);
  }
  if (can_be_cancelled) lb_os_allow_cancelling();
}

void lb_after_fork(void) {
  lb_os_exchange(&lb_fork, (void*)lb_os_thread(), NULL);
}

int lb_is_half_open(const void* binding) {
  for (size_t i = 0; i < LB_OPENINGS; i++) {
    if (lb_os_load(&lb_openings[i].thread) == &lb_nobody && lb_openings[i].binding == binding) return 1;
  }
  return 0;
}

/* The child's thread has the address of the one that forked, but another number. */
void lb_after_fork_in_child(void) {
  void* self = (void*)lb_os_thread();
  lb_os_publish(&lb_fork, NULL);
  for (size_t i = 0; i < LB_OPENINGS; i++) {
    lb_opening* opening = &lb_openings[i];
    int is_others = lb_os_load(&opening->thread) != self;
    if (is_others && lb_os_load(&opening->was_awaited) && lb_os_load(&opening->call)) {
      lb_os_publish(&opening->number, NULL);
      lb_os_publish(&opening->thread, &lb_nobody);
    } else if (is_others) {
      lb_clear(opening);
    } else if (lb_os_load(&opening->number)) {
      lb_os_publish(&opening->number, (void*)lb_os_thread_number());
    }
  }
}
