"""Provides what CMake needs from CPython to build extension modules: headers, import library, file names.

Modules of the stable ABI are built for every target from the headers of the running CPython, whose limited API is the
same everywhere; other modules for this machine alone, by the CPython that runs.
"""

from __future__ import annotations

import platform
import shutil
import sys
import sysconfig
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from latebind.backend.errors import BuildError, NotRun
from latebind.backend.files import digest, write_text
from latebind.backend.fill import fill
from latebind.backend.kinds import PythonVersion, abi_tags, floor_of, is_threaded
from latebind.backend.targets import Target, host_rid
from latebind.backend.toolchain import Toolchain
from latebind.backend.tree import hash_file, hash_tree

_ON_WINDOWS = frozenset({"", "MS_WINDOWS", "PY_HAVE_THREAD_NATIVE_ID"})
"""Conditions that hold for every CPython on Windows, by the `windows` keys of Misc/stable_abi.toml."""
FIND_PYTHON = ("Python", "Python3", "PYTHON")
"""The prefixes of the variables of FindPython, of FindPython3, and of pybind11's own search."""
_PYCONFIG = "pyconfig.h"


@dataclass(frozen=True, kw_only=True)
class Extension:
    """How Python modules are built for one target with the CPython that runs."""

    left_out: ClassVar[tuple[str, ...]] = ("internal",)
    """The folders of headers that modules cannot use."""
    kind: str
    headers: Path
    target: Target
    toolchain: Toolchain

    @property
    def abi(self) -> str:
        """The ABI in the names of its modules: `cp310` for `cp310-cp310`; "" for the CPython that runs."""
        return self.kind.partition("-")[2]

    @property
    def title(self) -> str:
        """The version of its headers."""
        return platform.python_version()

    @cached_property
    def identity(self) -> str:
        """A hash of what matters in the CPython."""
        return digest([sys.version, hash_tree(self.headers), hash_file(own_pyconfig(self.headers))])

    @property
    def is_portable(self) -> bool:
        """Whether the target may be another machine: then nothing of this machine's configuration may be used."""
        return self.kind != "cpython" and self.toolchain.name == "zig"

    def configure(self, folder: Path) -> list[str]:
        """CMake arguments for latebind_add_python_module(); files that they need are written to `folder`.

        Raises ToolError when the import library cannot be made, BuildError when this CPython lacks its own.
        """
        floor = floor_of(self.kind)
        shutil.rmtree(folder, ignore_errors=True)
        include = copy_headers(self.headers, folder / "include", self._pyconfig(), without=self.left_out)
        limit = f"0x{floor[0]:02X}{floor[1]:02X}0000" if floor else ""
        library = str(self._library(folder)) if self.target.dlltool_machine else ""
        return [
            *self._answers(folder, include, library),
            f"-DLATEBIND_PYTHON_KIND={self.kind}",
            f"-DLATEBIND_PYTHON_INCLUDE={include}",
            f"-DLATEBIND_PYTHON_LIMITED_API={limit}",
            f"-DLATEBIND_PYTHON_TARGET_ABI3T={limit if is_threaded(self.kind) else ''}",
            f"-DLATEBIND_PYTHON_SUFFIX={self.suffix}",
            f"-DLATEBIND_PYTHON_LIBRARY={library}",
        ]

    @property
    def suffix(self) -> str:
        """How the file names of modules end: `.abi3.so`, `.pyd`, or what this CPython calls its own."""
        if self.kind == "cpython":
            return str(sysconfig.get_config_var("EXT_SUFFIX"))
        suffix = self.target.abi3_suffix
        return suffix.replace("abi3", "abi3t") if is_threaded(self.kind) else suffix

    def _answers(self, folder: Path, include: Path, library: str) -> list[str]:  # noqa: ARG002  # one for others has all
        """CMake arguments with which projects find this CPython, in whatever way they look for one."""
        return name_interpreter(Path(sys.executable))

    def _pyconfig(self) -> str:
        """A pyconfig.h that asks the compiler, or this CPython's own."""
        if self.is_portable:
            return portable_pyconfig(is_threaded=False, is_limited=True)
        return own_pyconfig(self.headers).read_text("utf-8")

    def _library(self, folder: Path) -> Path:
        """Only Windows resolves a module's symbols when it is linked: from python3.lib, or this CPython's own."""
        floor = floor_of(self.kind)
        stable = "python3t" if is_threaded(self.kind) else "python3"
        if floor is not None and self.is_portable:
            definition = folder / f"{stable}.def"
            write_text(definition, module_definition(floor, f"{stable}.dll"))
            return self.toolchain.import_library(definition, self.target)
        own = abi_tags(self.kind).partition("-")[2].removeprefix("cp")
        return find_library(Path(sys.base_prefix), stable if floor else f"python{own}")


def extension(kind: str, target: Target, toolchain: Toolchain) -> Extension | None:
    """How modules of a kind are built for a target; None where they cannot be: another machine's own CPython.

    Raises BuildError when this Python cannot build them at all: no headers, not CPython, too old for the stable ABI
    that is asked for, or without one.
    """
    if kind == "cpython" and target.rid != host_rid():
        return None
    refuse_interpreter(kind)
    return Extension(kind=kind, headers=find_headers(), target=target, toolchain=toolchain)


