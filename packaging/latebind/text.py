"""Words for how programs end."""

from __future__ import annotations

import re
import signal

_SIGNALLED = 128
"""What shells and emulators add to the number of a signal to make a status of it."""
_LAST_SIGNAL = 64
_HARMLESS = {
    getattr(signal, f"SIG{name}", None)
    for name in ("CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "WINCH")
}  # fmt: skip
"""Signals that end no process. `dotnet` without a suitable SDK or framework exits with 145 or 150."""
_NT_STATUSES = {
    0xC0000005: "an access violation",
    0xC000001D: "an illegal instruction",
    0xC00000FD: "a stack overflow",
    0xC0000135: "a missing DLL",
    0xC0000374: "a corrupt heap",
    0xC0000409: "a failed security check",
}
"""Statuses with which Windows ends a process ([MS-ERREF] 2.3)."""
_EXCEPTIONS = (
    re.compile(r"^Traceback \(most recent call last\):\n(?:[ \t]+.*\n|\n)*(\S.*)", re.MULTILINE),  # Python
    re.compile(r"^(?:Unhandled exception\. )(\S.*)", re.MULTILINE),  # .NET
    re.compile(r"^((?:\w*Error|AggregateError)\b.*)\n(?:.*\n)*?\s+at ", re.MULTILINE),  # Node.js
)
"""The line that names an uncaught exception, as each of them prints it."""


def ending(status: int) -> str:
    """How a process ended: `ended with status 1`, `ended by SIGSEGV (11)`, `ended by an access violation (0xC0000005)`.

    Negative numbers are signals, as in subprocess.
    """
    number = -status if status < 0 else status - _SIGNALLED
    if 0 < number <= _LAST_SIGNAL and not (status > 0 and number in _HARMLESS):
        try:
            return f"ended by {signal.Signals(number).name} ({number})"
        except ValueError:  # this system has no such signal
            return f"ended by signal {number}" if status < 0 else f"ended with status {status}"
    if status in _NT_STATUSES:
        return f"ended by {_NT_STATUSES[status]} (0x{status:X})"
    return f"ended with status {status}"


def is_crash(status: int) -> bool:
    """Whether the system ended a process with that status."""
    return ending(status).startswith("ended by ")


def decisive_line(output: str) -> str:
    """The line of a program's output that says why it failed: its last exception, else its last line; "" for none."""
    text = output.replace("\r\n", "\n")
    matches = [match for pattern in _EXCEPTIONS for match in pattern.finditer(text)]
    if matches:
        return max(matches, key=lambda match: match.start(1))[1].strip()
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
