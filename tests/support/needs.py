"""What tests need of the machine: where it is missing, the test is skipped with the reason."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

from ci.machines import NotAvailableError, dotnet_sdk, mono, ort_header
from latebind.backend.targets import Rid, host_rid, target, zig_triple
from latebind.backend.zig import find_zig
from tests.support.programs import run_program

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_Made = TypeVar("_Made")
TOOLS = Path(__file__).resolve().parents[2] / ".latebind"
"""Where tools are kept for all runs."""
_DEBIAN_PACKAGES = {
    "abidiff": "abigail-tools",
    "c++": "g++",
    "cc": "gcc",
    "dh": "debhelper",
    "dpkg-buildpackage": "dpkg-dev",
    "java": "default-jdk",
    "javac": "default-jdk",
    "musl-gcc": "musl-tools",
    "mvn": "maven",
    "ninja": "ninja-build",
    "nm": "binutils",
    "node": "nodejs",
    "rpmbuild": "rpm",
    "setfacl": "acl",
}
"""Those of programs that have another name than their package."""


def available(make: Callable[..., _Made], *arguments: object) -> _Made:
    """What a program of ci/ makes."""
    try:
        return make(*arguments)
    except NotAvailableError as reason:
        pytest.skip(f"not run: {reason}")


def official_header(folder: Path, version: str = "1.21") -> Path:
    """ONNX Runtime's C header of a version, with its other headers in the same folder."""
    return available(ort_header.fetch, folder / "ort-header", version)


def require_mounts() -> None:
    """Skip the test where `unshare -m` cannot mount file systems."""
    if os.geteuid() or run_program("unshare", "-m", "mount", "--make-rprivate", "/").returncode:
        pytest.skip("not run: file systems cannot be mounted here")


def runtime_folder() -> Path:
    """The folder of the installed ONNX Runtime's library."""
    return Path(str(importlib.metadata.distribution("onnxruntime").locate_file("onnxruntime/capi")))


def require_programs(*names: str) -> list[str]:
    """The paths of programs."""
    paths = {name: shutil.which(name) for name in names}
    for name, path in paths.items():
        if path is None:
            pytest.skip(f"not run: there is no {name} here: apt-get install {_DEBIAN_PACKAGES.get(name, name)}")
    return list(paths.values())


def require_file(path: Path, package: str) -> None:
    """Skip the test without a file that a package of Debian or a vendor's installs."""
    if not path.is_file():
        pytest.skip(f"not run: there is no {path.name} here: apt-get install {package}")


@cache
def dotnet_environment() -> dict[str, str]:
    """The environment with `dotnet` in it: the one on PATH, else the one for tests. Skips where there is neither."""
    if os.environ.get("LATEBIND_NO_DOTNET"):
        pytest.skip("not run: LATEBIND_NO_DOTNET is set")
    try:
        return dotnet_sdk.prepare(TOOLS / "dotnet").apply(os.environ)
    except NotAvailableError as error:
        pytest.skip(f"not run: no .NET SDK: {error}")


@cache
def mono_folder() -> Path:
    """The folder with `mono`: of the one on PATH, else of the one for tests. Skips where there is neither."""
    return available(mono.prepare, TOOLS / "mono").folder


def with_mono(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment with `mono` on PATH."""
    return {**environment, "PATH": os.pathsep.join([str(mono_folder()), environment.get("PATH", "")])}


def zig(rid: str = "", *, tool: str = "cc", floor: str = "") -> list[str]:
    """The words that start zig for a target, or for this machine, as latebind's builds do: they share its libraries."""
    compiler = find_zig()
    if compiler is None:
        pytest.skip("not run: there is no zig here: pip install ziglang")
    properties = target(Rid(rid) if rid else host_rid())
    return [str(compiler), tool, "-target", zig_triple(properties, floor or properties.floor), "-O1", "-s"]
