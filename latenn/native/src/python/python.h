/*
 * python.h: what the files of the accelerator share: a model's run as a builtin of CPython.
 *
 * No Python header is needed and no library of Python is linked: the functions of the interpreter come by address, in
 * a table that the Python package fills (_accelerator.py), and objects are only ever pointers. So one library serves
 * every CPython, with or without a GIL. Only functions that give strong references are used: where there is no GIL, a
 * borrowed one may die while it is looked at.
 */
#ifndef LATENN_PYTHON_H
#define LATENN_PYTHON_H

#include "../core/core.h"

enum {
  LATENN_PYTHON_FORMAT = 8,     /* bytes for the longest format of the buffer protocol that is taken, with its NUL */
  LATENN_PYTHON_LANES = 32,     /* runs at once that find a context ready; more make their own */
  LATENN_PYTHON_RANK = 32,      /* dimensions of an array in every NumPy */
  LATENN_PYTHON_STAGED = 16384, /* bytes up to which a copy costs less than avoiding it */
  LATENN_PYTHON_KEPT = 1 << 20, /* bytes up to which an output's memory is kept for the next run */
  LATENN_PYTHON_BLOCKS = 4      /* results of an output that may live at once and still leave memory to write again */
};

typedef struct latenn_object latenn_object; /* PyObject */

/* Py_buffer. Source: Include/pybuffer.h of CPython 3.11, where it became part of the stable ABI, as it had been since
 * 3.0 (Include/object.h). _accelerator.py compares it with the interpreter's own answers before relying on it. */
typedef struct latenn_buffer {
  void* data;
  latenn_object* owner;
  intptr_t bytes;
  intptr_t item;
  int is_readonly;
  int rank;
  char* format;
  intptr_t* shape;
  intptr_t* strides;
  intptr_t* suboffsets;
  void* internal;
} latenn_buffer;

/* Flags of PyObject_GetBuffer: Include/pybuffer.h. */
enum { LATENN_BUFFER_FORMAT = 0x0004, LATENN_BUFFER_C_CONTIGUOUS = 0x0020 | 0x0010 | 0x0008 };

/* PyMethodDef: Include/methodobject.h. */
typedef struct latenn_method {
  const char* name;
  latenn_object* (*function)(latenn_object* self, latenn_object* const* arguments, intptr_t count,
                             latenn_object* names);
  int flags;
  const char* text;
} latenn_method;

enum { LATENN_METHOD_FAST_WITH_NAMES = 0x0080 | 0x0002 }; /* METH_FASTCALL | METH_KEYWORDS */

/* NPY_ARRAY_CARRAY: numpy/ndarraytypes.h. */
enum { LATENN_ARRAY_CONTIGUOUS_ALIGNED_WRITABLE = 0x0001 | 0x0100 | 0x0400 };

/* Functions of the stable ABI, by their names without "Py" and "_", then three of NumPy's; in the order of
 * _accelerator.py. */
typedef struct latenn_python_table {
  void (*IncRef)(latenn_object*);
  void (*DecRef)(latenn_object*);
  latenn_object* (*ObjectType)(latenn_object*);
  latenn_object* (*ObjectGetItem)(latenn_object*, latenn_object*);
  latenn_object* (*ObjectCall)(latenn_object*, latenn_object*, latenn_object*);
  int (*ObjectGetBuffer)(latenn_object*, latenn_buffer*, int);
  void (*BufferRelease)(latenn_buffer*);
  latenn_object* (*DictNew)(void);
  latenn_object* (*DictCopy)(latenn_object*);
  int (*DictSetItem)(latenn_object*, latenn_object*, latenn_object*);
  intptr_t (*DictSize)(latenn_object*);
  latenn_object* (*TupleNew)(intptr_t);
  int (*TupleSetItem)(latenn_object*, intptr_t, latenn_object*); /* takes the item's reference */
  intptr_t (*TupleSize)(latenn_object*);
  latenn_object* (*LongFromLongLong)(long long);
  latenn_object* (*LongFromVoidPtr)(void*);
  latenn_object* (*CapsuleNew)(void*, const char*, void (*)(latenn_object*));
  void* (*CapsuleGetPointer)(latenn_object*, const char*);
  void* (*EvalSaveThread)(void);
  void (*EvalRestoreThread)(void*);
  void (*ErrClear)(void);
  latenn_object* (*ErrNoMemory)(void);
  latenn_object* (*CFunctionNewEx)(latenn_method*, latenn_object*, latenn_object*);
  /* PyArray_NewFromDescr takes the dtype's reference, PyArray_SetBaseObject that of the base; also when they fail. */
  latenn_object* (*ArrayNewFromDescr)(latenn_object* type, latenn_object* dtype, int rank, const intptr_t* shape,
                                      const intptr_t* strides, void* data, int flags, latenn_object* like);
  void* (*ArrayGetPtr)(latenn_object*, const intptr_t* index);
  int (*ArraySetBaseObject)(latenn_object*, latenn_object* base);
} latenn_python_table;

/* An input or output as Python describes it. */
typedef struct latenn_python_port {
  latenn_object* name;  /* str */
  latenn_object* dtype; /* numpy.dtype */
  const char* format;   /* in the buffer protocol */
} latenn_python_port;

/* A model as Python describes it. Every object is held as long as the builtin lives. */
typedef struct latenn_python_spec {
  size_t size; /* sizeof(latenn_python_spec) */
  latenn_python_table table;
  latenn_model* model;
  const latenn_python_port* inputs; /* of all, in the model's order */
  const latenn_python_port* outputs;
  latenn_object* dict;    /* the type of what is taken at once */
  latenn_object* ndarray; /* the type of its values */
  latenn_object* slow;    /* takes the same arguments, and says what is wrong with them */
  latenn_object* failed;  /* (address of a latenn_status) -> raises it */
} latenn_python_spec;

