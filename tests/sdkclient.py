"""The small project with a header, and with an SDK archive for each target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.client import CONFIG, PORTABLE_CMAKE, PORTABLE_SOURCE, write_client

if TYPE_CHECKING:
    from pathlib import Path

SDK = CONFIG.replace("[package.tiny]", "[package.tiny]\nsdk = true").replace(
    'license = "MIT"', 'license = "MIT"\nlicense_file = "native/tiny.c"'
)
HEADER = """\
#ifdef __cplusplus
extern "C"
#endif
int tiny_add(int a, int b);
"""
WITH_HEADER = f"{PORTABLE_CMAKE}install(FILES tiny.h DESTINATION include COMPONENT tiny)\n"


def write_sdk_client(folder: Path, cmake: str = WITH_HEADER, latebind: str = SDK) -> Path:
    root = write_client(folder, latebind=latebind, cmakelists=cmake, tiny=PORTABLE_SOURCE)
    (root / "native" / "tiny.h").write_text(HEADER, encoding="utf-8")
    return root
