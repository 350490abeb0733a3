"""The `sdk` table of a package: how its libraries are named in an archive for C and C++."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from latebind.config.reader import Table


class SdkConfig(Table, frozen=True, kw_only=True):
    """Settings of the package's libraries in an SDK archive."""

    soversion: Annotated[
        int,
        Meta(
            description="Version of the binary interface, for the SONAME in the archive: 1 gives libx.so.1. A "
            "target's SOVERSION in CMake takes precedence. No effect on Windows.",
            ge=0,
        ),
    ]
