"""Builds a project's wheel with its own backend, in a copy of it, and keeps what the build systems say.

The backend runs by its hooks (PEP 517). CMake gets an initial cache that asks its file API, and writes a trace, if the
backend passes on CMAKE_ARGS, as scikit-build-core does, or finds cmake on PATH. meson-python gets a build folder, and
setuptools' modules are noted.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from latebind.adopt.cargo import build_crates
from latebind.adopt.trace import TRACE_OPTIONS, read_calls
from latebind.backend.fileapi import list_targets, read_cache
from latebind.backend.programs import which
from latebind.backend.run import tail
from latebind.backend.tree import is_generated, is_scratch
from latebind.config.file import tables_of
from latebind.errors import BuildError
from latebind.system.log import LOG
from latebind.system.run import run
from latebind.text import decisive_line
from latebind.verify.run.installers import installer, python_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from latebind.adopt.cargo import Crate
    from latebind.adopt.trace import Call

_LIMIT = 3600.0
_SCRIPT = Path(__file__).with_name("inside") / "backend.py"
_PROBE = """\
foreach(kind codemodel-v2 cache-v2)
  file(WRITE "${{CMAKE_BINARY_DIR}}/.cmake/api/v1/query/client-latebind/${{kind}}" "")
endforeach()
file(APPEND "{trees}" "${{CMAKE_BINARY_DIR}}\\n")
"""
_CMAKE = """\
#!/bin/sh
case "$1" in --build|--install|--version|--help*|--open|-E|-P) exec {cmake} "$@" ;; esac
case " $* " in *" --trace"*) exec {cmake} "$@" ;; esac
exec {cmake} "$@" {options}
"""
"""A cmake that comes first on PATH, for setup.py files that start it themselves.

Who reads a trace of CMake gets the one that was asked for: Meson looks for dependencies in it.
"""
_ERRORS = (
    *(" error: ", "undefined reference", "cannot find -l", "CMake Error", "ERROR: "),
    *("gyp ERR! stack Error: ", "npm error code"),  # npm's last lines name only its log
)
"""By which compilers, linkers and build systems are known to begin what ended them."""
_ABSENT = re.compile(r"^ModuleNotFoundError: No module named '([\w.]+)'", re.MULTILINE)
_SETUPTOOLS = "setuptools.build_meta:__legacy__"
"""The backend of a project that names none (PEP 517)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A wheel, and what the build systems said of it."""

    root: Path
    """The copy of the project that was built."""
    wheel: Path
    calls: tuple[Call, ...] = ()
    """The commands of CMake that ran in the project's files."""
    targets: tuple[Mapping[str, Any], ...] = ()
    """CMake's targets, as cmake-file-api(7) describes them."""
    source: Path = Path()
    """The top folder of what CMake built."""
    meson: Path | None = None
    """Meson's build folder."""
    crates: tuple[Crate, ...] = ()
    """Cargo's packages that link native libraries."""
    extensions: tuple[Mapping[str, Any], ...] = ()
    """setuptools' modules: the fields of each Extension, and `calls`, the lines that made it."""
    unwatched: str = ""
    """Why nothing was asked of CMake: what it printed when something was; "" otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """A project's build backend, and the environment with what it requires."""

    name: str
    """Its name in pyproject.toml."""
    paths: tuple[str, ...]
    python: Path
    project: Path
    """The project's own folder, for messages."""

    @property
    def path(self) -> str:
        """PATH with the programs of the environment in front."""
        return os.pathsep.join([str(self.python.parent), os.environ.get("PATH", "")])

    def call(self, root: Path, work: str, *arguments: str | Path, env: Mapping[str, str] | None = None) -> None:
        """Run a hook. Raises BuildError with what the build printed."""
        argv: list[str | Path] = [self.python, _SCRIPT, work, self.name, os.pathsep.join(self.paths), *arguments]
        variables = {**os.environ, "PATH": self.path, **(env or {})}
        ended = run(argv, cwd=root, env=variables, timeout=_LIMIT, check=False)
        if ended.returncode:
            detail = tail(ended.output) if LOG.level == "verbose" else f"    {first_error(ended.output)}"
            absent = _ABSENT.search(ended.output)
            advice = (
                f"Builds run in a new environment: list what installs {absent[1]} in build-system.requires."
                if absent
                else "Build it as you usually do, and name the wheel: latebind adopt FILE.whl. With -v: all output."
            )
            raise BuildError(f"{self.name} cannot build the project\n{detail}", where=str(self.project), advice=advice)


def prepare_backend(project: Path, root: Path, scratch: Path) -> Backend:
    """The backend of a project that was copied to `root`, with its requirements installed into a new environment.

    Raises BuildError, and NotRun where the index has not all of them.
    """
    file = root / "pyproject.toml"
    system = ((tables_of(file.read_text("utf-8")) or {}) if file.is_file() else {}).get("build-system", {})
    tool, folder, log = installer(scratch / "home"), scratch / "environment", scratch / "install.log"
    (scratch / "home").mkdir()
    backend = Backend(
        name=system.get("build-backend", _SETUPTOOLS),
        paths=tuple(system.get("backend-path", ())),
        python=python_of(folder),
        project=project,
    )
    with LOG.step("installing what the build requires", "installed what the build requires"):
        tool.create(folder, Path(sys.executable), log)
        if requires := system.get("requires", ["setuptools"]):
            tool.install(folder, requires, log=log)
        backend.call(root, "requires", scratch / "requires.json")
        if more := msgspec.json.decode((scratch / "requires.json").read_bytes(), type=list[str]):
            tool.install(folder, more, log=log)
    return backend


