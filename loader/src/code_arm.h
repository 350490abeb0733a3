/*
 * code_arm.h: the machine code of trampolines on 32-bit ARM from version 7, in ARM state, which calls from Thumb code
 * change to; must not contain what another processor runs.
 *
 * r12 is the linkers' own between a call and its function, so no argument is in it. An address in a jump is relative to
 * itself, so that the code is the same wherever it is mapped.
 */
#if defined(__arm__) && !defined(_WIN32)
#if __ARM_ARCH < 7
#error "The trampolines need ARM version 7: compile with -march=armv7-a."
#endif
#define LB_ASM_BEGIN ".syntax unified\n.arm\n"
#if defined(__thumb__)
#define LB_ASM_END ".thumb\n"
#endif
#define LB_ASM_TRAMPOLINE         "movw r12, #number\nb lb_trampoline_common\n"
#define LB_ASM_TRAMPOLINE_OF(row) "ldr r12, 1f\nadd r12, pc, r12\nb lb_trampoline_common\n1: .word " row "-.\n"
#define LB_ASM_JUMP(place) \
  "ldr r12, 1f\nadd r12, pc, r12\nldr pc, [r12]\n1: .word " LB_ASM_NAME(lb_entries) "+4*" place "-.\n"
#if defined(__ARM_PCS_VFP)
#define LB_ASM_KEEP_VECTORS "vpush {d0-d7}\nmov r0, r12\nadd r1, sp, #64\n"
#define LB_ASM_TAKE_VECTORS "vpop {d0-d7}\n"
#else
#define LB_ASM_KEEP_VECTORS "mov r0, r12\nmov r1, sp\n"
#define LB_ASM_TAKE_VECTORS
#endif

/* clang-format off */
#define LB_ASM_COMMON \
    ".fnstart\n" \
    ".type lb_trampoline_common, %function\n" \
    "lb_trampoline_common:\n" \
    "push {r0-r3, r11, lr}\n" /* 24 bytes: the stack stays aligned */ \
    LB_ASM_KEEP_VECTORS \
    "bl " LB_ASM_NAME(lb_trampoline_target) "\n" \
    "mov r12, r0\n" \
    LB_ASM_TAKE_VECTORS \
    "pop {r0-r3, r11, lr}\n" \
    "bx r12\n" \
    ".cantunwind\n" /* nothing throws in here, and the target is called without this frame */ \
    ".fnend\n"
/* clang-format on */
#endif
