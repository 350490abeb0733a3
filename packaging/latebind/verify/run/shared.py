"""What test cases share and is made once: data that consumers compute, references, runtimes, byte-code."""

from __future__ import annotations

import csv
import fnmatch
import hashlib
import json
import os
import shutil
import sys
import threading
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import Version

from latebind.backend.targets import target
from latebind.config.verification import ANY_VERSION
from latebind.errors import InputError, ToolError
from latebind.system.files import copy_file, sha256
from latebind.system.run import run
from latebind.text import DOCS, decisive_line, ending
from latebind.verify.run.installers import Installer, consumer_environment, foreign_installer, python_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from latebind.backend.targets import Rid
    from latebind.config.runtime import RuntimeUse
    from latebind.config.verification import Verify, VerifyData
    from latebind.verify.run.machine import Machine

OF_THIS_RUN = "shared"
"""The folder of what only the test cases of one run share."""
PASSED = "LATEBIND_PASSED"
"""The variable that names a JSON file for the reference: a list of cases that passed and that it may leave out."""
ONLY = "LATEBIND_ONLY"
"""The variable that names a JSON file for the reference: a list of cases, if it is not asked about all."""
_LEFT_OUT, _ONLY = "left-out.json", "only.json"
_TIME_LIMIT = 900.0
_BYTE_CODE = threading.Lock()
"""So that nobody reads byte-code that is half written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """A virtual environment, and a folder of packages next to it when they are installed with `--target`."""

    installer: Installer
    machine: Machine
    root: Path
    """Everything that is installed is below it."""
    packages: Path | None
    """The folder of packages that is added to sys.path; None for those of the virtual environment."""

    @property
    def python(self) -> Path:
        """The interpreter."""
        return self.machine.python_of(self.root)

    @property
    def site(self) -> Path:
        """Where packages are."""
        return self.packages or self.machine.site_packages(self.root)

    def install(
        self, requirements: Sequence[str], *, links: Path | None = None, ours: Sequence[str] = (), log: Path
    ) -> None:
        """Install as Installer.install() does."""
        self.installer.install(self.root, requirements, into=self.packages, links=links, ours=ours, log=log)

    def list_distributions(self) -> set[str]:
        """The names of what is installed."""
        return {canonicalize_name(path.name.partition("-")[0]) for path in list_metadata(self.site)}


def empty_environment(tool: Installer, machine: Machine, folder: Path, *, target: bool, log: Path) -> Environment:
    """An empty environment of a machine; with `target`, packages will be in a folder of their own."""
    tool.create(folder, machine.python, log)
    packages = folder / "packages" if target else None
    if packages is not None:
        packages.mkdir()
    return Environment(installer=tool, machine=machine, root=folder, packages=packages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What test cases share: made below one folder, each once, also when several ask at the same time."""

    root: Path
    """The project's folder."""
    verify: Verify
    folder: Path
    installer: Installer
    pins: tuple[str, ...] = ()
    """[verify] python_requires at the versions that the index has now: for keys. An environment may need older ones."""
    _locks: defaultdict[Path, threading.RLock] = field(default_factory=lambda: defaultdict(threading.RLock))
    """One for each thing that is made."""

    def data(self, settings: VerifyData | None, version: str) -> Path:
        """The folder of prepared data for a version of the runtime; versions with the same requirements share it.

        Raises ToolError when the project's script fails, InputError when it writes nothing.
        """
        if settings is None:
            empty = self.folder / "data" / "none"
            empty.mkdir(parents=True, exist_ok=True)
            return empty
        script = self.root / settings.script
        requires = choose_requirements(settings, version)
        folder = self.folder / "data" / hash_parts(_neighbours(script), *requires)
        with self.once(folder) as aside:
            if aside is not None:
                self._prepare(script, requires, aside)
        return folder

    def _prepare(self, script: Path, requires: tuple[str, ...], folder: Path) -> None:
        with _scratch(folder) as (env, log):
            self.installer.create(env, Path(sys.executable), log)
            if requires:
                self.installer.install(env, requires, log=log)
            argv: list[str | Path] = [python_of(env), "-I", script, folder]
            run(argv, env=consumer_environment(python_of(env), folder), timeout=_TIME_LIMIT, log=log)
            if not any(folder.iterdir()):
                advice = "Write at least one file into the folder that the script gets as its argument."
                raise InputError("the data script wrote nothing", where=str(script), advice=advice)

    def reference(  # noqa: PLR0913  # what is computed, where, and what need not be
        self,
        machine: Machine,
        runtime: str,
        data: Path,
        arguments: tuple[str, ...] = (),
        *,
        passed: Collection[str] = (),
        is_settled: Callable[[str], bool] = lambda _: False,
        only: Collection[str] = (),
    ) -> frozenset[str] | None:
        """The names of the cases that a runtime's own API (`onnxruntime==1.31.1`) passes; None without a reference.

        The script may leave out the cases in `passed`, and all that are not in `only` where that names some. What it
        computed for another test case serves again if each case that it could leave out then `is_settled` now.

        Raises NotRun when the index has no such runtime, ToolError when the project's script fails.
        """
        if not self.verify.reference:
            return None
        path = self.root / self.verify.reference
        key = hash_parts(_neighbours(path), data.name, runtime, machine.rid, machine.title, *arguments, *self.pins)
        folder = self.folder / "reference" / key
        with self._locks[folder]:
            for file in sorted(folder.glob(f"*/{_LEFT_OUT}")):
                if all(map(is_settled, json.loads(file.read_bytes()))):
                    return _read_passed(file.parent)
            for file in sorted(folder.glob(f"*/{_ONLY}")):
                if only and not set(only).difference(json.loads(file.read_bytes())):
                    return _read_passed(file.parent)
            answer = folder / hash_parts(*sorted(only or passed), *([_ONLY] if only else []))
            with self.once(answer) as aside:
                if aside is not None:
                    names = sorted(only or passed)
                    (aside / (_ONLY if only else _LEFT_OUT)).write_text(json.dumps(names), encoding="utf-8")
                    self._compute(machine, [path, "--reference", *arguments, "--cases", data], runtime, aside)
            return _read_passed(answer)

    def _compute(self, machine: Machine, argv: list[str | Path], runtime: str, folder: Path) -> None:
        with _scratch(folder) as (env, log):
            environment = empty_environment(self.installer_for(machine), machine, env, target=False, log=log)
            environment.install([runtime, *self.verify.python_requires], log=log)
            self.give_byte_code(environment)
            command = machine.argv(environment.python, "-I", *argv, "--out", folder / "result.json")
            variables = consumer_environment(environment.python, env)
            for variable, name in ((PASSED, _LEFT_OUT), (ONLY, _ONLY)):
                variables |= {variable: machine.path(folder / name)} if (folder / name).is_file() else {}
            ended = run(command, cwd=env, env=variables, timeout=_TIME_LIMIT, log=log)
            self.keep_byte_code(environment)
            if not (folder / "result.json").is_file():
                why = decisive_line(ended.output)
                raise ToolError(
                    f"the reference script {ending(ended.returncode)} and wrote no result{f': {why}' if why else ''}",
                    where=str(argv[0]),
                    advice=f"Run the script alone with {runtime} installed; {DOCS}/consumers.md describes its result.",
                )

    def library(self, runtime: RuntimeUse, version: str, rid: Rid) -> Path:
        """The runtime's shared library of a version, unpacked from its wheel for a target.

        Raises NotRun when the index has no such wheel, InputError when the wheel holds no shared runtime.
        """
        name = runtime.traits.python.distribution
        folder = self.folder / "runtimes" / f"{name}-{version}-{rid}"
        with self.once(folder) as aside:
            if aside is not None:
                self.installer.unpack(f"{name}=={version}", aside, rid, self.folder / "runtimes.log", for_any=True)
        return runtime_libraries(runtime, folder, rid)[0]

    def fill(self, key: str, log: Path, make: Callable[[Path, Path], object]) -> Path:
        """The folder that `make` fills for the first test case of a run that needs what `key` stands for.

        `make` gets the folder and a log of its own. What that log holds is added to `log`, also when `make` fails.
        """
        folder = self.folder / OF_THIS_RUN / key
        shared_log = folder.with_suffix(".log")
        with self._locks[folder]:  # the next one that tries, after this one failed, begins a new log
            try:
                with self.once(folder) as aside:
                    if aside is not None:
                        shared_log.unlink(missing_ok=True)
                        make(aside, shared_log)
            finally:
                if shared_log.is_file():
                    log.parent.mkdir(parents=True, exist_ok=True)
                    with log.open("a", encoding="utf-8") as file:
                        file.write(shared_log.read_text("utf-8"))
        return folder

    def give_byte_code(self, environment: Environment, *, ours: Collection[str] = ()) -> None:
        """Copy the byte-code that is kept for the installed distributions, without those named in `ours`, next to them.

        uv installs sources only, so that each environment would compile NumPy anew, which takes a second on an emulated
        machine and little on this one. Python does not use byte-code of a source with another time or size.
        """
        for metadata, folder in self._list_byte_code(environment, ours):
            with _BYTE_CODE:
                for kept in sorted(folder.rglob("*.pyc")):
                    copy_file(kept, metadata.parent / kept.relative_to(folder))

    def keep_byte_code(self, environment: Environment, *, ours: Collection[str] = ()) -> None:
        """Keep what Python wrote since. What is in `ours` may change and keep its version."""
        tag = f"cpython-{''.join(environment.machine.python_version.split('.')[:2])}"
        for metadata, folder in self._list_byte_code(environment, ours):
            for name in _list_compiled(metadata, tag):
                written, kept = metadata.parent / name, folder / name
                if written.is_file() and not kept.exists():
                    with _BYTE_CODE:
                        copy_file(written, kept)

    def _list_byte_code(self, environment: Environment, ours: Collection[str]) -> Iterator[tuple[Path, Path]]:
        """The metadata of each distribution on another machine than this one, and the folder of its byte-code."""
        machine, without = environment.machine, set(map(canonicalize_name, ours))
        store = self.folder / OF_THIS_RUN / "bytecode" / f"{machine.rid}-{machine.python_version}"
        for metadata in list_metadata(environment.site) if not machine.is_host else ():
            if canonicalize_name(metadata.name.partition("-")[0]) not in without:
                yield metadata, store / metadata.name

    def installer_for(self, machine: Machine) -> Installer:
        """What fills environments of a machine from here."""
        return self.installer if machine.is_host else foreign_installer(machine, self.installer)

    @contextmanager
    def once(self, destination: Path) -> Iterator[Path | None]:
        """A folder to fill, renamed to `destination` afterwards; None when it was made before."""
        with self._locks[destination]:
            if destination.is_dir():
                yield None
                return
            aside = destination.with_name(f".{destination.name}.part")
            shutil.rmtree(aside, ignore_errors=True)
            aside.mkdir(parents=True)
            try:
                yield aside
                aside.rename(destination)
            finally:
                shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def _scratch(folder: Path) -> Iterator[tuple[Path, Path]]:
    """The place of an environment that is needed to fill a folder and removed afterwards, and of its log."""
    env = folder.with_suffix(".env")
    shutil.rmtree(env, ignore_errors=True)
    try:
        yield env, folder.with_suffix(".log")
    finally:
        shutil.rmtree(env, ignore_errors=True)


