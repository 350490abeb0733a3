"""Lets one machine build modules for any CPython and target from an installed CPython of the same version.

The headers of a version are the same on every system, except pyconfig.h. CMake's FindPython, pybind11 and nanobind ask
an interpreter for the rest, so they get a virtual environment whose `sysconfig` describes the target, as crossenv and
cibuildwheel do.
"""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from latebind.compilers.interpreters import Interpreter, interpreters
from latebind.errors import BuildError
from latebind.fill import fill
from latebind.system.run import run
from latebind.tables.targets import like_host
from loadcheck.archive import write_text

_TIME_LIMIT = 120.0
_DECLARATION = re.compile(r"PyAPI_(?P<sort>FUNC|DATA)\((?:[^()]|\([^()]*\))*\)(?P<declared>[^;]*);")
_NAME = re.compile(r"(?:^|,)[\s*(]*(?:const\s+)?(_?P[yY]\w+)")
_PARAMETERS = re.compile(r"(?<=\w)\s*\(")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_INTERNAL = "internal"


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
