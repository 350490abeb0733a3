"""All ways to break packages, in the order of the page; the first breaks nothing."""

from __future__ import annotations

from tests.support.broken import linkage, loading, npms, nupkgs, sdks, wheels
from tests.support.broken.packages import Way

CONTROL = Way(name="control", title="nothing: the packages as they were built", breaks=lambda _: None,
              among=(".whl", ".nupkg", ".tgz", "-sdk.tar.gz", "-sdk.zip"))  # fmt: skip
WAYS = (CONTROL, *linkage.WAYS, *nupkgs.WAYS, *wheels.WAYS, *loading.WAYS, *npms.WAYS, *sdks.WAYS)


def way(name: str) -> Way:
    """The way of that name."""
    return next(candidate for candidate in WAYS if candidate.name == name)
