"""Reads CMake's trace: each command that ran in a project's own files, with its arguments after expansion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

TRACE_OPTIONS = ("--trace-expand", "--trace-format=json-v1")
_FETCHES = frozenset({"fetchcontent_declare", "externalproject_add", "cpmaddpackage"})


class Call(msgspec.Struct, frozen=True):
    """A line of the trace (cmake(1), --trace-format); the first line gives the trace's version instead."""

    file: str = ""
    line: int = 0
    line_end: int = 0
    """0 for a command on one line."""
    cmd: str = ""
    args: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """The command's name in small letters."""
        return self.cmd.lower()

    @property
    def fetched(self) -> str:
        """What the command downloads; "" for others."""
        if self.command == "file" and self.args[:1] == ("DOWNLOAD",):
            return self.args[1]
        return self.args[0] if self.command in _FETCHES and self.args else ""

    def place(self, root: Path) -> str:
        """`CMakeLists.txt:6`."""
        return f"{Path(self.file).relative_to(root).as_posix()}:{self.line}"


def read_calls(trace: Path, root: Path) -> Iterator[Call]:
    """The commands that ran in the project's own files."""
    decoder = msgspec.json.Decoder(Call)
    with trace.open("rb") as lines:
        calls = map(decoder.decode, lines)
        yield from (call for call in calls if Path(call.file).is_relative_to(root))
