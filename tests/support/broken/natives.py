"""Makes bad native libraries with real tools: LIEF changes built ones, zig compiles new ones; packs nothing."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import lief

from latebind.system.run import run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GLIBC = "x86_64-linux-gnu.2.28"
# The folder in the debug information is always the same, wherever this runs.
_DEBUG = ("-O0", "-g", "-fdebug-compilation-dir=/home/runner/work/latenn")


def change_library(data: bytes, change: Callable[[Any], object], *, slice_of: str = "") -> bytes:
    """A library after a change by LIEF. `slice_of` is "macho" for the one slice of a Mach-O file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "library"
        path.write_bytes(data)
        parsed: Any = lief.parse(str(path)) if not slice_of else lief.MachO.parse(str(path))
        binary = parsed if not slice_of else parsed.at(0)
        change(binary)
        if isinstance(binary, lief.PE.Binary):
            how = lief.PE.Builder.config_t()
            how.imports = True
            binary.write(str(path), how)
        else:
            binary.write(str(path))
        return path.read_bytes()


def compile_library(
    source: str, *flags: str, target: str = GLIBC, language: str = "c", name: str = "library.so", release: bool = True
) -> bytes:
    """A shared library that zig made of a source; stripped and optimised with `release`."""
    with TemporaryDirectory() as folder:
        Path(folder, f"source.{language}").write_text(source, encoding="utf-8")
        how: Sequence[str] = ("-O2", "-s") if release else _DEBUG
        argv = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-shared", "-fPIC", *how, *flags]
        # Only names go to the compiler, so that no path of this machine ends in the output.
        run([*argv, f"source.{language}", "-o", name], cwd=Path(folder))
        return Path(folder, name).read_bytes()


def runtime() -> bytes:
    """The shared ONNX Runtime of the wheel that is installed here."""
    return _of_runtime("libonnxruntime.so")


def static_runtime() -> bytes:
    """onnxruntime's own Python module: the runtime is inside, statically, and its entry symbol is not exported."""
    return _of_runtime("onnxruntime_pybind11_state")


def _of_runtime(name: str) -> bytes:
    files = importlib.metadata.files("onnxruntime") or []
    library = next(file for file in files if file.name.startswith(name))
    return Path(str(library.locate())).read_bytes()


def needing(name: str) -> Callable[[bytes], bytes]:
    """A library with one more that it needs."""
    return lambda data: change_library(data, lambda binary: binary.add_library(name))


def searching(path: str) -> Callable[[bytes], bytes]:
    """A library with a search path of its own."""
    return lambda data: change_library(data, lambda binary: binary.add(lief.ELF.DynamicEntryRunPath(path)))


def set_soname(soname: str) -> Callable[[bytes], bytes]:
    """A library with another SONAME."""
    return lambda data: name_library(data, soname)


def name_library(data: bytes, soname: str) -> bytes:
    """A library with another SONAME."""

    def rename(binary: Any) -> None:
        binary[lief.ELF.DynamicEntry.TAG.SONAME].name = soname

    return change_library(data, rename)


def exporting(name: str, *, data: bool = False) -> Callable[[bytes], bytes]:
    """A library with one more export, a function or an object."""

    def export(binary: Any) -> None:
        symbol = binary.add_exported_function(binary.get_symbol("latenn_backend_table").value, name)
        if data:
            symbol.type = lief.ELF.Symbol.TYPE.OBJECT
            symbol.size = 8

    return lambda library: change_library(library, export)


def executable_stack(data: bytes) -> bytes:
    """A library that asks for a stack from which code may run."""
    return change_library(data, lambda binary: binary[lief.ELF.Segment.TYPE.GNU_STACK].add(lief.ELF.Segment.FLAGS.X))


def remove_signature(data: bytes) -> bytes:
    """A Mach-O library without its signature."""
    return change_library(data, lambda binary: binary.remove_signature(), slice_of="macho")


def newer_macos(data: bytes) -> bytes:
    """A Mach-O library that asks for macOS 15."""

    def raise_floor(binary: Any) -> None:
        binary.build_version.minos = [15, 0, 0]

    return change_library(data, raise_floor, slice_of="macho")


def importing(library: str, symbol: str) -> Callable[[bytes], bytes]:
    """A DLL with one more import."""
    return lambda data: change_library(data, lambda binary: binary.add_import(library).add_entry(symbol))