def copy_project(root: Path, to: Path) -> Path:
    """A copy of a project without environments and build trees: what was built before would not be built again."""

    def ignored(folder: str, names: list[str]) -> set[str]:
        return {name for name in names if name != ".git" and (is_scratch(name) or _is_built(Path(folder) / name))}

    shutil.copytree(root, to, ignore=ignored, symlinks=True)
    return to


def _is_built(folder: Path) -> bool:
    """Whether a folder is a build tree of CMake or of setuptools."""
    is_setuptools = folder.name == "build" and next(folder.glob("temp.*-*"), next(folder.glob("bdist.*"), None))
    return bool(is_setuptools) or is_generated(folder)


def build_plainly(backend: Backend, root: Path, scratch: Path, env: Mapping[str, str]) -> Path:
    """Build the wheel of a copy with more variables, unwatched. Raises BuildError with what the build printed."""
    return _build(backend, root, scratch, is_watched=False, more=env).wheel


def build_wheel(backend: Backend, root: Path, scratch: Path) -> Built:
    """Build the wheel of a copy in the empty folder `scratch`. Raises BuildError with what the build printed.

    A build that fails while CMake is asked what it does is tried once more, in a copy of its own, and nothing is asked.
    """
    try:
        return _build(backend, root, scratch)
    except BuildError as error:
        again = scratch / "unwatched"
        copy = copy_project(root, again / "project")
        try:
            built = _build(backend, copy, again, is_watched=False)
        except BuildError:
            raise error from None
        return replace(built, unwatched=error.message.splitlines()[-1].strip())


def _build(
    backend: Backend, root: Path, scratch: Path, *, is_watched: bool = True, more: Mapping[str, str] | None = None
) -> Built:
    probe, trace, trees, answer = (scratch / name for name in ("probe.cmake", "trace", "trees.txt", "modules.json"))
    meson = scratch / "meson"
    (scratch / "dist").mkdir()
    env = {**(_watch(backend, scratch, probe, trace, trees) if is_watched else {}), **(more or {})}
    settings = {"build-dir": str(meson)} if backend.name == "mesonpy" else {}
    with LOG.step(f"building the wheel with {backend.name}", f"built the wheel with {backend.name}"):
        backend.call(root, "build", answer, scratch / "dist", msgspec.json.encode(settings).decode(), env=env)
    kept = [Path(line) for line in trees.read_text("utf-8").splitlines()] if trees.is_file() else []
    tree = next((tree for tree in reversed(kept) if (tree / "CMakeCache.txt").is_file()), None)
    return Built(
        root=root,
        wheel=next((scratch / "dist").glob("*.whl")),
        calls=tuple(read_calls(trace, root)) if trace.is_file() else (),
        targets=tuple(list_targets(tree)) if tree else (),
        source=Path(read_cache(tree)["CMAKE_HOME_DIRECTORY"]) if tree else root,
        meson=meson if meson.is_dir() else None,
        crates=build_crates(root).crates if backend.name == "maturin" and (root / "Cargo.toml").is_file() else (),
        extensions=tuple(msgspec.json.decode(answer.read_bytes())),
    )


def _watch(backend: Backend, scratch: Path, probe: Path, trace: Path, trees: Path) -> dict[str, str]:
    """The variables with which CMake writes a trace, and the folders of its trees into a file."""
    probe.write_text(_PROBE.format(trees=trees.as_posix()), "utf-8")
    options = [f"-C{probe}", *TRACE_OPTIONS, f"--trace-redirect={trace}"]
    given = os.environ.get("CMAKE_ARGS", "")
    return {
        "CMAKE_ARGS": f"{given} {' '.join(options)}".strip(),
        "SKBUILD_BUILD_DIR": str(scratch / "cmake"),
        "PATH": _put_in_front(backend.path, options, scratch / "bin"),
    }


def _put_in_front(path: str, options: Sequence[str], folder: Path) -> str:
    """A PATH whose cmake gets options when it configures, and is the one of `path` otherwise; not on Windows."""
    cmake = which("cmake", path=path)
    if cmake is None or sys.platform == "win32":
        return path
    folder.mkdir()
    quoted = {"cmake": shlex.quote(str(cmake)), "options": shlex.join(options)}
    (folder / "cmake").write_text(_CMAKE.format(**quoted), "utf-8")
    (folder / "cmake").chmod(0o755)
    return os.pathsep.join([str(folder), path])


def first_error(output: str) -> str:
    """The first line of a build's output that a tool calls an error; else what ended it."""
    lines = (line.strip() for line in output.splitlines())
    return next((line for line in lines if any(word in line for word in _ERRORS)), "") or decisive_line(output)
