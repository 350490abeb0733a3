"""Where Mono is, and what it has to compile against; it neither installs nor builds anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from latebind.backend.programs import which
from latebind.errors import NotRun
from latebind.system.run import run

FRAMEWORK = "net472"
"""The newest .NET Framework that Mono has and that takes netstandard2.0 assemblies without more packages."""

_REFERENCES = "lib/mono/4.7.2-api"
_VERSION_LIMIT = 60.0
_ADVICE = "Install Mono (Debian: mono-devel)."


@dataclass(frozen=True, slots=True, kw_only=True)
class Mono:
    """A Mono with the reference assemblies of .NET Framework 4.7.2."""

    program: Path
    references: Path


def find(environment: Mapping[str, str]) -> Mono:
    """The `mono` on the PATH of an environment.

    Raises NotRun (`no-mono`) when there is none, or only a runtime without the reference assemblies.
    """
    program = which("mono", path=environment.get("PATH", ""))
    if program is None:
        raise NotRun("no-mono", "no `mono` on PATH", advice=_ADVICE)
    references = program.resolve().parent.parent / _REFERENCES
    if not references.is_dir():
        raise NotRun("no-mono", f"{program} is a Mono without reference assemblies: no {references}", advice=_ADVICE)
    return Mono(program=program, references=references)


def version(mono: Mono, environment: Mapping[str, str]) -> str:
    """Its own version line: `Mono JIT compiler version 6.8.0.105 (…)`. Raises ToolError when it does not start."""
    output = run([mono.program, "--version"], env=environment, timeout=_VERSION_LIMIT).output
    return next(iter(output.splitlines()), "")
