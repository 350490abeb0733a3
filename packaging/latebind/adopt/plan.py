"""What is to be written or changed in a project, as texts before and after; writes nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from packaging.version import Version

from latebind.adopt.change import Change, load_before_others
from latebind.adopt.cmake import commands
from latebind.adopt.configuration import (
    extend_configuration,
    list_drop_ins,
    list_packages,
    read_configuration,
    render_wheel,
)
from latebind.adopt.edit import Lines, edit_cmake, list_installed
from latebind.adopt.facts import find_branch
from latebind.adopt.libraries import names_in
from latebind.adopt.notes import find_notes
from latebind.adopt.python import edit_pyproject
from latebind.adopt.roles import OPERATORS
from latebind.adopt.runtime_module import FILE_NAME, find_package, render_runtime_module
from latebind.adopt.workflow import DEPENDABOT, WORKFLOW, find_tests, has_updater, render_workflow
from latebind.config.extension import program_keys
from latebind.config.file import tables_of
from latebind.config.schema import SCHEMA_ID
from latebind.preconditions import is_unfinished
from latebind.semver import version_of
from latebind.tables.presets import preset
from latebind.templates import render
from loadcheck.text import DOCS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from latebind.adopt.facts import Facts
    from latebind.adopt.find import Found
    from latebind.adopt.libraries import PackableLibrary

SCRIPT = "verify/smoke.py"
UNFINISHED = "isn't finished: write run_cases(), and delete the line `UNFINISHED = True`"
NO_CONSUMER = (
    "latebind.toml names no consumer, so `latebind verify` has nothing to run: write one, such as "
    f"{SCRIPT} for a wheel, and name it below [verify] ({DOCS}/consumers.md)"
)
_NO_COMPONENT = (
    "no install() has COMPONENT {component}, but latebind.toml packs this component: add COMPONENT {component} to the "
    "install() of your library, such as install(TARGETS mylib COMPONENT {component})"
)
_NO_HEADERS = (
    "the project has no copy of ONNX Runtime's headers: run `latebind headers onnxruntime --output {headers}`, and "
    'write headers = "third_party/onnxruntime" below the [[runtime]] of onnxruntime'
)
_NO_LIBRARY = (
    "no add_library() makes a shared library that links the runtime. A package needs such a library, so init writes "
    "no latebind.toml. If a CMake function of your own creates the library, write latebind.toml yourself, and install "
    "the library with a COMPONENT"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All changes, and notes on what a person has to do or know."""

    changes: tuple[Change, ...]
    notes: tuple[str, ...]


def plan(discovery: Found, facts: Facts) -> Plan:
    """The changes that make a project bind its runtimes late, or those that an earlier `init` left to do."""
    configured = read_configuration(discovery.root)
    done = set(discovery.runtimes) if configured and discovery.has_operators else list_drop_ins(configured)
    is_bound = bool(done) and set(discovery.runtimes) <= done
    missing = _missing_components(discovery, configured)
    targets = () if is_bound and not missing else discovery.libraries
    component = next(iter(missing), "") or _component(discovery, targets)
    component = component or name_component(facts)
    changes = _edit_cmake_files(discovery, targets, component)
    notes = list(find_notes(discovery)) if discovery.runtimes and not discovery.has_operators else []
    notes += facts.notes if targets and not configured else []  # else nothing is written that they are about
    package = next(iter(list_packages(configured)), component)
    python = discovery.root / facts.python_folder
    after, note, with_wheel = (
        edit_pyproject(facts.pyproject, package, python, facts.version) if facts.pyproject else ("", "", False)
    )
    if discovery.runtimes:
        changes.append(Change(path=python / "pyproject.toml", before=facts.pyproject, after=after))
        prefix = "" if facts.python_folder == "." else f"{facts.python_folder}/"
        notes += [f"{prefix}{note}"] if note else _elsewhere(discovery.root, facts, configured)
    if discovery.runtimes and not targets and not is_bound:
        notes.append(_NO_LIBRARY)
    if not targets:
        notes += [_NO_COMPONENT.format(component=item) for item in missing]
    if targets or (configured and with_wheel and after != facts.pyproject):
        is_undecided = any(library.is_undecided for library in targets)
        changes += _new_files(discovery, facts, component, with_wheel=with_wheel, with_shared=is_undecided)
        changes += _extend(discovery, facts, package if with_wheel else "")
    if targets:
        changes.append(extend_gitignore(discovery.root / ".gitignore"))
        headers = (discovery.source.relative_to(discovery.root) / "third_party/onnxruntime").as_posix()
        without = discovery.includes_header and not (configured or discovery.header)
        notes += [_NO_HEADERS.format(headers=headers)] if without else []
        notes += [] if configured or with_wheel else [NO_CONSUMER]
    elif not any("\n[verify]" in change.after for change in changes):
        notes += list_missing_consumers(discovery.root, configured)
    return Plan(
        changes=tuple(_as_it_is(change) for change in changes if change.before != change.after), notes=tuple(notes)
    )