def choose_requirements(settings: VerifyData, version: str) -> tuple[str, ...]:
    """What the data script needs for a runtime's version: the list of the newest key up to it, else of the oldest key.

    "" stands for a test case without a runtime.
    """
    keys = sorted((key for key in settings.requires if key != ANY_VERSION), key=Version)
    reached = [key for key in keys if version and Version(key) <= Version(version)]
    return settings.requires.get((reached[-1:] or keys[:1] or [ANY_VERSION])[0], ())


def _read_passed(folder: Path) -> frozenset[str]:
    return frozenset(json.loads((folder / "result.json").read_text("utf-8"))["passed"])


def runtime_libraries(runtime: RuntimeUse, site: Path, rid: Rid) -> list[Path]:
    """The runtime's shared library below a folder that its wheel was installed into, and its copies.

    Some wheels hold one with a version in its name and one without. Raises InputError when there is none.
    """
    preset = runtime.traits
    globs = preset.list_files(target(rid).system)
    python = preset.python
    folders = [folder for below in python.folders if (folder := site / below).exists()]
    if not folders and not python.prefix:
        raise InputError(f"{preset.title} was not installed", where=str(site / python.folder))
    files = [path for folder in folders for path in sorted(folder.glob("*"))]
    files += list_files(site, *python.extras.values()) if python.prefix else []
    libraries = [path for path in files if any(fnmatch.fnmatch(path.name, glob) for glob in globs)]
    if not libraries:
        text = f"{preset.title} is installed without a shared library"
        raise InputError(text, where=str(folders[0] if folders else site))
    return libraries


