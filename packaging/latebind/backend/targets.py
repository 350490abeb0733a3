"""The table of targets, read from targets.toml; the only module that turns a RID into platform names."""

from __future__ import annotations

import difflib
import platform
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, NewType

from latebind.backend.errors import LatebindError
from latebind.backend.toml import read_table

Rid = NewType("Rid", str)
"""A runtime identifier of .NET: `linux-x64`."""
_NAMES = ("soabi", "arch", "platform_machine", "cpu")
_SYSTEM = {"linux": "linux", "darwin": "osx", "win32": "win"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One platform that native code is built for; a row of targets.toml."""

    rid: Rid
    system: Literal["linux", "macos", "windows"]
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


@cache
def targets() -> Mapping[Rid, Target]:
    """All targets by RID, in the order of the table."""
    raw = read_table(Path(__file__).with_name("targets.toml"))
    common = raw.pop("common")
    return {Rid(rid): Target(**_complete(rid, row, common[row["libc"]])) for rid, row in raw.items()}


def _complete(rid: str, row: Mapping[str, Any], common: Mapping[str, Any]) -> dict[str, Any]:
    """A row with what all targets of its C library share, in which the row's own names are filled in."""
    values = {"rid": rid, "cpu": rid.rpartition("-")[2], "platform_machine": row["arch"], **common, **row}

    def fill(value: Any) -> Any:
        if isinstance(value, list):
            return tuple(fill(text) for text in value)
        for name in _NAMES if isinstance(value, str) else ():
            value = value.replace(f"{{{name}}}", values.get(name, ""))
        return value

    return {key: fill(value) for key, value in values.items() if key != "cpu"}


def target(rid: str) -> Target:
    """The target of that RID. Raises LatebindError with the nearest one."""
    try:
        return targets()[Rid(rid)]
    except KeyError:
        near = difflib.get_close_matches(rid, targets(), n=1)
        advice = f"Did you mean {near[0]}?" if near else f"Use one of: {', '.join(targets())}."
        raise LatebindError(f"{rid} is not a target", advice=advice) from None


def other_processor(rid: str) -> Target | None:
    """The target of the same system and C library for another processor, None where there is none."""
    own_target = target(rid)
    like = (
        candidate
        for candidate in targets().values()
        if (candidate.system, candidate.libc) == (own_target.system, own_target.libc)
    )
    return next((candidate for candidate in like if candidate.arch != own_target.arch), None)


class NpmPlatform(NamedTuple):
    """A target in npm's terms: `libc` is "" where there is none to choose."""

    name: str
    os: str
    cpu: str
    libc: str


def npm_platform(rid: str) -> NpmPlatform:
    """The name of a target in npm packages, and the values of os, cpu and libc in package.json."""
    definition = target(rid)
    system, cpu = definition.npm.split("-")[:2]
    return NpmPlatform(definition.npm, system, cpu, definition.libc if definition.system == "linux" else "")


def host_rid() -> Rid:
    """The RID of this machine, whether or not it is a target. On Linux it names musl if Python was built for it."""
    system = _SYSTEM.get(sys.platform, sys.platform)
    if system == "linux" and "musl" in str(sysconfig.get_config_var("HOST_GNU_TYPE")):
        system = "linux-musl"
    processors = {definition.platform_machine.lower(): rid.rpartition("-")[2] for rid, definition in targets().items()}
    machine = platform.machine().lower()
    return Rid(f"{system}-{processors.get(machine, machine)}")


def like_host() -> Target:
    """This machine's target, or another one of the same system if there is none: for facts of the system."""
    host = host_rid()
    system = host.partition("-")[0]
    return targets().get(host) or next(
        definition for rid, definition in targets().items() if rid.partition("-")[0] == system
    )


def installs(target: Target, tag: str) -> bool:
    """Whether a wheel with that platform tag installs on a target."""
    return tag == "any" or any(fnmatchcase(tag, glob) for glob in target.accepts)


def render_marker(rids: Iterable[str]) -> str:
    """The marker of PEP 508 that is true on those targets; a marker cannot tell glibc from musl."""
    machines: dict[str, list[str]] = {}
    for definition in map(target, rids):
        machines.setdefault(definition.sys_platform, []).append(f"platform_machine == '{definition.platform_machine}'")
    terms = [
        f"sys_platform == '{system}' and {names[0] if len(names) == 1 else '(' + ' or '.join(names) + ')'}"
        for system, names in machines.items()
    ]
    return terms[0] if len(terms) == 1 else " or ".join(f"({term})" for term in terms)


def wheel_tag(target: Target, floor: str) -> str:
    """The wheel platform tag of a target at a floor: `manylinux_2_28_x86_64`."""
    return target.wheel_tag.format(floor=floor.replace(".", "_"))


def zig_triple(target: Target, floor: str) -> str:
    """zig's `-target` for a target at a floor: `x86_64-linux-gnu.2.28`."""
    return target.zig.format(floor=floor)
