"""Calls a project's build backend in the environment of its build, and notes the modules that setuptools compiles.

The arguments are what to do, the backend as pyproject.toml names it, its backend-path (with os.pathsep), the file of
the answer, and for a build the folder of the wheel and the settings as JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from functools import reduce
from pathlib import Path
from typing import Any

_NOTED: list[tuple[Any, list[tuple[str, int]]]] = []
_SETUP = "<string>"
"""The file name under which setuptools runs setup.py (setuptools.build_meta, run_setup)."""
_FIELDS = ("name", "sources", "libraries", "library_dirs", "extra_objects", "extra_link_args", "include_dirs")


def _main(work: str, backend: str, paths: str, answer: str, *rest: str) -> None:
    sys.path[:0] = [str(Path(path).resolve()) for path in paths.split(os.pathsep) if path]
    module, _, names = backend.partition(":")
    hooks = reduce(getattr, filter(None, names.split(".")), importlib.import_module(module))
    if work == "requires":
        listed = hooks.get_requires_for_build_wheel({}) if hasattr(hooks, "get_requires_for_build_wheel") else []
        Path(answer).write_text(json.dumps(listed), "utf-8")
        return
    _note_extensions()
    folder, settings = rest
    hooks.build_wheel(folder, json.loads(settings))
    rows = [{**_describe(extension), "calls": calls} for extension, calls in _NOTED]
    Path(answer).write_text(json.dumps(rows), "utf-8")


def _note_extensions() -> None:
    """Keep each Extension that is made, and the lines of the project that led to it, innermost first."""
    try:
        from setuptools import Extension  # noqa: PLC0415  # other backends have no setuptools
    except ImportError:
        return
    original = Extension.__init__
    root = Path.cwd()

    def noted(self: Any, *arguments: Any, **options: Any) -> None:
        original(self, *arguments, **options)
        stack = reversed(traceback.extract_stack()[:-1])
        frames = [(root / frame.filename.replace(_SETUP, "setup.py"), frame.lineno or 0) for frame in stack]
        calls = [(str(path.relative_to(root)), line) for path, line in frames if _is_of(path, root)]
        if not any(extension is self for extension, _ in _NOTED):
            _NOTED.append((self, calls))

    Extension.__init__ = noted


def _is_of(path: Path, root: Path) -> bool:
    return path.is_relative_to(root) and path.is_file()


def _describe(extension: Any) -> dict[str, Any]:
    return {name: [*map(str, value)] if isinstance(value := getattr(extension, name, []), list) else str(value)
            for name in _FIELDS}  # fmt: skip


if __name__ == "__main__":
    _main(*sys.argv[1:])
