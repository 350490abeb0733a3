"""What scenarios set up around a consumer, in any language: functions from a test case to a `Situation`.

They only make files below the test case's own folder.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from latebind.config.runtime import RuntimeUse
from latebind.errors import InputError, NotRun
from latebind.formats import name_projects
from latebind.system.tree import link_or_copy
from latebind.tables.targets import other_processor, target
from latebind.verify.cases.index import raised_minimum
from loadcheck import Rid
from loadcheck.facts import read_images

if TYPE_CHECKING:
    from latebind.verify.run.bench import Bench

SetUp: TypeAlias = "Callable[[Bench, RuntimeUse], Situation]"
"""Makes a scenario's situation. Raises NotRun when this machine lacks what it takes."""

ODD = "ein Ordner mit Läufzeit, 実行時 и пробел"
"""A folder name with spaces, a comma and letters of three other scripts."""
_HEAD = 4096
_TEXT = b"This is not a library.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What differs from: a clean environment, all packages, the runtime from the index, nothing else."""

    arguments: tuple[str, ...] = ()
    """Added to the consumer's command line."""
    action: tuple[str, ...] = ()
    """What the program that runs the consumer does: `--preload FILE`, `--threads 8` (driver.py, .NET consumers)."""
    environment: Mapping[str, str] = field(default_factory=dict)
    roots: tuple[Path, ...] = ()
    """Further folders that libraries may come from."""
    binds: tuple[str, ...] = ()
    """The runtime versions that may be bound, when not just the test case's; the first is the reference."""
    values: Mapping[str, str] = field(default_factory=dict)
    """What the expected error message may name."""
    spoil: Callable[[bytes], bytes] | None = None
    """What becomes of the installed runtime's library."""
    unreadable: bool = False
    """Whether nobody may read it."""
    lost: str = ""
    """A file next to it that is missing."""
    also: tuple[str, ...] = ()
    """Further distributions to install, as the index names them."""
    by_name: bool = False
    """Whether wheels are installed by name, with the runtime's extra if they have one, and not as files."""
    first: str = ""
    """A version of the runtime that is installed and tried before the test case's takes its place."""
    folder: str = "env"
    layout: str = "venv"
    """Where packages are, or which program holds them; of wheels (`ecosystems/wheel/layouts.py`)."""
    link_mode: str = ""
    """How uv gets files from its cache into the environment: `symlink`, `hardlink` or `copy`."""
    copies: int = 0
    """How many copies of the runtime a process may have at most; 0 for any number."""
    unprivileged: bool = False
    """Installed in a read-only folder, and used by a user who may not write there."""
    without: str = ""
    """The package of the project that is not installed."""

    @property
    def changes_files(self) -> bool:
        """Whether what is installed is in another folder, or broken."""
        return self.folder != "env" or self.spoil is not None or self.unreadable or bool(self.lost)

    def break_files(self, libraries: Iterable[Path]) -> None:
        """Break the installed libraries of the runtime, if the situation asks for it."""
        libraries = tuple(libraries)
        for path in libraries if self.lost else ():
            (path.parent / self.lost).unlink(missing_ok=True)
        for path in libraries if self.spoil is not None or self.unreadable else ():
            data = path.read_bytes()
            path.unlink()  # it may be a link into a cache, or to what other test cases use
            path.write_bytes(self.spoil(data) if self.spoil is not None else data)
            if self.unreadable:
                path.chmod(0)


ORDINARY = Situation()


# ---- how a library is broken ---------------------------------------------------------------------------------------