def _elsewhere(root: Path, facts: Facts, configured: dict[str, Any]) -> list[str]:
    """Notes on Python packages in subfolders, which `init` does not change; none if a wheel is configured."""
    if facts.pyproject or any(table.get("wheel") for table in list_packages(configured).values()):
        return []
    files = {file.parent.name: file.read_text("utf-8", "replace") for file in root.glob("*/pyproject.toml")}
    names = {folder: tables["project"].get("name", folder) for folder, text in files.items()
             if "project" in (tables := tables_of(text) or {})}  # fmt: skip
    return [
        f"{folder}/pyproject.toml: init changes this file only if there is no other pyproject.toml outside of folders "
        f"like examples, and if its Python package is in {folder}. For a wheel, add hatchling and latebind's two "
        "hooks to the file, name a consumer below [verify], and add this line to the package's table in "
        "latebind.toml:\n"
        f"    {render_wheel(folder, name)}"
        for folder, name in sorted(names.items())
    ]


def list_missing_consumers(root: Path, configured: dict[str, Any]) -> list[str]:
    """A note if there are packages and no program that tests them, or one that nobody has finished."""
    verify = configured.get("verify", {})
    script = verify.get("python", "")
    if isinstance(script, str) and script and is_unfinished(root / script):
        return [f"{script} {UNFINISHED}"]
    if not list_packages(configured) or any(
        verify.get(key) for key in ("python", "dotnet", "c", "sdk", *(key.name for key in program_keys()))
    ):
        return []
    return [NO_CONSUMER]


def _edit_cmake_files(discovery: Found, targets: Sequence[PackableLibrary], component: str) -> list[Change]:
    """The changes that install the targets with the component. What CMake says to be installed with one stays."""
    bare = [library for library in targets if not library.component]
    installed = {name for text in discovery.files.values() for name in list_installed(text)}
    alone = [library for library in bare if library.line and installed.isdisjoint((library.name, *library.variables))]
    return [
        Change(
            path=path,
            before=text,
            after=edit_cmake(
                text,
                names_in(path, bare),
                component,
                discovery.variables,
                Lines(
                    alone={library.line: library.name for library in alone if library.file == path},
                    ran=None if discovery.ran is None else {line for file, line in discovery.ran if file == path},
                ),
            ),
        )
        for path, text in discovery.files.items()
    ]


def _as_it_is(change: Change) -> Change:
    """A change to an existing file that keeps its line ends, which are read as LF."""
    raw = change.path.read_bytes().decode("utf-8", "surrogateescape") if change.before is not None else ""
    if "\r\n" not in raw:
        return change
    return replace(change, before=raw, after=change.after.replace("\n", "\r\n"))


def _new_files(discovery: Found, facts: Facts, component: str, *, with_wheel: bool, with_shared: bool) -> list[Change]:
    inside = discovery.header is not None and discovery.header.is_relative_to(discovery.source)
    header = discovery.header.relative_to(discovery.source).as_posix() if discovery.header and inside else ""
    runtimes = [
        {"name": name, "minimum": _minimum(discovery, name), "headers": header if name == "onnxruntime" else ""}
        for name in discovery.runtimes
    ]
    source = discovery.source.relative_to(discovery.root).as_posix()
    cmake = discovery.top.relative_to(discovery.source).as_posix().removeprefix(".")
    text = render(
        "init/latebind.toml.j2", facts=facts, source=source, cmake=cmake, runtimes=runtimes, component=component,
        schema=SCHEMA_ID, nuget=name_nuget(facts), with_wheel=with_wheel,
        wheel=render_wheel(facts.python_folder, facts.distribution, facts.module_name),
        with_shared=with_shared, exports=OPERATORS if discovery.has_operators else "",
    )  # fmt: skip
    configured = "[tool.latebind]" in facts.pyproject
    present = read_configuration(discovery.root)
    is_listed = any(table.get("wheel") for table in list_packages(present).values())
    files = {} if configured else {discovery.root / "latebind.toml": text}
    changes: list[Change] = []
    if with_wheel and not configured and not is_listed:
        files[discovery.root / SCRIPT] = render_smoke(discovery.root, facts, discovery.runtimes[0])
        package = find_package(discovery.root / facts.python_folder, facts.pyproject)
        if package is not None:
            files[package / FILE_NAME] = render_runtime_module(preset(discovery.runtimes[0]), facts.distribution)
            changes = [] if discovery.has_operators else [load_before_others(package)]
    tables = present or tables_of(text) or {}
    if not has_updater(discovery.root):
        files[discovery.root / DEPENDABOT] = render("init/dependabot.yml.j2")
    files[discovery.root / WORKFLOW] = render_workflow(
        facts.name, tables, branch=find_branch(discovery.root), tests=find_tests(discovery.root)
    )
    changes += [Change(path=path, before=None, after=text) for path, text in files.items() if not path.exists()]
    return changes


