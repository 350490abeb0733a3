"""Versions as NuGet, npm and CMake want them."""

from __future__ import annotations

from packaging.version import InvalidVersion, Version

from latebind.errors import BuildError

LARGEST_IN_NUGET = 2**31 - 1
"""NuGet's versions have numbers of 32 bits (System.Version)."""
LARGEST_IN_NPM = 2**53 - 1
"""The largest whole number of JavaScript (node-semver, MAX_SAFE_INTEGER)."""
_PHASES = {"a": "alpha", "b": "beta", "rc": "rc"}


class VersionError(BuildError):
    """A version that an ecosystem cannot express."""


def semantic_version(version: str, largest: int = LARGEST_IN_NUGET) -> str:
    """A PEP 440 version in NuGet's normalized form: 1.2 → 1.2.0, 1.2rc1 → 1.2.0-rc.1, 1.2.dev3 → 1.2.0-0.dev.3.

    Development releases get a number first, since SemVer sorts numbers before words and they must come before
    alphas. A post-release becomes the fourth number, which NuGet knows and SemVer does not.

    Raises VersionError for what NuGet cannot express: epochs, local versions, development releases of pre-releases or
    post-releases, and numbers above the `largest`.
    """
    try:
        parsed = Version(version)
    except InvalidVersion as error:
        raise VersionError(f"{version!r} is not a version", advice="Use the form 1.2.3 or 1.2.3rc1.") from error
    release = [*parsed.release, 0, 0][: max(3, len(parsed.release))]
    too_much = (
        (parsed.epoch, "has an epoch"),
        (parsed.local, "has a local version"),
        (parsed.is_devrelease and parsed.post is not None, "is a development release of a post-release"),
        (parsed.is_devrelease and parsed.pre, "is a development release of a pre-release"),
        (parsed.post is not None and parsed.pre, "is a post-release of a pre-release"),
        (max(*release, parsed.post or 0) > largest, f"has a number above {largest}"),
        (len(release) + (parsed.post is not None) > 4, "has more than four numbers"),  # noqa: PLR2004  # NuGet's limit
    )
    for present, what in too_much:
        if present:
            name = "NuGet" if largest == LARGEST_IN_NUGET else "npm"
            text = f"version {version} {what}, which {name} cannot express"
            raise VersionError(text, advice="Use the form 1.2.3.")
    if parsed.post is not None:
        release.append(parsed.post)
    if release[3:] == [0]:  # NuGet normalizes 1.2.3.0 to 1.2.3
        release.pop()
    text = ".".join(map(str, release))
    if parsed.pre:
        return f"{text}-{_PHASES[parsed.pre[0]]}.{parsed.pre[1]}"
    return text if parsed.dev is None else f"{text}-0.dev.{parsed.dev}"


def version_of(text: str) -> Version | None:
    """The version that a text states in PEP 440's form; None for any other text."""
    try:
        return Version(text)
    except InvalidVersion:
        return None
