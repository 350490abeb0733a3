"""What NuGet refuses to write, for check LB414: errors of its `PackageBuilder` about frameworks, icon and readme."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.readers.contents import Contents
    from loadcheck.readers.opc import ParsedNuspec

    Refused = Iterator[tuple[str, str, str, str]]
    """NuGet's code, the cause, the file inside the package ("" for the nuspec), and what is wrong."""

CODES = ("NU1012", "NU5038", "NU5039", "NU5040", "NU5045", "NU5046", "NU5047")
_FRAMEWORK_FOLDER = re.compile(r"(?:lib|ref)/([^/]+)/.+", re.IGNORECASE)
_LARGEST_ICON = 1024**2


def creation_errors(package: Contents, spec: ParsedNuspec) -> Refused:
    """Every problem for which NuGet refuses to write a package."""
    yield from _no_platform_version(package, spec)
    yield from _icon(package, spec)
    yield from _readme(package, spec)


def _no_platform_version(package: Contents, spec: ParsedNuspec) -> Refused:
    for inner, framework in [*(("", name) for name in spec.frameworks), *places(package)]:
        if re.fullmatch(r"net\d+\.\d+-[a-z]+", framework, re.IGNORECASE):
            yield "NU1012", framework, inner, f"{framework} needs the platform's version, such as {framework}7.0"


def places(package: Contents) -> Iterator[tuple[str, str]]:
    """Each file in a folder of lib/ or ref/, with the folder's framework."""
    for name in (file.name for file in package.files):
        match = _FRAMEWORK_FOLDER.fullmatch(name)
        if match:
            yield name, match[1]


def _icon(package: Contents, spec: ParsedNuspec) -> Refused:
    icon = spec.fields.get("icon", "")
    if icon and not icon.lower().endswith((".png", ".jpg", ".jpeg")):
        yield "NU5045", "", "", f"the icon {icon} does not end with .png, .jpg or .jpeg"
    yield from _missing(package, icon, "icon", ("NU5046", "NU5047"))
    for file in package.files:
        if file.name == _normal(icon) and file.size > _LARGEST_ICON:
            yield "NU5047", "size", file.name, "the icon is larger than 1 MB"


def _readme(package: Contents, spec: ParsedNuspec) -> Refused:
    readme = spec.fields.get("readme", "")
    if posixpath.splitext(readme)[1].lower() not in ("", ".md"):
        yield "NU5038", "", "", f"the readme {readme} does not end with .md"
    yield from _missing(package, readme, "readme", ("NU5039", "NU5040"))


def _missing(package: Contents, path: str, what: str, codes: tuple[str, str]) -> Refused:
    """Check a file that the nuspec names: the first code if it is missing, the second if it is empty."""
    sizes = {file.name: file.size for file in package.files}
    if path and _normal(path) not in sizes:
        yield codes[0], "", "", f"the {what} {path} is not in the package"
    elif path and not sizes[_normal(path)]:
        yield codes[1], "", _normal(path), f"the {what} is empty"


def _normal(name: str) -> str:
    return name.replace("\\", "/").lstrip("/")
