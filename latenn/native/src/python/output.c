/* output.c: outputs as new arrays that the caller owns; small ones are copied, large ones taken with their memory. */
#include <string.h>

#include "python.h"

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

/* An array of an output's type; of memory of its own where `data` is NULL. */
static latenn_object* latenn_python_array(const latenn_python_plan* plan, const latenn_python_side* side, int32_t rank,
                                          const int64_t* shape, void* data) {
  const latenn_python_table* table = &plan->spec.table;
  intptr_t sizes[LATENN_PYTHON_RANK];
  for (int32_t i = 0; i < rank; i++) sizes[i] = (intptr_t)shape[i];
  table->IncRef(side->port.dtype);
  return table->ArrayNewFromDescr(plan->spec.ndarray, side->port.dtype, rank, sizes, NULL, data,
                                  data ? LATENN_ARRAY_CONTIGUOUS_ALIGNED_WRITABLE : 0, NULL);
}

static latenn_object* latenn_python_copy(const latenn_python_plan* plan, const latenn_python_side* side, int32_t rank,
                                         const int64_t* shape, const void* data, size_t bytes) {
  static const intptr_t first[LATENN_PYTHON_RANK];
  latenn_object* array = latenn_python_array(plan, side, rank, shape, NULL);
  if (array && bytes) memcpy(plan->spec.table.ArrayGetPtr(array, first), data, bytes);
  return array;
}

static void latenn_python_forget(latenn_object* capsule) {
  latenn_value_release(latenn_python_held(capsule));
}

/* An array of a value's memory, which keeps it: the value is taken. */
static latenn_object* latenn_python_adopt(const latenn_python_plan* plan, const latenn_python_side* side,
                                          latenn_value* value) {
  const latenn_python_table* table = &plan->spec.table;
  const latenn_tensor* tensor = &value->tensor;
  latenn_object* capsule = table->CapsuleNew(value, NULL, latenn_python_forget);
  if (!capsule) {
    latenn_value_release(value);
    return NULL;
  }
  latenn_object* array = latenn_python_array(plan, side, tensor->rank, tensor->shape, tensor->data);
  if (!array) {
    table->DecRef(capsule);
    return NULL;
  }
  if (!table->ArraySetBaseObject(array, capsule)) return array;
  table->DecRef(array);
  return NULL;
}

/* What the runtime made is an array of the output's type, of as many bytes as its shape says. */
static latenn_status* latenn_python_check(const latenn_python_side* side, const latenn_tensor* tensor) {
  size_t count = 0;
  size_t bytes = 0;
  if (tensor->type == side->of->type && tensor->rank >= 0 && tensor->rank <= LATENN_PYTHON_RANK &&
      !latenn_count_elements(tensor->rank, tensor->shape, &count) && !latenn_count_bytes(tensor->type, count, &bytes) &&
      bytes == tensor->bytes) {
    return NULL;
  }
  return latenn_failure(LATENN_COMPUTE_FAILED,
                        "The output \"%s\" is a %s of rank %d in %zu bytes, the model declares %s.", side->of->name,
                        latenn_type_name(tensor->type), (int)tensor->rank, tensor->bytes,
                        latenn_type_name(side->of->type));
}

latenn_object* latenn_python_output(latenn_python_plan* plan, latenn_python_lane* lane, size_t index) {
  const latenn_python_side* side = &plan->outputs[index];
  if (side->is_staged) {
    const void* stage = lane->stages[plan->input_count + index];
    return latenn_python_copy(plan, side, side->of->rank, side->of->shape, stage, side->bytes);
  }
  latenn_tensor tensor;
  latenn_value* value = NULL;
  latenn_status* status = latenn_get_output(lane->context, index, &tensor);
  if (!status) status = latenn_python_check(side, &tensor);
  if (!status) latenn_python_learn(plan, lane, index, &tensor);
  int is_small = !status && tensor.bytes <= LATENN_PYTHON_STAGED;
  if (!status && !is_small) status = latenn_take_output(lane->context, index, &value);
  if (status) {
    latenn_python_raise(plan, status);
    return NULL;
  }
  if (value) return latenn_python_adopt(plan, side, value);
  return latenn_python_copy(plan, side, tensor.rank, tensor.shape, tensor.data, tensor.bytes);
}