def name_component(facts: Facts) -> str:
    """The install component, and the table of latebind.toml, for a project that has none yet."""
    return re.sub(r"[^A-Za-z0-9_.-]", "-", facts.name)


def name_nuget(facts: Facts) -> str:
    """The id of the project's NuGet package."""
    return re.sub(r"[^A-Za-z0-9_.]", ".", facts.name).strip(".")


def render_smoke(root: Path, facts: Facts, runtime_name: str) -> str:
    """The consumer of the wheel, which a person has to finish."""
    package = find_package(root / facts.python_folder, facts.pyproject)
    module = package.name if package else re.sub(r"\W", "_", facts.distribution).lower()
    runtime = preset(runtime_name)
    return render("init/smoke.py.j2", module=module, title=runtime.title, variable=runtime.environment)


def _missing_components(discovery: Found, configured: dict[str, Any]) -> list[str]:
    """The components that latebind.toml packs and no install() has: `init --apply` was not run yet.

    None where a variable names a component, which only CMake can read.
    """
    parsed = [command for text in discovery.files.values() for command in commands(text) if command.name == "install"]
    installed = {
        following for command in parsed for argument, following in pairwise(command.words) if argument == "COMPONENT"
    }
    if any("$" in component for component in installed):
        return []
    asked = [str(table["component"]) for table in list_packages(configured).values() if "component" in table]
    return [component for component in dict.fromkeys(asked) if component not in installed]


def _extend(discovery: Found, facts: Facts, package: str) -> list[Change]:
    """The change to the project's own latebind.toml: drop_in, and a wheel for this package where none is listed."""
    path = discovery.root / "latebind.toml"
    if not path.is_file():
        return []
    configured = read_configuration(discovery.root)
    lists_wheel = any(table.get("wheel") for table in list_packages(configured).values())
    before = path.read_text("utf-8")
    after = extend_configuration(
        before,
        drop_ins=() if discovery.has_operators else set(discovery.runtimes) - list_drop_ins(configured),
        wheel=(package, render_wheel(facts.python_folder, facts.distribution, facts.module_name), SCRIPT)
        if package and not lists_wheel
        else None,
    )
    return [Change(path=path, before=before, after=after)]


def extend_gitignore(path: Path, *more: str) -> Change:
    """A .gitignore that lists the folders that latebind writes, and more."""
    before = path.read_text("utf-8", "surrogateescape") if path.exists() else None
    lines = [line.strip() for line in (before or "").splitlines()]
    missing = [line for line in (*render("init/gitignore.j2").splitlines(), *more) if line not in lines]
    start = before if not before or before.endswith("\n") else f"{before}\n"
    return Change(path=path, before=before, after="".join([start or "", *(f"{line}\n" for line in missing)]))


def _minimum(discovery: Found, runtime: str) -> str:
    """The floor, or the version that the project is built with if that is newer: it may call functions new in it."""
    asked = [
        mention.command.words[1]
        for mention in discovery.of("find")
        if mention.runtime == runtime and len(mention.command.words) > 1
    ]
    versions = [*asked, discovery.header_version if runtime == "onnxruntime" else ""]
    floor = preset(runtime).floor
    return max([floor, *filter(version_of, versions)], key=Version)


def _component(discovery: Found, targets: Sequence[PackableLibrary]) -> str:
    """The install component that the libraries have already; "" for none."""
    if stated := next((library.component for library in targets if library.component), ""):
        return stated
    for path, text in discovery.files.items():
        names = names_in(path, targets)
        for words in (command.words for command in commands(text) if command.name == "install"):
            if words[1:2] and words[1] in names and "COMPONENT" in words[:-1]:
                return words[words.index("COMPONENT") + 1]
    return ""
