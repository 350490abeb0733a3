"""One emulated processor: its memory, its registers, and how C functions pass arguments on macOS."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING

import unicorn
from unicorn import arm64_const as arm
from unicorn import x86_const as x86

if TYPE_CHECKING:
    from typing import Any

PAGE = 0x4000
GATES, GATES_SIZE = 0x7000_0000, 0x10_0000
"""Where functions of libSystem seem to be: each is a return instruction, before which the emulator stops."""
COPY = GATES + GATES_SIZE
"""Where memcpy() is, which runs in the processor: it is called a hundred times as often as all others together."""
_GATE = 16
_WORD = 8


@dataclass(frozen=True)
class Kind:
    """What differs by processor. Sources: Apple's "Writing ARM64 code for Apple platforms", System V's AMD64 ABI."""

    name: str
    arch: int
    mode: int
    arguments: tuple[int, ...]
    result: int
    stack: int
    counter: int
    floats: tuple[int, ...]
    return_code: bytes
    copy_code: bytes
    """memcpy(), byte by byte."""
    link: int | None
    """The register that holds the return address; None where it is on the stack."""


KINDS = {
    "arm64": Kind("arm64", unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM,
                  tuple(range(arm.UC_ARM64_REG_X0, arm.UC_ARM64_REG_X0 + 8)),
                  arm.UC_ARM64_REG_X0, arm.UC_ARM64_REG_SP, arm.UC_ARM64_REG_PC,
                  tuple(range(arm.UC_ARM64_REG_D0, arm.UC_ARM64_REG_D0 + 8)),
                  bytes.fromhex("c0035fd6"),
                  # mov x3, x0; cbz x2, end; loop: ldrb w4, [x1], 1; strb w4, [x3], 1; subs x2, x2, 1; b.ne loop; ret
                  bytes.fromhex("e30300aa a20000b4 24144038 64140038 420400f1 a1ffff54 c0035fd6"),
                  arm.UC_ARM64_REG_X30),
    "x86_64": Kind("x86_64", unicorn.UC_ARCH_X86, unicorn.UC_MODE_64,
                   (x86.UC_X86_REG_RDI, x86.UC_X86_REG_RSI, x86.UC_X86_REG_RDX, x86.UC_X86_REG_RCX, x86.UC_X86_REG_R8,
                    x86.UC_X86_REG_R9), x86.UC_X86_REG_RAX, x86.UC_X86_REG_RSP, x86.UC_X86_REG_RIP,
                   tuple(range(x86.UC_X86_REG_XMM0, x86.UC_X86_REG_XMM0 + 8)), b"\xc3",
                   bytes.fromhex("4889f8 4889d1 f3a4 c3"),  # mov rax, rdi; mov rcx, rdx; rep movsb; ret
                   None),
}  # fmt: skip


class FaultError(Exception):
    """The processor could not go on: memory that is not mapped or protected, an instruction that traps."""


class Processor:
    """Memory and registers of one kind of processor."""

    def __init__(self, kind: str) -> None:
        self.kind = KINDS[kind]
        self.uc = unicorn.Uc(self.kind.arch, self.kind.mode)
        # Each reg_read() finds out anew how long a register is, which took half of the time of a program.
        self._read, self._write = self.uc._do_reg_read, self.uc._do_reg_write  # noqa: SLF001
        self._words = (ctypes.c_uint64 * 2)()
        if kind == "arm64":  # Apple's have the atomic instructions of 8.1, which the default model lacks
            self.uc.ctl_set_cpu_model(arm.UC_CPU_ARM64_MAX)
        self.uc.mem_map(GATES, GATES_SIZE + PAGE, unicorn.UC_PROT_READ | unicorn.UC_PROT_EXEC)
        self.uc.mem_write(COPY, self.kind.copy_code)
        self.uc.mem_write(GATES, self.kind.return_code.ljust(_GATE, b"\0") * (GATES_SIZE // _GATE))
        self.uc.hook_add(unicorn.UC_HOOK_CODE, self._stop, begin=GATES, end=COPY - 1)
        if kind == "arm64":  # floating point is off after a reset: CPACR_EL1.FPEN
            self.uc.reg_write(arm.UC_ARM64_REG_CPACR_EL1, 3 << 20)

    def _stop(self, uc: unicorn.Uc, _address: int, _size: int, _data: object) -> None:
        uc.emu_stop()

    def gate(self, index: int) -> int:
        """The address of a function of ours."""
        return GATES + _GATE * index

    def run(self, address: int) -> int:
        """Run from an address to the next gate; its number."""
        try:
            self.uc.emu_start(address, 0, 0, 0)
        except unicorn.UcError as error:
            raise FaultError(f"{error} at {self.read(self.kind.counter):#x}") from error
        return (self.read(self.kind.counter) - GATES) // _GATE

    # ---- registers ----

    def read(self, register: int) -> int:
        """The value of a register; of one for floats, the first eight bytes."""
        self._read(register, self._words)
        return self._words[0]

    def set(self, register: int, value: int) -> None:
        """Change a register of eight bytes."""
        self._words[0] = value & (1 << 64) - 1
        self._write(register, self._words)

    def argument(self, index: int) -> int:
        """An argument that is not a float and not variadic."""
        registers = self.kind.arguments
        if index < len(registers):
            return self.read(registers[index])
        skipped = 0 if self.kind.link else _WORD  # the return address
        return self.word(self.read(self.kind.stack) + skipped + _WORD * (index - len(registers)))

    def variadic(self, named: int, index: int) -> int:
        """A variadic argument. On Apple's arm64 all of these are on the stack, each in a word."""
        if self.kind.link is not None:
            return self.word(self.read(self.kind.stack) + _WORD * index)
        return self.argument(named + index)

    def leave(self, result: int) -> int:
        """Return from a gate with a result; where to go on."""
        self.set(self.kind.result, result)
        if self.kind.link is not None:
            return self.read(self.kind.link)
        stack = self.read(self.kind.stack)
        self.set(self.kind.stack, stack + _WORD)
        return self.word(stack)

    def enter(self, stack: int, arguments: tuple[int, ...], back: int) -> None:
        """Prepare a call that returns to `back`. The stack is aligned to 16 bytes before the call."""
        stack &= ~15
        for register, value in zip(self.kind.arguments, arguments, strict=False):
            self.set(register, value)
        if self.kind.link is not None:
            self.set(self.kind.link, back)
        else:
            stack -= _WORD
            self.write(stack, back.to_bytes(_WORD, "little"))
        self.set(self.kind.stack, stack)

    def save(self) -> Any:
        """All registers."""
        return self.uc.context_save()

    def restore(self, context: Any) -> None:
        """Set all registers."""
        self.uc.context_restore(context)

    # ---- memory ----

    def read_bytes(self, address: int, size: int) -> bytes:
        """Memory as bytes. Raises FaultError."""
        try:
            return bytes(self.uc.mem_read(address, size))
        except unicorn.UcError as error:
            raise FaultError(f"{error}: {size} bytes at {address:#x}") from error

    def write(self, address: int, data: bytes) -> None:
        """Change memory. Raises FaultError."""
        try:
            self.uc.mem_write(address, data)
        except unicorn.UcError as error:
            raise FaultError(f"{error}: {len(data)} bytes at {address:#x}") from error

    def word(self, address: int) -> int:
        """Eight bytes as an unsigned number."""
        return int.from_bytes(self.read_bytes(address, _WORD), "little")

    def text(self, address: int) -> bytes:
        """A C string, without its end."""
        parts: list[bytes] = []
        while True:
            size = 64 - address % 64
            part = self.read_bytes(address, size)
            end = part.find(b"\0")
            if end >= 0:
                return b"".join([*parts, part[:end]])
            parts.append(part)
            address += size
