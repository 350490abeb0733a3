"""The process and its surroundings: environment, identity, time, access lists, other processes."""

from __future__ import annotations

import errno
import os
import signal
import struct
import time
from typing import TYPE_CHECKING

from ci.machines.macos.file_functions import attempt
from ci.machines.macos.process import WAIT, Call, ExitedError, WrongCallError, function
from ci.machines.macos.processor import FaultError
from ci.machines.macos.text_functions import signed

if TYPE_CHECKING:
    from ci.machines.macos.process import Process, Steps

_FAILED = (1 << 64) - 1
_KERN_SUCCESS, _KERN_INVALID_ADDRESS = 0, 1


@function("_getenv")
def read_variable(process: Process, name_at: int) -> int:
    """A variable's value, at one address as long as it does not change."""
    name = process.processor.text(name_at)
    value = os.environb.get(name)
    if value is None:
        return 0
    addresses: dict[tuple[bytes, bytes], int] = process.state.setdefault("environment", {})
    if (name, value) not in addresses:
        addresses[name, value] = process.allocate_text(value)
    return addresses[name, value]


@function("_setenv")
def set_variable(process: Process, name: int, value: int, replaces: int) -> int:
    if replaces or process.processor.text(name) not in os.environb:
        os.environb[process.processor.text(name)] = process.processor.text(value)
    return 0


@function("_unsetenv")
def unset_variable(process: Process, name: int) -> int:
    os.environb.pop(process.processor.text(name), None)
    return 0


@function("_geteuid")
def find_effective_user(_process: Process) -> int:
    return os.geteuid()


@function("_getuid")
def find_user(_process: Process) -> int:
    return os.getuid()


@function("_getegid")
def find_effective_group(_process: Process) -> int:
    return os.getegid()


@function("_getgid")
def find_group(_process: Process) -> int:
    return os.getgid()


@function("_getpid")
def find_process(_process: Process) -> int:
    return os.getpid()


@function("_issetugid")
def is_changed_user(_process: Process) -> int:
    return int((os.getuid(), os.getgid()) != (os.geteuid(), os.getegid()))


# ---- access lists (acl(3)): the files of this machine have none ----


@function("_acl_get_link_np", "_acl_get_file", "_acl_get_fd")
def find_access_list(process: Process) -> int:
    from ci.machines.macos.file_functions import set_error  # noqa: PLC0415  # only here

    set_error(process, errno.ENOENT)
    return 0


@function("_acl_free")
def free_access_list(_process: Process) -> int:
    return 0


# ---- time ----


@function("_clock_gettime")
def read_clock(process: Process, _clock: int, to: int) -> int:
    process.processor.write(to, struct.pack("<qq", *divmod(time.time_ns(), 10**9)))
    return 0


@function("_mach_absolute_time", "_clock_gettime_nsec_np")
def read_nanoseconds(_process: Process) -> int:
    return time.monotonic_ns()


# ---- memory of the process, as the kernel reads it ----


@function("_mach_task_self")
def find_task(_process: Process) -> int:
    return 0x103


@function("_vm_read_overwrite", "_mach_vm_read_overwrite")
def read_memory(process: Process, _task: int, address: int, size: int, to: int, count: int) -> int:
    try:
        data = process.processor.read_bytes(address, size)
    except FaultError:
        return _KERN_INVALID_ADDRESS
    process.processor.write(to, data)
    process.processor.write(count, size.to_bytes(8, "little"))
    return _KERN_SUCCESS


# ---- the end ----


@function("_atexit")
def register_exit(process: Process, action: int) -> int:
    process.state.setdefault("exit", []).append(action)
    return 0


def run_exit(process: Process, status: int) -> Steps:
    """Run what atexit() registered, the last first, and end."""
    actions: list[int] = process.state.get("exit", [])
    while actions:
        yield Call(actions.pop())
    raise ExitedError(signed(status, 32) & 255)


@function("_exit")
def end(process: Process, status: int) -> Steps:
    return run_exit(process, status)


@function("__exit", "__Exit")
def end_at_once(process: Process, status: int) -> int:
    if process.state.get("is_child"):
        os._exit(signed(status, 32) & 255)
    process.output.clear()
    raise ExitedError(signed(status, 32) & 255)


@function("_abort")
def abort(process: Process) -> int:
    process.flush()
    signal.signal(signal.SIGABRT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGABRT)
    raise WrongCallError("abort()")


@function("_alarm")
def set_alarm(_process: Process, seconds: int) -> int:
    return signal.alarm(seconds)


@function("_kill")
def send_signal(process: Process, target: int, number: int) -> int:
    return attempt(process, lambda: os.kill(signed(target, 32), number))


# ---- other processes ----


@function("_fork")
def fork(process: Process) -> int:
    """A second emulator; only the thread that called is in it."""
    process.flush()
    child = os.fork()
    if not child:
        process.state["is_child"] = True
        current = process.current
        process.threads.clear()
        process.threads.append(current)
    return child


@function("_waitpid")
def wait_for_process(process: Process, target: int, status_at: int, options: int) -> Steps:
    while True:
        try:
            ended, status = os.waitpid(signed(target, 32), os.WNOHANG)
        except OSError:
            return _FAILED
        if ended or options & 1:
            break
        yield WAIT
    if status_at:
        process.processor.write(status_at, status.to_bytes(4, "little"))
    return ended


@function("_pipe")
def make_pipe(process: Process, to: int) -> int:
    def action() -> None:
        process.processor.write(to, struct.pack("<ii", *os.pipe()))

    return attempt(process, action)
