"""What a CMake build would download: taken from native.sources, or else reported as downloaded."""

from __future__ import annotations

import re
from pathlib import Path

from latebind.backend.cmake import REFUSE_DOWNLOADS
from latebind.config.config import Config
from latebind.system.log import LOG

DISCONNECTED = {"FETCHCONTENT_FULLY_DISCONNECTED": "ON", **REFUSE_DOWNLOADS}
"""CMake's variables with which FetchContent fails at once where it would download."""
_UNPATCHED = "latebind-unpatched.txt"
_REFUSED = re.compile(
    r"requires\s+the\s+source\s+directory\s+for\s+dependency\s+(?P<content>[\w.+-]+)"
    r"|would\s+download\s+(?P<project>[\w.+-]+),\s+which"
    r"|Could(?:n't| not) connect to server|transport '\w+' not allowed"
)


def find_refused(output: str) -> str:
    """The dependency that CMake may not download, by the name that the project gives it; "" for other errors."""
    refused = _REFUSED.search(output)
    return (refused["content"] or refused["project"] or "NAME") if refused else ""


def sources_advice(config: Config, output: str) -> str:
    """What to do when a build failed since it may not download; "" for other errors."""
    name = find_refused(output) if config.document.native.sources else ""
    return name and (
        f"Builds of projects with [native.sources] download nothing. Put the dependency's archive or folder below "
        f'{config.document.native.source}/, and name it in that table: {name} = "third_party/{name}.tar.gz".'
    )


def report_downloads(config: Config, tree: Path, rid: str) -> None:
    """Name what FetchContent downloaded: no hash of latebind's covers it, and another build may get something else.

    Also names what FetchContent would have patched: it patches no folder that it is given.
    """
    unpatched = tree / _UNPATCHED
    text = unpatched.read_text(encoding="utf-8") if unpatched.is_file() else ""
    if unpatched_names := ", ".join(filter(None, text.split(";"))):
        LOG.say(
            f"note: {rid}: CMake does not run the PATCH_COMMAND of {unpatched_names}, because [native.sources] has the "
            "sources. Check that they already contain the patches."
        )
    names = sorted(path.name.removesuffix("-src") for path in tree.glob("_deps/*-src") if path.is_dir())
    if names and not config.document.native.sources:
        LOG.say(
            f"note: {rid}: CMake downloaded {', '.join(names)}, which latebind does not hash. Name archives of them in "
            "[native.sources] to build without a network."
        )
