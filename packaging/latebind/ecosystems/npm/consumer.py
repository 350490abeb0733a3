"""Runs an npm package's test case: a Node.js program, for which npm installs the project's tarballs and the runtime.

npm runs no scripts, so what is installed is what the packages ask for.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from latebind.backend.targets import target, targets
from latebind.backend.tree import hash_tree, link_or_copy
from latebind.config.config import Config
from latebind.config.runtime import RuntimeUse
from latebind.ecosystems.npm.config import npm_tables
from latebind.ecosystems.npm.files import npm_file, npm_target
from latebind.ecosystems.npm.layouts import LAYOUTS, ORDINARY, find_layout, install_layout, list_stores
from latebind.ecosystems.npm.programs import NPM_INSTALL, NPM_TARBALLS, answer, find_program, node_environment, run_npm
from latebind.errors import InputError, NotRun
from latebind.model import Outcome
from latebind.system.files import sha256
from latebind.verify.cases.scenarios import NPM_LOADER
from latebind.verify.declared import Consumer
from latebind.verify.run.judge import expect, judge
from latebind.verify.run.loading import load_libraries
from latebind.verify.run.protocol import ConsumerRun, run_consumer
from latebind.verify.run.shared import hash_parts
from latebind.verify.run.trial import Trial, assert_first, failing_at

NODE = "node"
"""A Node.js program that npm installs the packages for; also its key in [verify]."""


class _Program(msgspec.Struct, frozen=True):
    """What is read of a program's package.json."""

    main: str
    dependencies: dict[str, str] = {}
    optional: dict[str, str] = msgspec.field(default_factory=dict, name="optionalDependencies")


def run_node_case(trial: Trial) -> Outcome:
    """Install, run and judge.

    Raises NotRun without Node.js, without the packages, or when npm's registry does not answer; PhaseError when
    installing fails, and when the program wrote no result.
    """
    app = trial.work / trial.situation.folder
    tarballs = _lay_out(trial, app)
    if first := trial.situation.first:
        assert_first(_run_program(trial, _install_program(trial, app, tarballs, first)).result.version, first)
    program = _install_program(trial, app, tarballs, trial.case.version)
    is_ordinary = find_layout(trial.case.consumer) is ORDINARY
    library = _break_runtime(trial, app) if is_ordinary else ""
    ended = _run_program(trial, program)
    stores = () if is_ordinary else list_stores(trial.shared.installer.home)
    return judge(trial.case, expect(trial, ended, library, app, *stores, *trial.situation.roots), ended)


def run_loader_case(trial: Trial) -> Outcome:
    """Install the packages as npm does on a computer of the target, and load their libraries.

    Raises NotRun without npm or the packages, PhaseError when npm installs another target's, and as load_libraries().
    """
    app, tarballs = trial.work / "app", _ours(trial)
    app.mkdir()
    system, cpu, *libc = target(trial.case.target).npm.split("-")
    mains = {table.name for table in npm_tables(trial.config.packages).values()}
    files = {name: f"file:{path}" for name, path in tarballs.items()}
    manifest = {
        "private": True,
        "dependencies": {name: file for name, file in files.items() if name in mains},
        "optionalDependencies": {name: file for name, file in files.items() if name not in mains},
    }
    (app / "package.json").write_text(json.dumps(manifest), encoding="utf-8")
    computer = f"--os={system}", f"--cpu={cpu}", f"--libc={''.join(libc) or 'glibc'}"
    with failing_at("install"):
        run_npm([*NPM_INSTALL, "--prefer-offline", *computer], app, trial.shared.installer.home, trial.log)
        folders = {name: app / "node_modules" / name for name in files}
        installed = {name for name, folder in folders.items() if folder.is_dir()} - mains
        expected = {npm_target(main, trial.case.target) for main in mains}
        if installed != expected:
            shown = ", ".join(sorted(installed)) or "no package of a target"
            raise InputError(f"npm installed {shown} for {system} on {cpu}, expected {', '.join(sorted(expected))}")
    return load_libraries(trial, *(folders[name] for name in sorted(expected)))


