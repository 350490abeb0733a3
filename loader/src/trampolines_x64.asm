; trampolines_x64.asm: the machine code of trampolines.h for Visual C++, which reads no assembly in C. As in
; trampolines.c, each trampoline is 16 bytes: a landing pad (endbr64), its number into r11, and a jump to the common part.
EXTERN lb_trampoline_target:PROC
EXTERN lb_entries:QWORD
PUBLIC lb_trampoline_first
PUBLIC lb_jump_first
PUBLIC lb_kept_state

.data
lb_kept_state QWORD 0

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

; As in code_x64.h, which says what is kept and why. Instructions that assemblers spell differently are bytes.
KEPT_COMPONENTS = 0800EEh

ALIGN 16
lb_trampoline_common PROC FRAME
  push rbp
  .pushreg rbp
  push rbx
  .pushreg rbx
  sub rsp, 56
  .allocstack 56
  mov rbp, rsp ; the area's size is known only now: from here on, rbp says where the frame is
  .setframe rbp, 0
  .endprolog
  mov qword ptr [rbp], rcx
  mov qword ptr [rbp + 8], rdx
  mov qword ptr [rbp + 16], r8
  mov qword ptr [rbp + 24], r9
  mov qword ptr [rbp + 32], rax
  mov qword ptr [rbp + 40], r10
  mov rax, qword ptr [lb_kept_state]
  test rax, rax
  jnz keep
  mov eax, 1
  cpuid
  xor r8d, r8d ; the components
  mov r9d, 512 ; the size
  test ecx, 8000000h ; OSXSAVE
  jz asked
  xor ecx, ecx
  DB 0Fh, 01h, 0D0h ; xgetbv
  and eax, KEPT_COMPONENTS
  mov r8d, eax
  mov eax, 13
  xor ecx, ecx
  cpuid ; ebx: the size of an area for all that the system enabled
  mov r9d, ebx
  cmp ebx, 3072
  jbe asked ; else there are tiles of AMX, too: a virtual machine takes microseconds for each question
  mov r9d, 576 ; xmm and the header
  mov r10d, 2
component:
  bt r8d, r10d
  jnc next
  mov eax, 13 ; the size of component r10 and, in ebx, where it is in the area
  mov ecx, r10d
  cpuid
  add eax, ebx
  cmp r9d, eax
  cmovb r9d, eax
next:
  inc r10d
  cmp r10d, 32
  jb component
asked:
  shl r8, 32
  lea rax, [r8 + r9]
  mov qword ptr [lb_kept_state], rax
keep:
  mov ecx, eax
  sub rsp, rcx
  and rsp, -64
  shr rax, 32
  jz keep_xmm
  xor edx, edx
  mov qword ptr [rsp + 512], rdx ; xsave writes only the first of the header's 64 bytes; xrstor wants zeros there
  mov qword ptr [rsp + 520], rdx
  mov qword ptr [rsp + 528], rdx
  mov qword ptr [rsp + 536], rdx
  mov qword ptr [rsp + 544], rdx
  mov qword ptr [rsp + 552], rdx
  mov qword ptr [rsp + 560], rdx
  mov qword ptr [rsp + 568], rdx
  DB 0Fh, 0AEh, 24h, 24h ; xsave [rsp]
  jmp kept
keep_xmm:
  DB 0Fh, 0AEh, 04h, 24h ; fxsave [rsp]
kept:
  sub rsp, 32 ; for the callee
  mov ecx, r11d
  mov rdx, rbp
  call lb_trampoline_target
  mov r11, rax
  mov eax, dword ptr [lb_kept_state + 4]
  xor edx, edx
  test eax, eax
  jz take_xmm
  DB 0Fh, 0AEh, 6Ch, 24h, 20h ; xrstor [rsp + 32]
  jmp taken
take_xmm:
  DB 0Fh, 0AEh, 4Ch, 24h, 20h ; fxrstor [rsp + 32]
taken:
  mov rcx, qword ptr [rbp]
  mov rdx, qword ptr [rbp + 8]
  mov r8, qword ptr [rbp + 16]
  mov r9, qword ptr [rbp + 24]
  mov rax, qword ptr [rbp + 32]
  mov r10, qword ptr [rbp + 40]
  lea rsp, [rbp + 56]
  pop rbx
  pop rbp
  DB 49h, 0FFh, 0E3h ; jmp r11 with REX.W, by which Windows' unwinder knows the end of a function
lb_trampoline_common ENDP

END
