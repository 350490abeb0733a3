"""Builds modules for the CPythons that `wheel.pythons` names, for every target.

They are built from the headers of an installed CPython of that version, which are the same on every system, except
pyconfig.h. CMake's FindPython, pybind11 and nanobind ask an interpreter for the rest, so they get a virtual environment
whose `sysconfig` describes the target, as crossenv and cibuildwheel do.
"""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from latebind.backend import extension as running
from latebind.backend.extension import (
    FIND_PYTHON,
    Extension,
    find_library,
    name_interpreter,
    own_pyconfig,
    portable_pyconfig,
    refuse_interpreter,
)
from latebind.backend.files import digest, write_text
from latebind.backend.targets import Target, like_host
from latebind.backend.toolchain import Toolchain
from latebind.backend.tree import hash_file, hash_tree
from latebind.compilers.interpreters import Interpreter, interpreters
from latebind.errors import BuildError
from latebind.system.run import run
from latebind.tables.wheelkinds import own_abi_python
from latebind.templates import fill

_OF_PROGRAMS = ("LIBS", "SYSLIBS", "LINKFORSHARED")
"""What programs with a CPython in them are linked with; FindPython takes it over, and a module needs none of it."""
_TIME_LIMIT = 120.0
_DECLARATION = re.compile(r"PyAPI_(?P<sort>FUNC|DATA)\((?:[^()]|\([^()]*\))*\)(?P<declared>[^;]*);")
_NAME = re.compile(r"(?:^|,)[\s*(]*(?:const\s+)?(_?P[yY]\w+)")
_PARAMETERS = re.compile(r"(?<=\w)\s*\(")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_INTERNAL = "internal"


@dataclass(frozen=True, kw_only=True)
class InstalledPython(Extension):
    """How Python modules are built for one target with an installed CPython."""

    left_out = ()
    interpreter: Interpreter

    @property
    def title(self) -> str:
        """The version of its headers."""
        return self.interpreter.version

    @cached_property
    def identity(self) -> str:
        """A hash of what matters in the interpreter."""
        version = f"{self.kind} {self.interpreter.version}"
        return digest([version, hash_tree(self.headers), hash_file(own_pyconfig(self.headers))])

    @property
    def suffix(self) -> str:
        """How the file names of its modules end."""
        return f".{self.soabi}{'.pyd' if self.target.dlltool_machine else '.so'}"

    @property
    def soabi(self) -> str:
        """The ABI in names of its modules: `cpython-310-x86_64-linux-gnu`, `cp313t-win_amd64`."""
        abi = self.abi if self.target.dlltool_machine else self.abi.replace("cp", "cpython-")
        return f"{abi}-{self.target.soabi}"

    def _answers(self, folder: Path, include: Path, library: str) -> list[str]:
        """What FindPython, pybind11 and nanobind look for, so that they take this CPython for this target."""
        threaded = self.abi.endswith("t")
        # FindPython must be asked for a free-threaded CPython on Windows; elsewhere it looks at the program itself.
        flags = "t" if threaded and library else ""
        variables: dict[str, str | int] = {
            "EXT_SUFFIX": self.suffix,
            "SOABI": self.soabi,
            "INCLUDEPY": str(include),
            "CONFINCLUDEPY": str(include),
            "Py_GIL_DISABLED": int(threaded),
            "ABIFLAGS": flags,
            **dict.fromkeys(_OF_PROGRAMS, ""),
        }
        python = make_cross_python(self.interpreter, folder / "environment", variables)
        return [
            *name_interpreter(python),
            "-DLATEBIND_PYTHON_ANSWERS=ON",
            *(f"-D{name}_INCLUDE_DIR={include}" for name in FIND_PYTHON),
            *(f"-D{name}_LIBRARY={library}" for name in FIND_PYTHON if library),
            *(f"-D{name}_FIND_ABI=OFF;OFF;OFF;ON" for name in FIND_PYTHON[:2] if flags),
            f"-DPYTHON_MODULE_EXTENSION={self.suffix}",  # pybind11
            "-DPYTHON_MODULE_DEBUG_POSTFIX=",
            "-DPYBIND11_FINDPYTHON=ON",
            f"-DSKBUILD_SOABI={self.soabi}",  # nanobind asks no interpreter where scikit-build-core gave it
        ]

    def _pyconfig(self) -> str:
        if self.is_portable:
            return portable_pyconfig(is_threaded=self.abi.endswith("t"), is_limited=False)
        return own_pyconfig(self.headers).read_text("utf-8")

    def _library(self, folder: Path) -> Path:
        """Only Windows resolves a module's symbols when it is linked: from this CPython's own library."""
        own = f"python{self.abi.removeprefix('cp')}"
        if not self.is_portable:
            return find_library(Path(self.interpreter.prefix), own)
        definition = folder / f"{own}.def"
        write_text(definition, list_exports(self.headers, f"{own}.dll"))
        return self.toolchain.import_library(definition, self.target)


