"""Provides what CMake needs from CPython to build extension modules: headers, import library, file names.

Modules of the stable ABI are built for every target from the headers of the running CPython, whose limited API is the
same everywhere. Modules of one CPython's own ABI are built by that CPython, for its own machine.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.errors import BuildError, NotRun
from latebind.fill import fill
from latebind.system.archive import write_text
from latebind.system.tree import hash_file, hash_tree
from latebind.tables.pythonabi import abi_tags, floor_of, is_threaded, module_abi, module_definition
from latebind.tables.targets import host_rid

if TYPE_CHECKING:
    from latebind.compilers.choose import Toolchain
    from latebind.model import Target
    from latebind.tables.pythonabi import PythonVersion

_PYCONFIG = "pyconfig.h"


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """How Python modules are built for one target. `identity` is a hash of what matters in the interpreter."""

    kind: str
    identity: str
    headers: Path
    target: Target
    toolchain: Toolchain

    @property
    def origin(self) -> str:
        """Whose headers, for people and manifests."""
        return f"headers of CPython {platform.python_version()}"

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
        include = self._copy_headers(folder / "include")
        limit = f"0x{floor[0]:02X}{floor[1]:02X}0000" if floor else ""
        return [
            f"-DPython_EXECUTABLE={Path(sys.executable).as_posix()}",  # nanobind and pybind11 look for one
            f"-DLATEBIND_PYTHON_KIND={self.kind}",
            f"-DLATEBIND_PYTHON_INCLUDE={include}",
            f"-DLATEBIND_PYTHON_LIMITED_API={limit}",
            f"-DLATEBIND_PYTHON_TARGET_ABI3T={limit if is_threaded(self.kind) else ''}",
            f"-DLATEBIND_PYTHON_SUFFIX={module_suffix(self.kind, self.target)}",
            f"-DLATEBIND_PYTHON_LIBRARY={self._library(folder, floor) if self.target.dlltool_machine else ''}",
        ]

    def _copy_headers(self, include: Path) -> Path:
        """The headers with the pyconfig.h of the target: one that asks the compiler, or this CPython's own.

        They are copied because Python.h includes the pyconfig.h of its own folder first, and that one may
        describe another machine (a cross build) or lead to a folder that only the system's compiler searches (Debian).
        """
        shutil.copytree(self.headers, include, ignore=shutil.ignore_patterns(_PYCONFIG, "internal"))
        pyconfig = fill("pyconfig.h") if self.is_portable else _own_pyconfig(self.headers).read_text("utf-8")
        write_text(include / _PYCONFIG, pyconfig)
        return include

    def _library(self, folder: Path, floor: PythonVersion | None) -> Path:
        """Only Windows resolves a module's symbols when it is linked: from python3.lib, or this CPython's own."""
        stable = "python3t" if is_threaded(self.kind) else "python3"
        if floor is not None and self.is_portable:
            definition = folder / f"{stable}.def"
            write_text(definition, module_definition(floor, f"{stable}.dll"))
            return self.toolchain.import_library(definition, self.target)
        threads = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
        own_library = f"python{sys.version_info.major}{sys.version_info.minor}{threads}.lib"
        name = f"{stable}.lib" if floor else own_library
        path = Path(sys.base_prefix) / "libs" / name
        if not path.is_file():
            raise BuildError(f"this Python has no {name}", where=str(path.parent), advice="Install it from python.org.")
        return path


def extension(kind: str, target: Target, toolchain: Toolchain) -> Extension | None:
    """How modules of a kind are built for a target; None where they cannot be: another machine's own CPython.

    Raises BuildError when this Python cannot build them at all: no headers, not CPython, too old for the stable ABI
    that is asked for, or without one.
    """
    if kind == "cpython" and target.rid != host_rid():
        return None
    refuse_interpreter(kind)
    headers = find_headers()
    parts = [sys.version, hash_tree(headers), hash_file(_own_pyconfig(headers))]
    identity = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return Extension(kind=kind, identity=identity, headers=headers, target=target, toolchain=toolchain)


def find_headers() -> Path:
    """The folder of this CPython's headers. Raises BuildError with the command that installs them."""
    headers = Path(sysconfig.get_path("include"))
    if not (headers / "Python.h").is_file():
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise BuildError(
            f"the headers of Python {version}, which modules are compiled with, are not on this machine",
            where=str(headers / "Python.h"),
            advice=f"Install them (Debian: apt install python{version}-dev; Fedora: dnf install python3-devel).",
        )
    return headers


def _own_pyconfig(headers: Path) -> Path:
    """The pyconfig.h of this CPython; on Debian, the one next to Python.h includes another in a multiarch folder."""
    multiarch = headers.parent / str(sysconfig.get_config_var("MULTIARCH") or "") / headers.name / _PYCONFIG
    return multiarch if multiarch.is_file() else Path(sysconfig.get_config_h_filename())


def refuse_interpreter(kind: str) -> None:
    """Refuse a Python that cannot build, and could not install, a wheel of that kind.

    Raises BuildError.
    """
    floor = floor_of(kind)
    if sys.implementation.name != "cpython":
        raise BuildError(
            f"a wheel of kind {kind} is CPython's, and this is {sys.implementation.name}",
            where=sys.executable,
            advice="Run latebind with CPython.",
        )
    if floor is not None and not is_threaded(kind) and sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise BuildError(
            f"a wheel of kind {kind} needs the stable ABI of CPython with the GIL, and this one is free-threaded",
            where=sys.executable,
            advice='Run latebind with an ordinary CPython, or set wheel.kind = "cp315-abi3.abi3t" or "cpython".',
        )
    if floor is not None and sys.version_info[:2] < floor:
        raise BuildError(
            f"a wheel of kind {kind} is for CPython {floor[0]}.{floor[1]} and newer, and this is "
            f"{sys.version_info.major}.{sys.version_info.minor}",
            where=sys.executable,
            advice="Run latebind with that CPython or a newer one; its headers declare what the module may use.",
        )


def refuse_foreign(kind: str, rid: str) -> None:
    """Refuse a wheel of this CPython's own ABI for another machine. Raises NotRun `no-interpreter`."""
    if kind == "cpython" and rid != host_rid():
        raise NotRun(
            "no-interpreter",
            f"a wheel of kind cpython for {rid} is built by a CPython there, and this machine is {host_rid()}",
            advice='Build it on such a machine (cibuildwheel), or set wheel.kind = "cpXY-abi3", which needs none.',
        )


def module_suffix(kind: str, target: Target) -> str:
    """How the file names of modules end: `.abi3.so`, `.pyd`, or what this CPython calls its own."""
    if kind == "cpython":
        return str(sysconfig.get_config_var("EXT_SUFFIX"))
    return target.abi3_suffix.replace("abi3", "abi3t") if is_threaded(kind) else target.abi3_suffix


def fits(kind: str, library: str) -> bool:
    """Whether a library belongs in a wheel that this Python makes: not when it is a module for another ABI.

    A stage that was merged from wheels of several CPythons holds a module for each.
    """
    abi = module_abi(library)
    return kind != "cpython" or not abi or abi in ("abi3", "abi3t", abi_tags(kind).partition("-")[2])
