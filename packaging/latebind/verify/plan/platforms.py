"""How installers name a target, so that this machine's can be asked about the wheels of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.tables.targets import target

if TYPE_CHECKING:
    from latebind.model import Rid

NEWEST_MACOS = "26.0"
"""Wheels for older ones are fine, too. Which macOS a runtime's wheels need differs from version to version."""
_GLIBC = ("2_28", "2_27", "2_17")
_UV = {"linux": "{arch}-manylinux_2_39", "macos": "{arch}-apple-darwin", "windows": "{arch}-pc-windows-msvc"}
_WINDOWS = {"x86_64": "win_amd64", "aarch64": "win_arm64"}


def uv_platform(rid: Rid) -> str:
    """uv's `--python-platform` for a target: `aarch64-manylinux_2_39`."""
    row = target(rid)
    if row.libc == "musl":
        return f"{row.arch}-unknown-linux-musl"
    return _UV[row.system].format(arch=row.arch)


def pip_platforms(rid: Rid) -> tuple[str, ...]:
    """pip's `--platform` words for a target, all of which count."""
    row = target(rid)
    if row.system == "windows":
        return (_WINDOWS[row.arch],)
    if row.system == "macos":
        arch = "arm64" if row.arch == "aarch64" else "x86_64"
        newest = range(int(NEWEST_MACOS.split(".", maxsplit=1)[0]), 10, -1)
        return tuple(f"macosx_{major}_0_{kind}" for major in newest for kind in (arch, "universal2"))
    if row.libc == "musl":
        return (f"musllinux_1_2_{row.arch}", f"musllinux_1_1_{row.arch}")
    return tuple(f"manylinux_{glibc}_{row.arch}" for glibc in _GLIBC)
