; trampolines_x64.asm: the machine code of trampolines.h for Visual C++, which reads no assembly in C. As in
; trampolines.c, each trampoline is 16 bytes: a landing pad (endbr64), its number into r11, and a jump to the common part.
EXTERN lb_trampoline_target:PROC
EXTERN lb_entries:QWORD
PUBLIC lb_trampoline_first
PUBLIC lb_jump_first

.code

ALIGN 16
lb_trampoline_first:
number = 0
REPT 1024 ; LB_TRAMPOLINE_COUNT
  ALIGN 16
  DB 0F3h, 0Fh, 1Eh, 0FAh
  mov r11d, number
  jmp lb_trampoline_common
  number = number + 1
ENDM

ALIGN 16
lb_jump_first:
number = 0
REPT 1024
  ALIGN 16
  DB 0F3h, 0Fh, 1Eh, 0FAh
  jmp qword ptr [lb_entries + 8 * number]
  number = number + 1
ENDM

ALIGN 16
lb_trampoline_common PROC FRAME
  sub rsp, 136 ; 32 bytes for the callee, 64 for vectors, 32 for integers; aligned
  .allocstack 136
  .endprolog
  mov qword ptr [rsp + 32], rcx
  mov qword ptr [rsp + 40], rdx
  mov qword ptr [rsp + 48], r8
  mov qword ptr [rsp + 56], r9
  movaps xmmword ptr [rsp + 64], xmm0
  movaps xmmword ptr [rsp + 80], xmm1
  movaps xmmword ptr [rsp + 96], xmm2
  movaps xmmword ptr [rsp + 112], xmm3
  mov ecx, r11d
  lea rdx, [rsp + 32]
  call lb_trampoline_target
  mov r11, rax
  mov rcx, qword ptr [rsp + 32]
  mov rdx, qword ptr [rsp + 40]
  mov r8, qword ptr [rsp + 48]
  mov r9, qword ptr [rsp + 56]
  movaps xmm0, xmmword ptr [rsp + 64]
  movaps xmm1, xmmword ptr [rsp + 80]
  movaps xmm2, xmmword ptr [rsp + 96]
  movaps xmm3, xmmword ptr [rsp + 112]
  add rsp, 136
  DB 49h, 0FFh, 0E3h ; jmp r11 with REX.W, by which Windows' unwinder knows the end of a function
lb_trampoline_common ENDP

END
