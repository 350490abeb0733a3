"""Describes runtimes to the loader, in C: the header of a preset, the header and source of a described runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.version import Version

from latebind.build.amalgamation import loader_amalgamation
from latebind.fill import fill
from latebind.system.resources import cmake_dir
from loadcheck.archive import write_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from latebind.config.config import Config
    from latebind.config.runtime import RuntimeUse
    from latebind.tables.presets import PerSystem, RuntimePreset

_SYSTEMS = (("windows", "#if defined(_WIN32)"), ("macos", "#elif defined(__APPLE__)"), ("linux", "#else"))
"""The preprocessor's conditions for each operating system."""

_CHECK = """\
/* Checks that no function that the loader declares is missing from the runtime's table. */
int lb_{name}_check(void* entry, lb_version version, char* text, size_t size);
"""


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
        check=f"lb_{runtime.name}_check" if runtime.check else "NULL",
        checked=_CHECK.format(name=runtime.name) if runtime.check else "",
    )


def write_sources(config: Config, folder: Path) -> list[Path]:
    """Write latebind/<name>.h and <name>.c of every runtime that the project describes; the files, unchanged ones too.

    A runtime that reads its version in the project's own way has no source.
    """
    texts: dict[str, str] = {}
    for runtime in config.document.runtime:
        if runtime.describe is not None:
            header, source = _render_runtime(runtime, f"{config.file.name} by latebind")
            texts |= {f"latebind/{runtime.name}.h": header, **({f"{runtime.name}.c": source} if source else {})}
    return write_changed(texts, folder)


def write_single(uses: Sequence[RuntimeUse], folder: Path) -> list[Path]:
    """Write the loader with these runtimes as latebind.c and latebind.h; the files, unchanged ones too."""
    loader = cmake_dir()
    texts = []
    for runtime in uses:
        header, source = _render_runtime(runtime, "a preset or description, by latebind")
        preset_source = loader / "src" / f"{runtime.name}.c"
        texts.append((header, source if runtime.describe else preset_source.read_text("utf-8")))
    return write_changed(loader_amalgamation(loader, texts), folder)


def _render_runtime(runtime: RuntimeUse, origin: str) -> tuple[str, str]:
    """The header of a runtime and the source that reads its version; "" for one that is not made here."""
    form = runtime.describe.version if runtime.describe else "own"
    return runtime_header(runtime.traits, runtime.minimum, origin), "" if form == "own" else version_source(
        runtime.traits, form
    )


def write_changed(texts: Mapping[str, str], folder: Path) -> list[Path]:
    """Write files by their names below `folder`, unless they have that text: a newer time would rebuild everything."""
    text_by_path = {folder / name: text for name, text in texts.items()}
    for path, text in text_by_path.items():
        if not path.is_file() or path.read_text("utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, text)
    return list(text_by_path)


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
        elements: tuple[str, ...] = getattr(names, system)
        lines += [condition, *(f'    "{name}",' for name in elements)]
    return "\n".join(lines)


def _numbers(version: str) -> tuple[str, str, str]:
    parsed = Version(version)
    return str(parsed.major), str(parsed.minor), str(parsed.micro)
