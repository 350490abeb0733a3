"""Asks the package index which versions there are; the only network that verification uses besides installing."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.errors import NotRun, ToolError
from latebind.run import run

if TYPE_CHECKING:
    from collections.abc import Mapping

_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)", re.MULTILINE)


def resolve(requirement: str, *, uv: Path, python: Path, environment: Mapping[str, str]) -> str:
    """The version that the index has for a requirement and an interpreter.

    Raises NotRun: `no-distribution` when there is none, `no-index` when the index does not answer.
    """
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder) / "wanted.in"
        wanted.write_text(f"{requirement}\n", encoding="utf-8")
        argv: list[str | Path] = [
            uv,
            "pip",
            "compile",
            "--no-deps",
            "--no-header",
            "--no-annotate",
            "--only-binary",
            ":all:",
        ]
        try:
            output = run([*argv, "--python", python, wanted], env=environment, timeout=120).output
        except ToolError as error:
            if "No solution found" in error.message or "not found in the package registry" in error.message:
                raise NotRun("no-distribution", f"the index has no {requirement} for {python.name}") from error
            raise NotRun("no-index", f"the package index does not answer: {error.message}") from error
    match = _PIN.search(output)
    if match is None:
        raise NotRun("no-distribution", f"the index has no {requirement}")
    return match[2]


def installer_environment(home: Path) -> dict[str, str]:
    """The environment of an installer: how to reach the index, and nothing else of the caller's.

    pip's own settings for the index are given to uv under uv's names, so that one setting serves both.
    """
    kept = {key: value for key, value in os.environ.items() if key.startswith(("UV_", "PIP_", "SSL_")) or _proxy(key)}
    for pip, uv in (("PIP_INDEX_URL", "UV_DEFAULT_INDEX"), ("PIP_FIND_LINKS", "UV_FIND_LINKS")):
        if pip in kept and uv not in kept:
            kept[uv] = kept[pip]
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    kept.setdefault("UV_CACHE_DIR", str(Path(cache) / "uv"))
    return {**kept, "PATH": os.environ.get("PATH", ""), "HOME": str(home), "UV_NO_PROGRESS": "1"}


def _proxy(key: str) -> bool:
    return key.lower() in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "requests_ca_bundle", "curl_ca_bundle")
