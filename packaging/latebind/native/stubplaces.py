"""Sets the variables by which compilers and build systems find stubs before the libraries themselves."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PLACES = {
    "LIBRARY_PATH": ("{folder}/lib", ":"),
    "PKG_CONFIG_PATH": ("{folder}/lib/pkgconfig", ":"),
    "CMAKE_PREFIX_PATH": ("{folder}", ":"),
    "CPATH": ("{folder}/include", ":"),  # for <latebind/stub.h>
    "LDFLAGS": ("-L{folder}/lib", " "),  # setuptools names a folder with -L where Python is a shared library
}
"""Where they look, in front of what is set already, and what is between both."""


def export_places(folder: Path) -> str:
    """What a POSIX shell evaluates so that builds link the stubs in a folder such as stubs/linux-x64."""
    words = (
        f'{name}={shlex.quote(place)}"${{{name}:+{between}${name}}}"' for name, place, between in _list_places(folder)
    )
    return f"export {' '.join(words)}"


def set_places(folder: Path) -> dict[str, str]:
    """The variables of this process with what export_places() sets."""
    return {
        name: between.join(filter(None, [place, os.environ.get(name, "")]))
        for name, place, between in _list_places(folder)
    }


def _list_places(folder: Path) -> Iterator[tuple[str, str, str]]:
    for name, (place, between) in _PLACES.items():
        text = place.format(folder=folder)
        yield name, shlex.quote(text) if between == " " else text, between  # builds split it as a shell does
