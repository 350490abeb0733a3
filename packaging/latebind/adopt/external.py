"""Adopts a project that Meson, make, autotools or setuptools builds: reads its build files, and lists the commands.

The project's own build stays. It links the stub in the runtime's place, because the stub has the runtime's name for
compilers and pkg-config; latebind packs, audits and verifies what it makes.
"""

from __future__ import annotations

import ast
import platform
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from latebind.adopt.change import Change, load_before_others
from latebind.adopt.configuration import read_configuration
from latebind.adopt.find import SKIPPED, Found, runtime_of
from latebind.adopt.plan import (
    NO_CONSUMER,
    SCRIPT,
    UNFINISHED,
    Plan,
    extend_gitignore,
    list_missing_consumers,
    name_component,
    name_nuget,
    render_smoke,
)
from latebind.adopt.runtime_module import FILE_NAME, find_package, render_runtime_module
from latebind.config.file import tables_of
from latebind.config.schema import SCHEMA_ID
from latebind.errors import InputError
from latebind.system.tree import list_own_files
from latebind.tables.presets import preset
from latebind.tables.targets import host_rid, target
from latebind.templates import render

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from latebind.adopt.facts import Facts

_WORD = re.compile(r"[\w./:+-]+")
_ADDRESS = re.compile(r"https?://[^\s'\"]*?/(\w+)/releases/download/")
"""Of a release on GitHub, with the name of the repository."""
_COMMENT = re.compile(r"#.*")
_MESON_NAME = re.compile(r"\bproject\(\s*'([^']+)'")
_MESON_VERSION = re.compile(r"\bversion\s*:\s*'([^']+)'")
_LIBRARIES = (".so", ".dylib", ".lib", ".a", ".dll")
_LARGEST = 1024 * 1024
_EXCLUDED = ("builddir", "stubs", "*.o", "*.lo", "*.a", "*.so", "*.so.*", "*.dylib", "*.dll", "*.egg-info")
"""What builds leave among the sources. It does not count as source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildSystem:
    """A build system: the files at the project's top that tell it, all its files, and the commands that build."""

    title: str
    tops: tuple[str, ...]
    names: tuple[str, ...]
    commands: tuple[str, ...]
    makes_wheel: bool = False


