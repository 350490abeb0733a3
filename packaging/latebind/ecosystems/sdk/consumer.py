"""Runs an SDK archive's test case: a program in C or C++ that CMake or pkg-config finds the unpacked archive for.

It is built by this machine for any target, and run by a machine of the target.
"""

from __future__ import annotations

import zipfile
from dataclasses import replace
from functools import partial
from pathlib import Path

from latebind.ecosystems.sdk.files import sdk_file
from latebind.errors import NotRun
from latebind.model import Outcome, State
from latebind.system.archive import unpack_tar
from latebind.verify.cases.scenarios import CMAKE, PKG_CONFIG
from latebind.verify.cases.situations import copy_runtime
from latebind.verify.declared import Consumer
from latebind.verify.run.judge import judge_program
from latebind.verify.run.native import STOOD_IN, build_program, build_with_pkg_config, library_folder, share_program
from latebind.verify.run.protocol import run_program
from latebind.verify.run.shared import runtime_libraries
from latebind.verify.run.trial import Trial, failing_at

_SUPPLIED = "the runtime's library was taken from its PyPI wheel"


def run_sdk_case(trial: Trial) -> Outcome:
    """Unpack, build, run and judge.

    Raises NotRun without the archive or a compiler, PhaseError when building fails and when the program wrote no
    result.
    """
    cases = trial.data()
    source = trial.config.root / trial.config.document.verify.sdk
    with failing_at("install"):
        packages, program = share_program(
            trial,
            source,
            "",
            partial(_unpack_archive, trial),
            partial(_build, trial),
            alone=trial.situation.is_elsewhere,  # the runtime is elsewhere
        )
    folder, library = _runtime(trial)
    ended = run_program(trial, program, cases, folder, name="the program")
    outcome = judge_program(trial, ended, library, packages)
    if outcome.state is not State.PASSED or not library:
        return outcome
    supplied = STOOD_IN if trial.configured.stands_in else _SUPPLIED
    return replace(outcome, facts={**outcome.facts, "runtime_library": supplied})


def _unpack_archive(trial: Trial, folder: Path) -> None:
    """Unpack the archive, which has one folder. Raises NotRun when it was not made."""
    name = sdk_file(trial.config.project, trial.case.target)
    path = next((artifact.path for artifact in trial.artifacts if artifact.path.name == name), None)
    if path is None:
        raise NotRun("not-built", f"{name} was not made")
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
    else:
        unpack_tar(path, folder)


def _build(trial: Trial, packages: Path, tree: Path, log: Path) -> None:
    source, prefix = trial.config.root / trial.config.document.verify.sdk, next(packages.iterdir())
    if trial.case.consumer == PKG_CONFIG:
        build_with_pkg_config(source, tree, prefix, log=log)
        return
    # CMake searches lib64 and the triplet's folder on some systems only, and each prefix for <name>*/ everywhere.
    defines = (f"-DCMAKE_PREFIX_PATH={prefix};{library_folder(prefix) / 'cmake'}",)
    build_program(trial, source, tree, *defines, log=log)


def _runtime(trial: Trial) -> tuple[Path, str]:
    """A folder with the runtime's files as the scenario leaves them, and how its library is named there.

    The folder is empty, and the name "", where the test case has no runtime.
    """
    runtime, folder = trial.bound_runtime, trial.work / "runtime"
    if runtime is None or not trial.case.version:
        folder.mkdir()
        return folder, ""
    library = copy_runtime(trial, runtime, f"runtime/{runtime.traits.python.folder}")
    trial.situation.break_files(runtime_libraries(runtime, folder, trial.case.target))
    return library.parent, trial.machine.path(library)


_CMAKE = Consumer(
    names=(CMAKE,),
    kind="sdk",
    run=run_sdk_case,
    is_cross_built=True,
    reads_commas=False,  # CMake gives a linker the folder of a library in words that commas separate
    finds_any=True,
    table="sdk",
    program="sdk",
    suits=lambda config, runtime: config.package_of(runtime) in config.sdk_packages,
    find_runtime=lambda runtime: runtime.traits.python.distribution,
)
CONSUMERS = (_CMAKE, replace(_CMAKE, names=(PKG_CONFIG,), is_cross_built=False))
