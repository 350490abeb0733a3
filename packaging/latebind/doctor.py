"""Reports what this machine can build and run, and how to install what is missing."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.backend.extension import find_headers
from latebind.backend.programs import which
from latebind.backend.targets import host_rid, targets
from latebind.backend.toolchain import BUILD_PROGRAMS, missing_requirements, program, toolchain
from latebind.backend.zig import find_zig
from latebind.compilers import mono
from latebind.errors import ANY_ERROR, NotRun
from latebind.registry import collect
from latebind.system.run import run
from latebind.text import DOCS

if TYPE_CHECKING:
    from latebind.backend.targets import Rid, Target
    from latebind.ecosystems.ecosystem import NeededProgram
    from latebind.verify.run.machine import Machine


_EMULATED = f"Verify them on a machine of the target, or here with an emulator: {DOCS}/verify.md#machines"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One thing that was looked for."""

    what: str
    there: bool
    detail: str
    fix: str = ""
    is_target: bool = False
    builds: bool = False
    """Whether it is a target that can be built here."""


def examine(machines: Mapping[Rid, Machine]) -> tuple[Row, ...]:
    """All rows, in the order in which a build needs them. `machines` are those of other targets."""
    return (
        Row(what="python", there=True, detail=platform.python_version()),
        *(_program(name, requirement, "needed by every build") for name, requirement in BUILD_PROGRAMS.items()),
        _zig(),
        _host_compiler(),
        _python_headers(),
        _program("uv", "latebind[verify]", "makes the clean environments of latebind verify"),
        *_psutil(),
        _dotnet(),
        _mono(),
        *(_ecosystem_program(needed) for needed in collect("programs", "PROGRAMS")),
        _dsymutil(),
        *_targets(machines),
    )


def _program(name: str, requirement: str, note: str = "") -> Row:
    path = program(name)
    if path is None:
        return Row(what=name, there=False, detail=note, fix=f'Run: pip install "{requirement}"')
    return Row(what=name, there=True, detail=_version(path))


def _psutil() -> list[Row]:
    """A row if it is missing: who has installed uv alone cannot verify."""
    if find_spec("psutil") is not None:
        return []
    detail = "holds the test cases of latebind verify to their limits"
    return [Row(what="psutil", there=False, detail=detail, fix='Run: pip install "latebind[verify]"')]


def _version(path: Path, *arguments: str) -> str:
    lines = run([path, *(arguments or ("--version",))], timeout=60, check=False).output.splitlines()
    return f"{lines[0] if lines else ''}  ({path})"


def _zig() -> Row:
    zig = find_zig()
    if zig is None:
        fix = 'Run: pip install "latebind[native]"'
        return Row(what="zig", there=False, detail="compiles for every target from any machine", fix=fix)
    return Row(what="zig", there=True, detail=_version(zig, "version"))


def _host_compiler() -> Row:
    host_target = targets().get(host_rid())
    if host_target is None:
        return Row(what="host compiler", there=False, detail=f"{host_rid()} is not a target of latebind")
    try:
        return Row(what="host compiler", there=True, detail=toolchain("host", host_target).identity())
    except ANY_ERROR as error:
        return Row(what="host compiler", there=False, detail=error.message, fix=error.advice)


def _python_headers() -> Row:
    try:
        return Row(what="python headers", there=True, detail=str(find_headers()))
    except ANY_ERROR as error:
        return Row(what="python headers", there=False, detail=error.message, fix=error.advice)


def _dotnet() -> Row:
    path = which("dotnet")
    if path is None:
        detail = "without it, managed assemblies are not compiled and .NET test cases are not run"
        return Row(what="dotnet", there=False, detail=detail, fix="Install a .NET SDK, 8.0 or newer.")
    return Row(what="dotnet", there=True, detail=_version(path))


def _ecosystem_program(needed: NeededProgram) -> Row:
    paths = [path for name in needed.names if (path := which(name)) is not None]
    if len(paths) < len(needed.names):
        return Row(what=needed.names[0], there=False, detail=needed.detail, fix=needed.fix)
    return Row(what=needed.names[0], there=True, detail=_version(paths[0]))


def _mono() -> Row:
    try:
        return Row(what="mono", there=True, detail=_version(mono.find(os.environ).program))
    except NotRun as reason:
        detail = f"applications for .NET Framework are not tested: {reason.message}"
        return Row(what="mono", there=False, detail=detail, fix=reason.advice)


def _dsymutil() -> Row:
    path = which("dsymutil")
    if path is None:
        detail = "debug symbols of macOS libraries are not made without it"
        return Row(what="dsymutil", there=False, detail=detail, fix="Install LLVM (Debian: apt install llvm).")
    return Row(what="dsymutil", there=True, detail=_version(path))


def _targets(machines: Mapping[Rid, Machine]) -> list[Row]:
    """For each target: whether it is built and whether its packages run here."""
    findings = []
    able = [name for name in ("zig", "host") if not missing_requirements(name)]
    for rid, target in targets().items():
        builders = [name for name in able if _builds(name, target)]
        built = f"built here by {' or '.join(builders)}" if builders else "not built here"
        runs = _runs(rid, machines.get(rid))
        detail = f"{built}; its packages {f'run here{runs}' if runs is not None else 'do not run here'}"
        fix = _EMULATED if target.emulator else "Verify them on a machine of the target."
        findings.append(
            Row(
                what=rid,
                there=bool(builders) and runs is not None,
                detail=detail,
                fix=fix if runs is None else "",
                is_target=True,
                builds=bool(builders),
            )
        )
    return findings


def _runs(rid: Rid, machine: Machine | None) -> str | None:
    """What runs the target's packages here: "" for this machine itself, None where nothing does."""
    if rid == host_rid():
        return ""
    return f" with {machine.title}" if machine else None


def _builds(name: str, target: Target) -> bool:
    try:
        toolchain(name, target)
    except ANY_ERROR:
        return False
    return True
