"""The clean Python environment of a wheel's test case: the wheels of dist/ by hash and the runtime from the index."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from latebind.compilers.interpreters import choose
from latebind.ecosystems.wheel.files import distribution
from latebind.errors import LatebindError, NotRun
from latebind.model import Artifact
from latebind.system.files import sha256
from latebind.system.limits import Limits
from latebind.system.run import run
from latebind.text import ending
from latebind.verify.run.access import hand_over, is_root, lock
from latebind.verify.run.installers import consumer_environment, installer_environment
from latebind.verify.run.shared import Environment, empty_environment, list_files, runtime_libraries
from loadcheck.facts import ZipReader

if TYPE_CHECKING:
    from latebind.verify.run.trial import Trial


_ONLOAD = Path(__file__).with_name("inside") / "onload.py"
_ONLOAD_LIMITS = Limits(seconds=60, memory=2 * 1024**3, processes=16)
_SUFFIXES = (".so", ".dylib", ".dll")
_SHOWN = 200
_SHARED = ("pyinstaller", "pyinstaller-file")
"""Layouts that need an interpreter with a shared library."""
_AS_INSTALLED = ("venv", "target")
"""Layouts that move no file."""


_PYTHON_LINE = b"#!python"
"""Installers write the interpreter's path in place of it (packaging.python.org, "Binary distribution format")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """An environment with everything in it, and where the consumer runs."""

    environment: Environment
    home: Path
    answers: Path
    """Where the consumer writes."""
    prefix: str
    """The interpreter's own folder."""
    library: str
    """The runtime's installed library, as the consumer's system names it; "" without one."""
    files: Mapping[str, Path]
    """Those of the wheels, by their names in them."""


def make_environment(trial: Trial, wheels: list[Artifact]) -> Installed:
    """Make the environment of a test case. Raises NotRun or LatebindError."""
    situation, machine = trial.situation, trial.machine
    python = choose(trial.interpreters, public=situation.unprivileged and is_root(), shared=situation.layout in _SHARED)
    home, answers = trial.work / "home", trial.work / "answers"
    for folder in (home, answers):
        folder.mkdir(parents=True, exist_ok=True)
    if machine.is_host:
        machine = msgspec.structs.replace(machine, python=python.path, python_version=python.version)
    tool, folder = trial.shared.installer_for(machine), trial.work / situation.folder
    if situation.link_mode:
        tool = dataclasses.replace(tool, link_mode=situation.link_mode)
    environment = empty_environment(tool, machine, folder, target=situation.layout == "target", log=trial.log)
    _fill(trial, environment, wheels)
    _share_byte_code(trial, environment, trial.shared.give_byte_code)
    files = _list_files(environment.site, wheels)
    library = _break_runtime(trial, environment)
    if situation.unprivileged:
        lock(environment.root)
        hand_over(home, answers)
    prefix = python.prefix if machine.is_host else str(machine.base)
    return Installed(environment=environment, home=home, answers=answers, prefix=prefix, library=library, files=files)


def _share_byte_code(trial: Trial, environment: Environment, share: Callable[..., None]) -> None:
    """Give or keep byte-code, unless the scenario moves packages, or has files that are not links into uv's cache."""
    if trial.situation.layout in _AS_INSTALLED and not trial.situation.link_mode:
        share(environment, ours=_names(trial))


def _names(trial: Trial) -> list[str]:
    """The distributions of the project."""
    return [name for package in trial.config.packages if (name := trial.config.wheel_name(package))]


def upgrade(trial: Trial, ready: Installed) -> None:
    """Put the test case's runtime in place of the one that was installed first."""
    ready.environment.install([f"{trial.case.runtime}=={trial.case.version}"], log=trial.log)
    _share_byte_code(trial, ready.environment, trial.shared.give_byte_code)


def keep_compiled(trial: Trial, ready: Installed) -> None:
    """Keep what the consumer's Python compiled for the other test cases of the run."""
    _share_byte_code(trial, ready.environment, trial.shared.keep_byte_code)