_WHEEL = ("python -m pip wheel --no-deps --wheel-dir dist .",)
_SCIKIT_BUILD_CORE = BuildSystem(
    title="scikit-build-core", tops=(), names=("CMakeLists.txt",), commands=_WHEEL, makes_wheel=True
)
_MESON = BuildSystem(
    title="Meson",
    tops=("meson.build",),
    names=("meson.build",),
    commands=("meson setup builddir", "meson compile -C builddir"),
)
SYSTEMS = (
    _MESON,
    BuildSystem(
        title="a configure script",
        tops=("configure", "configure.ac"),
        names=("configure", "configure.ac", "Makefile.am"),
        commands=("./configure", "make"),
    ),
    BuildSystem(
        title="setuptools",
        tops=("setup.py",),
        names=("setup.py", "pyproject.toml"),
        commands=_WHEEL,
        makes_wheel=True,
    ),
    BuildSystem(
        title="make",
        tops=("GNUmakefile", "makefile", "Makefile"),
        names=("GNUmakefile", "makefile", "Makefile"),
        commands=("make",),
    ),
)
"""In the order in which they count where a project has the files of several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalProject:
    """A project that another build system builds. `mentions` are the places that name a runtime: file, line, name."""

    root: Path
    system: BuildSystem
    mentions: tuple[tuple[Path, int, str], ...]
    name: str
    version: str
    headers: dict[str, Path]
    """The folders in it that hold the official headers, by runtime."""
    downloads: tuple[tuple[Path, int, str], ...] = ()
    """The places that download a runtime."""

    @property
    def runtimes(self) -> list[str]:
        """The runtimes that are named, in order."""
        return list(dict.fromkeys(runtime for _, _, runtime in self.mentions))


def find_external(root: Path) -> ExternalProject | None:
    """What another build system's files say; None for a project of CMake. Raises InputError when there is neither."""
    pyproject = _read(root / "pyproject.toml")
    is_scikit = "scikit_build_core" in pyproject
    if (root / "CMakeLists.txt").is_file() and not is_scikit:
        return None
    everything = list_own_files(root, without=SKIPPED | {"builddir", "stubs"})
    present = [system for system in SYSTEMS if any((root / name).is_file() for name in system.tops)]
    if is_scikit:
        present = [_SCIKIT_BUILD_CORE]
    mentions_of = {system: tuple(_list_mentions(everything, system)) for system in present}
    system = next((system for system in present if mentions_of[system]), None)
    if system is None and any(path.name == "CMakeLists.txt" for path in everything):
        return None
    if not present:
        raise InputError(
            "there is no build system that latebind knows",
            where=str(root),
            advice="Name the folder of a CMakeLists.txt, meson.build, configure, setup.py or Makefile: "
            "latebind init FOLDER. For a new project: latebind new NAME.",
        )
    system = system or present[0]
    mentions = mentions_of[system]
    name, version = _read_identity(root, system)
    if system is _MESON and "mesonpy" in pyproject:
        system = replace(system, commands=_WHEEL, makes_wheel=True)
    headers = {
        runtime: path.parent
        for runtime in {runtime for _, _, runtime in mentions}
        for path in everything
        if (stub := preset(runtime).stub) is not None and stub.header and path.name == stub.header
    }
    return ExternalProject(
        root=root,
        system=system,
        mentions=mentions,
        name=name,
        version=version,
        headers=headers,
        downloads=tuple(_list_downloads(everything)),
    )


def to_found(project: ExternalProject) -> Found:
    """The same in the form from which the facts of a project are gathered."""
    root = project.root
    return Found(root=root, top=root, source=root, files={}, name=project.name, version=project.version)


def plan_external(project: ExternalProject, facts: Facts) -> Plan:
    """The new files, and notes; of the project's own, only .gitignore and the package's __init__.py change."""
    configured = read_configuration(project.root)
    if not project.runtimes or configured or "[tool.latebind]" in facts.pyproject:
        return Plan(changes=(), notes=tuple(list_missing_consumers(project.root, configured)))
    text = render(
        "init/external.toml.j2",
        facts=facts,
        schema=SCHEMA_ID,
        excluded=_EXCLUDED,
        runtimes={runtime: preset(runtime).floor for runtime in project.runtimes},
        rid=host_rid(),
        glibc=platform.libc_ver()[1] if target(host_rid()).libc == "glibc" else "",
        component=name_component(facts),
        wheel=facts.distribution if project.system.makes_wheel else "",
        nuget=name_nuget(facts),
        script=SCRIPT,
    )
    files = {"latebind.toml": text}
    if project.system.makes_wheel:
        files[SCRIPT] = render_smoke(project.root, facts, project.runtimes[0])
    changes = [Change(path=project.root / file, before=None, after=text) for file, text in files.items()]
    changes.append(extend_gitignore(project.root / ".gitignore", "/stubs/"))
    if project.system.makes_wheel and (package := find_package(project.root, facts.pyproject)):
        module = render_runtime_module(preset(project.runtimes[0]), facts.distribution)
        changes += [Change(path=package / FILE_NAME, before=None, after=module), load_before_others(package)]
    new = [
        change for change in changes if change.before != change.after and (change.is_own or not change.path.exists())
    ]
    return Plan(changes=tuple(new), notes=(*facts.notes, *_list_notes(project)))


def _list_notes(project: ExternalProject) -> Iterator[str]:
    """What a person has to do, since the stub answers to names and not to downloads."""
    for path, line, runtime in project.downloads:
        place = f"{path.relative_to(project.root).as_posix()}:{line}"
        yield (
            f"{place} downloads {preset(runtime).title}: replace the download with the folder stubs/{host_rid()}, "
            "which contains include/ and lib/"
        )
    yield f"{SCRIPT} {UNFINISHED}" if project.system.makes_wheel else NO_CONSUMER


