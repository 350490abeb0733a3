"""What a project's own latebind.toml already says, and the lines that it lacks; so that `init` can be continued."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from latebind.build.cmake import cmake_value
from latebind.build.downloads import source_definitions
from latebind.config.file import load, tables_of
from latebind.errors import LatebindError
from latebind.preconditions import find_missing_files
from latebind.tables.targets import host_rid

if TYPE_CHECKING:
    from collections.abc import Container, Iterable
    from pathlib import Path

_VERIFY = '\n[verify]\npython = "{script}"\n'


def read_configuration(root: Path) -> dict[str, Any]:
    """The tables of the project's latebind.toml; none where it has no such file, or it isn't TOML."""
    path = root / "latebind.toml"
    return (tables_of(path.read_text("utf-8")) if path.is_file() else None) or {}


def list_missing_files(root: Path, planned: Container[Path]) -> list[str]:
    """A note for each file that the project's latebind.toml names, and that is neither there nor planned."""
    try:
        missing = find_missing_files(load(root / "latebind.toml"))
    except LatebindError:  # no such file, or the next command reports what is wrong in it
        return []
    return [
        f"{name} does not exist, but {key} of latebind.toml names it: create it, or remove the key"
        for key, name in missing
        if root / name not in planned
    ]


def read_definitions(root: Path) -> dict[str, str]:
    """The CMake variables of the project's latebind.toml for this machine; none where it isn't valid yet."""
    try:
        config = load(root / "latebind.toml")
    except LatebindError:
        return {}
    return {
        name: cmake_value(value)
        for name, value in (config.definitions(host_rid()) | source_definitions(config)).items()
    }


def list_drop_ins(configuration: dict[str, Any]) -> set[str]:
    """The runtimes that have drop_in: their targets link a stub."""
    runtimes = configuration.get("runtime", [])
    return {str(runtime.get("preset")) for runtime in runtimes if isinstance(runtime, dict) and runtime.get("drop_in")}


def list_packages(configuration: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The tables [package.<name>]."""
    packages = configuration.get("package", {})
    tables = packages.items() if isinstance(packages, dict) else ()
    return {name: table for name, table in tables if isinstance(table, dict)}


def render_wheel(folder: str, name: str, module: str = "") -> str:
    """The line of a wheel in a package's table; `module` is its import name, if that does not follow from its name."""
    renamed = f', module_name = "{module}"' if module else ""
    return f'wheel = {{ source = "{folder}", name = "{name}"{renamed}, extras = "channels" }}'


def extend_configuration(text: str, *, drop_ins: Iterable[str], wheel: tuple[str, str, str] | None) -> str:
    """The text with drop_in for these runtimes and with a wheel.

    `wheel` is the name of the package, the line of its wheel, and the script that tests it.
    """
    for name in sorted(drop_ins):
        text = re.sub(rf'^preset = "{name}".*\n', r"\g<0>drop_in = true\n", text, flags=re.MULTILINE)
    if wheel is None:
        return text
    package, line, script = wheel
    header = rf"^\[package\.(?:{re.escape(package)}|\"{re.escape(package)}\")\].*\n"
    extended = re.sub(header, rf"\g<0>{line}\n", text, count=1, flags=re.MULTILINE)
    has_verify = re.search(r"^\[verify\]", text, re.MULTILINE)
    return extended if has_verify or extended == text else extended.rstrip("\n") + "\n" + _VERIFY.format(script=script)
