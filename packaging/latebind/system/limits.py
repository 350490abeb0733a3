"""Limits what a program and its descendants may use; psutil counts and finds them."""

from __future__ import annotations

from dataclasses import dataclass


class PastLimitError(Exception):
    """A limit was exceeded; the text names it: `64 processes`."""

    output = b""
    """What the program had printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """0 means no limit. Memory and output are those of all processes together, in bytes; memory is resident."""

    seconds: float = 600
    memory: int = 0
    processes: int = 0
    output: int = 256 << 20

    @property
    def watched(self) -> bool:
        """Whether more than the time is limited."""
        return bool(self.memory or self.processes)


CASE_LIMITS = Limits(seconds=600, memory=6 * 1024**3, processes=64)
"""The limits of every consumer."""


def watch(pid: int, limits: Limits) -> None:
    """Look once at a process and its descendants. Raises PastLimitError. psutil must be installed."""
    import psutil  # noqa: PLC0415  # only test cases are watched; an audit must not load it

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
