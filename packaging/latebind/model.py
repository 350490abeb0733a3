"""Declares the nouns of latebind as frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Literal

from loadcheck import Kind, Rid, Sha256, System

SbomFormat = Literal["cyclonedx-1.6", "cyclonedx-1.7"]
CaseKind = Kind
"""What a consumer installs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One platform that native code is built for; a row of targets.toml."""

    rid: Rid
    system: System
    arch: str
    """The processor as Images and wheel tags of Linux call it: `x86_64`, `armv7l`."""
    libc: Literal["glibc", "musl", "darwin", "ucrt"]
    zig: str
    """zig's triple; `{floor}` stands for the configured libc or macOS floor."""
    wheel_tag: str
    """The platform tag; `{floor}` stands for the floor with underscores: `manylinux_{floor}_x86_64`."""
    floor: str
    """The oldest libc or macOS that the target can be built for."""
    runner: str = ""
    """The label of a GitHub-hosted runner that runs the target natively, or ""."""
    pythons: tuple[str, ...] = ("3.10", "3.11", "3.12", "3.13", "3.14")
    """The versions of CPython that latebind supports and that exist for the target."""
    sys_platform: str
    """Python's name for the system, as in environment markers: `win32`."""
    platform_machine: str
    """Python's name for the processor there: `AMD64`."""
    processor: str
    """What the loader calls the processor, in the system's own words: `x86_64`, `x64`."""
    uv_platform: str = ""
    """uv's `--python-platform`; "" where uv has no name for it."""
    accepts: tuple[str, ...]
    """Globs over the platform tags of wheels that install on the target, apart from `any`."""
    npm: str
    """Its name in npm packages, from Node's `process.platform` and `process.arch`: `win32-x64`."""
    emulator: str = ""
    """The program that runs the target's binaries on other machines, or ""."""
    zig_c_seconds: int
    """How long zig takes to compile its C run-time for the target, once per user, on two cores."""
    zig_cxx_seconds: int
    """The additional time for its C++ standard library."""
    python: str = "bin/python"
    """The interpreter in a virtual environment."""
    site_packages: str = "lib/python{minor}/site-packages"
    """The folder of packages in a virtual environment; `{minor}` stands for `3.11`."""
    installed_python: str = "bin/python3"
    """The interpreter in a folder that a CPython was installed into."""
    python_home: int = 2
    """How many levels the interpreter's prefix is above the interpreter's folder."""
    program_suffix: str = ""
    preload: str = "LD_PRELOAD"
    """The environment variable with libraries that each process loads first; "" where there is none."""
    library_path: str = "LD_LIBRARY_PATH"
    """The environment variable with the folders that the system's loader searches first."""
    system_path: tuple[str, ...] = ("/usr/bin", "/bin")
    """What a clean PATH holds apart from the interpreter's folder."""
    lists_libraries: bool = False
    """Whether a process can list its own libraries without help: /proc/self/maps."""
    libc_title: str
    """What people call the thing that `floor` is a version of."""
    floor_key: Literal["glibc", "macos", ""] = ""
    """The key of [targets] that sets it; "" where nothing does."""
    floor_advice: str = ""
    """How to build for a floor; `{tag}` stands for it with underscores."""
    binary_format: Literal["elf", "macho", "pe"] = "elf"
    cmake_system: str = "Linux"
    """CMAKE_SYSTEM_NAME."""
    osx_architecture: str = ""
    """CMAKE_OSX_ARCHITECTURES, or "" where CMake has no such setting."""
    dlltool_machine: str = ""
    """The `-m` of dlltool, with which import libraries are made; "" where libraries need none."""
    abi3_suffix: str = ".abi3.so"
    """The suffix of Python modules for the stable ABI."""
    soabi: str
    """The end of what CPython calls its own ABI there, in the names of modules: `x86_64-linux-gnu`, `win_amd64`."""
    linker_scripts: bool = True
    """Whether zig's linker reads a script that leaves out debug information of its own libraries."""
    debug_symbols: Literal["in the file", "dsymutil", "none"] = "in the file"
    """Where debug information is kept: in the library, in what dsymutil makes, or nowhere (docs/symbols.md)."""
    compiler_advice: str = "Install one (Debian: apt install gcc)"
    """What to do where the machine's own compiler is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A package that was made: a wheel, an sdist, a nupkg."""

    path: Path
    kind: Kind
    sha256: Sha256
    size: int
    made_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotMade:
    """A package that was not made, with one of NOT_RUN_REASONS and an explanation for the user."""

    package: str
    kind: Kind
    reason: str
    message: str


class State(Enum):
    """How a test case ended. What passed on an emulator never counts as passed on the system itself."""

    PASSED = "passed"
    """The real runtime, on the real system."""
    EMULATED = "passed, emulated"
    """The real runtime, on an emulated system."""
    GLUE = "glue passed"
    """The package's own machine code on an emulated system, without the real runtime."""
    FAILED = "failed"
    NOT_RUN = "not run"

    @property
    def is_pass(self) -> bool:
        """Whether it passed at any level."""
        return self in _LEVEL_OF.values()


Level = Literal["real", "emulated", "glue"]
LEVELS: tuple[Level, ...] = ("real", "emulated", "glue")
"""How much a test case proves that passed, the most first."""
_LEVEL_OF: Mapping[Level, State] = {"real": State.PASSED, "emulated": State.EMULATED, "glue": State.GLUE}


def passed_at(level: Level) -> State:
    """The state of a test case that passed on a machine of that level."""
    return _LEVEL_OF[level]


def list_passes(level: Level) -> tuple[State, ...]:
    """The states that prove at least as much as a level."""
    return tuple(_LEVEL_OF[name] for name in LEVELS[: LEVELS.index(level) + 1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One thing to verify: what, where, with which runtime, and what is expected of it."""

    kind: CaseKind
    target: Rid
    consumer: str
    """Who consumes the package: `python3.11`, `dotnet-build`, `dotnet-publish`."""
    runtime: str
    """The distribution that supplies the runtime, or "" for none."""
    version: str
    """The runtime's version, or ""."""
    scenario: str

    @property
    def id(self) -> str:
        """A stable name: kind/target/consumer/runtime-version/scenario; `no-runtime` where none is installed."""
        supply = f"{self.runtime}-{self.version}" if self.version else f"no-{self.runtime or 'runtime'}"
        return f"{self.kind}/{self.target}/{self.consumer}/{supply}/{self.scenario}"

    @property
    def consumer_kind(self) -> str:
        """The consumer without the version of its interpreter: `python` for `python3.11`."""
        return self.consumer.rstrip("0123456789.t") if self.consumer.startswith("python") else self.consumer


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a test case."""

    case: Case
    state: State
    reason: str = ""
    """For *not run* one of NOT_RUN_REASONS; for *failed* what was expected and what was seen."""
    summary: str = ""
    """For *passed*: what was shown, in a few words."""
    seconds: float = 0.0
    log: str = ""
    """The log file, relative to the report."""
    cached: bool = False
    entries: tuple[str, ...] = ()
    """The entries of [verify].runtimes that the test case covers: `minimum`, `latest`, a version."""
    facts: Mapping[str, object] = field(default_factory=dict)
    """Numbers and lists that the report keeps: counts, tests out of scope by name."""
