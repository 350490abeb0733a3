/* Loaded first into each process of wine: asks Linux for the tile registers of AMX (XFEATURE_XTILEDATA).
 *
 * Windows gives them to each process that uses them, Linux to those that ask (Documentation/arch/x86/xstate.rst), and
 * forgets it when a process starts another program. ONNX Runtime up to 1.24 uses them on Windows when the processor has
 * them, and without this ends by an illegal instruction. */
#include <sys/syscall.h>
#include <unistd.h>

#define ARCH_REQ_XCOMP_PERM 0x1023
#define XFEATURE_XTILEDATA  18

__attribute__((constructor)) static void allow_amx(void) {
  syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA);
}
