"""What scenarios set up around a consumer, in any language: functions from a trial to a `Situation`.

They only make files below the trial's own folder.
"""

from __future__ import annotations

import shutil
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from latebind.backend.targets import Rid, other_processor, target
from latebind.backend.tree import link_or_copy
from latebind.config.runtime import RuntimeUse
from latebind.errors import InputError, NotRun
from latebind.formats import name_projects
from latebind.verify.declared import SetUp, Situation
from latebind.verify.run.index import raised_minimum
from loadcheck.facts import read_images

if TYPE_CHECKING:
    from latebind.verify.run.trial import Trial

ODD = "ein Ordner mit Läufzeit, 実行時 и пробел"
"""A folder name with spaces, a comma and letters of three other scripts."""
_HEAD = 4096
_TEXT = b"This is not a library.\n"


# ---- how a library is broken ---------------------------------------------------------------------------------------


def truncate(data: bytes) -> bytes:
    """The first half of what is loaded, as after an interrupted download."""
    return data[: _measure_loaded(data) // 2]


def _measure_loaded(data: bytes) -> int:
    """How many bytes of an ELF file are loaded (elf(5), PT_LOAD): most of tbb's are for debuggers. All of others."""
    if data[:5] != b"\x7fELF\2":
        return len(data)
    (start,) = struct.unpack_from("<Q", data, 32)
    width, count = struct.unpack_from("<HH", data, 54)
    parts = [struct.unpack_from("<IIQQQQ", data, start + width * index) for index in range(count)]
    return max([offset + size for kind, _, offset, _, _, size in parts if kind == 1], default=len(data))


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


def gpu(trial: Trial, runtime: RuntimeUse) -> Situation:
    """The GPU distribution is installed, too."""
    name = runtime.traits.python.extras["gpu"]
    version = trial.shared.installer.resolve(name, trial.python)
    return Situation(also=(f"{name}=={version}",), binds=(trial.case.version, version))


def use_older_first(trial: Trial, _: RuntimeUse) -> Situation:
    """An older runtime is installed and used first."""
    return Situation(first=trial.older())


def import_runtime(when: Literal["before", "after"]) -> SetUp:
    """The runtime's Python module is imported before the consumer starts, or after it has ended."""
    return lambda _, runtime: Situation(action=(f"--import-{when}", runtime.traits.python.folder.partition("/")[0]))


def older_loaded(trial: Trial, runtime: RuntimeUse) -> Situation:
    """The minimum is raised to the installed version, so that a real older one is too old."""
    older = copy_runtime(trial, runtime, "older", trial.older())
    floor = ".".join(trial.case.version.split(".")[:2])
    return Situation(
        arguments=("--runtime-minimum", floor), action=("--preload", trial.machine.path(older)), roots=(older.parent,)
    )


def two_runtimes(trial: Trial, runtime: RuntimeUse) -> Situation:
    """An older copy that is new enough is loaded before the consumer starts."""
    other = copy_runtime(trial, runtime, "other", trial.older())
    return Situation(
        action=("--preload", trial.machine.path(other)), roots=(other.parent,), binds=(trial.older(),), copies=1
    )


def two_packages(trial: Trial, runtime: RuntimeUse) -> Situation:
    """Another package, with a loader of its own, has bound a copy of the runtime, and computes before and after."""
    other = copy_runtime(trial, runtime, "other")
    words = trial.machine.path(trial.library_beside()), trial.machine.path(other)
    return Situation(action=("--beside", *words), roots=(other.parent,), copies=1)


def path(folder: str, names: Literal["file", "folder", "from home"] = "file") -> SetUp:
    """The consumer gets the path of the runtime's copy in a folder, or of that folder; or relative to where it runs."""

    def set_up(trial: Trial, runtime: RuntimeUse) -> Situation:
        library = copy_runtime(trial, runtime, folder)
        if names == "from home":
            return _path(trial, library, shown=library.relative_to(trial.work / "home").as_posix())
        return _path(trial, library, shown=trial.machine.path(library.parent) if names == "folder" else "")

    return set_up


def path_missing(trial: Trial, runtime: RuntimeUse) -> Situation:
    """The consumer gets a path that does not exist."""
    return _path(trial, trial.work / "nowhere" / _plain_name(runtime, trial.case.target))


def path_text(trial: Trial, runtime: RuntimeUse) -> Situation:
    """The consumer gets the path of a text file."""
    file = trial.work / "given" / _plain_name(runtime, trial.case.target)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text(b""))
    return _path(trial, file)


def variable_file(trial: Trial, runtime: RuntimeUse) -> Situation:
    """The environment variable names the file."""
    library = copy_runtime(trial, runtime, "given")
    return Situation(environment={runtime.traits.environment: trial.machine.path(library)}, roots=(library.parent,))


def variable_missing(trial: Trial, runtime: RuntimeUse) -> Situation:
    """The environment variable names a file that does not exist."""
    variable = runtime.traits.environment
    file = trial.machine.path(trial.work / "nowhere" / _plain_name(runtime, trial.case.target))
    return Situation(environment={variable: file}, values={"path": file, "variable": variable})


