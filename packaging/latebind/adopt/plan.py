"""What is to be written or changed in a project, as texts before and after; writes nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from packaging.version import Version

from latebind.adopt.cmake import commands
from latebind.adopt.edit import edit_cmake
from latebind.adopt.find import LIBRARIES
from latebind.adopt.python import edit_pyproject
from latebind.adopt.runtime_module import FILE_NAME, find_package, render_runtime_module
from latebind.config.described import version_of
from latebind.config.file import tables_of
from latebind.config.schema import SCHEMA_ID
from latebind.tables.presets import preset
from latebind.templates import render

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from latebind.adopt.facts import Facts
    from latebind.adopt.find import Found, Mention


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file before (None: it is not there) and after."""

    path: Path
    before: str | None
    after: str

    @property
    def is_own(self) -> bool:
        """Whether the project already has this file, so that only --apply changes it."""
        return self.before is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All changes, and notes on what a person has to do or know."""

    changes: tuple[Change, ...]
    notes: tuple[str, ...]


def plan(discovery: Found, facts: Facts) -> Plan:
    """The changes that make a project bind its runtimes late; none where it already does."""
    done = _drop_ins(discovery)
    is_done = bool(done) and set(discovery.runtimes) <= done
    targets = [] if is_done else _libraries(discovery)
    name = facts.name
    changes = []
    component = _component(discovery, targets) or re.sub(r"[^A-Za-z0-9_.-]", "-", name)
    for path, text in discovery.files.items():
        after = edit_cmake(text, targets, component, discovery.variables)
        changes.append(Change(path=path, before=text, after=after))
    python = discovery.root / "pyproject.toml"
    notes = [*_notes(discovery), *facts.notes]
    with_wheel = False
    if facts.pyproject and not is_done:
        after, note, with_wheel = edit_pyproject(facts.pyproject, component)
        changes.append(Change(path=python, before=facts.pyproject, after=after))
        notes += [note] if note else []
    if discovery.runtimes and not targets and not is_done:
        notes.append("no shared library links the runtime: a package needs one, so no latebind.toml is written")
    new = _new_files(discovery, facts, component, with_wheel=with_wheel) if targets else {}
    for path, text in new.items():
        if not path.exists():
            changes.append(Change(path=path, before=None, after=text))
        elif path.name == "latebind.toml":
            changes.append(_with_drop_in(path, set(discovery.runtimes) - done))
    if targets:
        changes.append(_extend_gitignore(discovery.root / ".gitignore"))
    return Plan(
        changes=tuple(_as_it_is(change) for change in changes if change.before != change.after), notes=tuple(notes)
    )


def _as_it_is(change: Change) -> Change:
    """A change to an existing file that keeps its line ends, which are read as LF."""
    raw = change.path.read_bytes().decode("utf-8", "surrogateescape") if change.before is not None else ""
    if "\r\n" not in raw:
        return change
    return replace(change, before=raw, after=change.after.replace("\n", "\r\n"))


def _new_files(discovery: Found, facts: Facts, component: str, *, with_wheel: bool) -> dict[Path, str]:
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
        schema=SCHEMA_ID, nuget=re.sub(r"[^A-Za-z0-9_.]", ".", facts.name).strip("."), with_wheel=with_wheel,
    )  # fmt: skip
    workflow = discovery.root / ".github" / "workflows" / "latebind.yml"
    configured = "[tool.latebind]" in facts.pyproject
    files = {} if configured else {discovery.root / "latebind.toml": text}
    if with_wheel and not configured:
        files[discovery.root / "verify" / "smoke.py"] = render("init/smoke.py.j2")
        if (package := find_package(discovery.root, facts.pyproject)) is not None:
            files[package / FILE_NAME] = render_runtime_module(preset(discovery.runtimes[0]), facts.name)
    return {**files, workflow: render("init/workflow.yml.j2", version=facts.latebind)}


def _drop_ins(discovery: Found) -> set[str]:
    """The runtimes for which the project's latebind.toml already has drop_in: their targets link a stub."""
    path = discovery.root / "latebind.toml"
    tables = (tables_of(path.read_text("utf-8")) if path.is_file() else None) or {}
    runtimes = tables.get("runtime", [])
    return {str(runtime.get("preset")) for runtime in runtimes if isinstance(runtime, dict) and runtime.get("drop_in")}


def _with_drop_in(path: Path, runtimes: Iterable[str]) -> Change:
    """The project's own latebind.toml with drop_in set for these runtimes."""
    before = after = path.read_text("utf-8")
    for name in sorted(runtimes):
        after = re.sub(rf'^preset = "{name}".*\n', r"\g<0>drop_in = true\n", after, flags=re.MULTILINE)
    return Change(path=path, before=before, after=after)


def _extend_gitignore(path: Path) -> Change:
    """A .gitignore that lists the folders that latebind writes."""
    before = path.read_text("utf-8", "surrogateescape") if path.exists() else None
    lines = [line.strip() for line in (before or "").splitlines()]
    missing = [line for line in render("init/gitignore.j2").splitlines() if line not in lines]
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


def _libraries(discovery: Found) -> list[str]:
    """The targets that link a runtime and that a package can hold: shared libraries and modules."""
    linked = {mention.target for mention in discovery.of("link")}
    libraries = [
        command
        for text in discovery.files.values()
        for command in commands(text)
        if command.name in LIBRARIES and command.words
    ]
    return [
        command.words[0]
        for command in libraries
        if command.words[0] in linked and not {"STATIC", "OBJECT"} & set(command.words)
    ]


def _component(discovery: Found, targets: list[str]) -> str:
    """The install component that the libraries have already; "" for none."""
    for command in (
        command for text in discovery.files.values() for command in commands(text) if command.name == "install"
    ):
        if command.words[1:2] and command.words[1] in targets and "COMPONENT" in command.words[:-1]:
            return command.words[command.words.index("COMPONENT") + 1]
    return ""


def _notes(discovery: Found) -> list[str]:
    locations = [
        f"{path.relative_to(discovery.root).as_posix()}:{line}: {name}" for path, line, name in discovery.objects
    ]
    notes = [
        f"{location} is made while the library is loaded: without a runtime the program ends there, and on Windows the "
        "system holds a lock; make it in a function"
        for location in locations
    ]
    notes += [
        f"{path.relative_to(discovery.root).as_posix()}: has C functions and catches nothing, and the project uses "
        "Ort::, which throws without a runtime and then ends the process: catch Ort::Exception in them, or ask "
        "lb_onnxruntime_available(NULL) of <latebind/stub.h> first"
        for path in (discovery.uncaught if "onnxruntime" in discovery.runtimes else ())
    ]
    notes += [
        f"{_place(discovery, mention)}: the imported target {mention.target} names a library of its own, and not "
        f"the stub; take it from find_package({mention.runtime})"
        for mention in discovery.of("imported")
        if mention.file not in {other.file for other in discovery.of("find")}  # there, it is second
    ]
    notes += [
        f"{_place(discovery, mention)}: {mention.command.name}({mention.command.words[0]} ...) fetches "
        f"{mention.runtime}; take it out, since find_package() gives the stub"
        for mention in discovery.of("fetch")
    ]
    notes += [
        f"{_place(discovery, mention)}: openvino::runtime is the C++ interface, and only the C interface can be bound "
        "late; the linker names what you use of C++"
        for mention in discovery.of("link")
        if "openvino::runtime" in mention.command.words
    ]
    return list(dict.fromkeys(notes))


def _place(discovery: Found, mention: Mention) -> str:
    return f"{mention.file.relative_to(discovery.root).as_posix()}:{mention.command.line}"
