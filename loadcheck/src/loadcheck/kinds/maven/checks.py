"""Check LB952: whether Java finds the native files of a JAR."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.engine.registry import Hit, Skip, check
from loadcheck.kinds.maven.reading import NATIVE, name_platforms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.readers.contents import Contents


@check(
    "LB952",
    "Native folder of an unknown platform",
    "warning",
    profiles=("loads",),
    because="The JAR contains the library, but neither latebind's nor ONNX Runtime's Java class looks in that folder.",
    kinds=("jar",),
    example="native/linux-amd64/libtiny.so",
    fix="Name the folder after the target: native/linux-x64, native/osx-arm64, native/win-x64.",
)
def unknown_platform(package: Contents) -> Iterator[Hit | Skip]:
    """The class that loads the library derives the folder's name from os.name and os.arch, with a fixed table."""
    known = name_platforms()
    for file in package.native:
        match = NATIVE.fullmatch(file.name)
        if match and match["platform"] not in known:
            text = f"is in the folder {match['platform']}, which is not the name of a platform"
            yield Hit(cause=match["platform"], inner=file.name, message=text, evidence=(file.name,))
