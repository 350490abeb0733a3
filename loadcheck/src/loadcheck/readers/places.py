"""What the paths in a package say: where they lead from one of its files, and which systems they are for."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from loadcheck.binary import Image

_ABIS: Mapping[str, str] = {"arm64-v8a": "aarch64", "armeabi": "armv7l", "armeabi-v7a": "armv7l"}
_SHARED_ABIS: Mapping[str, str] = {"x86": "i686", "x86_64": "x86_64"}
_ANDROID = frozenset({"android", "jnilibs"})
_JNI = "jni"
"""The folder of an AAR for the folders of ABIs. In JARs it may have those of other systems: `jni/windows/x86_64`."""
_PREFAB = "android."
"""How Prefab's names of a system and an ABI begin."""
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
    """Whether a folder has libraries for Android: it is called like one of the ABIs that the NDK compiles for."""
    return bool(android_abi(folder)[0])


def android_abi(folder: str) -> tuple[str, str]:
    """The ABI of Android that a folder is called like, and its processor: `arm64-v8a`, `aarch64`; "" for none.

    Source: developer.android.com/ndk/guides/abis; for `libs/android.arm64-v8a` in an AAR, google.github.io/prefab.
    """
    parts = folder.lower().split("/")
    is_android = not _ANDROID.isdisjoint(parts)
    for parent, part in reversed([*pairwise(("", *parts))]):
        abi = part.removeprefix(_PREFAB)
        if abi in _ABIS or (abi in _SHARED_ABIS and (is_android or parent == _JNI or abi != part)):
            return abi, (_ABIS.get(abi) or _SHARED_ABIS[abi])
    return "", ""