def is_left_out(trial: Trial, wheel: Artifact) -> bool:
    """Whether a wheel is not installed: another one that binds a runtime could replace the missing one."""
    if not trial.situation.without:
        return False
    config = trial.config
    binding = [config.wheel_name(name) for name in config.packages if config.runtime_of(name) is not None]
    return any(wheel.path.name.startswith(f"{distribution(name)}-") for name in binding)


def _fill(trial: Trial, environment: Environment, wheels: list[Artifact]) -> None:
    """Install the packages and what they need.

    Raises NotRun `no-distribution` when the index lacks what the test case needs apart from the packages; LatebindError
    when it has all of that: then the packages require something that nobody has.
    """
    names = _names(trial)
    links = wheels[0].path.parent if trial.situation.by_name else None
    try:
        environment.install(_list_requirements(trial, wheels, names), links=links, ours=names, log=trial.log)
        _replace_runtime(trial, environment)
    except NotRun as error:
        if error.reason != "no-distribution":
            raise
        if apart := _apart(trial):
            environment.install(apart, log=trial.log)
        raise LatebindError(f"the packages cannot be installed from the index: {error.message}") from error


def _list_requirements(trial: Trial, wheels: list[Artifact], names: list[str]) -> list[str]:
    """What to install: files of dist/ by path and the runtime by name; or the packages by name, as a user would."""
    if not trial.situation.by_name or trial.bound_runtime is None:
        files = [str(wheel.path) for wheel in wheels]
        return files if _is_too_old(trial) else [*files, *_apart(trial)]
    config, package = trial.config, trial.configured.package
    wheel, main_wheel = config.packages[package].wheel, config.wheel_name(package)
    extra = "" if wheel is not None and wheel.runtime == "required" else f"[{trial.bound_runtime.traits.python.extra}]"
    version = config.project.version  # keeps an index's package of the same name out; a user would not write it
    # The runtime comes by the packages, so naming its version only chooses among those that they admit.
    return [*(f"{name}{extra if name == main_wheel else ''}=={version}" for name in names), *_apart(trial)]


def _is_too_old(trial: Trial) -> bool:
    """Whether the test case's runtime is one that a wheel which requires the runtime does not admit."""
    return trial.scenario.versions == "below"


def _replace_runtime(trial: Trial, environment: Environment) -> None:
    """Uninstall the runtime that a wheel requires, where the test case has another one or none, and install its own.

    Distributions of a runtime have files in common: to uninstall one of them takes files of the others, too, so that
    all are uninstalled.
    """
    if trial.bound_runtime is None or trial.situation.by_name:
        return
    apart = _apart(trial)
    wanted = {canonicalize_name(Requirement(text).name) for text in apart}
    suppliers = {canonicalize_name(name) for name in trial.bound_runtime.traits.python.extras.values()}
    installed = suppliers & environment.list_distributions()
    unwanted = installed - wanted
    if unwanted:
        _uninstall(environment, sorted(installed), trial.log)
    if apart and (unwanted or _is_too_old(trial)):
        environment.install(apart, log=trial.log)


def _uninstall(environment: Environment, names: Sequence[str], log: Path) -> None:
    """Uninstall distributions as a user would. Raises LatebindError if one is still there.

    With --target, uv leaves what RECORD has outside of site-packages, such as tbb's library in lib/.
    """
    tool, files = environment.installer, list_files(environment.site, *names)
    argv: list[str | Path] = [tool.uv, "pip", "uninstall", "--python", sys.executable, "--target"]
    run([*argv, environment.site, *names], env=installer_environment(tool.home), log=log)
    for file in files:
        if file.is_relative_to(environment.root):
            file.unlink(missing_ok=True)
    if remaining := sorted(environment.list_distributions() & set(names)):
        raise LatebindError(f"{remaining[0]} is still there after uv uninstalled it")


def _apart(trial: Trial) -> list[str]:
    """What a test case needs apart from the packages: the runtime, and what its consumer requires."""
    version = trial.situation.first or trial.case.version
    runtime = [f"{trial.case.runtime}=={version}"] if version else []
    return [*runtime, *trial.config.document.verify.python_requires, *trial.situation.also]


