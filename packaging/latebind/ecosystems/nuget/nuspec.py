"""Checks the metadata of a nupkg in NuGet's own terms, and renders it as a nuspec.

NuGet's schema rejects unknown elements and a missing id, but neither a wrong version nor a wrong license. This module
refuses those and names the correct form.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Literal
from urllib.parse import quote

from packaging.licenses import canonicalize_license_expression
from packaging.version import Version

from latebind.config.package import MAX_DESCRIPTION, MAX_NUGET_ID, NUGET_ID
from latebind.errors import BuildError
from latebind.semver import semantic_version
from latebind.templates import render

_SEMVER = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(\.[1-9]\d*)?(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?")
_FRAMEWORK = re.compile(r"netstandard(\d+\.\d+)|netcoreapp(\d+\.\d+)|net(\d+\.\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """A package that another needs, in NuGet's range notation: `1.19.0` means "that or newer"."""

    id: str
    range: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Nuspec:
    """All that a nuspec holds. `frameworks` are the short names of the folders in lib/: `netstandard2.0`."""

    id: str
    version: str
    authors: tuple[str, ...]
    description: str
    frameworks: tuple[str, ...]
    license: str = ""
    readme: str = ""
    icon: str = ""
    repository: str = ""
    commit: str = ""
    tags: tuple[str, ...] = ()
    dependencies: tuple[Dependency, ...] = ()


def render_nuspec(nuspec: Nuspec, *, template: Literal["package", "symbols"] = "package") -> bytes:
    """The nuspec of a package, or of its symbol package with the elements that `dotnet pack` writes there, as XML.

    Raises BuildError with every problem: an id, a version, a license, a tag or a text that feeds would refuse.
    """
    problems = list(_problems(nuspec))
    if problems:
        raise BuildError("; ".join(problems), where=f"{nuspec.id}.nuspec")
    spdx = canonicalize_license_expression(nuspec.license) if nuspec.license else ""
    values = {
        **asdict(nuspec),
        "license": spdx,
        "license_url": license_url(spdx),
        "frameworks": [long_framework(framework) for framework in nuspec.frameworks],
        "dependencies": sorted(nuspec.dependencies, key=lambda dependency: dependency.id.lower()),
    }
    return render(f"nuget/{template}.nuspec.j2", **values).encode()


def same_minor(version: str) -> str:
    """The range of a sibling package: this version or a newer one of the same minor version.

    The same rule as the wheels' `~=`: the binary interface between siblings is checked at run time, and a patch
    release of one must not force one of all. NuGet takes the lowest version in a range, so a fresh install gets
    the pair that was verified. The upper end has no `-0`, the lowest prerelease: NuGet counts that as a prerelease
    dependency, which a stable package may not have (NU5104). It picks 1.3.0-alpha only where a project asks for it.
    """
    release = Version(version).release
    major, minor = (*release, 0)[:2]
    return f"[{semantic_version(version)}, {major}.{minor + 1}.0)"


def license_url(expression: str) -> str:
    """The license address for older clients; feeds refuse an expression without it.

    NuGet/NuGetGallery#6530 and #6679: it must be exactly this, with spaces as %20.
    """
    return f"https://licenses.nuget.org/{quote(expression, safe='()')}" if expression else ""


def long_framework(short: str) -> str:
    """The name of a framework in a dependency group: netstandard2.0 → .NETStandard2.0.

    Raises BuildError for any other name, such as net472.
    """
    match = _FRAMEWORK.fullmatch(short)
    if match is None:
        raise BuildError(
            f"latebind packs no assemblies for {short!r}", advice="Use netstandard2.0, netcoreapp3.1 or net8.0."
        )
    standard, core, _ = match.groups()
    return f".NETStandard{standard}" if standard else f".NETCoreApp{core}" if core else short


def _problems(nuspec: Nuspec) -> list[str]:
    """Problems that the schema accepts, but feeds or clients do not."""
    ids = [nuspec.id, *(dependency.id for dependency in nuspec.dependencies)]
    wrong = [id_ for id_ in ids if not NUGET_ID.fullmatch(id_)]
    problems = [f"the id {id_!r} is invalid: use letters, digits, _, and single . and -" for id_ in wrong]
    problems += [f"the id {id_} is longer than {MAX_NUGET_ID} characters" for id_ in ids if len(id_) > MAX_NUGET_ID]
    if not _SEMVER.fullmatch(nuspec.version):
        problems.append(f"the version {nuspec.version!r} is not normalized")
    if not any(author.strip() for author in nuspec.authors):
        problems.append("there are no authors (project.authors)")
    if any("," in author for author in nuspec.authors):
        problems.append("an author's name contains a comma, which separates authors")
    if not nuspec.description.strip():
        problems.append("there is no description (project.description)")
    texts = {"authors": ",".join(nuspec.authors), "description": nuspec.description, "tags": " ".join(nuspec.tags)}
    for name, text in texts.items():
        if len(text) > MAX_DESCRIPTION:
            problems.append(f"{name}: {len(text)} characters, but the NuGet gallery accepts at most {MAX_DESCRIPTION}")
    problems += [
        f"the tag {tag!r} contains a space, which separates tags" for tag in nuspec.tags if re.search(r"\s", tag)
    ]
    if nuspec.repository and not nuspec.repository.startswith(("https://", "http://")):
        problems.append(f"the repository {nuspec.repository!r} is not a web address")
    return problems
