"""The `sdk` table of a package: how its libraries are named in an archive for C and C++."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from latebind.config.reader import Table


class SdkConfig(Table, frozen=True, kw_only=True):
    """How a package is in an SDK archive."""

    soversion: Annotated[
        int,
        Meta(
            description="Version of the binary interface, for the SONAME in the archive: 1 gives libx.so.1. The native "
            "code is built once more; libraries in wheels, NuGet and npm packages keep their names. Not for Windows.",
            ge=0,
        ),
    ]
