"""Writes what a wheel has for PyInstaller: a hook that takes the native files into a frozen program.

PyInstaller follows imports. It does not see a library that is opened by its path, nor a runtime that is found by its
metadata. A wheel names the folder of its hooks by an entry point (PyInstaller manual, "Providing PyInstaller Hooks
with your Package").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from latebind.config.config import Config
from latebind.fill import fill

HOOK_GROUP = "pyinstaller40"
"""The group of entry points that PyInstaller 4.0 and newer read."""

_USUAL = re.compile(r"lib.*\.(so|dylib)|lib[^.]*\*$|.*\.dll$")
"""The names that the hook takes of any runtime: others are those of a runtime that the project describes itself."""


def hook_files(config: Config, package: str, module: str, distribution: str) -> Mapping[str, str]:
    """The files for a wheel, by their paths in it. `module` is the import package, which holds the native files."""
    runtime = None if config.packages[package].ep else config.runtime_of(package)
    supplied = runtime.traits.python if runtime else None
    dependents = [name for name, other in config.packages.items() if package in other.requires]
    hook = fill(
        "pyinstaller_hook.py",
        module=module,
        runtime=supplied.folder.partition("/")[0] if supplied else "",
        distributions=_quote_names([distribution, *(supplied.extras.values() if supplied else ())]),
        files=_quote_names(name for name in (runtime.traits.file_globs if runtime else ()) if not _USUAL.match(name)),
        dependents=_quote_names(filter(None, map(config.wheel_name, dependents))),
    )
    folder = f"{module.replace('.', '/')}/_pyinstaller"
    return {
        f"{folder}/__init__.py": fill("pyinstaller_dirs.py", module=module),
        f"{folder}/hook-{module}.py": hook,
    }


def hook_entry(module: str) -> tuple[str, str]:
    """Name and object of the entry point."""
    return "hook-dirs", f"{module}._pyinstaller:get_hook_dirs"


def _quote_names(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in dict.fromkeys(names))
