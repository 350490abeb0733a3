"""Edits the text of a pyproject.toml so that its wheel holds the native files; keeps every existing line."""

from __future__ import annotations

import re
from typing import Any

from latebind.config.file import tables_of

_FILLED = ("version", "dependencies", "optional-dependencies")
"""The keys of [project] that latebind's hook fills in."""
_HOOKS = """
[tool.hatch.metadata.hooks.latebind]
package = "{package}"

[tool.hatch.build.hooks.latebind]
package = "{package}"
"""


def edit_pyproject(text: str, package: str) -> tuple[str, str, bool]:
    """The text with latebind's hooks, a note for a person where that is impossible, and whether there is a wheel."""
    tables = tables_of(text)
    if tables is None:
        return text, "pyproject.toml is not TOML: nothing is changed in it", False
    if "latebind" in tables.get("tool", {}).get("hatch", {}).get("build", {}).get("hooks", {}):
        return text, "", True
    if "project" not in tables:
        return text, "", False
    system = tables.get("build-system", {})
    if system.get("build-backend") != "hatchling.build":
        backend = system.get("build-backend", "setuptools")
        note = f"pyproject.toml builds with {backend}; for a wheel with the native files write build-backend = "
        return (
            text,
            f'{note}"hatchling.build", requires = ["hatchling>=1.28", "latebind>=0.1"], and run this again',
            False,
        )
    asked = any(re.match(r"latebind\b", name) for name in system.get("requires", ()))
    after = text if asked else re.sub(r"(requires\s*=\s*\[)", r'\1"latebind>=0.1", ', text, count=1)
    after, note = _make_dynamic(after, tables["project"])
    return after.rstrip("\n") + "\n" + _HOOKS.format(package=package), note, True


def _make_dynamic(text: str, project: dict[str, Any]) -> tuple[str, str]:
    """The text with latebind's keys in `dynamic` where it has no such line; a note where a person must change it."""
    static = [key for key in _FILLED if key in project]
    if static:
        return text, f"pyproject.toml: latebind fills in {', '.join(static)}; list them in `dynamic` instead"
    missing = [key for key in _FILLED if key not in project.get("dynamic", ())]
    listed = ", ".join(f'"{key}"' for key in missing)
    if missing and "dynamic" in project:
        return text, f"pyproject.toml: latebind fills in {', '.join(missing)}; add {listed} to `dynamic`"
    line = f"[project]\ndynamic = [{listed}]\n" if missing else "[project]\n"
    return re.sub(r"^\[project\][ \t]*\n", line, text, count=1, flags=re.MULTILINE), ""
