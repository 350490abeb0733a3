"""What runs the programs of a target here: this machine itself, or an emulator that a file describes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003  # a field's type
from typing import TYPE_CHECKING

from latebind.targets import host_rid

if TYPE_CHECKING:
    from latebind.model import Rid


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """How programs of a target run here."""

    rid: Rid
    title: str = ""
    command: tuple[str, ...] = ()
    python: Path | None = None
    python_version: str = ""
    path_prefix: str = ""
    constraints: tuple[str, ...] = ()

    @property
    def emulated(self) -> bool:
        """Whether this is not this machine itself."""
        return bool(self.command)

    def path(self, path: Path) -> str:
        """The name by which the target's programs know a file."""
        text = str(path)
        return self.path_prefix + text.replace("/", "\\") if self.path_prefix else text

    def argv(self, program: Path | str, *words: str | Path) -> list[str | Path]:
        """The command that runs a program of the target."""
        return [*self.command, program, *words]


def host_machine() -> Machine:
    """This machine."""
    return Machine(rid=host_rid())