def truncate(data: bytes) -> bytes:
    """The first half, as after an interrupted download."""
    return data[: len(data) // 2]


def corrupt(data: bytes) -> bytes:
    """Zeros instead of the header, as after a lost disk block."""
    return bytes(min(_HEAD, len(data))) + data[_HEAD:]


def text(_: bytes) -> bytes:
    """A text, as after a failed checkout of large files."""
    return _TEXT * 64


def rename(data: bytes, old: str, new: str) -> bytes:
    """The library with a zero-terminated name replaced everywhere by another of the same length.

    Raises InputError when it does not occur, or the lengths differ.
    """
    before, after = (b"\0" + name.encode("ascii") + b"\0" for name in (old, new))
    if len(before) != len(after) or before not in data:
        raise InputError(f"the runtime's library does not contain the text {old}")
    return data.replace(before, after)


def dependency_of(library: Path) -> tuple[str, str]:
    """A library that the runtime needs, and a name of the same length that no system has.

    Raises InputError when it needs none whose name stands alone in the file.
    """
    data = library.read_bytes()
    for image in read_images(data, library.name):
        for name in image.needed:
            stem, dot, rest = name.partition(".")
            if b"\0" + name.encode() + b"\0" in data and not stem.startswith("ld-"):
                return name, stem[:-1] + ("q" if stem[-1:] != "q" else "z") + dot + rest
    raise InputError("the runtime's library has no dependency that this test can rename", where=str(library))


# ---- set-ups -------------------------------------------------------------------------------------------------------


def gpu(bench: Bench, runtime: RuntimeUse) -> Situation:
    """The GPU distribution is installed, too."""
    name = runtime.traits.python.extras["gpu"]
    version = bench.supply.installer.resolve(name, bench.python)
    return Situation(also=(f"{name}=={version}",), binds=(bench.case.version, version))


def use_older_first(bench: Bench, _: RuntimeUse) -> Situation:
    """An older runtime is installed and used first."""
    return Situation(first=bench.older())


def import_runtime(when: Literal["before", "after"]) -> SetUp:
    """The runtime's Python module is imported before the consumer starts, or after it has ended."""
    return lambda _, runtime: Situation(action=(f"--import-{when}", runtime.traits.python.folder.partition("/")[0]))


def older_loaded(bench: Bench, runtime: RuntimeUse) -> Situation:
    """The minimum is raised to the installed version, so that a real older one is too old."""
    older = copy_runtime(bench, runtime, "older", bench.older())
    floor = ".".join(bench.case.version.split(".")[:2])
    return Situation(
        arguments=("--runtime-minimum", floor), action=("--preload", bench.machine.path(older)), roots=(older.parent,)
    )


def two_runtimes(bench: Bench, runtime: RuntimeUse) -> Situation:
    """An older copy that is new enough is loaded before the consumer starts."""
    other = copy_runtime(bench, runtime, "other", bench.older())
    return Situation(
        action=("--preload", bench.machine.path(other)), roots=(other.parent,), binds=(bench.older(),), copies=1
    )


def two_packages(bench: Bench, runtime: RuntimeUse) -> Situation:
    """Another package, with a loader of its own, has bound a copy of the runtime, and computes before and after."""
    other = copy_runtime(bench, runtime, "other")
    words = bench.machine.path(bench.library_beside()), bench.machine.path(other)
    return Situation(action=("--beside", *words), roots=(other.parent,), copies=1)


def path(folder: str, names: Literal["file", "folder", "from home"] = "file") -> SetUp:
    """The consumer gets the path of the runtime's copy in a folder, or of that folder; or relative to where it runs."""

    def set_up(bench: Bench, runtime: RuntimeUse) -> Situation:
        library = copy_runtime(bench, runtime, folder)
        if names == "from home":
            return _path(bench, library, shown=library.relative_to(bench.work / "home").as_posix())
        return _path(bench, library, shown=bench.machine.path(library.parent) if names == "folder" else "")

    return set_up


def path_missing(bench: Bench, runtime: RuntimeUse) -> Situation:
    """The consumer gets a path that does not exist."""
    return _path(bench, bench.work / "nowhere" / _plain_name(runtime, bench.case.target))


def path_text(bench: Bench, runtime: RuntimeUse) -> Situation:
    """The consumer gets the path of a text file."""
    file = bench.work / "given" / _plain_name(runtime, bench.case.target)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text(b""))
    return _path(bench, file)


def variable_file(bench: Bench, runtime: RuntimeUse) -> Situation:
    """The environment variable names the file."""
    library = copy_runtime(bench, runtime, "given")
    return Situation(environment={runtime.traits.environment: bench.machine.path(library)}, roots=(library.parent,))


def variable_missing(bench: Bench, runtime: RuntimeUse) -> Situation:
    """The environment variable names a file that does not exist."""
    variable = runtime.traits.environment
    file = bench.machine.path(bench.work / "nowhere" / _plain_name(runtime, bench.case.target))
    return Situation(environment={variable: file}, values={"path": file, "variable": variable})


def decoy(bench: Bench, runtime: RuntimeUse) -> Situation:
    """An older copy under the plain name is in a folder that the system's loader searches first."""
    platform = target(bench.case.target)
    library = bench.library(runtime, bench.older())
    folder = bench.work / "decoy"
    folder.mkdir()
    for name in getattr(runtime.traits.names, platform.system):
        shutil.copyfile(library, folder / name)
    return Situation(environment={platform.library_path: bench.machine.path(folder)})