def list_steps(project: ExternalProject, latebind: str) -> list[str]:
    """The commands that build with the stub in the runtime's place, and pack and verify what was built."""
    rid = host_rid()
    steps = []
    for runtime in project.runtimes:
        folder = project.headers.get(runtime)
        shown = folder.relative_to(project.root).as_posix() if folder else f"third_party/{runtime}"
        if preset(runtime).headers and not folder:
            steps.append(f"{latebind} headers {runtime} --output {shown}")
        with_headers = f" --headers {shown}" if preset(runtime).headers else ""
        steps.append(f"{latebind} stub {runtime}{with_headers} --output stubs")
    if target(rid).system == "windows":
        steps.append(f"set INCLUDE=%CD%\\stubs\\{rid}\\include;%INCLUDE%")
        steps.append(f"set LIB=%CD%\\stubs\\{rid}\\lib;%LIB%")
    else:
        stub = f"$PWD/stubs/{rid}"
        steps.append(f"export CPATH={stub}/include LIBRARY_PATH={stub}/lib")
        steps.append(f"export PKG_CONFIG_PATH={stub}/lib/pkgconfig CMAKE_PREFIX_PATH={stub}")
    steps += project.system.commands
    if not project.system.makes_wheel:
        steps += [f"{latebind} stage --import FILE  # the shared library that was built", f"{latebind} pack"]
    return [*steps, f"{latebind} audit", f"{latebind} verify"]


def _list_mentions(files: list[Path], system: BuildSystem) -> Iterator[tuple[Path, int, str]]:
    """The first place in each file that names a runtime."""
    for path in files:
        if path.name not in system.names:
            continue
        reported = set()
        for number, line in _number_lines(path):
            for word in _WORD.findall(line):
                is_folder = "/" in word and not word.endswith(_LIBRARIES)
                if not is_folder and (runtime := runtime_of(word)) and runtime not in reported:
                    reported.add(runtime)
                    yield path, number, runtime


def _list_downloads(files: list[Path]) -> Iterator[tuple[Path, int, str]]:
    """The first place in each build file and script that has the address of a runtime's release."""
    scripts = {name for system in (*SYSTEMS, _SCIKIT_BUILD_CORE) for name in system.names}
    for path in files:
        if path.name in scripts:
            for number, line in _number_lines(path):
                address = _ADDRESS.search(line)
                if address and (runtime := runtime_of(address[1])):
                    yield path, number, runtime
                    break


def _number_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a build file without their comments."""
    for number, line in enumerate(_read(path).splitlines(), 1):
        yield number, _COMMENT.sub("", line)


def _read_identity(root: Path, system: BuildSystem) -> tuple[str, str]:
    """Name and version where the build files state them as plain text."""
    if system is _MESON:
        text = _read(root / "meson.build")
        name, version = _MESON_NAME.search(text), _MESON_VERSION.search(text)
        return name[1] if name else "", version[1] if version else ""
    project = (tables_of(_read(root / "pyproject.toml")) or {}).get("project", {})
    if project.get("name"):
        return "", ""  # the facts take them from there
    return _read_setup(_read(root / "setup.py")) if system.makes_wheel else ("", "")


def _read_setup(text: str) -> tuple[str, str]:
    """The literal name and version that setup.py gives to setup()."""
    try:
        calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    except SyntaxError:
        return "", ""
    for call in calls:
        if getattr(call.func, "id", getattr(call.func, "attr", "")) == "setup":
            values = {
                keyword.arg: keyword.value.value
                for keyword in call.keywords
                if isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str)
            }
            return values.get("name", ""), values.get("version", "")
    return "", ""


def _read(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.is_file() and path.stat().st_size <= _LARGEST else ""
