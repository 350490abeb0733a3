"""Writes Source Link data, by which a debugger finds the sources of an assembly in the project's repository.

The format is that of the .NET documentation, "Source Link"; the compiler puts it into the symbols.
"""

from __future__ import annotations

import json
import re
from pathlib import PurePath
from urllib.parse import quote, urlsplit

_RAW = {
    "bitbucket.org": "https://api.bitbucket.org/2.0/repositories/{path}/src/{commit}",
    "codeberg.org": "https://codeberg.org/{path}/raw/commit/{commit}",
    "github.com": "https://raw.githubusercontent.com/{path}/{commit}",
    "gitlab.com": "https://gitlab.com/{path}/-/raw/{commit}",
}
"""Where hosts of repositories give a file of a commit as it is."""
_PATH = re.compile(r"[\w.~-]+(/[\w.~-]+)+", re.ASCII)


def source_link(repository: str, commit: str, folder: PurePath, mapped: str) -> str:
    """The JSON text for sources in a folder of a repository that the symbols call `mapped`.

    "" without a commit, and for a host whose addresses of files are unknown.
    """
    address = urlsplit(repository)
    path = address.path.strip("/").removesuffix(".git")
    raw = _RAW.get(address.hostname or "") if address.scheme in ("http", "https") else None
    if raw is None or not commit or not _PATH.fullmatch(path):
        return ""
    subfolder = "".join(f"/{quote(part)}" for part in folder.parts)
    return json.dumps({"documents": {f"{mapped}*": f"{raw.format(path=path, commit=commit)}{subfolder}/*"}}) + "\n"