def decoy_system(bench: Bench, runtime: RuntimeUse) -> Situation:
    """An older copy is in the system's own folder."""
    library = bench.library(runtime, bench.older())
    return Situation(action=("--plant", bench.machine.path(library)))


def odd_folder(bench: Bench, runtime: RuntimeUse) -> Situation:
    """Installed in a folder with an odd name; on Windows an execution provider gets letters of Western Europe alone.

    ONNX Runtime turns the path of a plugin into the system's code page (microsoft/onnxruntime, pull requests 27724 and
    28390 for other paths), and refuses one that does not fit there. No provider can change that.
    """
    is_limited = bench.config.provider(runtime) is not None and target(bench.case.target).system == "windows"
    odd = ODD if bench.consumer.reads_commas else ODD.replace(",", "")
    return Situation(folder=ODD.partition(",")[0] if is_limited else odd)


def pass_module(bench: Bench, _: RuntimeUse) -> Situation:
    """The script that calls an execution provider gets its module."""
    return Situation(arguments=("--module", bench.config.module_name(bench.package)))


def too_old(bench: Bench, _: RuntimeUse) -> Situation:
    """The minimum is raised above the installed version."""
    raised = raised_minimum(bench.case.version)
    return Situation(arguments=("--runtime-minimum", raised), values={"raised": raised})


def other_major(bench: Bench, runtime: RuntimeUse) -> Situation:
    """The library states the next major version."""
    version = bench.case.version
    major = str(int(version.partition(".")[0]) + 1) + version[version.index(".") :]
    if bench.stands_in:
        data = bench.library(runtime, major).read_bytes()
        return Situation(spoil=lambda _: data, values={"major": major})
    return Situation(spoil=lambda data: rename(data, version, major), values={"major": major})


def other_architecture(bench: Bench, runtime: RuntimeUse) -> Situation:
    """The library is the one for the other processor."""
    own_target, other = target(bench.case.target), other_processor(bench.case.target)
    if other is None:
        raise NotRun("no-distribution", f"there is no target like {own_target.rid} for another processor")
    try:
        data = bench.library(runtime, bench.case.version, other.rid).read_bytes()
    except NotRun as error:
        raise NotRun(error.reason, f"no {runtime.traits.title} {bench.case.version} for {other.rid}") from error
    return Situation(spoil=lambda _: data, values={"own": own_target.processor, "other": other.processor})


def dependency_missing(bench: Bench, runtime: RuntimeUse) -> Situation:
    """A library that the runtime needs has another name."""
    library = bench.library(runtime, bench.case.version)
    needed, gone = dependency_of(library)
    return Situation(spoil=lambda data: rename(data, needed, gone), values={"gone": gone})


def companion_missing(bench: Bench, runtime: RuntimeUse) -> Situation:
    """A library that the runtime opens by itself is missing."""
    gone = runtime.traits.list_companions(target(bench.case.target).system, bench.case.version)[-1]
    return Situation(lost=gone, values={"gone": gone})


def other_majors(bench: Bench, runtime: RuntimeUse) -> Situation:
    """The runtime's other major versions are installed, too."""
    others = list(runtime.traits.python.extras.values())[1:]
    return Situation(also=tuple(f"{name}=={bench.supply.installer.resolve(name, bench.python)}" for name in others))


def without_backend(bench: Bench, runtime: RuntimeUse) -> Situation:
    """The package that binds the runtime is not installed."""
    names, package = name_projects(bench.config, bench.package), bench.package
    return Situation(
        without=package, values={"backend": names.get(bench.consumer.kind, package), "runtime": runtime.name}
    )


def copy_runtime(bench: Bench, runtime: RuntimeUse, folder: str, version: str = "") -> Path:
    """The runtime's library of a version, by default the test case's, copied with its neighbours to a new folder."""
    library = bench.library(runtime, version or bench.case.version)
    destination = bench.work / folder
    destination.mkdir(parents=True, exist_ok=True)
    for file in library.parent.iterdir():
        if file.is_file():
            link_or_copy(file, destination / file.name)
    return destination / library.name


def _path(bench: Bench, file: Path, *, shown: str = "") -> Situation:
    argument = shown or bench.machine.path(file)
    return Situation(arguments=("--runtime-path", argument), roots=(file.parent,), values={"path": argument})


def _plain_name(runtime: RuntimeUse, rid: Rid) -> str:
    return runtime.traits.plain_name(target(rid).system)
