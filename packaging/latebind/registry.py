"""The ecosystems, and what each of them contributes to the engines.

This is the one row of an ecosystem. Its folder below `ecosystems/` has a module for each engine that it contributes to:

- `config`: PACKAGE_KEYS and PROGRAM_KEYS, its tables and keys of the configuration (`config/ecosystems.py`)
- `files`: FORMATS, the kinds of its package files (`formats.py`), and REASONS for which its packages are not made, or
  its test cases not run: their names, meanings, and what would help (`verify/report/data.py`)
- `checks`: checks of late binding in its packages alone (`checks/entry.py`), and SUPPLIERS, how its packages supply and
  require a runtime (`checks/supplier.py`)
- `consumer`: CONSUMERS, who installs its packages in `latebind verify`, and HOSTS (`verify/declared.py`)
- `pack`: KINDS, what `latebind pack` makes (`ecosystems/ecosystem.py`)
- `programs`: PROGRAMS, what `latebind doctor` looks for (`ecosystems/ecosystem.py`)
- `publishing`: PUBLISHERS, the jobs of a workflow that publish its packages, and REHEARSALS, its local registries for
  `latebind rehearse` (`ecosystems/publishing.py`)

They are imported by name when an engine asks: an engine knows no ecosystem, and an audit never loads what packs.
"""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

ECOSYSTEMS = ("wheel", "nuget", "plugin", "npm", "maven", "symbols", "sdk")
"""In the order in which they are packed and reported."""

_FOLDER = Path(__file__).with_name("ecosystems")
Part = Literal["config", "files", "checks", "pack", "consumer", "programs", "publishing"]


@cache
def load_parts(part: Part) -> tuple[ModuleType, ...]:
    """The modules of that name, of the ecosystems that have one."""
    folders = [(ecosystem, _FOLDER / ecosystem / part) for ecosystem in ECOSYSTEMS]
    names = [name for name, path in folders if path.is_dir() or path.with_suffix(".py").is_file()]
    return tuple(importlib.import_module(f"latebind.ecosystems.{name}.{part}") for name in names)


def collect(part: Part, name: str) -> tuple[Any, ...]:
    """What the tables of that name in those modules hold, in one table."""
    return tuple(entry for module in load_parts(part) for entry in getattr(module, name, ()))
