"""The table of targets, read from targets.toml; the only module that turns a RID into platform names."""

from __future__ import annotations

import difflib
import platform
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from latebind.errors import LatebindError
from latebind.model import Target
from loadcheck import Rid

_NAMES = ("soabi", "arch", "platform_machine", "cpu")
_SYSTEM = {"linux": "linux", "darwin": "osx", "win32": "win"}


@cache
def targets() -> Mapping[Rid, Target]:
    """All targets by RID, in the order of the table."""
    raw = msgspec.toml.decode(Path(__file__).with_name("targets.toml").read_bytes())
    common = raw.pop("common")
    return {Rid(rid): msgspec.convert(_complete(rid, row, common[row["libc"]]), Target) for rid, row in raw.items()}


def _complete(rid: str, row: Mapping[str, Any], common: Mapping[str, Any]) -> dict[str, Any]:
    """A row with what all targets of its C library share, in which the row's own names are filled in."""
    values = {"rid": rid, "cpu": rid.rpartition("-")[2], "platform_machine": row["arch"], **common, **row}

    def fill(value: Any) -> Any:
        if isinstance(value, list):
            return [fill(text) for text in value]
        for name in _NAMES if isinstance(value, str) else ():
            value = value.replace(f"{{{name}}}", values.get(name, ""))
        return value

    return {key: fill(value) for key, value in values.items()}


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
