"""The one way to the files that ship with latebind: package data of a wheel, else the source tree."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from latebind.errors import LatebindError

_PACKAGE = Path(__file__).resolve().parent.parent
_SOURCE = _PACKAGE.parent.parent


def folder(name: Literal["templates", "loader"]) -> Path:
    """The folder `templates` or `loader` of this latebind, installed or editable.

    Raises LatebindError when neither place has it: the installation is damaged.
    """
    for candidate in (_PACKAGE / "_data" / name, _SOURCE / name):
        if candidate.is_dir():
            return candidate
    raise LatebindError(
        f"the folder {name} of latebind is missing", where=str(_PACKAGE), advice="Install latebind again."
    )


def license_file() -> Path:
    """The license of latebind. Raises LatebindError as folder() does."""
    return _find_file("LICENSE", _SOURCE)


def messages_page() -> Path:
    """The page about messages of loaders. Raises LatebindError as folder() does."""
    return _find_file("messages.md", _SOURCE / "docs/howto")


def _find_file(name: str, place: Path) -> Path:
    for candidate in (_PACKAGE / "_data" / name, place / name):
        if candidate.is_file():
            return candidate
    raise LatebindError(f"latebind's {name} is missing", where=str(_PACKAGE), advice="Install latebind again.")


def cmake_dir() -> Path:
    """The folder that holds latebindConfig.cmake, for `-Dlatebind_DIR=`."""
    return folder("loader")
