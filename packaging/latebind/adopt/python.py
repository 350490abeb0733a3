"""Edits the text of a pyproject.toml so that its wheel holds the native files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from latebind.adopt.runtime_module import find_package
from latebind.config.file import tables_of

if TYPE_CHECKING:
    from pathlib import Path

_FILLED = ("version", "dependencies", "optional-dependencies")
"""The keys of [project] that latebind's hook fills in."""
_HOOKS = """
[tool.hatch.metadata.hooks.latebind]
package = "{package}"

[tool.hatch.build.hooks.latebind]
package = "{package}"
"""
_HATCHLING = """[build-system]
requires = ["hatchling>=1.28", "latebind>=0.1"]
build-backend = "hatchling.build"
"""
_SETUPTOOLS = ("setuptools.build_meta", "setuptools.build_meta:__legacy__")
_FILES_OF_SETUPTOOLS = {"packages", "package-data", "package-dir", "include-package-data", "zip-safe"}
"""The keys of [tool.setuptools] that choose files, as hatchling does by itself."""


def edit_pyproject(text: str, package: str, folder: Path, version: str) -> tuple[str, str, bool]:
    """The text with latebind's hooks, a note for a person where that is impossible, and whether there is a wheel.

    `folder` is the file's, and `version` the one that latebind.toml has.
    """
    tables = tables_of(text)
    if tables is None:
        return text, "pyproject.toml is not valid TOML, so init does not change it", False
    if "latebind" in tables.get("tool", {}).get("hatch", {}).get("build", {}).get("hooks", {}):
        return text, "", True
    if "project" not in tables:
        return text, "", False
    if _is_plain_setuptools(tables, folder):
        text = _write_hatchling(text)
        tables = tables_of(text) or {}
    system = tables.get("build-system", {})
    if system.get("build-backend") != "hatchling.build":
        backend = system.get("build-backend", "setuptools")
        note = (
            f"pyproject.toml builds with {backend}; for a wheel with the native files, write build-backend = "
            '"hatchling.build" and requires = ["hatchling>=1.28", "latebind>=0.1"], then run latebind init again'
        )
        return text, note, False
    asked = any(re.match(r"latebind\b", name) for name in system.get("requires", ()))
    after = text if asked else re.sub(r"(requires\s*=\s*\[)", r'\1"latebind>=0.1", ', text, count=1)
    after, note = _make_dynamic(after, tables["project"], version)
    return after.rstrip("\n") + "\n" + _HOOKS.format(package=package), note, True


def _is_plain_setuptools(tables: dict[str, Any], folder: Path) -> bool:
    """Whether setuptools makes a wheel that hatchling makes, too: nothing is compiled, and both find the package."""
    settings = tables.get("tool", {}).get("setuptools", {})
    return (
        tables.get("build-system", {}).get("build-backend", _SETUPTOOLS[0]) in _SETUPTOOLS
        and settings.keys() <= _FILES_OF_SETUPTOOLS
        and not any((folder / name).exists() for name in ("setup.py", "setup.cfg", "MANIFEST.in"))
        and find_package(folder, "[project]\nname = " + f'"{tables["project"].get("name", "")}"') is not None
    )


def _write_hatchling(text: str) -> str:
    """The text with hatchling as the build backend, and without the tables of setuptools."""
    tables = re.split(r"^(?=\[)", text, flags=re.MULTILINE)
    others = [table for table in tables if not re.match(r"\[\[?(build-system|tool\.setuptools)\b", table)]
    return "\n".join([_HATCHLING, "".join(others).strip("\n") + "\n"])


def _make_dynamic(text: str, project: dict[str, Any], version: str) -> tuple[str, str]:
    """The text with latebind's keys in `dynamic` where it has no such line; a note where a person must change it.

    A version that latebind fills in as it is makes way for the list.
    """
    static = [key for key in _FILLED if key in project]
    stated = re.compile(rf'^version[ \t]*=[ \t]*"{re.escape(version)}"[ \t]*\n', re.MULTILINE)
    if static == ["version"] and "dynamic" not in project and len(stated.findall(text)) == 1:
        text, static = stated.sub("", text), []
    if static:
        quoted = ", ".join(f'"{key}"' for key in static)
        return (
            text,
            f"pyproject.toml sets {', '.join(static)}, which latebind fills in; list {quoted} in `dynamic` instead",
        )
    missing = [key for key in _FILLED if key not in project.get("dynamic", ())]
    listed = ", ".join(f'"{key}"' for key in missing)
    if missing and "dynamic" in project:
        return text, f"pyproject.toml: latebind fills in {', '.join(missing)}; add {listed} to `dynamic`"
    line = f"[project]\ndynamic = [{listed}]\n" if missing else "[project]\n"
    return re.sub(r"^\[project\][ \t]*\n", line, text, count=1, flags=re.MULTILINE), ""
