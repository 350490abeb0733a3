/* value.c: tensors that outlive a computation, counted by their holders; must not know who uses them. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

/* The alignment that runtimes and other libraries use: none of them needs to copy. */
enum { LATENN_ALIGNMENT = 64 };

int latenn_is_host(latenn_device device) {
  return device.type == LATENN_CPU || device.type == LATENN_CUDA_HOST;
}

static latenn_value* latenn_value_allocate(latenn_model* model, size_t rank, latenn_device device) {
  latenn_value* value = calloc(1, sizeof *value + rank * sizeof(int64_t));
  if (!value) return NULL;
  atomic_init(&value->holders, 1);
  value->forks = latenn_forks();
  latenn_model_hold(model);
  value->model = model;
  value->device = device;
  return value;
}

latenn_status* latenn_value_adopt(latenn_model* model, latenn_backend_value* inner, const latenn_tensor* tensor,
                                  latenn_device device, latenn_value** value) {
  latenn_value* made = latenn_value_allocate(model, 0, device);
  if (!made) {
    model->backend.release_value(inner);
    return latenn_no_memory();
  }
  made->inner = inner;
  made->tensor = *tensor;
  *value = made;
  return NULL;
}

/* The tensor with its shape copied, and the backend's own value around it where it makes one. */
static latenn_status* latenn_value_describe(latenn_value* value, const latenn_tensor* tensor) {
  const latenn_backend* backend = &value->model->backend;
  value->tensor = *tensor;
  value->tensor.shape = value->shape;
  value->tensor.offsets = NULL;
  if (tensor->rank) memcpy(value->shape, tensor->shape, (size_t)tensor->rank * sizeof(int64_t));
  if (!backend->wrap_value) {
    if (latenn_is_host(value->device)) return NULL;
    return latenn_failure(LATENN_UNSUPPORTED,
                          "The %s backend takes no memory of devices (type %d); give memory of the "
                          "processor.",
                          backend->name, (int)value->device.type);
  }
  return backend->wrap_value(value->model->model, &value->tensor, value->device, &value->inner);
}

/* Numbers of a shape that fits; `data` is not checked yet. */
static latenn_status* latenn_check_value(const latenn_tensor* tensor) {
  const latenn_port any = {"(given)", tensor->type, -1, NULL, NULL};
  if (tensor->type == LATENN_STRING) {
    return latenn_failure(LATENN_UNSUPPORTED, "Strings cannot be bound: set them with latenn_set_input().");
  }
  if (!latenn_type_bits(tensor->type)) {
    return latenn_failure(LATENN_INVALID_ARGUMENT, "The element type of a value is %d, which is none of latenn's.",
                          (int)tensor->type);
  }
  return latenn_check_tensor("value", &any, tensor);
}

static latenn_status* latenn_check_alignment(const latenn_tensor* tensor) {
  size_t bits = latenn_type_bits(tensor->type);
  size_t wanted = bits < 8 ? 1 : bits / 8;
  if (wanted > 8) wanted = 8; /* complex numbers are pairs */
  if ((uintptr_t)tensor->data % wanted == 0) return NULL;
  return latenn_failure(LATENN_INVALID_ARGUMENT,
                        "The memory of a value begins at %p, which is not a multiple of %zu, as %s needs. Copy it to "
                        "aligned memory.",
                        tensor->data, wanted, latenn_type_name(tensor->type));
}

latenn_status* latenn_value_wrap(latenn_model* model, const latenn_tensor* tensor, latenn_device device,
                                 void (*release)(void* owner), void* owner, latenn_value** value) {
  if (!model || !tensor || !value) {
    return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_value_wrap: an argument is NULL.");
  }
  *value = NULL;
  latenn_status* status = latenn_check_value(tensor);
  if (!status) status = latenn_check_alignment(tensor);
  if (status) return status;
  latenn_value* made = latenn_value_allocate(model, (size_t)tensor->rank, device);
  if (!made) return latenn_no_memory();
  status = latenn_value_describe(made, tensor);
  if (status) {
    latenn_value_release(made);
    return status;
  }
  made->release = release;
  made->owner = owner;
  *value = made;
  return NULL;
}

/* For backends that allocate nothing: memory of the core. */
static latenn_status* latenn_value_of_core(latenn_model* model, latenn_tensor* tensor, latenn_device device,
                                           latenn_value** value) {
  if (device.type != LATENN_CPU) {
    return latenn_failure(LATENN_UNSUPPORTED, "The %s backend allocates no memory on devices (type %d).",
                          model->backend.name, (int)device.type);
  }
  latenn_value* made = latenn_value_allocate(model, (size_t)tensor->rank, device);
  if (!made) return latenn_no_memory();
  if (tensor->bytes <= SIZE_MAX - LATENN_ALIGNMENT) made->memory = malloc(tensor->bytes + LATENN_ALIGNMENT);
  latenn_status* status = made->memory ? NULL : latenn_no_memory();
  if (!status) {
    size_t past = (uintptr_t)made->memory % LATENN_ALIGNMENT;
    tensor->data = (unsigned char*)made->memory + (LATENN_ALIGNMENT - past);
    status = latenn_value_describe(made, tensor);
  }
  if (status) {
    latenn_value_release(made);
    return status;
  }
  *value = made;
  return NULL;
}

latenn_status* latenn_value_create(latenn_model* model, int32_t type, int32_t rank, const int64_t* shape,
                                   latenn_device device, latenn_value** value) {
  if (!model || !value) return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_value_create: an argument is NULL.");
  *value = NULL;
  size_t count = 0;
  latenn_tensor tensor = {type, rank, shape, NULL, 0, NULL};
  unsigned char nothing = 0;
  tensor.data = &nothing; /* there is none to check yet */
  int sized = rank >= 0 && (rank == 0 || shape) && !latenn_count_elements(rank, shape, &count);
  if (sized) (void)latenn_count_bytes(type, count, &tensor.bytes);
  latenn_status* status = latenn_check_value(&tensor);
  if (status) return status;
  if (!model->backend.create_value) return latenn_value_of_core(model, &tensor, device, value);
  latenn_backend_value* inner = NULL;
  status = model->backend.create_value(model->model, type, rank, shape, device, &inner, &tensor);
  return status ? status : latenn_value_adopt(model, inner, &tensor, device, value);
}

const latenn_tensor* latenn_value_tensor(const latenn_value* value) {
  return value ? &value->tensor : NULL;
}

latenn_device latenn_value_device(const latenn_value* value) {
  const latenn_device none = {0, 0};
  return value ? value->device : none;
}

int latenn_value_read_only(const latenn_value* value) {
  return value && value->read_only;
}

void latenn_value_hold(latenn_value* value) {
  if (value) atomic_fetch_add_explicit(&value->holders, 1, memory_order_relaxed);
}

/* The runtime's value goes before the memory under it, and the model after both. */
void latenn_value_release(latenn_value* value) {
  if (!value || atomic_fetch_sub_explicit(&value->holders, 1, memory_order_acq_rel) != 1) return;
  if (value->forks != latenn_forks()) return;
  if (value->inner) value->model->backend.release_value(value->inner);
  if (value->release) value->release(value->owner);
  free(value->memory);
  latenn_model_release(value->model);
  free(value);
}
