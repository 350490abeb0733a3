"""What each scenario sets up around a consumer, whatever its language: a table of small functions.

A function gets the cell and says what is different from the ordinary way; making files below the cell's own folder
is all that it does itself.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from latebind.errors import NotRun
from latebind.system.tree import link_or_copy
from latebind.tables.targets import other_processor, target
from latebind.verify.plan import spoil
from latebind.verify.plan.versions import raised_minimum

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from latebind.config.document import RuntimeUse
    from latebind.model import Rid
    from latebind.verify.run.bench import Bench

ODD = "ein Ordner mit Läufzeit, 実行時 и пробел"
"""A folder's name with spaces, a comma and letters of three other scripts."""
_THREADS = "8"
_PROCESSORS: Mapping[str, Mapping[str, str]] = {
    "linux": {"x86_64": "x86_64", "aarch64": "aarch64"},
    "macos": {"x86_64": "x86_64", "aarch64": "arm64"},
    "windows": {"x86_64": "x64", "aarch64": "arm64"},
}
"""What the loader calls processors, in each system's own words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What is different from: a clean environment, all packages, the runtime from the index, nothing else."""

    arguments: tuple[str, ...] = ()
    """Added to the consumer's command line."""
    action: tuple[str, ...] = ()
    """Words for what runs the consumer: `--preload FILE`, `--threads 8` (driver.py; a .NET consumer gets them too)."""
    environment: Mapping[str, str] = field(default_factory=dict)
    roots: tuple[Path, ...] = ()
    """Further folders that libraries may come from."""
    binds: tuple[str, ...] = ()
    """The runtime versions that may be bound, when not just the cell's; the first is the reference."""
    entry: str = ""
    """The entry of [verify].runtimes whose data is computed, when not the cell's."""
    values: Mapping[str, str] = field(default_factory=dict)
    """What the scenario's sentence may name."""
    spoil: Callable[[bytes], bytes] | None = None
    """What becomes of the installed runtime's library."""
    unreadable: bool = False
    """Whether nobody may read it."""
    also: tuple[str, ...] = ()
    """Further distributions that are installed, as the index knows them."""
    first: str = ""
    """A version of the runtime that is installed and tried before the cell's takes its place."""
    folder: str = "env"
    layout: Literal["venv", "target", "frozen"] = "venv"
    unprivileged: bool = False
    """Installed where nothing can be written, and used by somebody who is not allowed to."""
    without: str = ""
    """The package of the project that is not installed."""


def situation(bench: Bench) -> Situation:
    """The situation of a cell; the ordinary one for a scenario without a function. May make files below bench.work.

    Raises NotRun when this machine lacks what it takes.
    """
    make = _TABLE.get(bench.cell.scenario)
    if make is None or bench.use is None:
        return Situation()
    return make(bench, bench.use)


def _copied(bench: Bench, use: RuntimeUse, folder: str, version: str = "") -> Path:
    """The runtime's library of a version, by default the cell's, in a folder of its own below the cell's.

    With it goes what lies beside it: some runtimes are of several files.
    """
    library = bench.supply.library(use, version or bench.cell.version, bench.cell.target)
    made = bench.work / folder
    made.mkdir(parents=True, exist_ok=True)
    for file in library.parent.iterdir():
        if file.is_file():
            link_or_copy(file, made / file.name)
    return made / library.name


def _path(bench: Bench, path: Path, *, given: str = "") -> Situation:
    text = given or bench.machine.path(path)
    return Situation(arguments=("--runtime-path", text), roots=(path.parent,), values={"path": text})


def _explicit(bench: Bench, use: RuntimeUse) -> Situation:
    return _path(bench, _copied(bench, use, "given"))


def _explicit_folder(bench: Bench, use: RuntimeUse) -> Situation:
    library = _copied(bench, use, "given")
    return _path(bench, library, given=bench.machine.path(library.parent))


def _explicit_relative(bench: Bench, use: RuntimeUse) -> Situation:
    """The consumer's working directory is `home`."""
    library = _copied(bench, use, "home/given")
    return _path(bench, library, given=f"given/{library.name}")


def _explicit_odd(bench: Bench, use: RuntimeUse) -> Situation:
    return _path(bench, _copied(bench, use, ODD))


def _explicit_wrong(bench: Bench, use: RuntimeUse) -> Situation:
    return _path(bench, bench.work / "nowhere" / _name(use, bench.cell.target))


def _explicit_text(bench: Bench, use: RuntimeUse) -> Situation:
    text = bench.work / "given" / _name(use, bench.cell.target)
    text.parent.mkdir(parents=True, exist_ok=True)
    text.write_bytes(spoil.text(b""))
    return _path(bench, text)


def _named(bench: Bench, use: RuntimeUse) -> Situation:
    library = _copied(bench, use, "given")
    variable = use.known.environment
    return Situation(environment={variable: bench.machine.path(library)}, roots=(library.parent,))


def _named_wrong(bench: Bench, use: RuntimeUse) -> Situation:
    variable = use.known.environment
    text = bench.machine.path(bench.work / "nowhere" / _name(use, bench.cell.target))
    return Situation(environment={variable: text}, values={"path": text, "variable": variable})


def _too_old(bench: Bench, _: RuntimeUse) -> Situation:
    raised = raised_minimum(bench.cell.version)
    return Situation(arguments=("--runtime-minimum", raised), values={"raised": raised})


def _older_loaded(bench: Bench, use: RuntimeUse) -> Situation:
    """The floor is raised to the installed version, so that a real older one is too old."""
    older = _copied(bench, use, "older", bench.older())
    floor = ".".join(bench.cell.version.split(".")[:2])
    return Situation(
        arguments=("--runtime-minimum", floor), action=("--preload", bench.machine.path(older)), roots=(older.parent,)
    )