/* ---- plan.c ----------------------------------------------------------------------------------------------------- */

/* The input and the axis there whose length a dimension of an output has. */
typedef struct latenn_python_origin {
  size_t input;
  int32_t axis;
} latenn_python_origin;

typedef struct latenn_python_side {
  latenn_python_port port;
  const latenn_port* of;
  char format[LATENN_PYTHON_FORMAT];
  size_t bytes;                  /* of an array, where no dimension is open; else 0 */
  int is_staged;                 /* it is copied, from or to memory that is bound for good */
  latenn_python_origin* origins; /* of an output's open dimensions, when the model names all of them as inputs' */
  atomic_int is_as_said;         /* the shape that follows: 1 came out, -1 did not, 0 is not known yet */
} latenn_python_side;

/* A context for one run at a time, with memory that is bound to it for good. */
typedef struct latenn_python_lane {
  latenn_context* context;
  latenn_buffer* views; /* of the inputs, while they are used */
  void** stages;        /* of the inputs, then of the outputs; NULL for what is not staged */
  size_t stage_count;
  latenn_value** blocks; /* LATENN_PYTHON_BLOCKS of each output; NULL for what was not needed yet */
  size_t block_count;
  int64_t* shapes; /* LATENN_PYTHON_RANK for each output: what follows from the run's inputs */
  size_t evicted;  /* blocks that were given up for others, which determines whose turn it is */
} latenn_python_lane;

/* All that a builtin knows. */
typedef struct latenn_python_plan {
  latenn_python_spec spec;
  latenn_python_side* inputs;
  latenn_python_side* outputs;
  size_t input_count;
  size_t output_count;
  unsigned forks;       /* how often this process had been forked off when the plan was made */
  atomic_int is_closed; /* or cannot be used at all */
  _Atomic(latenn_python_lane*) idle[LATENN_PYTHON_LANES];
} latenn_python_plan;

latenn_python_plan* latenn_python_plan_create(const latenn_python_spec* spec);
void latenn_python_plan_close(latenn_python_plan* plan);
void latenn_python_plan_release(latenn_python_plan* plan); /* with the interpreter held */

/* A lane for one run, or NULL when there can be none: the slow way knows why. */
latenn_python_lane* latenn_python_take(latenn_python_plan* plan);
void latenn_python_give(latenn_python_plan* plan, latenn_python_lane* lane);

/* ---- room.c ----------------------------------------------------------------------------------------------------- */

/* Looks up which inputs determine the shapes of outputs. */
void latenn_python_trace(latenn_python_plan* plan);
/* Binds memory that nobody looks at to every large output whose shape is known before the run; the inputs are viewed.
 */
latenn_status* latenn_python_make_room(const latenn_python_plan* plan, latenn_python_lane* lane);
/* Whether the lane's context has memory bound for an output. */
int latenn_python_binds(const latenn_python_plan* plan, const latenn_python_lane* lane);
/* Compares an output with the shape that followed from the inputs. */
void latenn_python_learn(latenn_python_plan* plan, const latenn_python_lane* lane, size_t index,
                         const latenn_tensor* made);
/* Stops believing shapes that follow from inputs. 0 where none was believed. */
int latenn_python_unlearn(latenn_python_plan* plan);

/* ---- output.c --------------------------------------------------------------------------------------------------- */

/* A new array of an output. NULL with an exception set. */
latenn_object* latenn_python_output(latenn_python_plan* plan, latenn_python_lane* lane, size_t index);
/* Raises a status, which is taken. */
void latenn_python_raise(latenn_python_plan* plan, latenn_status* status);

/* ---- run.c ------------------------------------------------------------------------------------------------------ */

latenn_object* latenn_python_run(latenn_object* self, latenn_object* const* arguments, intptr_t count,
                                 latenn_object* names);
/* `slow` with the very arguments, by position and by name. */
latenn_object* latenn_python_pass_on(const latenn_python_table* table, latenn_object* slow,
                                     latenn_object* const* arguments, intptr_t count, latenn_object* names);

/* ---- builtin.c: what _accelerator.py calls, with the interpreter held ---------------------------------------------
 */

/* A builtin that runs the model; its __self__ is for latenn_python_close(). NULL with an exception set. */
LATENN_API latenn_object* latenn_python_builtin(const latenn_python_spec* spec);
/* Lets no more runs begin on the fast way, and gives back what idle runs hold. */
LATENN_API void latenn_python_close(latenn_object* capsule);
/* A builtin that runs a context with what is bound to it, as long as it has the turn; else it calls `slow`, which keeps
 * the context. `capsule` is that of the model's builtin. *bound lives as long as what is returned. */
typedef struct latenn_python_bound_run latenn_python_bound_run;
LATENN_API latenn_object* latenn_python_bound(latenn_object* capsule, latenn_context* context, latenn_object* slow,
                                              latenn_python_bound_run** bound);
/* Gives it the turn: every run gives a copy of this dict. */
LATENN_API void latenn_python_lend(latenn_python_bound_run* bound, latenn_object* results);
/* Takes the turn back. 0 where it has none, or is running: then nothing changes. */
LATENN_API int latenn_python_recall(latenn_python_bound_run* bound);
/* Whether the buffer of `object` is read as Python itself describes it. */
LATENN_API int latenn_python_reads(const latenn_python_table* table, latenn_object* object, const latenn_buffer* said);
/* What a capsule of ours holds. */
void* latenn_python_held(latenn_object* capsule);

#endif
