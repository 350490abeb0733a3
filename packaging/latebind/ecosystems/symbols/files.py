"""The names of archives of native debug symbols."""

from __future__ import annotations

import re
from pathlib import Path

from latebind.errors import InputError
from latebind.formats import Identity, made_as
from latebind.tables.targets import targets

_NAME = re.compile(r"(?P<name>.+?)-(?P<version>\d.*?)-(?P<rid>(?:linux|osx|win)(?:-[a-z0-9]+)+)-symbols\.zip")


def _identify(path: Path) -> Identity:
    match = _NAME.fullmatch(path.name)
    if match is None:
        raise InputError("is not a package of a release", where=str(path), advice="Remove the file.")
    return Identity(
        name=match["name"], version=match["version"], targets=tuple(rid for rid in targets() if rid == match["rid"])
    )


FORMATS = (made_as(".zip", folder="symbols", identify=_identify),)
