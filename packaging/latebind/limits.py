"""What a program and all that it started may take: seconds, memory, processes; psutil counts them."""

from __future__ import annotations

from dataclasses import dataclass


class PastLimitError(Exception):
    """A limit was passed; the text says which: `64 processes`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """0 is no limit. Memory is of all processes together, resident, in bytes."""

    seconds: float = 600
    memory: int = 0
    processes: int = 0


def watch(pid: int, limits: Limits) -> None:
    """Look once at a process and its descendants. Raises PastLimitError, and ImportError without psutil."""
    import psutil  # noqa: PLC0415  # cells alone are watched; an audit must not load it

    resident = count = 0
    try:
        root = psutil.Process(pid)
        family = [root, *root.children(recursive=True)]
    except psutil.Error:  # it has just ended
        return
    for process in family:
        try:
            resident += process.memory_info().rss
        except psutil.Error:
            continue
        count += 1
    if limits.memory and resident > limits.memory:
        raise PastLimitError(f"{limits.memory // 1024**2} MiB of memory")
    if limits.processes and count > limits.processes:
        raise PastLimitError(f"{limits.processes} processes")
