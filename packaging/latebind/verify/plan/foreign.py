"""Clean Python environments of a machine of another target: laid out and filled from here; runs nothing there.

`python -m venv` starts the environment's own Python, which an emulator may not be able to do. A virtual environment is
but a pyvenv.cfg above an interpreter (the module `site` of CPython says so), so it is written. Only uv fills it: pip
decides by this machine's system which dependencies another one needs.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.errors import NotRun
from latebind.system.archive import write_text
from latebind.system.tree import link_or_copy
from latebind.verify.plan import platforms
from latebind.verify.plan.index import installer_environment
from latebind.verify.plan.installers import PINNED, ask_index, find_uv, local_words, run_installer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from latebind.model import Rid
    from latebind.verify.plan.installers import Installer
    from latebind.verify.plan.machine import Machine

_MANYLINUX = re.compile(r"manylinux_(\d+_\d+)_(\w+)")
_UV_PLATFORMS = {"win_amd64": "x86_64-pc-windows-msvc", "win_arm64": "aarch64-pc-windows-msvc"}
"""uv's names of platforms by wheel tag; those of Linux follow from the tag."""


def foreign_installer(machine: Machine, home: Path) -> Installer:
    """What makes and fills environments for a machine. Raises NotRun `no-machine` without uv."""
    uv = find_uv()
    if uv is None:
        raise NotRun(
            "no-machine",
            f"uv, which installs for {machine.rid} from here, is not there",
            advice='Run: pip install "latebind[verify]"',
        )
    return _Foreign(machine, uv, home)


@dataclass(frozen=True, slots=True)
class _Foreign:
    machine: Machine
    uv: Path
    home: Path
    name: str = "uv"

    def create(self, folder: Path, python: Path, log: Path) -> None:
        del python, log  # the machine's own; nothing runs
        machine = self.machine
        interpreter = machine.python_of(folder)
        interpreter.parent.mkdir(parents=True, exist_ok=True)
        machine.site_packages(folder).mkdir(parents=True, exist_ok=True)
        if interpreter.suffix == ".exe":
            for path in machine.python.parent.iterdir():
                if path.suffix.lower() in {".exe", ".dll"}:
                    link_or_copy(path, interpreter.parent / path.name)
        else:
            interpreter.symlink_to(machine.python)
        lines = [
            f"home = {machine.path(machine.python.parent)}",
            "include-system-site-packages = false",
            f"version = {machine.python_version}",
        ]
        write_text(folder / "pyvenv.cfg", "\n".join(lines) + "\n")

    def install(
        self, folder: Path, wanted: Sequence[str], *, links: Path | None = None, ours: Sequence[str] = (), log: Path
    ) -> None:
        self._install(self.machine.site_packages(folder), [*local_words(links, ours), *wanted], log)

    def fill(  # noqa: PLR0913  # as the protocol says
        self, folder: Path, wanted: Sequence[str], python: Path, *,
        links: Path | None = None, ours: Sequence[str] = (), log: Path,
    ) -> None:  # fmt: skip
        del python  # the machine's own; nothing runs
        self._install(folder, [*local_words(links, ours), *wanted], log)

    def unpack(self, wanted: str, folder: Path, rid: Rid, log: Path) -> None:
        argv: list[str | Path] = [self.uv, "pip", "install", "--no-deps", "--target", folder]
        argv += ["--only-binary", ":all:", "--python-version", self.machine.python_version]
        run_installer([*argv, "--python-platform", platforms.uv_platform(rid), wanted], self._environment(), log)

    def resolve(self, wanted: str, python: Path, rid: Rid | None = None, minor: str = "") -> str:
        del python, rid, minor
        with tempfile.TemporaryDirectory() as name:
            file = Path(name) / "wanted.in"
            file.write_text(f"{wanted}\n", encoding="utf-8")
            argv: list[str | Path] = [self.uv, "pip", "compile", "--no-deps", "--no-header", "--no-annotate"]
            argv += [*self._platform(), *self._constraints(Path(name)), file]
            match = PINNED.search(ask_index(argv, self._environment(), wanted))
        if match is None:
            raise NotRun("no-distribution", f"the index has no {wanted}")
        return match[1]

    def _install(self, place: Path, words: Sequence[str], log: Path) -> None:
        with tempfile.TemporaryDirectory() as name:
            argv: list[str | Path] = [self.uv, "pip", "install", "--target", place]
            run_installer([*argv, *self._platform(), *self._constraints(Path(name)), *words], self._environment(), log)

    def _platform(self) -> list[str | Path]:
        words = ["--python-version", self.machine.python_version, "--python-platform", uv_platform(self.machine)]
        return [*words, "--only-binary", ":all:"]

    def _constraints(self, folder: Path) -> list[str | Path]:
        file = folder / "constraints.txt"
        file.write_text("".join(f"{line}\n" for line in self.machine.constraints), encoding="utf-8")
        return ["--constraint", file]

    def _environment(self) -> dict[str, str]:
        return installer_environment(self.home)


def uv_platform(machine: Machine) -> str:
    """uv's name of the newest platform that the machine's Python installs wheels for.

    Raises NotRun `no-machine` for a tag that uv has no name for.
    """
    tag = machine.platforms[0]
    match = _MANYLINUX.fullmatch(tag)
    known = f"{match[2]}-manylinux_{match[1]}" if match else _UV_PLATFORMS.get(tag)
    if known is None:
        raise NotRun("no-machine", f"uv knows no platform of the wheel tag {tag}, which {machine.title} installs")
    return known
