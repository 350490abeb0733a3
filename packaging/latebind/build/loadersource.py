"""Describes runtimes to the loader, in C: the header of a preset, the header and source of a described runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.version import Version

from latebind.fill import fill
from latebind.system.archive import write_text

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.config.config import Config
    from latebind.tables.presets import PerSystem, RuntimePreset

_SYSTEMS = (("windows", "#if defined(_WIN32)"), ("macos", "#elif defined(__APPLE__)"), ("linux", "#else"))
"""The preprocessor's conditions for each operating system."""


def runtime_header(runtime: RuntimePreset, minimum: str, origin: str) -> str:
    """The header that describes a runtime; `minimum` is what holds unless CMake sets one."""
    major, minor, patch = _numbers(minimum)
    return fill(
        "runtime.h",
        name=runtime.name,
        macro=runtime.name.upper(),
        title=runtime.title,
        origin=origin,
        floor="preset's own" if runtime.floor else "one below",
        major=major,
        minor=minor,
        patch=patch,
        minimum=minimum,
        names=_rows(runtime.names),
        globs=_rows(runtime.globs),
        environment=runtime.environment,
        entry=runtime.entry_symbols[0],
        built=", ".join(_numbers(runtime.built)),
        advice=_advice(runtime),
        calendar=str(int(runtime.calendar)),
    )


def write_sources(config: Config, folder: Path) -> list[Path]:
    """Write latebind/<name>.h and <name>.c of every runtime that the project describes; the files, unchanged ones too.

    A runtime that reads its version in the project's own way has no source.
    """
    made: dict[Path, str] = {}
    for use in config.document.runtime:
        if use.describe is None:
            continue
        header = folder / "latebind" / f"{use.name}.h"
        made[header] = runtime_header(use.known, use.minimum, f"{config.file.name} by latebind")
        if use.describe.version != "own":
            made[folder / f"{use.name}.c"] = version_source(use.known, use.describe.version)
    for path, text in made.items():
        if not path.is_file() or path.read_text("utf-8") != text:  # an older time would build everything again
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, text)
    return list(made)


def version_source(runtime: RuntimePreset, form: str) -> str:
    """The source that reads the version: as `text`, or as `three-numbers` or `four-numbers` written to pointers."""
    named = {"name": runtime.name, "title": runtime.title}
    if form == "text":
        return fill("runtime_version_text.c", **named)
    names = ["major", "minor", "patch", *(["build"] if form == "four-numbers" else [])]
    return fill(
        "runtime_version_numbers.c",
        types=", ".join("unsigned*" for _ in names),
        variables=", ".join(f"{name} = 0" for name in names),
        addresses=", ".join(f"&{name}" for name in names),
        format=".".join("%u" for _ in names),
        names=", ".join(names),
        **named,
    )


def _advice(runtime: RuntimePreset) -> str:
    """The command that gets the runtime, in C."""
    if runtime.advice:
        return '"' + runtime.advice.replace("\\", "\\\\").replace('"', '\\"') + '"'
    distribution = runtime.python.extras.get("cpu") or runtime.python.distribution
    return f'"pip install \\"{distribution}>=" LATEBIND_{runtime.name.upper()}_MINIMUM "\\""'


def _rows(names: PerSystem) -> str:
    """The elements of an array of names, by operating system."""
    lines: list[str] = []
    for system, condition in _SYSTEMS:
        found: tuple[str, ...] = getattr(names, system)
        lines += [condition, *(f'    "{name}",' for name in found)]
    return "\n".join(lines)


def _numbers(version: str) -> tuple[str, str, str]:
    parsed = Version(version)
    return str(parsed.major), str(parsed.minor), str(parsed.micro)
