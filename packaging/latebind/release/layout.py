"""Names the files of a release folder: those that are given, and those that follow from them."""

from __future__ import annotations

from pathlib import PurePosixPath

PACKAGES, SBOMS, REPORTS, API = "packages", "sbom", "reports", "api"
CONFIG = "latebind.toml"
CHANGES = "CHANGELOG.md"
RELEASE_MANIFEST = "manifest.json"
PAGE = "index.html"
SUMS = "SHA256SUMS"
GUIDE = "VERIFY.md"
LOGS = f"{REPORTS}/logs"
LOG_SUMS = f"{REPORTS}/logs.sha256"
"""The checksums of the logs, which are too many to be downloads of their own."""
VERIFICATION = f"{REPORTS}/verify.json"
PREVIOUS = f"{API}/previous.json"
SURFACE = f"{API}/api.json"

_GIVEN = (CONFIG, CHANGES, VERIFICATION, PREVIOUS)


def is_download(name: str) -> bool:
    """Whether a file of the folder is a download of its own, under its name without folders, as SHA256SUMS lists it."""
    return name != SUMS and not name.startswith(f"{LOGS}/")


def flat_name(name: str) -> str:
    """What a file of the folder is called among the downloads, which have no folders."""
    return PurePosixPath(name).name


def is_given(name: str) -> bool:
    """Whether a release is made from this file of its folder. All others can be made again from such files.

    The manifest is both: the commit and the time in it are given, the rest follows.
    """
    path = PurePosixPath(name)
    return name in _GIVEN or path.parts[0] == PACKAGES or path.parts[:2] == (REPORTS, "logs")
