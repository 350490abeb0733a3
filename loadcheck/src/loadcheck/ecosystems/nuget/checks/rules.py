"""Check LB414: what NuGet ignores or refuses, by the rules that it applies when it packs, each with NuGet's own code.

They are those of NuGet.Packaging's `RuleSet.PackageCreationRuleSet` (NuGet/NuGet.Client,
src/NuGet.Core/NuGet.Packaging/Rules) from which it follows that files have no effect or are not installed, and what its
`PackageBuilder` refuses to write: NU5038 to NU5047. NU5129 is LB411.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from loadcheck.engine.check import Hit, Hits, check
from loadcheck.readers.opc import readable_nuspec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.readers.contents import Contents
    from loadcheck.readers.opc import ParsedNuspec

    Broken = Iterator[tuple[str, str, str, str]]
    """NuGet's code, the cause, the file inside the package ("" for the nuspec), and what is wrong."""

_KNOWN_FRAMEWORK = re.compile(
    r"(\.?net(standard|coreapp|framework|core|mf|nano\d*)?[\d.]*(-[a-z]+[\d.]*)?|netstandardapp[\d.]*|uap[\d.]*"
    r"|(win|wp|wpa|sl|silverlight|aspnet|aspnetcore|dnx|dnxcore|dotnet|monoandroid|monotouch|monomac|tizen|portable"
    r"|xamarin\.?\w+|nanoframework)[\w.+-]*|native|any|agnostic)",
    re.IGNORECASE,
)
_LONGEST_PATH = 200
_LARGEST_ICON = 1024**2
_FOLDERS = r"lib|analyzers|ref|runtimes|native|build|buildcrosstargeting|buildtransitive|tools|contentfiles|embed"
"""Where NU5100 expects assemblies."""
_MISPLACED = {
    "NU5100": (
        rf"(?!({_FOLDERS})/).*\.(dll|winmd)",
        "projects do not reference an assembly outside lib/; move it to lib/<framework>/",
    ),
    "NU5101": (
        r"lib/[^/]*\.(dll|winmd|exe)",
        "an assembly directly in lib/ is used for every framework; move it to lib/<framework>/",
    ),
    "NU5107": (r"(?!tools/init\.ps1\Z)(.*/)?init\.ps1", "NuGet runs init.ps1 only directly in tools/"),
    "NU5108": (r"(?!content/).*\.transform", "a transform outside content/ is not applied"),
    "NU5110": (r"(?!tools/).*\.ps1", "a script outside tools/ is not run"),
    "NU5111": (
        r"tools/(.*/)?(?!(install|uninstall|init)\.ps1\Z)[^/]*\.ps1",
        "NuGet runs only install.ps1, uninstall.ps1 and init.ps1",
    ),
}
"""The whole names of files that have no effect where they are, in upper or lower case."""


@check(
    "LB414",
    "File or field of a nupkg that NuGet ignores or refuses",
    "warning",
    profiles=("all",),
    because="NuGet ignores the file, or refuses to pack or to publish the package.",
    kinds=("nupkg",),
    example="NU5100: projects do not reference an assembly outside lib/",
    fix="Look up the code in NuGet's reference of errors and warnings, which has a fix for each code.",
)
def nuget_rule_broken(package: Contents) -> Hits:
    """When NuGet packs, it warns about files that it will ignore, and refuses some packages.

    Tools that write the archive themselves do not check these rules, so you never see the warnings.
    """
    nuspec_file = None if package.is_symbols else readable_nuspec(package)
    if nuspec_file is None:
        return
    name, spec = nuspec_file
    for code, cause, inner, message in sorted(_find_broken(package, spec)):
        where = inner or name
        yield Hit(cause=f"{code} {cause}", inner=where, message=f"{code}: {message}", evidence=(f"{code} {where}",))


def _find_broken(package: Contents, spec: ParsedNuspec) -> Broken:
    names = [file.name for file in package.stored]
    for code, (pattern, message) in _MISPLACED.items():
        wrong = re.compile(pattern, re.IGNORECASE | re.DOTALL)
        yield from ((code, "", name, message) for name in names if wrong.fullmatch(name))
    yield from _find_unknown_frameworks(names, spec)
    prefix = f"{spec.fields.get('id', '')}/{spec.fields.get('version', '')}/"
    for name in names:
        if len(prefix) + len(name) > _LONGEST_PATH:
            message = f"its path in the package cache, {prefix}…, is longer than {_LONGEST_PATH} characters"
            yield "NU5123", "", name, message
    yield from _find_unknown_license(spec)
    yield from _find_refused_texts(package, spec)


def _find_unknown_frameworks(names: list[str], spec: ParsedNuspec) -> Broken:
    language = spec.fields.get("language", "").lower()
    for name in names:
        lib, _, rest = name.partition("/")
        folder, _, inside = rest.partition("/")
        is_known = folder.lower() == language or _KNOWN_FRAMEWORK.fullmatch(folder)
        if lib.lower() == "lib" and inside and not is_known:
            yield "NU5103", folder, name, f"lib/{folder} names no framework, so projects ignore its files"


def _find_unknown_license(spec: ParsedNuspec) -> Broken:
    expression = spec.fields.get("license", "")
    if spec.license_type == "expression":
        try:
            canonicalize_license_expression(expression)
        except InvalidLicenseExpression as error:
            yield "NU5124", "", "", f"{expression!r} is not an SPDX license expression: {error}"


def _find_refused_texts(package: Contents, spec: ParsedNuspec) -> Broken:
    """What is wrong with the icon, the readme and the license file that the nuspec names."""
    icon, readme = spec.fields.get("icon", ""), spec.fields.get("readme", "")
    if icon and not icon.lower().endswith((".png", ".jpg", ".jpeg")):
        yield "NU5045", "", "", f"the icon {icon} does not end with .png, .jpg or .jpeg"
    if posixpath.splitext(readme)[1].lower() not in ("", ".md"):
        yield "NU5038", "", "", f"the readme {readme} does not end with .md"
    sizes = {file.name: file.size for file in package.stored}
    license_ = spec.fields.get("license", "") if spec.license_type == "file" else ""
    named_files = (
        ("icon", icon, "NU5046", "NU5047"), ("readme", readme, "NU5039", "NU5040"), ("license", license_, "NU5030", "")
    )  # fmt: skip
    for what, named, absent, empty in named_files:
        path = named.replace("\\", "/").lstrip("/")
        if named and path not in sizes:
            yield absent, "", "", f"the {what} {named} is not in the package"
        elif named and empty and not sizes[path]:
            yield empty, "", path, f"the {what} is empty"
        elif what == "icon" and sizes.get(path, 0) > _LARGEST_ICON:
            yield "NU5047", "size", path, "the icon is larger than 1 MB"
