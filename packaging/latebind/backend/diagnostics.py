"""Finds the errors in the output of CMake, ninja and compilers, so that a failed build can show them first."""

from __future__ import annotations

import re
from pathlib import Path

_COMPILER = re.compile(
    r"^(?P<file>(?:[A-Za-z]:)?[^:()\n]+?)(?::(?P<line>\d+)(?P<column>:\d+)?|\((?P<row>\d+)(?:,\d+)?\)) ?: "
    r"(?:fatal )?error\b(?: \w+)?: (?P<text>.+)$",
    re.MULTILINE,
)
"""`tiny.c:3:5: error: …` of GCC and Clang, `tiny.c(3,5): error C2065: …` of MSVC."""
_CMAKE = re.compile(
    r"^CMake Error at (?P<file>[^\n]+?):(?P<line>\d+) \([^\n]*\):\n+"
    r"(?P<text>(?:  [^\n]*\n?)+(?:(?<=:\n)\n(?:    [^\n]*\n?)+)?)",
    re.MULTILINE,
)
"""The first paragraph of the message. If it ends with a colon, also the next one, which names the subject."""
_LINKER = re.compile(
    r"^(?:\S+: )?(error: .+|.*undefined reference to .+|.*Undefined symbols.*|LINK : fatal error .+)$", re.MULTILINE
)
_FUNCTION_WANTED = re.compile(r"undefined (?:reference to|symbol:) [`']?(\w+)")
_NINJA_STEP = re.compile(r"^\[\d+/\d+\] ")
_NOISE = ("FAILED: ", "ninja: build stopped", "-- ")
_SHOWN = 5


def first_errors(output: str, root: Path, cmake_source: Path) -> list[str]:
    """The first few errors as `file:line: error: text`, with paths relative to `root` where they are below it.

    CMake names its files relative to `cmake_source`. Errors of a linker have no file; they count when nothing else
    failed.
    """
    located = [(match.start(), _compiler_error(match)) for match in _COMPILER.finditer(output)]
    for match in _CMAKE.finditer(output):
        file = cmake_source / match["file"]
        located.append((match.start(), f"{file}:{match['line']}: error: {' '.join(match['text'].split())}"))
    errors = [text for _, text in sorted(located)] or [match[1].strip() for match in _LINKER.finditer(output)]
    return [relative(text, root) for text in dict.fromkeys(errors)][:_SHOWN]


def linker_advice(output: str) -> str:
    """What to do when a library lacks a function that no library of the link has; "" for other errors."""
    found = _FUNCTION_WANTED.search(output)
    if found is None:
        return ""
    return (
        f"Name the library that has {found[1]} in target_link_libraries(): m for the functions of <math.h>, which zig "
        "finds by itself and other compilers do not."
    )


def without_commands(output: str) -> str:
    """The output without CMake's status lines, ninja's progress, and the command lines that follow `FAILED:`."""
    remaining, skip = [], False
    for line in output.splitlines():
        if not skip and not _NINJA_STEP.match(line) and not line.startswith(_NOISE):
            remaining.append(line)
        skip = line.startswith("FAILED: ")
    return "\n".join(remaining).strip("\n")


def relative(text: str, root: Path) -> str:
    """The text with paths below `root` shortened."""
    return text.replace(f"{root}/", "").replace(f"{root}\\", "").replace(f"{root.as_posix()}/", "")


def _compiler_error(match: re.Match[str]) -> str:
    position = f"{match['line']}{match['column'] or ''}" if match["line"] else match["row"]
    return f"{match['file']}:{position}: error: {match['text']}"
