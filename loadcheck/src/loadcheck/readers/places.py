"""What the paths in a package say: where they lead from one of its files, and which systems they are for."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from loadcheck.binary import Image

_ABIS = frozenset({"arm64-v8a", "armeabi", "armeabi-v7a"})
_SHARED_ABIS = frozenset({"x86", "x86_64"})
_ANDROID = frozenset({"android", "jni", "jnilibs"})
FROM_HERE = ("$ORIGIN", "${ORIGIN}", "@loader_path")
"""How a path begins that leads from the folder of the file itself."""


def resolve_from(folder: str, path: str) -> str:
    """The place in the package to which a path leads from one of its folders; "" for a place outside."""
    start = next((start for start in FROM_HERE if path.startswith(start)), "")
    leads = posixpath.normpath(posixpath.join(folder, path[len(start) :].lstrip("/"))) if start else ""
    return "" if leads.startswith("..") else leads


def list_beside(paths: Mapping[str, Collection[str]], folder: str, image: Image) -> set[str]:
    """The names of native files to which a needed name leads that is a path from the file itself (Mach-O)."""
    leads = (resolve_from(folder, name) for name in image.needed if name.startswith("@loader_path/"))
    return {base for path in leads if path in paths.get(base := posixpath.basename(path), ())}


def is_for_android(folder: str) -> bool:
    """Whether a folder has libraries for Android: it is called like one of the ABIs that the NDK compiles for.

    Source: developer.android.com/ndk/guides/abis.
    """
    parts = set(folder.lower().split("/"))
    return bool(parts & _ABIS) or bool(parts & _SHARED_ABIS and parts & _ANDROID)
