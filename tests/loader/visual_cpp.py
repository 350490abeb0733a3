"""Links test programs in Visual C++'s ABI as its linker does, without its SDK: LLVM's linker and libraries of names."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from latebind.backend.targets import target
from latebind.backend.zig import find_zig, zig_variables
from tests.conftest import ROOT
from tests.support.running import run_checked

SOURCES = ROOT / "tests" / "loader" / "msvc"
MACHINES = {"win-x64": "x64", "win-arm64": "arm64"}
_PROVIDED = msgspec.toml.decode((SOURCES / "provided.toml").read_bytes())
KERNEL32, VCRUNTIME, UCRT, STATIC = (frozenset(_PROVIDED[name]) for name in ("kernel32", "vcruntime", "ucrt", "static"))
_OF_PROGRAMS = {"_configure_narrow_argv", "__p___argc", "__p___argv", "fflush", "puts"}
_LIBRARIES = {
    "KERNEL32": KERNEL32 | {"RaiseException"},
    "VCRUNTIME140": VCRUNTIME | {"_CxxThrowException", "__CxxFrameHandler3"},
    "ucrtbase": UCRT | _OF_PROGRAMS,
    "ntdll": {"__chkstk"},  # the function that Microsoft's static library has
}


def needed_zig() -> Path:
    """zig. Skips where it is missing."""
    return find_zig() or pytest.skip("not run: there is no zig here: pip install ziglang")


@dataclass(frozen=True)
class VisualCpp:
    """The compiler, the linker and the libraries for one target, in a folder."""

    rid: str
    folder: Path
    libraries: tuple[str, ...] = tuple(_LIBRARIES)
    """The import libraries that every program is linked with."""

    def zig(self, *arguments: str | Path) -> None:
        """Run a command of zig in the folder."""
        zig = needed_zig()
        run_checked(zig, *arguments, cwd=self.folder, env={**os.environ, **zig_variables(zig, self.folder)})

    def write_libraries(self) -> None:
        """Write the import libraries, from nothing but names."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, functions in _LIBRARIES.items():
            lines = [f"LIBRARY {name}.dll", "EXPORTS", *sorted(functions)]
            (self.folder / f"{name}.def").write_text("\n".join(lines) + "\n", "ascii")
            machine = target(self.rid).dlltool_machine
            self.zig("dlltool", "-m", machine, "-d", f"{name}.def", "-l", f"{name}.lib")

    def compile(self, source: Path, name: str, *flags: str | Path) -> Path:
        """Compile a C or C++ file to an object."""
        compiled = self.folder / f"{name}.obj"
        include = ["-isystem", ROOT / "loader" / "stub" / "msvc", f"-I{ROOT / 'loader' / 'include'}"]
        of_cpp = ("c++", "-fexceptions", "-fcxx-exceptions", "-Wno-unused-command-line-argument")  # zig's own, unused
        language = of_cpp if source.suffix == ".cpp" else ("cc", "-std=c99")
        self.zig(
            *(*language, "-target", f"{target(self.rid).arch}-windows-msvc", "-O1", "-s", "-Wall", "-Werror"),
            *(*include, *flags, "-c", source, "-o", compiled),
        )
        return compiled

    def link(self, output: Path, *inputs: str | Path) -> Path:
        """Link a program or, with `-dll`, a library; what no input and no library has is an error."""
        output.parent.mkdir(parents=True, exist_ok=True)
        libraries = [f"{name}.lib" for name in self.libraries]
        options = ["-nologo", "-nodefaultlib", f"-machine:{MACHINES[self.rid]}", f"-out:{output}"]
        self.zig("lld-link", *options, *inputs, *libraries)
        return output
