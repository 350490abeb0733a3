"""A clean place for packages and the interpreter that sees nothing else, on this machine or another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from latebind.verify.plan.installers import Installer
    from latebind.verify.plan.machine import Machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """A virtual environment, with a folder of packages beside it when they are installed with `--target`."""

    installer: Installer
    machine: Machine
    root: Path
    """Everything that is installed lies below it."""
    packages: Path | None
    """The folder of packages that the interpreter must be told of; None for those of the virtual environment."""

    @property
    def python(self) -> Path:
        """The interpreter."""
        return self.machine.python_of(self.root)

    @property
    def site(self) -> Path:
        """Where packages lie."""
        return self.packages or self.machine.site_packages(self.root)

    def install(self, wanted: Sequence[str], *, links: Path | None = None, ours: Sequence[str] = (), log: Path) -> None:
        """Install as Installer.install() and fill() do."""
        if self.packages is None:
            self.installer.install(self.root, wanted, links=links, ours=ours, log=log)
        else:
            self.installer.fill(self.packages, wanted, self.python, links=links, ours=ours, log=log)


def empty_environment(tool: Installer, machine: Machine, folder: Path, *, target: bool, log: Path) -> Environment:
    """An environment of a machine with nothing in it; with `target`, packages will lie in a folder of their own."""
    tool.create(folder, machine.python, log)
    packages = folder / "packages" if target else None
    if packages is not None:
        packages.mkdir()
    return Environment(installer=tool, machine=machine, root=folder, packages=packages)
