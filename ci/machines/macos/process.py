"""One process: its memory, its threads, and the functions of libSystem that its code calls.

Threads take turns where one waits or ends, so a program runs in the same order each time. A loop that waits for another
thread without calling the system never ends; time limits are the caller's.
"""

from __future__ import annotations

import inspect
import sys
import time
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ci.machines.macos.processor import PAGE, Processor

HEAP, STACKS, STACK_SIZE = 0x2_0000_0000, 0x3_0000_0000, 0x10_0000
_RED_ZONE = 256
_PAUSE = 0.0005


class WrongCallError(Exception):
    """The program did what a Mac would end it for."""


class ExitedError(Exception):
    """The program ended, with a status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class NotSupportedError(Exception):
    """The program called a function that this package does not have."""


@dataclass(frozen=True)
class Call:
    """A function of libSystem calls one of the program."""

    address: int
    arguments: tuple[int, ...] = ()


WAIT = Call(0)
"""Let other threads run."""
Steps: TypeAlias = Generator[Call, int, int]
Function: TypeAlias = Callable[..., "int | Steps | None"]
FUNCTIONS: dict[str, Function] = {}


def function(*names: str) -> Callable[[Function], Function]:
    """Give a function these symbols. Its parameters after the process are the C function's, as numbers."""

    def register(implementation: Function) -> Function:
        for name in names:
            FUNCTIONS[name] = implementation
        return implementation

    return register


@dataclass(eq=False)
class Thread:
    """A thread: its registers while another one runs, and the functions of ours that it is in."""

    number: int
    stack: int
    steps: list[tuple[Steps, Any]] = field(default_factory=list)
    context: Any = None
    is_waiting: bool = False
    result: int = 0
    is_done: bool = False
    values: dict[int, int] = field(default_factory=dict)
    """pthread_setspecific()."""
    variables: dict[int, int] = field(default_factory=dict)
    """Where its copies of an image's thread-local variables are."""
    error_at: int = 0


class Process:
    """Memory, threads and functions."""

    def __init__(self, kind: str) -> None:
        self.processor = Processor(kind)
        self.names: list[str] = ["<return>"]
        self.gates: dict[str, int] = {"<return>": 0}
        self.sizes: dict[int, int] = {}
        self.free: dict[int, list[int]] = {}
        self.heap_end = self.heap_mapped = HEAP
        self.threads: deque[Thread] = deque()
        self.count = 0
        self.output = bytearray()
        self.state: dict[str, Any] = {}
        """What modules of functions keep."""

    # ---- memory ----

    def allocate(self, size: int) -> int:
        """Zeroed memory, aligned to 16 bytes."""
        size = max(16, -(-size // 16) * 16)
        if blocks := self.free.get(size):
            address = blocks.pop()
            self.processor.write(address, bytes(size))
        else:
            address = self.heap_end
            self.heap_end += size
            if self.heap_end > self.heap_mapped:
                more = -(-(self.heap_end - self.heap_mapped) // 0x10_0000) * 0x10_0000
                self.processor.uc.mem_map(self.heap_mapped, more, 3)
                self.heap_mapped += more
        self.sizes[address] = size
        return address

    def release(self, address: int) -> None:
        """Give memory back. Raises WrongCallError for what was not allocated, as macOS ends such a program."""
        if not address:
            return
        size = self.sizes.pop(address, None)
        if size is None:
            raise WrongCallError(f"free({address:#x}): pointer being freed was not allocated")
        self.processor.write(address, b"\xdd" * size)
        self.free.setdefault(size, []).append(address)

    def allocate_text(self, text: bytes) -> int:
        """A new C string."""
        address = self.allocate(len(text) + 1)
        self.processor.write(address, text + b"\0")
        return address

    # ---- functions ----

    def gate(self, name: str) -> int:
        """The address of a function of libSystem. One that is not there fails when it is called."""
        if name not in self.gates:
            self.gates[name] = len(self.names)
            self.names.append(name)
        return self.processor.gate(self.gates[name])

    # ---- threads ----

    def start_thread(self, steps: Steps) -> Thread:
        """Add a thread whose first function is `steps`."""
        self.count += 1
        base = STACKS + self.count * (STACK_SIZE + PAGE)  # a page that is not mapped is between any two
        self.processor.uc.mem_map(base, STACK_SIZE, 3)
        thread = Thread(self.count, base + STACK_SIZE - 64, [(steps, None)])
        thread.error_at = self.allocate(16)
        self.threads.append(thread)
        return thread

    @property
    def current(self) -> Thread:
        """The thread that runs."""
        return self.threads[0]

    def run(self) -> int:
        """Run all threads until the process ends; its status."""
        idle = 0
        try:
            while self.threads:
                thread = self.current
                self._resume(thread)
                idle = idle + 1 if thread.is_waiting else 0
                if thread.is_done:
                    self.threads.popleft()
                else:
                    self.threads.rotate(-1)
                if idle > len(self.threads):
                    self.flush()
                    time.sleep(_PAUSE)
        except ExitedError as ended:
            self.flush()
            return ended.status
        return 0

    def flush(self) -> None:
        """Write what was printed."""
        sys.stdout.buffer.write(bytes(self.output))
        sys.stdout.buffer.flush()
        self.output.clear()

    def _resume(self, thread: Thread) -> None:
        """Run a thread until it waits or ends."""
        if thread.context is not None:
            self.processor.restore(thread.context)
        else:
            self.processor.set(self.processor.kind.stack, thread.stack)
        thread.is_waiting = False
        address = self._advance(thread, None if thread.context is None else 0)
        while address:
            number = self.processor.run(address)
            if number == 0:
                result = self.processor.read(self.processor.kind.result)
                context = thread.steps[-1][1]
                if context is not None:
                    self.processor.restore(context)
                address = self._advance(thread, result)
            else:
                address = self._call(thread, number)
        thread.context = self.processor.save()

    def _call(self, thread: Thread, number: int) -> int:
        """Do what a function of libSystem does; where to go on, 0 where the thread waits."""
        if not 0 < number < len(self.names):
            counter = self.processor.read(self.processor.kind.counter)
            raise WrongCallError(f"the program went to {counter:#x}, where no code is")
        name = self.names[number]
        implementation = FUNCTIONS.get(name)
        if implementation is None:
            raise NotSupportedError(f"{name} is not a function of ci/machines/macos")
        count = _count_arguments(implementation)
        result = implementation(self, *(self.processor.argument(index) for index in range(count)))
        if isinstance(result, Generator):
            thread.steps.append((result, None))
            return self._advance(thread, None)
        return self.processor.leave(result or 0)

    def _advance(self, thread: Thread, value: int | None) -> int:
        """Go on with the function of ours that a thread is in; where the program goes on, 0 where it waits or ends."""
        steps = thread.steps[-1][0]
        try:
            step = steps.send(value)  # type: ignore[arg-type]  # None starts it
        except StopIteration as ended:
            thread.steps.pop()
            if not thread.steps:
                thread.is_done, thread.result = True, ended.value or 0
                return 0
            return self.processor.leave(ended.value or 0)
        if step is WAIT:
            thread.is_waiting = True
            return 0
        thread.steps[-1] = (steps, self.processor.save())
        stack = self.processor.read(self.processor.kind.stack) - _RED_ZONE
        self.processor.enter(stack, step.arguments, self.processor.gate(0))
        return step.address


def _count_arguments(implementation: Function) -> int:
    count = _COUNTS.get(implementation)
    if count is None:
        count = _COUNTS[implementation] = len(inspect.signature(implementation).parameters) - 1
    return count


_COUNTS: dict[Function, int] = {}
