"""Builds the stub of a runtime for a target: a static library that is linked in the runtime's place."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import msgspec

from latebind.build.amalgamation import amalgamation, declare_reader
from latebind.build.loadersource import write_changed
from latebind.build.stage import swap_in
from latebind.compilers.choose import Toolchain, require
from latebind.errors import BuildError
from latebind.fingerprint import digest
from latebind.model import Target
from latebind.system.log import LOG
from latebind.system.run import run, tail
from latebind.system.tree import hash_tree
from loadcheck.archive import write_text

if TYPE_CHECKING:
    from latebind.build.stubtable import StubSource

IN_FRONT = "lib/cmake/latebind/inFront.cmake"
"""The file that puts a stub in front of other runtimes: a value of CMAKE_PROJECT_TOP_LEVEL_INCLUDES."""
_MARK = ".latebind"
"""The file that says which stubs a folder has."""
_TIME_LIMIT = 600.0
_VISUAL_CPP_FOLDER = "lib/msvc"
"""Where a stub's folder has the library for Visual C++."""
_VISUAL_CPP_FLAGS = (
    *("-std=c99", "-O2", "-DNDEBUG", "-fstack-protector-strong"),
    *("-s", "-g0", "-mno-incremental-linker-compatible"),  # no paths of this machine, and no time
    "-fno-addrsig",  # nothing that only LLVM's linker reads
    *("-Xclang", "-cfguard-no-checks"),  # lists what control-flow guard may call
)
_VERSION = re.compile(r"^Version: (.*)$", re.MULTILINE)
_LIBRARIES = re.compile(r"^Libs:.*$", re.MULTILINE)
_FLAGS = re.compile(r"^Cflags: .*$", re.MULTILINE)


class _Installed(msgspec.Struct, frozen=True):
    """What a folder has of one stub."""

    key: str
    files: tuple[str, ...]


