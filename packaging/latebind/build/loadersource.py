"""What the loader is told of a runtime, as C: the header of a preset, header and source of a described one.

Must not know how they are compiled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.version import Version

from latebind.system.archive import write_text
from latebind.templates import render

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.config.config import Config
    from latebind.tables.presets import PerSystem, RuntimePreset

# How the preprocessor tells operating systems apart.
_SYSTEMS = (("windows", "#if defined(_WIN32)"), ("macos", "#elif defined(__APPLE__)"), ("linux", "#else"))


def runtime_header(runtime: RuntimePreset, minimum: str, origin: str) -> str:
    """The header that describes a runtime; `minimum` is what holds unless CMake sets one."""
    distribution = runtime.python.extras.get("cpu") or runtime.python.distribution
    return render(
        "runtime.h.j2",
        runtime=runtime,
        macro=runtime.name.upper(),
        systems=[(condition, _of(runtime.names, key), _of(runtime.globs, key)) for key, condition in _SYSTEMS],
        minimum=_numbers(minimum),
        minimum_text=minimum,
        built=_numbers(runtime.built),
        origin=origin,
        distribution=distribution,
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
            source = render("runtime_version.c.j2", runtime=use.known, form=use.describe.version)
            made[folder / f"{use.name}.c"] = source
    for path, text in made.items():
        if not path.is_file() or path.read_text("utf-8") != text:  # an older time would build everything again
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, text)
    return list(made)


def _of(names: PerSystem, system: str) -> tuple[str, ...]:
    found: tuple[str, ...] = getattr(names, system)
    return found


def _numbers(version: str) -> tuple[int, int, int]:
    parsed = Version(version)
    return parsed.major, parsed.minor, parsed.micro