def _two(bench: Bench, use: RuntimeUse) -> Situation:
    other = _copied(bench, use, "other", bench.older())
    return Situation(
        action=("--preload", bench.machine.path(other)), roots=(other.parent,), binds=(bench.older(),), entry="minimum"
    )


def _decoy(bench: Bench, use: RuntimeUse) -> Situation:
    """An older copy under the plain name, in a folder that the system's loader searches first."""
    library = bench.supply.library(use, bench.older(), bench.cell.target)
    system = target(bench.cell.target).system
    folder = bench.work / "decoy"
    folder.mkdir()
    for name in getattr(use.known.names, system):
        shutil.copyfile(library, folder / name)
    variable = {"linux": "LD_LIBRARY_PATH", "macos": "DYLD_LIBRARY_PATH", "windows": "PATH"}[system]
    return Situation(environment={variable: bench.machine.path(folder)})


def _decoy_system(bench: Bench, use: RuntimeUse) -> Situation:
    library = bench.supply.library(use, bench.older(), bench.cell.target)
    return Situation(action=("--plant", bench.machine.path(library)))


def _spoiled(how: Callable[[bytes], bytes], **values: str) -> Callable[[Bench, RuntimeUse], Situation]:
    return lambda _bench, _use: Situation(spoil=how, values=values)


def _dependency(bench: Bench, use: RuntimeUse) -> Situation:
    library = bench.supply.library(use, bench.cell.version, bench.cell.target)
    needed, gone = spoil.dependency_of(library)
    return Situation(spoil=lambda data: spoil.renamed(data, needed, gone), values={"gone": gone})


def _other_major(bench: Bench, _: RuntimeUse) -> Situation:
    version = bench.cell.version
    major = str(int(version.partition(".")[0]) + 1) + version[version.index(".") :]
    return Situation(spoil=lambda data: spoil.renamed(data, version, major), values={"major": major})


def _wrong_architecture(bench: Bench, use: RuntimeUse) -> Situation:
    own, other = target(bench.cell.target), other_processor(bench.cell.target)
    if other is None:
        raise NotRun("no-distribution", f"there is no target like {own.rid} for another processor")
    try:
        data = bench.supply.library(use, bench.cell.version, other.rid).read_bytes()
    except NotRun as error:
        raise NotRun(error.reason, f"no {use.known.title} {bench.cell.version} for {other.rid}") from error
    values = {"own": _PROCESSORS[own.system][own.arch], "other": _PROCESSORS[own.system][other.arch]}
    return Situation(spoil=lambda _: data, values=values)


def _gpu(bench: Bench, use: RuntimeUse) -> Situation:
    name = use.known.python.extras["gpu"]
    version = bench.supply.installer.resolve(name, bench.python)
    return Situation(also=(f"{name}=={version}",), binds=(bench.cell.version, version))


def _missing_backend(bench: Bench, use: RuntimeUse) -> Situation:
    packages = bench.config.packages
    name = bench.config.wheel_name(bench.package) if bench.cell.kind == "wheel" else None
    nuget = packages[bench.package].nuget
    shown = name or (nuget.id if nuget and bench.cell.kind == "nupkg" else bench.package)
    return Situation(without=bench.package, values={"backend": shown, "runtime": use.name})


def _upgraded(bench: Bench, _: RuntimeUse) -> Situation:
    return Situation(first=bench.older(), entry="minimum")


def _module_of(use: RuntimeUse) -> str:
    """The name that a host imports."""
    return use.known.python.folder.partition("/")[0]


def _name(use: RuntimeUse, rid: Rid) -> str:
    names: tuple[str, ...] = getattr(use.known.names, target(rid).system)
    return names[-1]


_TABLE: Mapping[str, Callable[[Bench, RuntimeUse], Situation]] = {
    "beside-gpu": _gpu,
    "odd-folder": lambda _bench, _use: Situation(folder=ODD),
    "read-only": lambda _bench, _use: Situation(unprivileged=True),
    "target-folder": lambda _bench, _use: Situation(layout="target"),
    "frozen": lambda _bench, _use: Situation(layout="frozen"),
    "upgraded": _upgraded,
    "imported-before": lambda _bench, use: Situation(action=("--import-before", _module_of(use))),
    "imported-after": lambda _bench, use: Situation(action=("--import-after", _module_of(use))),
    "older-loaded": _older_loaded,
    "two-runtimes": _two,
    "threads": lambda _bench, _use: Situation(action=("--threads", _THREADS)),
    "fork": lambda _bench, _use: Situation(action=("--fork",)),
    "spawn": lambda _bench, _use: Situation(action=("--spawn",)),
    "subprocess": lambda _bench, _use: Situation(action=("--subprocess",)),
    "path": _explicit,
    "path-folder": _explicit_folder,
    "path-relative": _explicit_relative,
    "path-odd": _explicit_odd,
    "environment": _named,
    "decoy": _decoy,
    "decoy-system": _decoy_system,
    "too-old": _too_old,
    "other-major": _other_major,
    "truncated": _spoiled(spoil.truncated),
    "corrupt": _spoiled(spoil.corrupt),
    "text-file": _spoiled(spoil.text),
    "wrong-architecture": _wrong_architecture,
    "dependency-missing": _dependency,
    "permission-denied": lambda _bench, _use: Situation(unreadable=True, unprivileged=True),
    "path-wrong": _explicit_wrong,
    "not-a-library": _explicit_text,
    "environment-wrong": _named_wrong,
    "missing-backend": _missing_backend,
}
