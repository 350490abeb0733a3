"""Check LB617: whether libraries for Android load on devices with pages of 16 KB."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loadcheck.engine.reader import promised_rid
from loadcheck.engine.registry import Hit, Skip, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.readers.contents import Contents

_PAGE = 16384
_TAG = re.compile(r"android_\d+_(arm64_v8a|x86_64)")
_RIDS = ("android-arm64", "android-x64")


@check(
    "LB617",
    "Segments not aligned for 16 KB pages",
    "warning",
    profiles=("loads",),
    because="The library does not load on Android devices with 16 KB pages, and Google Play refuses apps that contain "
    "it.",
    kinds=("wheel", "nupkg"),
    example="liblatenn.so in a wheel tagged android_24_arm64_v8a, with segments aligned to 4096 bytes",
    fix="Link with -Wl,-z,max-page-size=16384, or use NDK r28 or newer, which aligns to 16 KB by default.",
)
def small_pages(package: Contents) -> Iterator[Hit | Skip]:
    """Some newer Android devices have pages of 16 KB, and their loader refuses 64-bit libraries with smaller alignment.

    Google Play requires 16 KB alignment in apps for Android 15 and newer. This is the only Android rule that loadcheck
    checks.
    """
    tagged = package.wheel is not None and any(map(_TAG.fullmatch, package.wheel.platforms))
    for file in package.native:
        if not tagged and promised_rid(package, file) not in _RIDS:
            continue
        for image in file.images:
            if image.is_linked and 0 < image.page < _PAGE:
                yield Hit(
                    inner=file.name,
                    message=f"has segments aligned to {image.page} bytes, but Android needs {_PAGE}",
                    evidence=(f"PT_LOAD p_align {image.page:#x}",),
                )