def extension(kind: str, target: Target, toolchain: Toolchain) -> Extension | None:
    """How modules of a kind are built for a target; None where they cannot be: another machine's own CPython.

    Raises BuildError when no Python here can build them: no headers, not CPython, too old for the stable ABI that is
    asked for, or without one.
    """
    python = own_abi_python(kind)
    if not python:
        return running.extension(kind, target, toolchain)
    refuse_interpreter(kind)
    interpreter = find_interpreter(python)
    _refuse_foreign_compiler(interpreter, kind, target, toolchain)
    headers = interpreter.headers or Path()
    return InstalledPython(kind=kind, interpreter=interpreter, headers=headers, target=target, toolchain=toolchain)


def _refuse_foreign_compiler(interpreter: Interpreter, kind: str, target: Target, toolchain: Toolchain) -> None:
    """Refuse this machine's compiler where the headers are another build's. Raises BuildError."""
    if toolchain.name != "zig" and interpreter.minor != own_abi_python(kind):
        raise BuildError(
            f"this machine's compiler needs the pyconfig.h of CPython {own_abi_python(kind)}, which is not installed",
            where="wheel.pythons",
            advice=f'Install that CPython, or build {target.rid} with zig: remove toolchain = "host".',
        )


def find_interpreter(python: str) -> Interpreter:
    """An installed CPython with the headers of a version: `3.10`, or `3.13t`, whose headers are those of `3.13`.

    Raises BuildError with the command that installs one.
    """
    plain = python.rstrip("t")
    candidates = interpreters(list(dict.fromkeys((python, plain))))
    for interpreter in candidates:
        if interpreter.headers is not None:
            return interpreter
    lacking = f"the installed CPython {plain} has no headers" if candidates else f"CPython {plain} is not installed"
    raise BuildError(
        f"{lacking}, but modules for CPython {python} are compiled with its headers",
        where="wheel.pythons",
        advice=f"Install a CPython with these headers (uv python install {python}; Debian: apt install "
        f"python{plain}-dev python{plain}-venv), or remove {python} from wheel.pythons.",
    )


def make_cross_python(interpreter: Interpreter, folder: Path, answers: Mapping[str, str | int]) -> Path:
    """A virtual environment of that CPython with other configuration variables; its interpreter.

    It also finds the packages of latebind's own environment, where projects have pybind11 and nanobind.

    Raises ToolError when that CPython cannot make one.
    """
    run([interpreter.path, "-I", "-m", "venv", "--without-pip", folder], timeout=_TIME_LIMIT)
    host = like_host()
    site = folder / host.site_packages.format(minor=interpreter.minor)
    paths = sysconfig.get_paths()
    folders = dict.fromkeys((paths["purelib"], paths["platlib"]))
    write_text(site / "_latebind_target.py", fill("cross_sysconfig.py", answers=repr(dict(sorted(answers.items())))))
    write_text(site / "latebind.pth", "\n".join(["import _latebind_target", *folders]) + "\n")
    return folder / host.python


def list_exports(headers: Path, library: str) -> str:
    """What the DLL of one CPython exports, as a module definition file: all that its public headers declare.

    A name that this CPython has only on other systems is in it, too: its headers declare it under a condition that
    does not hold for Windows, so no module uses it.
    """
    names: dict[str, bool] = {}
    for header in sorted(headers.rglob("*.h")):
        if _INTERNAL not in header.relative_to(headers).parts:
            for match in _DECLARATION.finditer(_COMMENT.sub("", header.read_text("utf-8", "replace"))):
                declared = _NAME.findall(_PARAMETERS.split(match["declared"])[0])
                names |= dict.fromkeys(declared, match["sort"] == "DATA")
    lines = [f"{name} DATA" if is_data else name for name, is_data in sorted(names.items())]
    return "\n".join([f"LIBRARY {library}", "EXPORTS", *lines]) + "\n"