def _list_files(site: Path, wheels: list[Artifact]) -> dict[str, Path]:
    """The files of our wheels, which have the very bytes of dist/, whose hashes the report has."""
    for wheel in wheels:
        if sha256(wheel.path) != wheel.sha256:
            raise LatebindError(f"{wheel.path.name} changed while it was verified", advice="Run the command again.")
    return {name: place for wheel in wheels for name, place in list_installed(site, wheel.path)}


def _break_runtime(trial: Trial, environment: Environment) -> str:
    """Break the installed runtime as the scenario asks; return its path as the consumer's system names it."""
    if trial.bound_runtime is None or not trial.case.version or trial.scenario.versions == "below":
        return ""
    libraries = runtime_libraries(trial.bound_runtime, environment.site, trial.case.target)
    trial.situation.break_files(libraries)
    return trial.machine.path(libraries[0])


def disturbances(ready: Installed, log: Path) -> list[str]:
    """What the wheels' libraries do as soon as they are loaded, a sentence each; each is loaded in its own process.

    Whatever a library does then, it does to every host. No consumer notices a line on its output, a signal handler
    replaced, or a process ended with status 0 before anything was computed.
    """
    return [
        problem
        for name, place in sorted(ready.files.items())
        if name.endswith(_SUFFIXES) or ".so." in name
        for problem in _disturbances_of(place, ready.environment, ready.home, log)
    ]


def _disturbances_of(library: Path, environment: Environment, home: Path, log: Path) -> Iterator[str]:
    out = home / "changed.json"
    out.unlink(missing_ok=True)
    argv: list[str | Path] = [environment.python, "-I", _ONLOAD, out, library]
    env = consumer_environment(environment.python, home)
    ended = run(argv, cwd=home, env=env, check=False, log=log, limits=_ONLOAD_LIMITS)
    if ended.output.strip():
        yield f"{library.name} prints when it is loaded: {ended.output.strip()[:_SHOWN]}"
    if not out.is_file():
        yield f"the process {ending(ended.returncode)} when it loaded {library.name}"
        return
    yield from (f"{library.name} changes {what} when it is loaded" for what in json.loads(out.read_bytes()))


def list_installed(site: Path, wheel: Path) -> Iterator[tuple[str, Path]]:
    """Each file of a wheel, and where it is installed in `site` with the very bytes that the wheel has; without RECORD.

    The files of `NAME.data/SCHEME/` are where the installed RECORD says.

    Raises LatebindError for a file that is missing or differs, but for the first line of a script.
    """
    with ZipReader(wheel) as archive:
        names = [member.name for member in archive.members if not member.is_folder]
        record = next(name for name in names if name.endswith(".dist-info/RECORD"))
        written = Distribution.at(site / PurePosixPath(record).parent).files or []
        rows = [PurePosixPath(row) for row in written]
        for name in names:
            if name == record:
                continue
            scheme, path = _split_data(PurePosixPath(name))
            ends = [row for row in rows if row.parts[-len(path.parts) :] == path.parts] if scheme else [path]
            places = [site / row for row in ends]
            if scheme and not any(place.is_file() for place in places):
                places = list(site.rglob(path.name))  # pip --target moves scripts, and not their rows in RECORD
            data = archive.read(name)
            place = next((one for one in places if _is_copy(one, data, scheme)), None)
            if place is None:
                raise LatebindError(
                    f"{name} of {wheel.name} is not installed, or differs: {places[0] if places else site}"
                )
            yield name, place


def _split_data(path: PurePosixPath) -> tuple[str, PurePosixPath]:
    """The scheme of a file in `NAME.data/`, and its path in it; "" for a file that belongs into site-packages."""
    if len(path.parts) > 2 and path.parts[0].endswith(".data"):  # noqa: PLR2004  # the folder, the scheme, the file
        return path.parts[1], PurePosixPath(*path.parts[2:])
    return "", path


def _is_copy(place: Path, data: bytes, scheme: str) -> bool:
    if not place.is_file():
        return False
    found = place.read_bytes()
    is_rewritten = scheme == "scripts" and data.startswith(_PYTHON_LINE)
    return found.endswith(data.partition(b"\n")[2]) if is_rewritten else found == data
