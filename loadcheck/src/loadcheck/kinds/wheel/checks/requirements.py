"""Check LB511: whether the index has a version for each requirement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.engine.registry import Hit, Skip, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.readers.contents import Contents


@check(
    "LB511",
    "Requirement that no version satisfies",
    "error",
    profiles=("loads",),
    because="Installers refuse the package, or its extra.",
    kinds=("wheel",),
    example="Requires-Dist: nvidia-cuda-nvrtc-cu13~=13.0; the newest version is 0.0.1",
    fix="Require versions that exist. Install the package with each extra before a release.",
)
def requirement_unsatisfied(package: Contents) -> Iterator[Hit | Skip]:
    """An installer that finds no version for a requirement installs nothing.

    Only `--resolve` asks the package index. Pre-releases and yanked releases count as versions.
    """
    supplied = package.supplied
    for each in supplied.unsatisfied if supplied else ():
        has = f"its newest version is {each.newest}" if each.newest else "the index has no such project"
        what = f"the extra {each.extra} requires" if each.extra else "requires"
        yield Hit(
            cause=f"{each.requirement} {each.extra}",
            message=f"{what} {each.requirement}, which no version satisfies: {has}",
            evidence=(f"Requires-Dist: {each.requirement}",),
            inner=f"{package.dist_info}/METADATA",
        )
