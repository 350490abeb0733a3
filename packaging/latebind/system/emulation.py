"""Finds out whether an emulator runs this very process, so that nobody takes it for the system itself."""

from __future__ import annotations

import ctypes
import platform
import sys
from functools import cache
from pathlib import Path

_KERNEL = Path("/proc/sys/kernel/arch")
"""The processor that the kernel was built for (Linux 6.1, Documentation/admin-guide/sysctl/kernel.rst)."""
_PROCESSORS = Path("/proc/cpuinfo")
_X86_ONLY = "vendor_id"
"""A line of /proc/cpuinfo that x86 kernels write and those of ARM and RISC-V don't."""
_X86 = ("x86", "i386", "i486", "i586", "i686", "amd64")


@cache
def find_emulator() -> str:
    """What runs this process: `wine 8.0`, `Rosetta`, `qemu`; "" for the system itself, as far as one can see."""
    if sys.platform == "win32":
        return _find_wine()
    if sys.platform == "darwin":
        return "Rosetta" if _is_translated() else ""
    machine = platform.machine()
    return "qemu" if is_foreign(machine, _read(_KERNEL), _read(_PROCESSORS)) else ""


def is_foreign(machine: str, kernel: str, processors: str) -> bool:
    """Whether a process of a machine, as uname has it, runs on a kernel for another one: qemu answers uname itself."""
    if kernel.strip():
        return _family(machine) != _family(kernel.strip())
    return _family(machine) != "x86" and _X86_ONLY in processors


def _family(machine: str) -> str:
    """The processors that one kernel runs, by the start of their name."""
    name = machine.lower()
    if name.startswith(_X86):
        return "x86"
    return "arm" if name.startswith(("arm", "aarch64")) else name[:5]


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _find_wine() -> str:
    """wine exports its version from ntdll.dll (wiki.winehq.org, "Developer FAQ")."""
    library = ctypes.CDLL("ntdll.dll")
    try:
        ask = library.wine_get_version
    except AttributeError:
        return ""
    ask.restype = ctypes.c_char_p
    return f"wine {(ask() or b'').decode('ascii', 'replace')}"


def _is_translated() -> bool:
    """Apple's "About the Rosetta translation environment": sysctl.proc_translated is 1."""
    value, size = ctypes.c_int(0), ctypes.c_size_t(4)
    answer = ctypes.CDLL(None).sysctlbyname(
        b"sysctl.proc_translated", ctypes.byref(value), ctypes.byref(size), None, ctypes.c_size_t(0)
    )
    return answer == 0 and value.value == 1
