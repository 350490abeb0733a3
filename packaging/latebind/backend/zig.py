"""zig as a compiler: for any target from any machine, with a cache of its standard libraries for the user."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.backend.cache import user_cache
from latebind.backend.errors import NotRun
from latebind.backend.files import write_changed, write_text
from latebind.backend.fill import fill
from latebind.backend.host import compiler_version, has_cxx, launchers, own_targets, steers
from latebind.backend.indirect import complete_indirect_symbols
from latebind.backend.notes import NOTES, duration
from latebind.backend.programs import list_packaged, which
from latebind.backend.run import run
from latebind.backend.targets import Target, zig_triple

if TYPE_CHECKING:
    from latebind.backend.toolchain import Toolchain

ZIG_REQUIREMENT = "ziglang==0.17.0"
"""Pinned: another zig makes other bytes."""

_CACHE_VARIABLE = "ZIG_GLOBAL_CACHE_DIR"
_LIBRARY_VARIABLE = "ZIG_LIB_DIR"
_BUSY = 3
"""How many times as long zig takes on busy CPUs: its C++ library took 247 s with eight other processes on two CPUs."""
_WORTH_ANNOUNCING = 30
"""Seconds."""


def find_zig() -> Path | None:
    """zig from the `ziglang` distribution, else from PATH; None without either."""
    return next((zig for zig in list_packaged("ziglang", "zig") if zig.is_file()), None) or which("zig")


def zig_toolchain(target: Target) -> Toolchain:
    """zig as found by find_zig(). Raises NotRun `no-compiler` when it is not on this machine."""
    zig = find_zig()
    if zig is None:
        is_own = target.rid in own_targets()
        instead = f'; or write toolchain = "host" below [targets.{target.rid}].' if is_own else ""
        text = f"zig, which compiles for {target.rid}, is not installed"
        raise NotRun("no-compiler", text, advice=f'Run: pip install "{ZIG_REQUIREMENT}"{instead}')
    return _Zig(zig)


def zig_variables(zig: Path, build_root: Path) -> dict[str, str]:
    """Where zig keeps its compiled standard libraries and has their sources: the same places for every project.

    `build_root` is the folder of builds, which holds the cache where the user has no folder for caches. Variables that
    the caller has set are kept.
    """
    user = user_cache()
    cache = os.environ.get(_CACHE_VARIABLE) or str(user / "zig" if user else build_root / "zig-cache")
    library = os.environ.get(_LIBRARY_VARIABLE) or str(_kept_library(zig, Path(cache)))
    return {_CACHE_VARIABLE: cache, _LIBRARY_VARIABLE: library}


def _kept_library(zig: Path, cache: Path) -> Path:
    """zig's headers and sources in the cache: links to an environment's, or copies if that is on another disk.

    zig reuses cached C libraries for Windows only if their sources are in the same place (it passes itself that folder
    as -isystem). Each new environment, such as an isolated build's, would spend a minute compiling them.
    """
    bundled = zig.resolve().parent / "lib"
    cached = cache / "latebind" / f"zig-{compiler_version(zig, 'version')}" / "lib"
    if bundled.is_dir() and not cached.is_dir():
        with suppress(OSError, shutil.Error):  # another process was quicker, or the disk is full: its own will do
            cached.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cached.parent, ignore_cleanup_errors=True) as aside:
                copy = Path(shutil.copytree(bundled, Path(aside) / "lib", copy_function=_link))
                copy.rename(cached)
    return cached if cached.is_dir() else bundled


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # on another disk
        shutil.copyfile(source, target)


def _quote(path: Path) -> str:
    """A path as a quoted CMake argument."""
    text = path.as_posix().replace("\\", "/")
    return '"' + text.replace('"', '\\"').replace("$", "\\$") + '"'


@dataclass(frozen=True, slots=True)
class _Zig:
    zig: Path
    name: str = "zig"

    def identity(self) -> str:
        return f"zig {compiler_version(self.zig, 'version')}"

    def configure(self, target: Target, floor: str, folder: Path) -> list[str]:
        wrappers = {tool: self._wrapper(tool, folder) for tool in ("ar", "ranlib", "rc")}
        file = folder / "toolchain.cmake"
        operators = folder / "operators.cpp"
        text = fill(
            "toolchain.cmake",
            system=target.cmake_system,
            processor=target.arch,
            triple=zig_triple(target, floor),
            zig=_quote(self.zig),
            operators=_quote(operators),
            **{tool: _quote(file) for tool, file in wrappers.items()},
        )
        darwin = {operators.name: fill("operators.cpp")} if target.cmake_system == "Darwin" else {}
        write_changed({file.name: text, **darwin}, folder)
        return [f"-DCMAKE_TOOLCHAIN_FILE={file}", *self._launchers(target, folder)]

    def _launchers(self, target: Target, folder: Path) -> list[str]:
        """What is in front of the compiler; for Windows our own program, as projects use options of Visual C++."""
        if target.system != "windows":
            return launchers()
        script = folder / "visual_cpp_options.py"
        write_text(script, fill("visual_cpp_options.py"))
        return launchers((Path(sys.executable).as_posix(), "-I", "-S", script.as_posix()))

    def symbols(self, target: Target, folder: Path, build_root: Path) -> list[str]:
        library = Path(zig_variables(self.zig, build_root)[_LIBRARY_VARIABLE])
        maps = f"-DLATEBIND_PREFIX_MAP={library}=zig/lib;{build_root}=build"
        if not target.linker_scripts:
            return [maps]
        script = folder / "symbols.ld"
        write_text(script, fill("symbols.ld"))
        return [maps, f"-DLATEBIND_SYMBOLS_SCRIPT={script}"]

    def fingerprint(self) -> str:
        return self.identity()

    def import_library(self, definition: Path, target: Target) -> Path:
        library = definition.with_suffix(".lib")
        run([self.zig, "dlltool", "-m", target.dlltool_machine, "-d", definition, "-l", library], timeout=60)
        return library

    def environment(self, tree: Path) -> Mapping[str, str]:
        variables = {key: value for key, value in os.environ.items() if not steers(key)}
        variables |= {**zig_variables(self.zig, tree.parent), "ZIG_LOCAL_CACHE_DIR": str(tree / ".zig-cache")}
        # How ccache recognizes the compiler: by version, as each environment has its own copy.
        return {"CCACHE_COMPILERCHECK": f"string:{self.identity()}", **variables}

    def folders(self, tree: Path) -> tuple[Path, ...]:
        return (Path(zig_variables(self.zig, tree.parent)[_LIBRARY_VARIABLE]),)

    def finish(self, target: Target, folder: Path) -> None:
        if target.cmake_system != "Darwin":
            return
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                data = path.read_bytes()
                completed = complete_indirect_symbols(data)
                if completed is not data:
                    path.write_bytes(completed)

    @contextmanager
    def first_use(self, target: Target, floor: str, tree: Path, sources: Iterable[Path]) -> Iterator[None]:
        work = {"C": target.zig_c_seconds, **({"C++": target.zig_cxx_seconds} if has_cxx(sources) else {})}
        name = f"{compiler_version(self.zig, 'version')}-{zig_triple(target, floor)}"
        cache = Path(zig_variables(self.zig, tree.parent)[_CACHE_VARIABLE])
        marks = {language: cache / "latebind" / f"{name}-{language}" for language in work}
        missing = [language for language, mark in marks.items() if not mark.is_file()]
        seconds = sum(work[language] for language in missing)
        if seconds >= _WORTH_ANNOUNCING:
            NOTES.info(
                f"zig compiles its {' and '.join(missing)} standard {'library' if len(missing) == 1 else 'libraries'} "
                f"for {target.rid} once per user; this takes {duration(seconds)} to {duration(seconds * _BUSY)}"
            )
        yield
        for language in missing:
            write_text(marks[language], "")

    def _wrapper(self, tool: str, folder: Path) -> Path:
        """CMake takes one path for ar, ranlib and rc; zig has them as subcommands."""
        windows = sys.platform == "win32"
        file = folder / (f"zig-{tool}.cmd" if windows else f"zig-{tool}")
        text = f'@"{self.zig}" {tool} %*\n' if windows else f'#!/bin/sh\nexec "{self.zig}" {tool} "$@"\n'
        write_changed({file.name: text}, folder)
        file.chmod(0o755)
        return file
