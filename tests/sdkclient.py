"""The small project with a header, and with an SDK archive for each target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.build.native import stage_target
from latebind.config.file import load
from latebind.config.project import Project
from latebind.ecosystems.sdk.pack import pack_sdk
from latebind.tables.targets import target
from loadcheck.tarball import unpack_tar
from tests.client import CONFIG, copy_client, read_client
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SDK = CONFIG.replace("[package.tiny]", "[package.tiny]\nsdk = true").replace(
    'license = "MIT"', 'license = "MIT"\nlicense_file = "native/tiny.c"'
)
WITH_HEADER = read_client("sdk", "native/CMakeLists.txt")


def write_sdk_client(folder: Path, cmake: str = WITH_HEADER, latebind: str = SDK) -> Path:
    return copy_client("sdk", folder, latebind=latebind, cmakelists=cmake)


def latenn_sdk(folder: Path, rid: str) -> Path:
    """latenn's SDK for a target, packed and unpacked below a folder with a space in its name."""
    config = load(ROOT / "latenn" / "latebind.toml")
    stage = stage_target(Project(config=config, workdir=folder / "work"), target(rid))
    path = pack_sdk(config, config.sdk_packages, stage, folder)
    return unpack_tar(path, folder / "a place").rename(folder / "a place" / "a prefix")


def write_latenn_consumer(folder: Path) -> Path:
    """A CMake project in C++ whose program adds what the model says to 1, 2, 3."""
    return copy_client("latenn-sdk-user", folder)
