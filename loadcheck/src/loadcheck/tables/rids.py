"""The targets whose names loadcheck knows, as npm packages and JARs call them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from loadcheck.model import Rid

if TYPE_CHECKING:
    from collections.abc import Mapping


class Platform(NamedTuple):
    """A target in npm's words, which are Node's, and in those of ONNX Runtime's JARs."""

    os: str
    cpu: str
    libc: str = ""
    """npm's field; "" where there is none to choose."""
    jar: str = ""
    """The folder in ONNX Runtime's JARs; "" where it has none."""


PLATFORMS: Mapping[Rid, Platform] = {
    Rid("linux-x64"): Platform("linux", "x64", libc="glibc", jar="linux-x64"),
    Rid("linux-arm64"): Platform("linux", "arm64", libc="glibc", jar="linux-aarch64"),
    Rid("linux-arm"): Platform("linux", "arm", libc="glibc"),
    Rid("linux-riscv64"): Platform("linux", "riscv64", libc="glibc"),
    Rid("linux-musl-x64"): Platform("linux", "x64", libc="musl"),
    Rid("linux-musl-arm64"): Platform("linux", "arm64", libc="musl"),
    Rid("osx-x64"): Platform("darwin", "x64", jar="osx-x64"),
    Rid("osx-arm64"): Platform("darwin", "arm64", jar="osx-aarch64"),
    Rid("win-x64"): Platform("win32", "x64", jar="win-x64"),
    Rid("win-arm64"): Platform("win32", "arm64"),
}
