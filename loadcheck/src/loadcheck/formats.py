"""The kinds of package files: how one is recognized and opened."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from loadcheck.containers import Tar, Zip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from loadcheck.containers import Source
    from loadcheck.model import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageFormat:
    """Files with one suffix."""

    suffix: str
    kind: Kind
    audited_as: Kind
    """The kind of subject that the audit takes such a file for."""
    container: Callable[[Path], Source] = Zip
    """What opens such a file."""
    is_installed: bool = False
    """Whether consumers install such files."""
    holds_packages: bool = False
    """Whether it holds packages that are next to it, too, and audited there."""


_WITH_AARS = partial(Zip, opens=(".aar",))
"""What brings libraries for Android in archives of Android's own."""
_NPM_TAR = partial(Tar, keeps_links=False)
"""npm unpacks no links."""
FORMATS = (
    PackageFormat(suffix=".whl", kind="wheel", audited_as="wheel", is_installed=True),
    PackageFormat(suffix=".tar.gz", kind="sdist", audited_as="sdist", container=Tar),
    PackageFormat(suffix=".nupkg", kind="nupkg", audited_as="nupkg", container=_WITH_AARS, is_installed=True),
    PackageFormat(suffix=".snupkg", kind="snupkg", audited_as="nupkg"),
    PackageFormat(suffix=".tgz", kind="npm", audited_as="npm", container=_NPM_TAR, is_installed=True),
    PackageFormat(suffix=".jar", kind="jar", audited_as="jar", container=_WITH_AARS, is_installed=True),
    PackageFormat(suffix="-maven.zip", kind="maven", audited_as="maven", is_installed=True, holds_packages=True),
    PackageFormat(suffix=".zip", kind="symbols", audited_as="archive"),
    PackageFormat(suffix="-sdk.zip", kind="sdk", audited_as="sdk", is_installed=True),
    PackageFormat(suffix="-sdk.tar.gz", kind="sdk", audited_as="sdk", container=Tar, is_installed=True),
)
"""All of them, in the order in which reports list their kinds."""
_LONGEST_FIRST = sorted(FORMATS, key=lambda form: -len(form.suffix))
SDK_FILE = re.compile(
    r"(?P<name>.+?)-(?P<version>\d[^-]*)-(?P<rid>(?:linux|osx|win)(?:-[a-z0-9]+)+)-sdk\.(?:tar\.gz|zip)"
)
"""The name of an SDK archive: `tiny-1.0.0rc1-linux-x64-sdk.tar.gz`."""


def find_format(name: str) -> PackageFormat | None:
    """The format of a file by its name, whose case does not matter; None for other files."""
    return next((form for form in _LONGEST_FIRST if name.lower().endswith(form.suffix)), None)


def iter_members(path: Path, form: PackageFormat) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """The files of a package, each with a function that reads it, to be called before the next one.

    Those in archives in it are left out. Raises InputError for an archive that cannot be read.
    """
    for raw in form.container(path).files():
        if not raw.within:
            yield raw.name, partial(_join, raw.blocks)


def _join(blocks: Callable[[], Iterator[bytes]]) -> bytes:
    return b"".join(blocks())
