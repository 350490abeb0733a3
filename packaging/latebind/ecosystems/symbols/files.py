"""The names of archives of native debug symbols."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from latebind.formats import identify_by_name, made_as
from loadcheck.facts import SYMBOLS_SUFFIX

if TYPE_CHECKING:
    from latebind.config.document import ProjectTable

_NAME = re.compile(r"(?P<name>.+?)-(?P<version>\d.*?)-(?P<rid>(?:linux|osx|win)(?:-[a-z0-9]+)+)-symbols\.zip")


def symbols_file(project: ProjectTable, rid: str) -> str:
    """Where the archive of a target's debug symbols is below dist/."""
    return f"symbols/{project.name}-{project.version}-{rid}{SYMBOLS_SUFFIX}"


FORMATS = (
    made_as(
        ".zip",
        folder="symbols",
        identify=lambda path: identify_by_name(path, _NAME, "is not a package of a release", "Remove the file."),
    ),
)

REASONS = (("no-symbols", "debug symbols that match the library cannot be made for this target on this machine", ""),)
