/* mach/mach.h: copying memory that may be gone, as macOS does it; answered by dyld.c. */
#include <stdint.h>

typedef uintptr_t vm_address_t;
typedef uintptr_t vm_size_t;

int mach_task_self(void);
int vm_read_overwrite(int task, vm_address_t address, vm_size_t size, vm_address_t data, vm_size_t* out_size);
