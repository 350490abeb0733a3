/*
 * code_arm64.h: the machine code of trampolines on arm64, as ELF, Mach-O and PE want it; must not contain what another
 * processor runs.
 *
 * x16 is the linkers' own between a call and its function, so no argument is in it.
 */
#if defined(__aarch64__) || defined(_M_ARM64)
#define LB_ASM_TRAMPOLINE "hint #34\nmov w16, #number\nb lb_trampoline_common\n" /* hint 34 is bti c */
#if defined(__APPLE__)
#define LB_ASM_JUMP(place)                                                                            \
  "hint #34\nadrp x16, (" LB_ASM_NAME(lb_entries) "+8*" place ")@PAGE\nldr x16, [x16, (" LB_ASM_NAME( \
      lb_entries) "+8*" place ")@PAGEOFF]\nbr x16\n"
#else
#define LB_ASM_JUMP(place)                                                                                     \
  "hint #34\nadrp x16, " LB_ASM_NAME(lb_entries) "+8*" place                                                   \
                                                 "\nldr x16, [x16, :lo12:" LB_ASM_NAME(lb_entries) "+8*" place \
                                                                                                   "]\nbr x16\n"
#endif

/* clang-format off */
/* What all systems share: every argument is kept, the target is asked for, and the arguments are put back. */
#define LB_ASM_CALL_TARGET \
    "stp x0, x1, [sp, #16]\n" \
    "stp x2, x3, [sp, #32]\n" \
    "stp x4, x5, [sp, #48]\n" \
    "stp x6, x7, [sp, #64]\n" \
    "str x8, [sp, #80]\n" /* where a struct result goes */ \
    "stp q0, q1, [sp, #96]\n" \
    "stp q2, q3, [sp, #128]\n" \
    "stp q4, q5, [sp, #160]\n" \
    "stp q6, q7, [sp, #192]\n" \
    "mov w0, w16\n" \
    "add x1, sp, #16\n" \
    "bl " LB_ASM_NAME(lb_trampoline_target) "\n" \
    "mov x16, x0\n" \
    "ldp x0, x1, [sp, #16]\n" \
    "ldp x2, x3, [sp, #32]\n" \
    "ldp x4, x5, [sp, #48]\n" \
    "ldp x6, x7, [sp, #64]\n" \
    "ldr x8, [sp, #80]\n" \
    "ldp q0, q1, [sp, #96]\n" \
    "ldp q2, q3, [sp, #128]\n" \
    "ldp q4, q5, [sp, #160]\n" \
    "ldp q6, q7, [sp, #192]\n"
#define LB_ASM_RESTORE_FRAME "ldp x29, x30, [sp], #224\n"

#if defined(_WIN32)
#define LB_ASM_COMMON \
    ".seh_proc lb_trampoline_common\n" \
    "lb_trampoline_common:\n" \
    "stp x29, x30, [sp, #-224]!\n" \
    ".seh_save_fplr_x 224\n" \
    "mov x29, sp\n" \
    ".seh_set_fp\n" \
    ".seh_endprologue\n" \
    LB_ASM_CALL_TARGET \
    ".seh_startepilogue\n" \
    LB_ASM_RESTORE_FRAME \
    ".seh_save_fplr_x 224\n" \
    ".seh_endepilogue\n" \
    "br x16\n" /* allowed by a landing pad of either kind */ \
    ".seh_endproc\n"
#else
#define LB_ASM_COMMON \
    "lb_trampoline_common:\n" \
    ".cfi_startproc\n" \
    "stp x29, x30, [sp, #-224]!\n" \
    ".cfi_def_cfa_offset 224\n" \
    ".cfi_offset w29, -224\n" \
    ".cfi_offset w30, -216\n" \
    "mov x29, sp\n" \
    ".cfi_def_cfa w29, 224\n" \
    LB_ASM_CALL_TARGET \
    LB_ASM_RESTORE_FRAME \
    ".cfi_def_cfa wsp, 0\n" \
    ".cfi_restore w29\n" \
    ".cfi_restore w30\n" \
    "br x16\n" /* allowed by a landing pad of either kind */ \
    ".cfi_endproc\n"
#endif
/* clang-format on */
#endif