def list_metadata(site: Path, *distributions: str) -> list[Path]:
    """The metadata of some distributions, or of all that are installed."""
    every, names = sorted(site.glob("*.dist-info")), set(map(canonicalize_name, distributions))
    return [path for path in every if not names or canonicalize_name(path.name.partition("-")[0]) in names]


def list_files(site: Path, *distributions: str) -> list[Path]:
    """The files of some distributions, wherever installers put them."""
    metadata = [path for path in list_metadata(site, *distributions) if (path / "RECORD").is_file()]
    return [Path(os.path.normpath(site / name)) for each in metadata for name in read_record(each)]


def read_record(metadata: Path) -> list[str]:
    """The files of a distribution, from site-packages."""
    with (metadata / "RECORD").open(encoding="utf-8", newline="") as lines:
        return [row[0] for row in csv.reader(lines) if row]


def _list_compiled(metadata: Path, tag: str) -> Iterator[Path]:
    """Where Python puts the byte-code of a distribution's modules, in site-packages."""
    if not (metadata / "RECORD").is_file():
        return
    for name in map(Path, read_record(metadata)):
        if name.suffix == ".py" and not name.is_absolute() and ".." not in name.parts:
            yield name.parent / "__pycache__" / f"{name.stem}.{tag}.pyc"


def hash_parts(*parts: str) -> str:
    """A short name for what is made from these."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _neighbours(script: Path) -> str:
    """A hash of a script and of the files next to it, which it may read."""
    return "".join(f"{path.name} {sha256(path)}" for path in sorted(script.parent.iterdir()) if path.is_file())