def copy_headers(headers: Path, include: Path, pyconfig: str, without: tuple[str, ...] = ()) -> Path:
    """CPython's headers with another pyconfig.h.

    They are copied because Python.h includes the pyconfig.h of its own folder first, and that one may
    describe another machine (a cross build) or lead to a folder that only the system's compiler searches (Debian).
    """
    shutil.copytree(headers, include, ignore=shutil.ignore_patterns(_PYCONFIG, *without))
    write_text(include / _PYCONFIG, pyconfig)
    return include


def portable_pyconfig(*, is_threaded: bool, is_limited: bool) -> str:
    """A pyconfig.h that asks the compiler for the sizes of types."""
    threaded = "#define Py_GIL_DISABLED 1" if is_threaded else "/* with the GIL */"
    return fill("pyconfig.h", threaded=threaded, limited=str(int(is_limited)))


def find_library(prefix: Path, name: str) -> Path:
    """An import library of an installed CPython. Raises BuildError."""
    path = prefix / "libs" / f"{name}.lib"
    if not path.is_file():
        raise BuildError(f"this Python has no {name}.lib", where=str(path.parent), advice="Install it from python.org.")
    return path


def find_headers() -> Path:
    """The folder of this CPython's headers. Raises BuildError with the command that installs them."""
    headers = Path(sysconfig.get_path("include"))
    if not (headers / "Python.h").is_file():
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise BuildError(
            f"the headers of Python {version}, which modules are compiled with, are not installed",
            where=str(headers / "Python.h"),
            advice=f"Install them (Debian: apt install python{version}-dev; Fedora: dnf install python3-devel).",
        )
    return headers


def own_pyconfig(headers: Path) -> Path:
    """The pyconfig.h of a CPython; on Debian, the one next to Python.h includes another in a multiarch folder."""
    multiarch = headers.parent / str(sysconfig.get_config_var("MULTIARCH") or "") / headers.name / _PYCONFIG
    beside = headers / _PYCONFIG
    return next((file for file in (multiarch, beside) if file.is_file()), Path(sysconfig.get_config_h_filename()))


def refuse_interpreter(kind: str) -> None:
    """Refuse a Python that cannot build, and could not install, a wheel of that kind.

    Raises BuildError.
    """
    floor = floor_of(kind)
    if sys.implementation.name != "cpython":
        raise BuildError(
            f"a wheel of kind {kind} needs CPython, but latebind runs with {sys.implementation.name}",
            where=sys.executable,
            advice="Run latebind with CPython.",
        )
    if floor is not None and not is_threaded(kind) and sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise BuildError(
            f"a wheel of kind {kind} needs a CPython with the GIL, but latebind runs with a free-threaded one",
            where=sys.executable,
            advice='Run latebind with an ordinary CPython, or set wheel.kind = "cp315-abi3.abi3t" or "cpython".',
        )
    if floor is not None and sys.version_info[:2] < floor:
        raise BuildError(
            f"the kind {kind} needs CPython {floor[0]}.{floor[1]} or newer, but latebind runs with "
            f"{sys.version_info.major}.{sys.version_info.minor}",
            where=sys.executable,
            advice="Run latebind with that CPython or a newer one; its headers declare what the module may use.",
        )


def refuse_foreign(kind: str, rid: str) -> None:
    """Refuse a wheel of this CPython's own ABI for another machine. Raises NotRun `no-interpreter`."""
    if kind == "cpython" and rid != host_rid():
        raise NotRun(
            "no-interpreter",
            f"a wheel of kind cpython for {rid} needs a CPython on {rid}, but this machine is {host_rid()}",
            advice=f"Build it on {rid} (cibuildwheel), list the CPython versions in wheel.pythons, or set wheel.kind = "
            '"cpXY-abi3".',
        )


def name_interpreter(python: Path) -> list[str]:
    """CMake arguments that name a Python for every way in which projects look for one."""
    return [f"-D{name}_EXECUTABLE={python.as_posix()}" for name in FIND_PYTHON]


def module_definition(floor: PythonVersion, library: str) -> str:
    """What a library of that CPython exports, python3.dll or python3t.dll, as a module definition file.

    An import library is made from it.
    Names whose condition may not hold on Windows are left out: using one then fails when the module is linked, not when
    it is imported.
    """
    from abi3info import DATAS, FUNCTIONS  # noqa: PLC0415  # 0.1 s, and most projects have no extension module

    lines = {}
    for mark, table in (("", FUNCTIONS), (" DATA", DATAS)):
        for info in table.values():
            condition = info.ifdef.name if info.ifdef else ""
            if (info.added.major, info.added.minor) <= floor and condition in _ON_WINDOWS:
                lines[info.symbol.name] = f"{info.symbol.name}{mark}"
    return "\n".join([f"LIBRARY {library}", "EXPORTS", *(lines[name] for name in sorted(lines))]) + "\n"
