"""Runs an sdist's test case: pip builds its wheel in an environment without latebind, and the wheel is imported."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from latebind.backend.cache import callers_home
from latebind.ecosystems.wheel.files import sdist_file
from latebind.errors import LatebindError, NotRun, ToolError
from latebind.model import Artifact, Outcome, State
from latebind.native.buildadvice import find_hook_output, own_words
from latebind.system.files import sha256
from latebind.system.run import run
from latebind.text import plural
from latebind.verify.run.installers import PROXIES, consumer_environment, is_writable
from latebind.verify.run.shared import Environment, empty_environment
from latebind.verify.run.trial import Trial, failing_at

_BUILD_LIMIT, _IMPORT_LIMIT = 1800.0, 300.0
_OF_UV = {
    "UV_INDEX_URL": "PIP_INDEX_URL",
    "UV_DEFAULT_INDEX": "PIP_INDEX_URL",
    "UV_EXTRA_INDEX_URL": "PIP_EXTRA_INDEX_URL",
    "UV_FIND_LINKS": "PIP_FIND_LINKS",
}
"""uv's settings of the index that pip has under another name."""
_OF_THE_MACHINE = ("TMPDIR", "XDG_CONFIG_HOME", "PROCESSOR_ARCHITECTURE", "PROCESSOR_ARCHITEW6432")
"""Other variables that pip and Python read; Python for Windows learns the processor from the last two."""
_NO_INDEX = ("Could not fetch URL", "Retrying (Retry(", "Max retries exceeded", "No matching distribution found for")
"""What pip prints when the index does not answer, or lacks a build requirement."""

_ABSENT = ("No such file", "no such file", "does not exist", "doesn't exist", "not found", "Cannot find", "cannot find")
"""What CMake and compilers print about a file that is not there."""
_ADVICE = "An sdist has native.source, the wheel's folder and latebind.toml: move what the build reads there."
_REPEAT = (
    "pip builds an sdist with this machine's own compiler. To do the same without pip, write "
    'toolchain = "host" below [targets.{}] of latebind.toml, and run: latebind build'
)


def run_sdist_case(trial: Trial) -> Outcome:
    """Build a wheel of each sdist, install them with what they require, and import their modules.

    Raises NotRun `not-built` when an sdist was not made, `no-index` when the index has no build requirements, and
    PhaseError when a wheel cannot be built, installed or imported.
    """
    config, target = trial.config, trial.case.target
    names = [name for name in config.sdist_sources if not config.explain_not_made(name, target)]
    files = {sdist_file(config.wheel_name(name), config.project.version) for name in names}
    sdists = [artifact for artifact in trial.artifacts if artifact.path.name in files]
    if len(sdists) < len(files):
        raise NotRun("not-built", "not every sdist of the project was made")
    with failing_at("install"):
        environment = _make_environment(trial)
        wheels = [_build_wheel(trial, environment, sdist) for sdist in sdists]
        _install(trial, environment, wheels)
    with failing_at("load"):
        _import(trial, environment, [config.module_name(name) for name in names])
    summary = f"pip built {plural(len(wheels), 'wheel')}, which {'was' if len(wheels) == 1 else 'were'} imported"
    return Outcome(case=trial.case, state=State.PASSED, summary=summary)


def _make_environment(trial: Trial) -> Environment:
    """An environment with pip alone."""
    python = trial.interpreters[0]
    machine = msgspec.structs.replace(trial.machine, python=python.path, python_version=python.version)
    installer = trial.shared.installer_for(machine)
    environment = empty_environment(installer, machine, trial.work / "env", target=False, log=trial.log)
    environment.install(["pip"], log=trial.log)
    return environment


def _build_wheel(trial: Trial, environment: Environment, sdist: Artifact) -> Path:
    """The wheel that pip builds from an sdist. Raises NotRun `no-index`, and LatebindError with what went wrong."""
    folder = trial.work / "wheels" / sdist.path.stem
    argv: list[str | Path] = [environment.python, "-I", "-m", "pip", "wheel", "--no-deps"]
    argv += ["--disable-pip-version-check", "--no-input", "--wheel-dir", folder, sdist.path]
    try:
        run(argv, cwd=trial.work, env=_pip_environment(trial, environment), timeout=_BUILD_LIMIT, log=trial.log)
    except ToolError as error:
        words = own_words(error.message)
        if not words and any(phrase in error.message for phrase in _NO_INDEX):
            raise NotRun("no-index", f"pip could not get the build requirements: {error.message}") from error
        words = words or find_hook_output(error.message)  # pip quotes what it printed itself in the same way
        is_about_files = not words or any(phrase in words for phrase in _ABSENT)
        raise LatebindError(
            f"pip cannot build {sdist.path.name}: {words or error.message}",
            advice=_ADVICE if is_about_files else _REPEAT.format(trial.case.target),
        ) from error
    if sha256(sdist.path) != sdist.sha256:
        raise LatebindError(f"{sdist.path.name} changed while it was verified", advice="Run the command again.")
    (wheel,) = folder.glob("*.whl")
    return wheel


def _pip_environment(trial: Trial, environment: Environment) -> dict[str, str]:
    """The environment of a user's pip: the caller's settings for the index, and nothing of latebind."""
    settings = {pip: os.environ[uv] for uv, pip in _OF_UV.items() if uv in os.environ}
    settings |= {
        key: value
        for key, value in os.environ.items()
        if key.startswith(("PIP_", "SSL_")) or key.lower() in PROXIES or key in _OF_THE_MACHINE
    }
    home = callers_home()  # pip's configuration is there
    cache = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    settings.setdefault("PIP_CACHE_DIR", str((cache if is_writable(cache) else trial.shared.folder) / "pip"))
    return {**consumer_environment(environment.python, trial.work), **settings, "HOME": str(home)}


def _install(trial: Trial, environment: Environment, wheels: list[Path]) -> None:
    """Install wheels, the project's others that they require from dist/, and the runtimes, from the index."""
    config = trial.config
    ours = [name for package in config.packages if (name := config.wheel_name(package))]
    folder = trial.artifacts[0].path.parent
    environment.install([*map(str, wheels), *_list_runtimes(trial)], links=folder, ours=ours, log=trial.log)


def _list_runtimes(trial: Trial) -> Iterator[str]:
    """What users who import the modules have of the runtimes: the ordinary distributions."""
    config = trial.config
    bound = {runtime.name for name in config.sdist_sources if (runtime := config.runtime_of(name)) is not None}
    for runtime in (runtime for runtime in config.document.runtime if runtime.name in bound):
        supply = runtime.traits.python
        if supply.extras and supply.is_supplied(supply.extra, trial.case.target):
            yield f"{supply.distribution}>={supply.oldest_of(supply.distribution, runtime.minimum)}"


def _import(trial: Trial, environment: Environment, modules: list[str]) -> None:
    home = trial.work / "home"
    home.mkdir()
    argv: list[str | Path] = [environment.python, "-I", "-c", f"import {', '.join(modules)}"]
    run(argv, cwd=home, env=consumer_environment(environment.python, home), timeout=_IMPORT_LIMIT, log=trial.log)
