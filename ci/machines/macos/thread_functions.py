"""Threads and what they wait for: pthread(3). A thread goes on until it waits, ends or sleeps."""

from __future__ import annotations

import errno
import struct
import time
from typing import TYPE_CHECKING, cast

from ci.machines.macos.process import WAIT, Call, Thread, function
from ci.machines.macos.text_functions import signed

if TYPE_CHECKING:
    from ci.machines.macos.process import Process, Steps

_NO_CHILD, _DEADLOCK, _BUSY = errno.ESRCH, 11, errno.EBUSY


def _threads(process: Process) -> dict[int, Thread]:
    return cast("dict[int, Thread]", process.state.setdefault("threads", {}))


def _run_thread(start: int, argument: int) -> Steps:
    return (yield Call(start, (argument,)))


@function("_pthread_create")
def create_thread(process: Process, result: int, _attributes: int, start: int, argument: int) -> int:
    thread = process.start_thread(_run_thread(start, argument))
    address = process.allocate(64)
    _threads(process)[address] = thread
    process.processor.write(result, address.to_bytes(8, "little"))
    return 0


@function("_pthread_join")
def join_thread(process: Process, address: int, result: int) -> Steps:
    thread = _threads(process).get(address)
    if thread is None:
        return _NO_CHILD
    while not thread.is_done:
        yield WAIT
    if result:
        process.processor.write(result, thread.result.to_bytes(8, "little"))
    return 0


@function("_pthread_detach", "_pthread_attr_init", "_pthread_attr_destroy", "_pthread_attr_setstacksize",
          "_pthread_attr_setguardsize", "_pthread_atfork", "_pthread_mutexattr_init", "_pthread_mutexattr_destroy",
          "_pthread_mutexattr_settype", "_pthread_setname_np", "_pthread_setcancelstate")  # fmt: skip
def succeed(_process: Process) -> int:
    return 0


@function("_pthread_self")
def find_self(process: Process) -> int:
    current = process.current
    threads = _threads(process)
    for address, thread in threads.items():
        if thread is current:
            return address
    address = process.allocate(64)
    threads[address] = current
    return address


@function("_pthread_threadid_np")
def number_thread(process: Process, _thread: int, to: int) -> int:
    process.processor.write(to, process.current.number.to_bytes(8, "little"))
    return 0


# ---- mutexes: the owner's number is in the object's second word; its first is Apple's signature ----


@function("_pthread_mutex_init", "_pthread_mutex_destroy", "_pthread_cond_init", "_pthread_cond_destroy")
def clear_object(process: Process, address: int) -> int:
    process.processor.write(address + 8, bytes(8))
    return 0


@function("_pthread_mutex_lock")
def lock(process: Process, address: int) -> Steps:
    if process.processor.word(address + 8) == process.current.number:
        raise DeadlockError
    while process.processor.word(address + 8):
        yield WAIT
    process.processor.write(address + 8, process.current.number.to_bytes(8, "little"))
    return 0


class DeadlockError(Exception):
    """A thread locks a mutex that it holds: on a Mac it waits for ever."""


@function("_pthread_mutex_trylock")
def try_lock(process: Process, address: int) -> int:
    if process.processor.word(address + 8):
        return _BUSY
    process.processor.write(address + 8, process.current.number.to_bytes(8, "little"))
    return 0


@function("_pthread_mutex_unlock")
def unlock(process: Process, address: int) -> int:
    process.processor.write(address + 8, bytes(8))
    return 0


@function("_pthread_cond_wait")
def wait_for_condition(process: Process, condition: int, mutex: int) -> Steps:
    """Wait for a signal. The condition's second word counts the signals, so none is lost."""
    before = process.processor.word(condition + 8)
    unlock(process, mutex)
    while process.processor.word(condition + 8) == before:
        yield WAIT
    yield from lock(process, mutex)  # type: ignore[misc]  # always steps
    return 0


@function("_pthread_cond_signal", "_pthread_cond_broadcast")
def signal_condition(process: Process, condition: int) -> int:
    """Wake all that wait: a spurious wakeup is allowed."""
    process.processor.write(condition + 8, (process.processor.word(condition + 8) + 1).to_bytes(8, "little"))
    return 0


@function("_pthread_once")
def run_once(process: Process, control: int, action: int) -> Steps:
    """Run an action once. The second word is 1 while it runs and 2 when it has ended."""
    while process.processor.word(control + 8) == 1:
        yield WAIT
    if not process.processor.word(control + 8):
        process.processor.write(control + 8, (1).to_bytes(8, "little"))
        yield Call(action)
        process.processor.write(control + 8, (2).to_bytes(8, "little"))
    return 0


# ---- keys ----


@function("_pthread_key_create")
def create_key(process: Process, to: int, _destructor: int) -> int:
    process.state["keys"] = process.state.get("keys", 0) + 1
    process.processor.write(to, struct.pack("<Q", process.state["keys"]))
    return 0


@function("_pthread_getspecific")
def read_value(process: Process, key: int) -> int:
    return process.current.values.get(key, 0)


@function("_pthread_setspecific")
def write_value(process: Process, key: int, value: int) -> int:
    process.current.values[key] = value
    return 0


# ---- sleep ----


def _sleep(seconds: float) -> Steps:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield WAIT
    return 0


@function("_nanosleep")
def sleep_for(process: Process, request: int, _remaining: int) -> Steps:
    seconds, nanoseconds = struct.unpack("<qq", process.processor.read_bytes(request, 16))
    return _sleep(seconds + nanoseconds / 1e9)


@function("_usleep")
def sleep_micros(_process: Process, micros: int) -> Steps:
    return _sleep((micros & 0xFFFFFFFF) / 1e6)


@function("_sleep")
def sleep_seconds(_process: Process, seconds: int) -> Steps:
    return _sleep(signed(seconds, 32))


@function("_sched_yield")
def yield_turn(_process: Process) -> Steps:
    yield WAIT
    return 0
