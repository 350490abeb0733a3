"""What tests need of the machine: where it is missing, the test is skipped with the reason."""

from __future__ import annotations

import importlib.metadata
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import ort_header
import pytest
from debian import NotAvailableError
from latebind.compilers.zig import find_zig
from latebind.model import Rid
from latebind.tables.targets import host_rid, target, zig_triple

if TYPE_CHECKING:
    from collections.abc import Callable

_Made = TypeVar("_Made")


def available(make: Callable[..., _Made], *arguments: object) -> _Made:
    """What a program of ci/ makes."""
    try:
        return make(*arguments)
    except NotAvailableError as reason:
        pytest.skip(f"not run: {reason}")


def official_header(folder: Path, version: str = "1.21") -> Path:
    """ONNX Runtime's C header of a version, with its other headers in the same folder."""
    return available(ort_header.fetch, folder / "ort-header", version)


def runtime_folder() -> Path:
    """The folder of the installed ONNX Runtime's library."""
    return Path(str(importlib.metadata.distribution("onnxruntime").locate_file("onnxruntime/capi")))


def require_programs(*names: str) -> list[str]:
    """The paths of programs."""
    paths = {name: shutil.which(name) for name in names}
    for name, path in paths.items():
        if path is None:
            pytest.skip(f"not run: there is no {name} here")
    return list(paths.values())


def zig(rid: str = "", *, tool: str = "cc", floor: str = "") -> list[str]:
    """The words that start zig for a target, or for this machine, as latebind's builds do: they share its libraries."""
    compiler = find_zig()
    if compiler is None:
        pytest.skip("not run: the ziglang package is missing")
    properties = target(Rid(rid) if rid else host_rid())
    return [str(compiler), tool, "-target", zig_triple(properties, floor or properties.floor), "-O1", "-s"]
