"""The names of archives of native debug symbols."""

from __future__ import annotations

import re

from latebind.formats import identify_by_name, made_as

_NAME = re.compile(r"(?P<name>.+?)-(?P<version>\d.*?)-(?P<rid>(?:linux|osx|win)(?:-[a-z0-9]+)+)-symbols\.zip")


FORMATS = (
    made_as(
        ".zip",
        folder="symbols",
        identify=lambda path: identify_by_name(path, _NAME, "is not a package of a release", "Remove the file."),
    ),
)

REASONS = (("no-symbols", "debug symbols that match the library cannot be made for this target on this machine", ""),)