def _lay_out(trial: Trial, app: Path) -> dict[str, Path]:
    """Copy the program and the project's tarballs into the folder of the application; the tarballs by their names."""
    source = trial.config.root / trial.config.document.verify.find_program(NODE)
    shutil.copytree(source, app, ignore=shutil.ignore_patterns("node_modules"))
    (app / NPM_TARBALLS).mkdir()
    ours = _ours(trial)
    for path in ours.values():
        shutil.copyfile(path, app / NPM_TARBALLS / path.name)
    return ours


def _ours(trial: Trial) -> dict[str, Path]:
    """The project's npm packages by name, also of other targets, without the one that the situation leaves out.

    Raises NotRun when the main one or that of the target is missing.
    """
    version, paths = trial.config.project.version, {artifact.path.name: artifact.path for artifact in trial.artifacts}
    tarballs: dict[str, Path] = {}
    tables = npm_tables(trial.config.packages)
    for main in (table.name for name, table in tables.items() if name != trial.situation.without):
        needed = (main, npm_target(main, trial.case.target))
        for npm_name in (main, *(npm_target(main, rid) for rid in targets())):
            file = npm_file(npm_name, version)
            if file in paths:
                tarballs[npm_name] = paths[file]
            elif npm_name in needed:
                raise NotRun("not-built", f"{file} was not made")
    return tarballs


def _install_program(trial: Trial, app: Path, tarballs: Mapping[str, Path], version: str) -> Path:
    """Install the packages, and a version of the runtime ("" for none), from npm's cache. The program to start."""
    manifest = _manifest(trial, app, tarballs, version)
    (app / "package.json").write_text(json.dumps(manifest, indent=2), encoding="utf-8")
    layout = find_layout(trial.case.consumer)
    for name, text in layout.files.items():
        (app / name).write_text(text, encoding="utf-8")
    home = trial.shared.installer.home
    with failing_at("install"):
        if layout.installer:
            install_layout(layout, app, home, trial.log)
        # An upgrade changes what is installed, and whether npm can install in an odd folder is part of the test case.
        elif (app / "node_modules").is_dir() or trial.situation.is_elsewhere:
            run_npm([*NPM_INSTALL, "--prefer-offline"], app, home, trial.log)
        else:
            kept = {name: wanted for name, wanted in manifest["dependencies"].items() if name not in layout.needs}
            _copy_modules(trial, app, {**manifest, "dependencies": kept})
            if layout.needs:
                run_npm([*NPM_INSTALL, "--prefer-offline"], app, home, trial.log)
        layout.arrange(app, [name for name in tarballs if name in manifest["optionalDependencies"]])
    program = app / str(manifest["main"])
    if not program.is_file():
        raise InputError("does not exist", where=str(program), advice='Correct "main" of verify.node\'s package.json.')
    return program


def _copy_modules(trial: Trial, app: Path, manifest: Mapping[str, Any]) -> None:
    """Give an application the node_modules/ that npm installs once for all test cases with the same dependencies.

    Raises NotRun `no-node` or `no-index`, ToolError when something cannot be had.
    """
    source = trial.config.root / trial.config.document.verify.find_program(NODE)
    tarballs = [f"{path.name} {sha256(path)}" for path in sorted((app / NPM_TARBALLS).iterdir())]
    program = hash_tree(source, without=frozenset({"node_modules"}))

    def install(folder: Path, log: Path) -> None:
        unchanged = shutil.ignore_patterns("node_modules", "package.json")
        shutil.copytree(app, folder, ignore=unchanged, dirs_exist_ok=True)
        (folder / "package.json").write_text(json.dumps(manifest), encoding="utf-8")
        run_npm([*NPM_INSTALL, "--prefer-offline"], folder, trial.shared.installer.home, log)

    key = hash_parts(NODE, program, json.dumps(manifest, sort_keys=True), *tarballs)
    shared = trial.shared.fill(key, trial.log, install) / "node_modules"
    if shared.is_dir():  # npm makes none without dependencies
        npms_own = shutil.ignore_patterns(".package-lock.json")  # which it would change for all
        shutil.copytree(shared, app / shared.name, symlinks=True, copy_function=link_or_copy, ignore=npms_own)


