"""Provides what CMake needs from CPython to build extension modules: headers, import library, file names.

Modules of the stable ABI are built for every target from the headers of the running CPython, whose limited API is the
same everywhere. Modules of the CPythons that `wheel.pythons` names are built for every target from the headers of an
installed CPython of that version; without that list, for this machine alone by the CPython that runs.

The headers of a version are the same on every system, except pyconfig.h. CMake's FindPython, pybind11 and nanobind ask
an interpreter for the rest, so they get a virtual environment whose `sysconfig` describes the target, as crossenv and
cibuildwheel do.
"""

from __future__ import annotations

import platform
import re
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.compilers.interpreters import Interpreter, interpreters
from latebind.errors import BuildError, NotRun
from latebind.fill import fill
from latebind.fingerprint import digest
from latebind.model import Target
from latebind.system.files import write_text
from latebind.system.run import run
from latebind.system.tree import hash_file, hash_tree
from latebind.tables.targets import host_rid, like_host
from latebind.tables.wheelkinds import abi_tags, is_threaded, own_abi_python
from loadcheck.facts import PythonVersion, floor_of, module_abi, stable_names

if TYPE_CHECKING:
    from latebind.compilers.choose import Toolchain

_ON_WINDOWS = frozenset({"", "MS_WINDOWS", "PY_HAVE_THREAD_NATIVE_ID"})
"""Conditions that hold for every CPython on Windows, by the `windows` keys of Misc/stable_abi.toml."""
FIND_PYTHON = ("Python", "Python3", "PYTHON")
"""The prefixes of the variables of FindPython, of FindPython3, and of pybind11's own search."""
_PYCONFIG = "pyconfig.h"
_OF_PROGRAMS = ("LIBS", "SYSLIBS", "LINKFORSHARED")
"""What programs with a CPython in them are linked with; FindPython takes it over, and a module needs none of it."""
_TIME_LIMIT = 120.0
_DECLARATION = re.compile(r"PyAPI_(?P<sort>FUNC|DATA)\((?:[^()]|\([^()]*\))*\)(?P<declared>[^;]*);")
_NAME = re.compile(r"(?:^|,)[\s*(]*(?:const\s+)?(_?P[yY]\w+)")
_PARAMETERS = re.compile(r"(?<=\w)\s*\(")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_INTERNAL = "internal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """How Python modules are built for one target. `identity` is a hash of what matters in the interpreter."""

    kind: str
    identity: str
    interpreter: Interpreter
    """The CPython whose headers are used."""
    headers: Path
    target: Target
    toolchain: Toolchain

    @property
    def is_portable(self) -> bool:
        """Whether the target may be another machine: then nothing of this machine's configuration may be used."""
        return self.kind != "cpython" and self.toolchain.name == "zig"

    @property
    def abi(self) -> str:
        """The ABI in the names of its modules: `cp310` for `cp310-cp310`; "" where there is no such list."""
        return self.kind.partition("-")[2] if own_abi_python(self.kind) else ""

    def configure(self, folder: Path) -> list[str]:
        """CMake arguments for latebind_add_python_module(); files that they need are written to `folder`.

        Raises ToolError when the import library cannot be made, BuildError when this CPython lacks its own.
        """
        floor = floor_of(self.kind)
        shutil.rmtree(folder, ignore_errors=True)
        include = self._copy_headers(folder / "include")
        limit = f"0x{floor[0]:02X}{floor[1]:02X}0000" if floor else ""
        library = str(self._library(folder, floor)) if self.target.dlltool_machine else ""
        suffix = module_suffix(self.kind, self.target)
        return [
            *(self._answers(folder, include, library) if self.abi else _name_interpreter(Path(sys.executable))),
            f"-DLATEBIND_PYTHON_KIND={self.kind}",
            f"-DLATEBIND_PYTHON_INCLUDE={include}",
            f"-DLATEBIND_PYTHON_LIMITED_API={limit}",
            f"-DLATEBIND_PYTHON_TARGET_ABI3T={limit if is_threaded(self.kind) else ''}",
            f"-DLATEBIND_PYTHON_SUFFIX={suffix}",
            f"-DLATEBIND_PYTHON_LIBRARY={library}",
        ]

    def _answers(self, folder: Path, include: Path, library: str) -> list[str]:
        """What FindPython, pybind11 and nanobind look for, so that they take this CPython for this target."""
        suffix, soabi = module_suffix(self.kind, self.target), module_soabi(self.kind, self.target)
        threaded = self.abi.endswith("t")
        # FindPython must be asked for a free-threaded CPython on Windows; elsewhere it looks at the program itself.
        flags = "t" if threaded and library else ""
        variables: dict[str, str | int] = {
            "EXT_SUFFIX": suffix,
            "SOABI": soabi,
            "INCLUDEPY": str(include),
            "CONFINCLUDEPY": str(include),
            "Py_GIL_DISABLED": int(threaded),
            "ABIFLAGS": flags,
            **dict.fromkeys(_OF_PROGRAMS, ""),
        }
        python = make_cross_python(self.interpreter, folder / "environment", variables)
        return [
            *_name_interpreter(python),
            "-DLATEBIND_PYTHON_ANSWERS=ON",
            *(f"-D{name}_INCLUDE_DIR={include}" for name in FIND_PYTHON),
            *(f"-D{name}_LIBRARY={library}" for name in FIND_PYTHON if library),
            *(f"-D{name}_FIND_ABI=OFF;OFF;OFF;ON" for name in FIND_PYTHON[:2] if flags),
            f"-DPYTHON_MODULE_EXTENSION={suffix}",  # pybind11
            "-DPYTHON_MODULE_DEBUG_POSTFIX=",
            "-DPYBIND11_FINDPYTHON=ON",
            f"-DSKBUILD_SOABI={soabi}",  # nanobind asks no interpreter where scikit-build-core gave it
        ]

    def _copy_headers(self, include: Path) -> Path:
        """The headers with the pyconfig.h of the target: one that asks the compiler, or this CPython's own.

        They are copied because Python.h includes the pyconfig.h of its own folder first, and that one may
        describe another machine (a cross build) or lead to a folder that only the system's compiler searches (Debian).
        """
        internal = () if self.abi else ("internal",)  # Cython's modules include some of them
        shutil.copytree(self.headers, include, ignore=shutil.ignore_patterns(_PYCONFIG, *internal))
        threaded = "#define Py_GIL_DISABLED 1" if self.abi.endswith("t") else "/* with the GIL */"
        portable = fill("pyconfig.h", threaded=threaded, limited=str(int(not self.abi)))
        pyconfig = portable if self.is_portable else _own_pyconfig(self.headers).read_text("utf-8")
        write_text(include / _PYCONFIG, pyconfig)
        return include

    def _library(self, folder: Path, floor: PythonVersion | None) -> Path:
        """Only Windows resolves a module's symbols when it is linked: from python3.lib, or this CPython's own."""
        stable = "python3t" if is_threaded(self.kind) else "python3"
        if floor is not None and self.is_portable:
            definition = folder / f"{stable}.def"
            write_text(definition, module_definition(floor, f"{stable}.dll"))
            return self.toolchain.import_library(definition, self.target)
        own = f"python{(self.abi or abi_tags(self.kind).partition('-')[2]).removeprefix('cp')}"
        if self.abi and self.is_portable:
            definition = folder / f"{own}.def"
            write_text(definition, list_exports(self.headers, f"{own}.dll"))
            return self.toolchain.import_library(definition, self.target)
        name = f"{stable}.lib" if floor else f"{own}.lib"
        path = Path(self.interpreter.prefix) / "libs" / name
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
    if python := own_abi_python(kind):
        interpreter = find_interpreter(python)
        headers, version = interpreter.headers or Path(), f"{kind} {interpreter.version}"
        _refuse_foreign_compiler(interpreter, kind, target, toolchain)
    else:
        headers, version = find_headers(), sys.version
        interpreter = Interpreter(
            path=Path(sys.executable), version=platform.python_version(), shared=False, prefix=sys.base_prefix
        )
    parts = [version, hash_tree(headers), hash_file(_own_pyconfig(headers))]
    return Extension(
        kind=kind, identity=digest(parts), interpreter=interpreter, headers=headers, target=target, toolchain=toolchain
    )


