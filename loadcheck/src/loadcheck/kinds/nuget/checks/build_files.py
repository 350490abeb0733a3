"""Check LB413: whether the .props and .targets of a nupkg name files that the package contains."""

from __future__ import annotations

import posixpath
import re
from fnmatch import translate
from typing import TYPE_CHECKING

from loadcheck.engine.registry import Hit, Skip, check
from loadcheck.errors import InputError
from loadcheck.kinds.nuget.reading import BUILD_FOLDERS
from loadcheck.readers.opc import parse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from loadcheck.readers.contents import Contents

_OWN_PATH = re.compile(r"\$\(MSBuildThisFileDirectory\)([^;'\"|<>]*)", re.IGNORECASE)
_EVALUATED = ("$(", "%(", "@(")
_MAY_LACK = re.compile(r"\bExists\s*\(", re.IGNORECASE)


@check(
    "LB413",
    "Build file that names a missing file",
    "error",
    profiles=("loads",),
    because="The build fails, or the application does not find the library.",
    kinds=("nupkg",),
    example=r"build/net461/Latenn.targets copies ..\..\runtimes\win-x86_64\native\*, but the folder is win-x64",
    fix="Correct the path, or add the file. If the file is optional, say so with Condition=\"Exists('...')\".",
)
def build_path_lacking(package: Contents) -> Iterator[Hit | Skip]:
    """MSBuild silently copies nothing for a wildcard that matches no file.

    The application builds, but does not find the library when it runs. A missing path without a wildcard breaks the
    build of every project that uses the package.
    """
    names = [file.name.lower() for file in package.files]
    for inner, data in sorted(package.texts.items()):
        if not inner.lower().startswith(BUILD_FOLDERS):
            continue
        try:
            paths = dict.fromkeys(_own_paths(parse(data, inner)))
        except InputError as error:
            yield Hit(cause="unreadable", inner=inner, message=error.message, evidence=(inner,))
            continue
        for path in paths:
            inside = posixpath.normpath(posixpath.join(posixpath.dirname(inner), path.replace("\\", "/")))
            if not inside.startswith("..") and not _is_there(inside.lower(), names):
                yield Hit(
                    cause=inside,
                    inner=inner,
                    message=f"names {inside}, which matches no file of the package",
                    evidence=(f"$(MSBuildThisFileDirectory){path}",),
                )


def _own_paths(element: Element) -> Iterator[str]:
    """Paths below the file's own folder, except those guarded by Exists() and those that MSBuild must evaluate."""
    if _MAY_LACK.search(element.get("Condition", "")):
        return
    for text in (element.text or "", *element.attrib.values()):
        for match in _OWN_PATH.finditer(text):
            path = match[1].strip()
            if path and not any(mark in path for mark in _EVALUATED):
                yield path
    for child in element:
        yield from _own_paths(child)


def _is_there(path: str, names: list[str]) -> bool:
    """Whether a file matches an MSBuild path (`*` is any name, `**` any folders) or is below it."""
    # fnmatch's star also matches slashes, unlike MSBuild's, so every reported path is surely wrong.
    pattern = re.compile(translate(path.replace("**/", "*").rstrip("/")))
    return path == "." or any(pattern.match(name) or name.startswith(f"{path}/") for name in names)