def _manifest(trial: Trial, app: Path, tarballs: Mapping[str, Path], version: str) -> dict[str, Any]:
    """The program's package.json with the tarballs and the runtime in it.

    Packages of one target are optional, so that npm itself chooses by their `os`, `cpu` and `libc`.
    """
    file = app / "package.json"
    try:
        manifest: dict[str, Any] = json.loads(file.read_bytes())
        program = msgspec.convert(manifest, _Program)
    except (OSError, ValueError, RecursionError) as error:  # msgspec's are ValueErrors
        advice = 'Write at least {"main": "smoke.mjs"}.'
        raise InputError(f"is not the package.json of a program: {error}", where=str(file), advice=advice) from error
    main = {table.name for table in npm_tables(trial.config.packages).values()}
    needed, optional = dict(program.dependencies), dict(program.optional)
    ours = {name: f"file:{NPM_TARBALLS}/{path.name}" for name, path in tarballs.items()}
    for name, file_address in ours.items():
        (needed if name in main else optional)[name] = file_address
    if trial.bound_runtime is not None and trial.bound_runtime.traits.npm:
        needed.pop(trial.bound_runtime.traits.npm, None)
        if version:
            needed[trial.bound_runtime.traits.npm] = version
    layout = find_layout(trial.case.consumer)
    more = {"resolutions": ours} if layout.installer else {}  # where others require them, too
    needed |= layout.needs
    return {**manifest, "private": True, "dependencies": needed, "optionalDependencies": optional, **more}


def _break_runtime(trial: Trial, app: Path) -> str:
    """The runtime's installed library, broken as the scenario asks for; "" without one."""
    runtime = trial.bound_runtime
    if runtime is None or not runtime.traits.npm or not trial.case.version:
        return ""
    platform, folder = target(trial.case.target), app / "node_modules" / runtime.traits.npm
    system, _, arch = platform.npm.partition("-")
    names: tuple[str, ...] = getattr(runtime.traits.names, platform.system)
    libraries = [path for name in names for path in sorted(folder.glob(f"bin/*/{system}/{arch}/{name}"))]
    if not libraries:
        raise InputError(f"{runtime.traits.npm} {trial.case.version} contains no library for {trial.case.target}")
    trial.situation.break_files(libraries)
    return str(libraries[0])


def _run_program(trial: Trial, program: Path) -> ConsumerRun:
    """Run the program, and read what it wrote."""
    home, result = trial.work / "home", trial.work / "result.json"
    home.mkdir(exist_ok=True)
    layout = find_layout(trial.case.consumer)
    filled = {"app": str(trial.work / trial.situation.folder), "program": str(program)}
    variables = {key: value.format(**filled) for key, value in layout.environment.items()}
    return run_consumer(
        [
            find_program("node"), *(word.format(**filled) for word in layout.start),
            "--cases", trial.data(), "--out", result, *trial.consumer_words(),
        ],
        name="the Node.js program",
        result=result,
        cwd=home,
        env={**node_environment(home), **variables, **trial.situation.environment},
        log=trial.log,
    )  # fmt: skip


def _find_install_words(_config: Config, _package: str, runtime: RuntimeUse) -> tuple[str, str]:
    if not runtime.traits.npm:
        return "pip install", ""
    return "npm install", f'npm install "{runtime.traits.npm}@>={runtime.minimum}"'


_NODE = Consumer(
    names=(NODE,),
    title="Node.js",
    kind="npm",
    run=run_node_case,
    table="npm",
    program=NODE,
    find_runtime=lambda runtime: runtime.traits.npm,
    installs_required=True,
    group="applications",
    ask_registry=answer,
    find_install_words=_find_install_words,
)
_LAYOUTS = replace(_NODE, names=tuple(layout.name for layout in LAYOUTS), group="layouts")
_LOADER = Consumer(
    names=(NPM_LOADER,),
    kind="npm",
    run=run_loader_case,
    is_cross_built=True,
    table="npm",
    find_runtime=lambda _runtime: "",
)
CONSUMERS = (_NODE, _LAYOUTS, _LOADER)