def _read_mark(prefix: Path) -> dict[str, _Installed]:
    """The stubs in a folder, by the names of their runtimes. Raises BuildError for a folder of something else."""
    if not prefix.exists():
        return {}
    try:
        return msgspec.json.decode((prefix / _MARK).read_bytes(), type=dict[str, _Installed])
    except (OSError, msgspec.DecodeError) as error:
        advice = "Name another folder, or remove this one."
        raise BuildError("exists and was not made by latebind", where=str(prefix), advice=advice) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledHeaders:
    """A library's headers that stay where they are, as its own pkg-config file describes them."""

    flags: str
    """How a compiler finds them."""
    version: str
    variables: tuple[tuple[str, str], ...]
    """What builds ask pkg-config for besides, with values."""
    others: tuple[str, ...] = ()
    """The further libraries that it gives, as linkers take them."""

    def describe(self, text: str) -> str:
        """The stub's pkg-config file, `text`, with what the library's own says, but not where libraries are."""
        places = ("prefix", "includedir", "libdir", "pcfiledir")
        kept = "".join(f"{key}={value}\n" for key, value in self.variables if not key.endswith(places))
        version = self.version or _VERSION.findall(text)[0]
        text = _VERSION.sub(lambda _: f"Version: {version}", text.replace("\nName: ", f"{kept}\nName: ", 1))
        text = _FLAGS.sub(lambda line: f"{line[0]} {self.flags}".rstrip(), text)
        return _LIBRARIES.sub(lambda line: " ".join([line[0].rstrip(), *self.others]), text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stub:
    """A stub for one target."""

    source: StubSource
    target: Target
    floor: str
    toolchain: Toolchain
    loader: Path
    headers: Path | None = None
    """A folder of the runtime's official headers to install as well."""
    installed: Mapping[str, InstalledHeaders] = field(default_factory=dict)
    """The headers that stay where they are, by each name that pkg-config has for the library."""
    visual_cpp: Path | None = None
    """zig, if a stub for Windows is to have a library for Visual C++ as well."""

    def make(self, prefix: Path) -> None:
        """Build and install it in `prefix`, unless what is there was made from the same inputs. Other stubs stay there.

        Raises BuildError or ToolError; what was there before stays then.
        """
        there = _read_mark(prefix)
        if self.source.runtime.name in there and there[self.source.runtime.name].key == self.key:
            return
        prefix.parent.mkdir(parents=True, exist_ok=True)
        title = f"the stub of {self.source.runtime.title} for {self.target.rid}"
        with (
            LOG.step(f"building {title}", f"built {title}"),
            TemporaryDirectory(dir=prefix.parent, prefix=".") as scratch,
        ):
            aside = Path(scratch) / "prefix"
            self._install(Path(scratch), aside)
            self._add_others(aside, prefix, there)
            swap_in(aside, prefix)

    def _install(self, folder: Path, prefix: Path) -> None:
        cmake, ninja = require("cmake"), require("ninja")
        tree = folder / "tree"
        described = folder / "described"
        write_changed(self.source.files(), described)
        write_changed(amalgamation(self.loader, self.source), folder / "single")
        definitions = {
            "CMAKE_MAKE_PROGRAM": ninja,
            "CMAKE_BUILD_TYPE": "Release",
            "LATEBIND_DESCRIBED": described,
            "LATEBIND_SINGLE": folder / "single" / f"latebind_{self.source.runtime.name}.c",
            f"LATEBIND_MINIMUM_{self.source.runtime.name}": self.source.minimum,
            **self._names(),
            **({"LATEBIND_HEADERS": self.headers} if self.headers else {}),
        }
        arguments = [f"-D{name}={value}" for name, value in definitions.items()]
        arguments += self.toolchain.configure(self.target, self.floor, folder / "toolchain")
        text = f"the stub of {self.source.runtime.title} could not be built for {self.target.rid}"
        environment = self.toolchain.environment(tree)
        steps: list[list[str | Path]] = [
            [cmake, "-S", self.loader / "stub", "-B", tree, "-G", "Ninja", *arguments],
            [cmake, "--build", tree],
            [cmake, "--install", tree, "--prefix", prefix],
        ]
        _run_steps(steps, folder, environment, text)
        packages = prefix / "lib" / "pkgconfig"
        plain = (packages / f"{self.source.names.pkg_config_name}.pc").read_text("utf-8")
        for name, installed in self.installed.items():
            write_text(packages / f"{name}.pc", installed.describe(plain))
        written = {"variables": self.source.variables_header(), "version": declare_reader(self.source)}
        for kind, text in written.items():
            if text:
                write_text(prefix / "include" / "latebind" / f"{self.source.runtime.name}_{kind}.h", text)
        if self.visual_cpp is not None and self.target.system == "windows":
            self._install_for_visual_cpp(self.visual_cpp, environment, folder / "single", prefix)

    def _install_for_visual_cpp(self, zig: Path, environment: Mapping[str, str], single: Path, prefix: Path) -> None:
        """Add a library in Microsoft's ABI, made without Microsoft's SDK, and a file with which pkg-config finds it.

        It has one object that needs KERNEL32 and any C runtime. The headers are our own declarations of what the loader
        uses of Windows and C.
        """
        names, folder = self.source.names, prefix / _VISUAL_CPP_FOLDER
        (folder / "pkgconfig").mkdir(parents=True)
        name = f"latebind_{self.source.runtime.name}"
        flags: list[str | Path] = [
            *_VISUAL_CPP_FLAGS,
            f"-ffile-prefix-map={single}=source",
            "-isystem",
            self.loader / "stub" / "msvc",
        ]
        triple = f"{self.target.arch}-windows-msvc"
        steps: list[list[str | Path]] = [
            [zig, "cc", "-target", triple, *flags, "-c", f"{name}.c", "-o", f"{name}.obj"],
            [zig, "lib", "-nologo", f"-out:{folder / names.library}.lib", f"{name}.obj"],
        ]
        _run_steps(steps, single, environment, f"{name}.c could not be compiled for Visual C++ on {self.target.rid}")
        file = Path("pkgconfig") / f"{self.source.names.pkg_config_name}.pc"
        text = (prefix / "lib" / file).read_text("utf-8")
        moved = {
            "prefix=${pcfiledir}/../..": "prefix=${pcfiledir}/../../..",
            "libdir=${prefix}/lib\n": f"libdir=${{prefix}}/{_VISUAL_CPP_FOLDER}\n",
        }
        for before, after in moved.items():
            text = text.replace(before, after)
        write_text(folder / file, text)

    def _add_others(self, aside: Path, prefix: Path, there: Mapping[str, _Installed]) -> None:
        """Add the other stubs of an earlier prefix to a new one, and note whose each file is."""
        name = self.source.runtime.name
        own = tuple(path.relative_to(aside).as_posix() for path in sorted(aside.rglob("*")) if path.is_file())
        others = {other: installed for other, installed in there.items() if other != name}
        for other, installed in others.items():
            for file in installed.files:
                if file in own and (aside / file).read_bytes() != (prefix / file).read_bytes():
                    text = f"the stubs of {other} and {name} both install {file}"
                    advice = "Write another stub.library or stub.packages, or choose another folder."
                    raise BuildError(text, where=str(prefix), advice=advice)
                (aside / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(prefix / file, aside / file)
        write_text(aside / _MARK, msgspec.json.encode({**others, name: _Installed(self.key, own)}).decode())

    def _names(self) -> dict[str, str]:
        """CMake's variables for how projects look for the runtime."""
        runtime, names = self.source.runtime, self.source.names
        return {
            "LATEBIND_RUNTIME": runtime.name,
            "LATEBIND_LIBRARY": names.library,
            "LATEBIND_PACKAGES": ";".join(names.packages),
            "LATEBIND_TARGETS": ";".join(names.targets),
            "LATEBIND_VARIABLES": ";".join(names.variables),
            "LATEBIND_PKG_CONFIG": names.pkg_config_name,
            "LATEBIND_VERSION": (runtime.built or "0.0") if self.source.table else "",
            "LATEBIND_HEADER": names.header,
        }

    @property
    def key(self) -> str:
        """A hash of all that it is made from."""
        headers = hash_tree(self.headers, modes=False) if self.headers else ""
        made_of = [
            hash_tree(self.loader, modes=False),
            self.toolchain.fingerprint(),
            self.source.minimum,
            self.source.priority,
            repr(self.installed),
        ]
        texts = [text for pair in sorted({**self._names(), **self.source.files()}.items()) for text in pair]
        kinds = "visual-cpp" if self.visual_cpp is not None else ""
        return digest([*made_of, self.target.rid, self.floor, headers, kinds, *texts])


def _run_steps(steps: Iterable[list[str | Path]], folder: Path, environment: Mapping[str, str], problem: str) -> None:
    """Raises BuildError with the problem and the output of a step that fails, or ToolError."""
    for step in steps:
        ended = run(step, cwd=folder, env=environment, timeout=_TIME_LIMIT, check=False)
        if ended.returncode != 0:
            raise BuildError(f"{problem}\n{tail(ended.output)}")