def _refuse_foreign_compiler(interpreter: Interpreter, kind: str, target: Target, toolchain: Toolchain) -> None:
    """Refuse this machine's compiler where the headers are another build's. Raises BuildError."""
    if toolchain.name != "zig" and interpreter.minor != own_abi_python(kind):
        raise BuildError(
            f"this machine's compiler needs the pyconfig.h of CPython {own_abi_python(kind)}, which is not installed",
            where="wheel.pythons",
            advice=f'Install that CPython, or build {target.rid} with zig: remove toolchain = "host".',
        )


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


def _own_pyconfig(headers: Path) -> Path:
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


def module_suffix(kind: str, target: Target) -> str:
    """How the file names of modules end: `.abi3.so`, `.pyd`, or what a CPython calls its own."""
    if own_abi_python(kind):
        return f".{module_soabi(kind, target)}{'.pyd' if target.dlltool_machine else '.so'}"
    if kind == "cpython":
        return str(sysconfig.get_config_var("EXT_SUFFIX"))
    return target.abi3_suffix.replace("abi3", "abi3t") if is_threaded(kind) else target.abi3_suffix


def module_soabi(kind: str, target: Target) -> str:
    """The ABI in names of one CPython's modules: `cpython-310-x86_64-linux-gnu`, `cp313t-win_amd64`."""
    abi = kind.partition("-")[2]
    return f"{abi if target.dlltool_machine else abi.replace('cp', 'cpython-')}-{target.soabi}"


def fits(kind: str, library: str) -> bool:
    """Whether a library belongs in a wheel of a kind: not when it is a module for another CPython.

    A stage for several CPythons holds a module for each.
    """
    abi = module_abi(library)
    own = "-cp" in abi_tags(kind)
    return not own or not abi or abi in ("abi3", "abi3t", abi_tags(kind).partition("-")[2])


def _name_interpreter(python: Path) -> list[str]:
    return [f"-D{name}_EXECUTABLE={python.as_posix()}" for name in FIND_PYTHON]


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


def module_definition(floor: PythonVersion, library: str) -> str:
    """What a library of that CPython exports, python3.dll or python3t.dll, as a module definition file.

    An import library is made from it.
    Names whose condition may not hold on Windows are left out: using one then fails when the module is linked, not when
    it is imported.
    """
    symbols = [
        symbol for symbol in stable_names().values() if symbol.since <= floor and symbol.condition in _ON_WINDOWS
    ]
    lines = [
        f"{symbol.name} DATA" if symbol.is_data else symbol.name
        for symbol in sorted(symbols, key=lambda symbol: symbol.name)
    ]
    return "\n".join([f"LIBRARY {library}", "EXPORTS", *lines]) + "\n"
