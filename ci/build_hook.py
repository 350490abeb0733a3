"""Makes the loader's generated headers when latebind is built from a checkout; an sdist has them already.

A build hook of hatchling (pyproject.toml), for wheels, sdists and editable installations.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.core import ProjectMetadata


class LoaderHeaders(BuildHookInterface[Any]):
    """Runs ci/gen/loader_headers.py, which an sdist lacks."""

    @property
    def is_checkout(self) -> bool:
        """Whether the generator is here."""
        return Path(self.root, "ci", "gen", "loader_headers.py").is_file()

    def dependencies(self) -> list[str]:
        """What the generator imports and runs: the requirements of latebind and of loadcheck, and clang-format."""
        if not self.is_checkout:
            return []
        own = self.metadata.config
        loadcheck = ProjectMetadata(str(Path(self.root, "loadcheck")), None).config
        needed = [*own["project"]["dependencies"], *loadcheck["project"]["dependencies"]]
        needed = [requirement for requirement in dict.fromkeys(needed) if not requirement.startswith("loadcheck")]
        return [*needed, *own["dependency-groups"]["headers"]]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  # hatchling's names
        """Write the headers before they are collected."""
        if self.is_checkout:
            sys.path[:0] = [self.root, *(str(Path(self.root, name)) for name in ("packaging", "loadcheck/src"))]
            from ci.gen import loader_headers  # noqa: PLC0415  # an sdist has no generator

            loader_headers.write_headers()
