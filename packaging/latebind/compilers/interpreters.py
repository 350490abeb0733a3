"""Finds the CPythons that are installed here.

`findpython` knows the same places, but starts every Python up to six times: 7 s of CPU time on a machine with ten.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import msgspec
from packaging.version import Version

from latebind.backend.cache import callers_home
from latebind.backend.programs import which
from latebind.backend.targets import like_host
from latebind.errors import NotRun, ToolError
from latebind.system.parallel import each
from latebind.system.run import run

_TIME_LIMIT = 30.0
_PROBE = """\
import json, sys, sysconfig as s
shared = bool(s.get_config_var("Py_ENABLE_SHARED")) or sys.platform == "win32"
print(json.dumps({"version": "%d.%d.%d" % sys.version_info[:3], "implementation": sys.implementation.name,
                  "wide": sys.maxsize > 2**32, "prefix": sys.base_prefix, "shared": shared,
                  "threaded": bool(s.get_config_var("Py_GIL_DISABLED")), "headers": s.get_path("include")}))
"""


class _Answer(msgspec.Struct, frozen=True):
    version: str
    implementation: str
    wide: bool
    prefix: str
    shared: bool
    threaded: bool
    headers: str


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """A CPython that environments are made for."""

    path: Path
    version: str
    """`3.11.7`."""
    shared: bool
    """Whether it has a shared libpython, which PyInstaller needs."""
    prefix: str
    """Where its standard library and its libraries lie."""
    headers: Path | None = None
    """The folder of its headers; None where they are not installed."""
    threaded: bool = False
    """Whether it is free-threaded (PEP 703)."""

    @property
    def minor(self) -> str:
        """`3.11`; `3.13t` for a free-threaded one."""
        return ".".join(self.version.split(".")[:2]) + "t" * self.threaded

    @cached_property
    def public(self) -> bool:
        """Whether any user of this machine may run it: every folder above it can be entered by all."""
        return os.name == "posix" and everybody_reaches(self.path)


def interpreters(minors: Sequence[str]) -> tuple[Interpreter, ...]:
    """The CPythons of these minor versions (`3.11`, `3.13t`) that are installed, in that order.

    There may be several of one. The first of them all is the one that runs latebind, when it is of a minor version that
    is asked for.
    """
    running = own_interpreter()
    paths = dict.fromkeys(path.resolve() for minor in minors for path in _places(minor))
    probed = [
        interpreter
        for interpreter in each(_probe, [path for path in paths if path != running.path.resolve()])
        if interpreter
    ]
    by_path = {interpreter.path.resolve(): interpreter for interpreter in (running, *probed)}.values()
    return tuple(
        interpreter
        for minor in minors
        for interpreter in sorted(by_path, key=_newest_last)
        if interpreter.minor == minor
    )


@cache
def own_interpreter() -> Interpreter:
    """The CPython that this environment was made from: other environments must not depend on this one."""
    path = Path(getattr(sys, "_base_executable", "") or sys.executable)
    version = ".".join(map(str, sys.version_info[:3]))
    return _probe(path) or Interpreter(path=path, version=version, shared=False, prefix=sys.base_prefix)


def everybody_reaches(path: Path) -> bool:
    """Whether any user of this machine may enter every folder above a file or folder."""
    return not list_closed_folders(path)


def list_closed_folders(path: Path) -> list[Path]:
    """The folders above a file or folder that only some users may enter, the outermost first."""
    return [folder for folder in reversed(path.resolve().parents) if not folder.stat().st_mode & 0o001]


def choose(candidates: Sequence[Interpreter], *, shared: bool = False, public: bool = False) -> Interpreter:
    """The first that has what is asked for. Raises NotRun `no-interpreter`."""
    for candidate in candidates:
        if (candidate.shared or not shared) and (candidate.public or not public):
            return candidate
    lacking = "with a shared libpython" if shared else "that every user may run"
    raise NotRun("no-interpreter", f"no CPython {lacking} is installed here")


def _newest_last(interpreter: Interpreter) -> tuple[bool, Version]:
    is_running = interpreter.path.resolve() == Path(getattr(sys, "_base_executable", "") or sys.executable).resolve()
    return (not is_running, Version(interpreter.version))


def _places(minor: str) -> Iterator[Path]:
    """Where a CPython of that minor version may be: PATH, pyenv, uv, and the tool cache of hosted runners."""
    name = f"python{minor}"
    minor = minor.rstrip("t")  # installers keep free-threaded ones in folders whose names end differently
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        python = which(name, path=folder)
        # pyenv's shims depend on a choice that may not have been made; the real ones follow below.
        if python and python.parent.name != "shims" and not (python.parent.parent / "pyvenv.cfg").exists():
            yield python
    home = callers_home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    roots = [
        (os.environ.get("PYENV_ROOT") or home / ".pyenv", f"versions/{minor}.*"),
        (os.environ.get("UV_PYTHON_INSTALL_DIR") or data / "uv" / "python", f"cpython-{minor}.*"),
        (os.environ.get("RUNNER_TOOL_CACHE", ""), f"Python/{minor}.*/x64"),
        (os.environ.get("RUNNER_TOOL_CACHE", ""), f"Python/{minor}.*/arm64"),
    ]
    for root, pattern in roots:
        yield from _below(Path(root), pattern) if root else ()


def _below(root: Path, pattern: str) -> list[Path]:
    """The Pythons in the folders of a pattern; none where reading is denied."""
    name = like_host().installed_python
    try:
        return [folder / name for folder in sorted(root.glob(pattern)) if (folder / name).is_file()]
    except OSError:
        return []


def _probe(path: Path) -> Interpreter | None:
    """What a program reports about itself; None when it is not a CPython for wheels, or does not answer."""
    try:
        # The caller's environment without what changes how a Python starts.
        bare = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        output = run([path, "-I", "-c", _PROBE], timeout=_TIME_LIMIT, env=bare).output
        answer = msgspec.json.decode(output.strip().splitlines()[-1], type=_Answer)
    except (ToolError, ValueError, IndexError):
        return None
    if answer.implementation != "cpython" or not answer.wide:
        return None
    headers = Path(answer.headers)
    return Interpreter(
        path=path,
        version=answer.version,
        shared=answer.shared,
        prefix=answer.prefix,
        headers=headers if (headers / "Python.h").is_file() else None,
        threaded=answer.threaded,
    )
