/* output.c: outputs as new arrays that the caller owns; small ones are copied, large ones taken with their memory. */
#include <stdlib.h>
#include <string.h>

#include "python.h"

/* PyArrayInterface: numpy/_core/include/numpy/ndarraytypes.h; version 3 of the array interface, fixed since 2008. */
typedef struct latenn_array_interface {
  int two;
  int rank;
  char kind;
  int item;
  int flags;
  intptr_t* shape;
  intptr_t* strides;
  void* data;
  latenn_object* description;
} latenn_array_interface;

enum { LATENN_ARRAY_FLAGS = 0x0001 | 0x0100 | 0x0200 | 0x0400 }; /* C-contiguous, aligned, native, writable */

/* An output's memory on its way to NumPy, which keeps the capsule as long as an array looks at it. */
typedef struct latenn_python_memory {
  latenn_array_interface interface; /* first: NumPy reads the capsule's pointer as this */
  intptr_t shape[LATENN_PYTHON_RANK];
  intptr_t strides[LATENN_PYTHON_RANK];
  latenn_value* value;
} latenn_python_memory;

void latenn_python_raise(latenn_python_plan* plan, latenn_status* status) {
  const latenn_python_table* table = &plan->spec.table;
  latenn_object* address = table->LongFromVoidPtr(status);
  latenn_object* arguments = address ? table->TupleNew(1) : NULL;
  if (!arguments) {
    if (address) table->DecRef(address);
    latenn_status_release(status);
    return;
  }
  table->TupleSetItem(arguments, 0, address);
  latenn_object* nothing = table->ObjectCall(plan->spec.failed, arguments, NULL); /* it raises */
  if (nothing) table->DecRef(nothing);
  table->DecRef(arguments);
}

/* numpy.empty(*arguments), filled. */
static latenn_object* latenn_python_copy(const latenn_python_plan* plan, latenn_object* arguments, const void* data,
                                         size_t bytes) {
  const latenn_python_table* table = &plan->spec.table;
  latenn_buffer view;
  latenn_object* array = table->ObjectCall(plan->spec.empty, arguments, NULL);
  if (!array) return NULL;
  if (table->ObjectGetBuffer(array, &view, LATENN_BUFFER_WRITABLE)) {
    table->DecRef(array);
    return NULL;
  }
  memcpy(view.data, data, bytes < (size_t)view.bytes ? bytes : (size_t)view.bytes);
  table->BufferRelease(&view);
  return array;
}

/* (shape, dtype) of what the runtime gave. */
static latenn_object* latenn_python_arguments(const latenn_python_plan* plan, const latenn_tensor* tensor,
                                              latenn_object* dtype) {
  const latenn_python_table* table = &plan->spec.table;
  latenn_object* arguments = table->TupleNew(2);
  latenn_object* shape = arguments ? table->TupleNew(tensor->rank) : NULL;
  int failed = shape == NULL;
  for (int32_t i = 0; i < tensor->rank && !failed; i++) {
    latenn_object* size = table->LongFromLongLong(tensor->shape[i]);
    failed = !size || table->TupleSetItem(shape, i, size);
  }
  if (!failed) {
    table->IncRef(dtype);
    table->TupleSetItem(arguments, 0, shape);
    table->TupleSetItem(arguments, 1, dtype);
    return arguments;
  }
  if (shape) table->DecRef(shape);
  if (arguments) table->DecRef(arguments);
  return NULL;
}

static void latenn_python_forget(latenn_object* capsule) {
  latenn_python_memory* memory = latenn_python_held(capsule);
  latenn_value_release(memory->value);
  free(memory);
}

static latenn_python_memory* latenn_python_memory_of(const latenn_python_side* side, const latenn_tensor* tensor) {
  latenn_python_memory* memory = calloc(1, sizeof *memory);
  if (!memory) return NULL;
  intptr_t stride = side->port.item;
  for (int32_t i = tensor->rank; i-- > 0;) {
    memory->shape[i] = (intptr_t)tensor->shape[i];
    memory->strides[i] = stride;
    stride *= memory->shape[i];
  }
  memory->interface.two = 2;
  memory->interface.rank = tensor->rank;
  memory->interface.kind = (char)side->port.kind;
  memory->interface.item = side->port.item;
  memory->interface.flags = LATENN_ARRAY_FLAGS;
  memory->interface.shape = memory->shape;
  memory->interface.strides = memory->strides;
  memory->interface.data = tensor->data;
  return memory;
}

/* Takes the output out of the context: no copy, and the array outlives context and model. */
static latenn_object* latenn_python_adopt(latenn_python_plan* plan, latenn_python_lane* lane, size_t index,
                                          const latenn_tensor* tensor) {
  const latenn_python_table* table = &plan->spec.table;
  latenn_python_memory* memory = latenn_python_memory_of(&plan->outputs[index], tensor);
  if (!memory) return table->ErrNoMemory();
  latenn_status* status = latenn_take_output(lane->context, index, &memory->value);
  latenn_object* capsule = status ? NULL : table->CapsuleNew(memory, NULL, latenn_python_forget);
  if (!capsule) {
    if (status) latenn_python_raise(plan, status);
    latenn_value_release(memory->value);
    free(memory);
    return NULL;
  }
  latenn_object* array = NULL;
  latenn_object* arguments = table->TupleNew(1);
  if (!arguments) {
    table->DecRef(capsule);
    return NULL;
  }
  table->TupleSetItem(arguments, 0, capsule);
  array = table->ObjectCall(plan->spec.adopt, arguments, NULL);
  table->DecRef(arguments);
  return array;
}

latenn_object* latenn_python_output(latenn_python_plan* plan, latenn_python_lane* lane, size_t index) {
  const latenn_python_side* side = &plan->outputs[index];
  latenn_tensor tensor;
  if (side->staged) {
    return latenn_python_copy(plan, side->port.arguments, lane->stages[plan->input_count + index], side->staged);
  }
  latenn_status* status = latenn_get_output(lane->context, index, &tensor);
  if (!status && (tensor.type != side->of->type || tensor.rank > LATENN_PYTHON_RANK)) {
    status = latenn_failure(LATENN_COMPUTE_FAILED, "The output \"%s\" is a %s of rank %d, the model said %s.",
                            side->of->name, latenn_type_name(tensor.type), (int)tensor.rank,
                            latenn_type_name(side->of->type));
  }
  if (status) {
    latenn_python_raise(plan, status);
    return NULL;
  }
  if (tensor.bytes > LATENN_PYTHON_STAGED) return latenn_python_adopt(plan, lane, index, &tensor);
  latenn_object* arguments = latenn_python_arguments(plan, &tensor, side->port.dtype);
  if (!arguments) return NULL;
  latenn_object* array = latenn_python_copy(plan, arguments, tensor.data, tensor.bytes);
  plan->spec.table.DecRef(arguments);
  return array;
}
