"""Check LB908: whether add-ons load wherever Node.js runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.binary import floors
from loadcheck.engine.platforms import npm_cpu
from loadcheck.engine.registry import Hit, Skip, check
from loadcheck.engine.wording import first
from loadcheck.kinds.npm.checks.platforms import is_for_musl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.binary import Image
    from loadcheck.engine.policy import Policy
    from loadcheck.readers.contents import Contents, File

_OF_NODE: dict[str, floors.Version] = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 25)}
"""What Node.js 18 to 24 need themselves (BUILDING.md of Node.js)."""
_OFFICIAL = frozenset({"arm", "arm64", "ppc64", "s390x", "x64"})
"""The processors for which Node.js has official builds. Others need other versions: loong64 begins with glibc 2.36."""


@check(
    "LB908",
    "Native file that needs a newer system than Node.js",
    "warning",
    profiles=("loads",),
    because="Node.js runs on systems where the file does not load, such as RHEL 8.",
    kinds=("npm",),
    example="tiny.node needs GLIBC_2.34 for pthread_create; Node.js needs 2.28",
    fix="Build for glibc 2.28, in the manylinux_2_28 image or with zig, or list the supported systems in the README.",
)
def newer_than_node(package: Contents, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """No field of package.json names a version of glibc, so npm installs the package wherever Node.js runs.

    Official builds of Node.js 18 to 24 need glibc 2.28 and the libstdc++ of GCC 8 (GLIBCXX_3.4.25). If
    latebind.toml sets `glibc`, LB301 checks that minimum instead.
    """
    if policy.glibc or npm_cpu(image.arch) not in _OFFICIAL or is_for_musl(file, image):
        return
    for prefix, limit in _OF_NODE.items():
        newer = {
            name: floors.numeric(name.removeprefix(f"{prefix}_"))
            for library, names in image.version_needs.items()
            if library.lower() not in package.bases  # a copy of its own has every version that it needs
            for name in names
            if name.startswith(f"{prefix}_") and floors.numeric(name.removeprefix(f"{prefix}_")) > limit
        }
        if newer:
            worst = max(newer, key=newer.__getitem__)
            names = floors.because(image, worst)
            yield Hit(
                cause=worst,
                message=f"needs {worst} for {first(names)}, but Node.js runs with {floors.version_text(limit)}",
                evidence=(*(f"VERNEED {name}" for name in sorted(newer)), *names[:8]),
            )
