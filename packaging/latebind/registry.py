"""The ecosystems, and what each of them contributes to the engines.

This is the one row of an ecosystem. Its folder below `ecosystems/` has a module for each engine that it contributes to:

- `files`: FORMATS, the kinds of its package files (`formats.py`)
- `reading`: READERS, what its packages say, for the audit (`audit/readers/reader.py`)
- `checks`: its own checks, in a module or a folder of modules (`audit/engine/registry.py`)
- `consumer`: CONSUMERS and RUNNERS, who installs its packages in `latebind verify` (`verify/cases/consumer.py`)
- `kinds`: KINDS, what `latebind pack` makes (`ecosystems/ecosystem.py`)

They are imported by name when an engine asks: an engine knows no ecosystem, and the audit never loads what packs.
"""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from types import ModuleType

ECOSYSTEMS = ("wheel", "nuget", "plugin", "npm", "symbols", "sdk")
"""In the order in which they are packed and reported."""

Part = Literal["files", "reading", "checks", "kinds", "consumer"]


@cache
def load_parts(part: Part) -> tuple[ModuleType, ...]:
    """The modules of that name, of the ecosystems that have one."""
    names = [f"latebind.ecosystems.{ecosystem}.{part}" for ecosystem in ECOSYSTEMS]
    return tuple(importlib.import_module(name) for name in names if importlib.util.find_spec(name) is not None)


def collect(part: Part, name: str) -> tuple[Any, ...]:
    """What the tables of that name in those modules hold, in one table."""
    return tuple(entry for module in load_parts(part) for entry in getattr(module, name))
