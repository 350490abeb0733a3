"""Check LB505: whether a package has its license."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loadcheck.engine.reader import find_reader
from loadcheck.engine.registry import INSTALLED, Hit, Skip, check
from loadcheck.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.readers.contents import Contents

_LICENSE = re.compile(r"(^|/)(licen[cs]es?|copying|notice|unlicense)([._-][^/]*)?(/|$)", re.IGNORECASE)
_NOTICE = "LICENSE-latebind.txt"


@check(
    "LB505",
    "License missing",
    "note",
    profiles=("all",),
    because="Nothing fails.",
    kinds=INSTALLED,
    example="a wheel without dist-info/licenses/",
    fix="Set license and license-files in pyproject.toml, license_file in latebind.toml, or <license> in the nuspec.",
)
def license_missing(package: Contents) -> Iterator[Hit | Skip]:
    """Most licenses require that every copy includes their text, and many companies reject packages without it."""
    yield from find_reader(package.kind).find_license_problems(package)


def find_missing_file(package: Contents) -> Iterator[Hit]:
    """A package whose license is a file, and which has none. The notice of latebind's loader is not its license."""
    names = [file.name for file in package.files if _LICENSE.search(file.name)]
    if names and all(name.endswith(f"/{_NOTICE}") for name in names):
        text = f"contains no license file except that of latebind's loader, {_NOTICE}"
        yield Hit(cause="only the loader's", message=text, evidence=tuple(names))
    elif not names:
        seen = f"{plural(len(package.files), 'file')}, none named LICENSE, COPYING or NOTICE"
        yield Hit(message="contains no license file", evidence=(seen,))