def decoy(trial: Trial, runtime: RuntimeUse) -> Situation:
    """An older copy under the plain name is in a folder that the system's loader searches first."""
    platform = target(trial.case.target)
    library = trial.library(runtime, trial.older())
    folder = trial.work / "decoy"
    folder.mkdir()
    for name in getattr(runtime.traits.names, platform.system):
        shutil.copyfile(library, folder / name)
    return Situation(environment={platform.library_path: trial.machine.path(folder)})


def decoy_system(trial: Trial, runtime: RuntimeUse) -> Situation:
    """An older copy is in the system's own folder."""
    library = trial.library(runtime, trial.older())
    return Situation(action=("--plant", trial.machine.path(library)))


def odd_folder(trial: Trial, runtime: RuntimeUse) -> Situation:
    """Installed in a folder with an odd name; on Windows an execution provider gets letters of Western Europe alone.

    ONNX Runtime turns the path of a plugin into the system's code page (microsoft/onnxruntime, pull requests 27724 and
    28390 for other paths), and refuses one that does not fit there. No provider can change that.
    """
    is_limited = trial.config.provider(runtime) is not None and target(trial.case.target).system == "windows"
    odd = ODD if trial.consumer.reads_commas else ODD.replace(",", "")
    return Situation(folder=ODD.partition(",")[0] if is_limited else odd)


def pass_module(trial: Trial, _: RuntimeUse) -> Situation:
    """The script that calls an execution provider gets its module."""
    return Situation(arguments=("--module", trial.config.module_name(trial.configured.package)))


def too_old(trial: Trial, _: RuntimeUse) -> Situation:
    """The minimum is raised above the installed version."""
    raised = raised_minimum(trial.case.version)
    return Situation(arguments=("--runtime-minimum", raised), values={"raised": raised})


def other_major(trial: Trial, runtime: RuntimeUse) -> Situation:
    """The library states the next major version."""
    version = trial.case.version
    major = str(int(version.partition(".")[0]) + 1) + version[version.index(".") :]
    if trial.configured.stands_in:
        data = trial.library(runtime, major).read_bytes()
        return Situation(spoil=lambda _: data, values={"major": major})
    return Situation(spoil=lambda data: rename(data, version, major), values={"major": major})


def other_architecture(trial: Trial, runtime: RuntimeUse) -> Situation:
    """The library is the one for the other processor."""
    own_target, other = target(trial.case.target), other_processor(trial.case.target)
    if other is None:
        raise NotRun("no-distribution", f"there is no target like {own_target.rid} for another processor")
    try:
        data = trial.library(runtime, trial.case.version, other.rid).read_bytes()
    except NotRun as error:
        raise NotRun(error.reason, f"no {runtime.traits.title} {trial.case.version} for {other.rid}") from error
    return Situation(spoil=lambda _: data, values={"own": own_target.processor, "other": other.processor})


def dependency_missing(trial: Trial, runtime: RuntimeUse) -> Situation:
    """A library that the runtime needs has another name."""
    library = trial.library(runtime, trial.case.version)
    needed, gone = dependency_of(library)
    return Situation(spoil=lambda data: rename(data, needed, gone), values={"gone": gone})


def companion_missing(trial: Trial, runtime: RuntimeUse) -> Situation:
    """A library that the runtime opens by itself is missing."""
    gone = runtime.traits.list_companions(target(trial.case.target).system, trial.case.version)[-1]
    return Situation(lost=gone, values={"gone": gone})


def other_majors(trial: Trial, runtime: RuntimeUse) -> Situation:
    """The runtime's other major versions are installed, too."""
    others = list(runtime.traits.python.extras.values())[1:]
    return Situation(also=tuple(f"{name}=={trial.shared.installer.resolve(name, trial.python)}" for name in others))


def without_backend(trial: Trial, runtime: RuntimeUse) -> Situation:
    """The package that binds the runtime is not installed."""
    names, package = name_projects(trial.config, trial.configured.package), trial.configured.package
    return Situation(
        without=package, values={"backend": names.get(trial.consumer.kind, package), "runtime": runtime.name}
    )


def copy_runtime(trial: Trial, runtime: RuntimeUse, folder: str, version: str = "") -> Path:
    """The runtime's library of a version, by default the test case's, copied with its neighbours to a new folder."""
    library = trial.library(runtime, version or trial.case.version)
    destination = trial.work / folder
    destination.mkdir(parents=True, exist_ok=True)
    for file in library.parent.iterdir():
        if file.is_file():
            link_or_copy(file, destination / file.name)
    return destination / library.name


def _path(trial: Trial, file: Path, *, shown: str = "") -> Situation:
    argument = shown or trial.machine.path(file)
    return Situation(arguments=("--runtime-path", argument), roots=(file.parent,), values={"path": argument})


def _plain_name(runtime: RuntimeUse, rid: Rid) -> str:
    return runtime.traits.plain_name(target(rid).system)
