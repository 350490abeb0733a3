"""The small project with a header, and with an SDK archive for each target."""

from __future__ import annotations

from pathlib import Path

from tests.support.client import CONFIG, copy_client, read_client

SDK = CONFIG.replace("[package.tiny]", "[package.tiny]\nsdk = true").replace(
    'license = "MIT"', 'license = "MIT"\nlicense_file = "native/tiny.c"'
)
WITH_HEADER = read_client("sdk", "native/CMakeLists.txt")


def write_sdk_client(folder: Path, cmake: str = WITH_HEADER, latebind: str = SDK) -> Path:
    return copy_client("sdk", folder, latebind=latebind, cmakelists=cmake)
