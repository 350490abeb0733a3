/*
 * binding.pml: a model of loader/src/bind.c, stub_bind.c and forks_posix.c for spin: threads that call first at the same
 * time, a plug-in whose initializer calls the stub while the system's loader has its lock, and one that forks there.
 *
 * Checked: nobody waits for ever, all threads get the same runtime, what is published never changes, and no call goes to
 * a runtime before all that the call needs was published. With -DLOCKED the model has a lock around the search, as the
 * loader once had, and spin finds the dead lock; with -DEARLY calls are connected before what they need is published.
 *
 * A further thread leaves in its search, by pthread_exit() or longjmp(). A fork doesn't count it, and with -DCOUNTED, where
 * it does and would wait for ever, spin finds that it hangs.
 */
#define THREADS 3
#define NOTHING 0

byte system_lock = NOTHING; /* the system loader's; its owner may take it again */
byte own_lock = NOTHING;
byte state = NOTHING;     /* lb_binding.state: the thread whose runtime is bound */
byte filled = NOTHING;    /* lb_stub.filled */
byte connected = NOTHING; /* lb_entries lead to this thread's runtime */
byte opening = 0;         /* threads in opening.c's table */
byte departed = 0;        /* those of them that are in no search any more: ended, or marked by a fork that waited */
byte result[THREADS + 1];

inline lock_system(self, outer) {
  atomic { (system_lock == NOTHING || system_lock == self) -> outer = (system_lock == self); system_lock = self }
}

inline unlock_system(self, outer) {
  atomic { if :: !outer -> system_lock = NOTHING :: else fi }
}

/* lb_bind(): search and open, then publish by one exchange. */
inline bind(self, outer) {
  if
  :: state != NOTHING
  :: else ->
#ifdef LOCKED
     atomic { own_lock == NOTHING -> own_lock = self };
#endif
     opening++;
     lock_system(self, outer); /* dlopen() */
     unlock_system(self, outer);
     atomic { if :: state == NOTHING -> state = self :: else fi } /* or close what was opened */
     opening--;
#ifdef LOCKED
     own_lock = NOTHING;
#endif
  fi
}

/* lb_stub_bind(): the block that calls need, then the addresses. */
inline call(self, outer) {
  if
  :: filled != NOTHING
  :: else ->
     bind(self, outer);
#ifdef EARLY
     connected = state;
     atomic { if :: filled == NOTHING -> filled = state :: else fi };
#else
     atomic { if :: filled == NOTHING -> filled = state :: else fi };
     connected = state;
#endif
  fi;
  atomic {
    if
    :: connected != NOTHING -> assert(filled != NOTHING && connected == filled); result[self] = connected
    :: else -> assert(filled != NOTHING); result[self] = filled /* through the trampoline */
    fi;
    assert(result[self] == state)
  }
}

/* A call through the table as it is, whoever binds. */
active proctype other() {
  atomic { if :: connected != NOTHING -> assert(filled != NOTHING) :: else fi }
}

proctype first(byte self) {
  bool outer;
  call(self, outer)
}

/* It holds no lock of ours that others would wait for. */
proctype leaves() {
  if
  :: state != NOTHING
  :: else -> opening++; departed++
  fi
}

proctype plugin(byte self) {
  bool outer, inner;
  lock_system(self, outer);
  if
  :: call(self, inner)              /* its initializer calls the stub */
  :: true -> if                     /* or forks: it waits for other threads, but not for ever */
#ifdef COUNTED
     :: opening == 0
#else
     :: opening == departed
#ifdef LOCKED
     :: own_lock == NOTHING
#else
     :: true
#endif
#endif
     fi
  fi;
  unlock_system(self, outer)
}

init {
  atomic { run first(1); run first(2); run plugin(3); run leaves() }
}
