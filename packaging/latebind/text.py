"""Formats text for people: numbers, names from untrusted files, Markdown, annotations, and how programs ended."""

from __future__ import annotations

import os
import re
import shlex
import signal

DOCS = "https://github.com/latebind/latebind/blob/main/docs"
"""Where messages send a user: an installed latebind has no pages."""
_LEADING_COLONS = re.compile(r"^([ \t]*)::", re.MULTILINE)
_LONGEST_WORD = 20
"""Of a text that is cut: only what is longer, such as a path, loses its start."""
_SEPARATORS = ":,"
"""Of the properties of an annotation."""
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


def plural(count: int, noun: str) -> str:
    """`1 symbol`, `2 symbols`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def human_size(size: int) -> str:
    """A file size for people, in decimal units: `830 bytes`, `16.4 MB`."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return plural(size, "byte")


def shorten(text: str, longest: int) -> str:
    """A long text without its middle: a failure's first line names it, and its last lines say why."""
    if len(text) <= longest:
        return text
    head, end = text[: longest // 3], text[-(longest - longest // 3) :]
    if "\n" not in text:
        start = len(text) - len(end)
        word = text.rfind(" ", max(start - _LONGEST_WORD, 0), start) + 1  # a version that is cut would be another one
        return f"{head.rstrip()} ... {text[word or start :].lstrip()}"
    first, last = head.rpartition("\n")[0], end.partition("\n")[2]
    return f"{first or head.rstrip()}\n ...\n{last or end.lstrip()}"


def printable(text: str) -> str:
    """Names come from hostile files, so their control characters, except line feeds, must not reach a terminal.

    Nor may a line be a command to GitHub Actions: its runner reads `::` at the start of a line, and `##[` anywhere
    (actions/runner, src/Runner.Common/ActionCommand.cs).
    """
    plain = text
    if not text.replace("\n", "").isprintable():  # five times as fast as the next line
        plain = "".join(char if char == "\n" or char.isprintable() else ascii(char)[1:-1] for char in text)
    return _LEADING_COLONS.sub(r"\1\\x3a:", plain.replace("##[", r"##\x5b"))


def printable_lines(text: str) -> str:
    """Printable lines of programs and files, with spaces for tabs."""
    return printable(text.replace("\t", "    "))


def shell_word(value: object) -> str:
    """A value as one word of a command that a message tells the user to run."""
    text = str(value)
    if os.name != "nt":
        return shlex.quote(text)
    return f'"{text}"' if not text or set(text) & set(" &()^;,") else text


def markdown_code(text: str) -> str:
    """A name as inline code. Only hostile names have two backticks in a row."""
    return f"`{printable(text).replace('`', chr(39)).replace('|', chr(92) + '|')}`".replace("\n", " ")


def markdown_text(text: str, longest: int) -> str:
    """Text in which nothing is Markdown or HTML, on one line."""
    short = printable(shorten(text, longest)).replace("\n", " ")
    return re.sub(r"([\\`*_{}\[\]<>|#~@])", r"\\\1", short)


def annotation(level: str, message: str, **properties: object) -> str:
    """A line that GitHub Actions shows as an annotation: `error`, `warning` or `notice`, with file, line or title.

    docs.github.com, "Workflow commands", "Setting an error message": `%`, line ends and, in properties, `:` and `,`
    are escaped.
    """
    named = ",".join(f"{name}={_escape(str(value), _SEPARATORS)}" for name, value in properties.items() if value)
    return f"::{level} {named}".rstrip() + f"::{_escape(message)}"


def _escape(text: str, separators: str = "") -> str:
    return "".join(f"%{ord(one):02X}" if one in f"%\r\n{separators}" else one for one in printable(text))
