"""What cells share and is made once: the data that consumers compute, and runtimes unpacked from their wheels."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import shutil
import sys
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.errors import InputError
from latebind.system.archive import sha256
from latebind.system.run import run
from latebind.tables.targets import target
from latebind.verify.plan.foreign import foreign_installer
from latebind.verify.plan.installers import Installer, consumer_environment, python_of
from latebind.verify.run.environment import empty_environment
from latebind.verify.run.feed import assemble_runtime_nupkg

if TYPE_CHECKING:
    from latebind.config.config import Config
    from latebind.config.document import RuntimeUse, VerifyData
    from latebind.model import Rid
    from latebind.verify.plan.machine import Machine

_TIME_LIMIT = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """Makes things below one folder, each once, also when several cells ask at the same time."""

    config: Config
    folder: Path
    installer: Installer
    pins: tuple[str, ...] = ()
    """[verify] python_requires at the versions that the index has now: for keys. An environment may need older ones."""
    _locks: defaultdict[Path, threading.Lock] = field(default_factory=lambda: defaultdict(threading.Lock))
    """One for each thing that is made: whoever asks for another does not wait."""

    def data(self, settings: VerifyData | None, entry: str) -> Path:
        """The folder of prepared data for an entry of the runtime's versions (`minimum`, `latest`, `1.22`).

        Raises ToolError when the project's script fails, InputError when it writes nothing.
        """
        if settings is None:
            return self._empty()
        script = self.config.root / settings.script
        requires = settings.requires.get(entry) or settings.requires.get("default", ())
        if not script.is_file():
            raise InputError(
                "the script of [verify] data is not there", where=str(script), advice="Set verify.data.script."
            )
        key = hashlib.sha256("\0".join([_beside(script), *requires]).encode()).hexdigest()[:16]
        made = self.folder / "data" / key
        with self._locks[made]:
            if not made.is_dir():
                self._prepare(script, requires, made)
        return made

    def reference(
        self, machine: Machine, runtime: str, data: Path, words: tuple[str, ...] = ()
    ) -> frozenset[str] | None:
        """The names of the cases that the own API of a runtime (`onnxruntime==1.31.1`) computes as expected somewhere.

        None without [verify] reference. Raises NotRun when the index has no such runtime, ToolError when the
        project's script fails.
        """
        script = self.config.document.verify.reference
        if not script:
            return None
        path = self.config.root / script
        parts = [_beside(path), data.name, runtime, machine.rid, machine.title, *words, *self.pins]
        key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
        made = self.folder / "reference" / f"{key}.json"
        with self._locks[made]:
            if not made.is_file():
                self._compute_reference(machine, [path, "--reference", *words, "--cases", data], runtime, made)
        return frozenset(json.loads(made.read_text("utf-8"))["passed"])

    def library(self, use: RuntimeUse, version: str, rid: Rid) -> Path:
        """The runtime's shared library of a version, unpacked from its wheel for a target.

        Raises NotRun when the index has no such wheel, InputError when the wheel holds no shared runtime.
        """
        known = use.known
        name = known.python.distribution
        made = self.folder / "runtimes" / f"{name}-{version}-{rid}"
        with self._locks[made]:
            if not made.is_dir():
                aside = made.with_name(f".{made.name}.part")
                shutil.rmtree(aside, ignore_errors=True)
                aside.mkdir(parents=True)
                self.installer.unpack(f"{name}=={version}", aside, rid, self.folder / "runtimes.log")
                aside.rename(made)
        return runtime_library(use, made, rid)

    def runtime_nupkg(self, use: RuntimeUse, version: str, rid: Rid) -> Path:
        """The runtime's nupkg around the library of its wheel. Raises as `library` does."""
        library = self.library(use, version, rid)
        made = self.folder / "nupkgs" / f"{use.known.python.distribution}-{version}-{rid}"
        with self._locks[made]:
            if not made.is_dir():
                aside = made.with_name(f".{made.name}.part")
                shutil.rmtree(aside, ignore_errors=True)
                assemble_runtime_nupkg(library, version, aside, rid=rid, runtime=use.known)
                aside.rename(made)
        return next(made.glob("*.nupkg"))

    def _compute_reference(self, machine: Machine, argv: list[str | Path], runtime: str, made: Path) -> None:
        env, log = made.with_suffix(".env"), made.with_suffix(".log")
        aside = made.with_suffix(".part")
        shutil.rmtree(env, ignore_errors=True)
        env.parent.mkdir(parents=True, exist_ok=True)
        try:
            environment = empty_environment(self.installer_for(machine), machine, env, target=False, log=log)
            environment.install([runtime, *self.config.document.verify.python_requires], log=log)
            run(
                machine.argv(environment.python, "-I", *argv, "--out", aside),
                cwd=env,
                env=consumer_environment(environment.python, env),
                timeout=_TIME_LIMIT,
                log=log,
            )
            aside.replace(made)
        finally:
            shutil.rmtree(env, ignore_errors=True)

    def installer_for(self, machine: Machine) -> Installer:
        """What fills environments of a machine from here. Raises NotRun for another machine's without uv."""
        return self.installer if machine.is_host else foreign_installer(machine, self.installer.home)

    def _prepare(self, script: Path, requires: tuple[str, ...], made: Path) -> None:
        aside, env = made.with_name(f".{made.name}.part"), made.with_name(f".{made.name}.env")
        log = made.with_suffix(".log")
        for folder in (aside, env):
            shutil.rmtree(folder, ignore_errors=True)
        aside.mkdir(parents=True)
        try:
            self.installer.create(env, Path(sys.executable), log)
            if requires:
                self.installer.install(env, requires, log=log)
            argv: list[str | Path] = [python_of(env), "-I", script, aside]
            run(argv, env=consumer_environment(python_of(env), aside), timeout=_TIME_LIMIT, log=log)
            if not any(aside.iterdir()):
                raise InputError("the script of [verify] data wrote nothing", where=str(script))
            aside.rename(made)
        finally:
            shutil.rmtree(env, ignore_errors=True)
            shutil.rmtree(aside, ignore_errors=True)

    def _empty(self) -> Path:
        folder = self.folder / "data" / "none"
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def runtime_library(use: RuntimeUse, site: Path, rid: Rid) -> Path:
    """The runtime's shared library below a folder that its wheel was installed into. Raises as its plural does."""
    return runtime_libraries(use, site, rid)[0]


def runtime_libraries(use: RuntimeUse, site: Path, rid: Rid) -> list[Path]:
    """The same, and its copies: some wheels hold one with a version in its name, and one without.

    Raises InputError when there is none.
    """
    known = use.known
    system = target(rid).system
    globs = (*getattr(known.names, system), *getattr(known.globs, system))
    folder = site / known.python.folder
    found = [path for path in sorted(folder.glob("*")) if any(fnmatch.fnmatch(path.name, g) for g in globs)]
    if not found:
        raise InputError(f"{known.title} is installed without a shared library", where=str(folder))
    return found


def _beside(script: Path) -> str:
    """A hash of a script and of the files that lie beside it, which it may read."""
    return "".join(f"{path.name} {sha256(path)}" for path in sorted(script.parent.iterdir()) if path.is_file())
