"""latebind.toml, or [tool.latebind] of pyproject.toml, as frozen data; the single source of what a project configures.

The JSON Schema (schema.py) and the reference page are derived from the types below. Nothing here touches the network,
runs a program, or executes anything of the project.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from latebind.config.native import Native, Targets
from latebind.config.package import MAX_DESCRIPTION, Package
from latebind.config.reader import Table
from latebind.config.runtime import RuntimeUse  # as above
from latebind.config.verification import Verify
from latebind.model import SbomFormat  # as above
from loadcheck import FailOn, Profile  # as above

AUTHOR = re.compile(r"(?P<name>[^<>]*[^<>\s])(?:\s*<(?P<email>[^<>@\s]+@[^<>@\s]+)>)?")
"""An author as npm and Cargo write one: `Name <email>`."""


class Author(NamedTuple):
    """An author of the project."""

    name: str
    email: str = ""


class ProjectTable(Table, frozen=True):
    """The name of the project, and its description in packages."""

    name: Annotated[
        str,
        Meta(description="Name of the project, in reports and archives.", min_length=1),
    ]
    version: Annotated[str, Meta(description="Version of all packages, in the form of PEP 440.", min_length=1)]
    description: Annotated[
        str,
        Meta(
            description="One-line description for package metadata, at most 4,000 characters.",
            max_length=MAX_DESCRIPTION,
        ),
    ] = ""
    license: Annotated[str, Meta(description="SPDX license expression, such as MIT.")] = ""
    license_file: Annotated[str, Meta(description="File with the license text.")] = ""
    authors: Annotated[
        tuple[str, ...],
        Meta(description="Names, or names with email addresses: Jane Doe <jane@acme.org>."),
    ] = ()
    repository: Annotated[str, Meta(description="URL of the source repository.")] = ""
    readme: Annotated[
        str,
        Meta(
            description="README in Markdown for package pages; for wheels, if pyproject.toml lists readme in `dynamic`."
        ),
    ] = ""
    icon: Annotated[str, Meta(description="PNG or JPEG file for NuGet packages, at most 1 MB.")] = ""
    sdist_backend: Annotated[
        Literal["carried", "required"],
        Meta(
            description="Whether an sdist carries the part of latebind that builds it, or requires latebind from the "
            "package index."
        ),
    ] = "carried"
    sbom: Annotated[
        SbomFormat,
        Meta(description="Format of the SBOM in each package except sdists."),
    ] = "cyclonedx-1.6"

    @property
    def people(self) -> tuple[Author, ...]:
        """The authors, with names and addresses apart."""
        matches = ((author, AUTHOR.fullmatch(author)) for author in self.authors)
        return tuple(Author(match["name"], match["email"] or "") if match else Author(text) for text, match in matches)

    @property
    def author_names(self) -> tuple[str, ...]:
        """Their names alone."""
        return tuple(author.name for author in self.people)


class Waive(Table, frozen=True):
    """A finding that you accept, with the reason."""

    code: Annotated[str, Meta(description="Code of the check, such as LB101.", pattern=r"^[A-Z]{2,10}[0-9]{3}$")]
    reason: Annotated[str, Meta(description="Why you accept the finding. Reports show the reason.", min_length=1)]
    subject: Annotated[str, Meta(description="Glob that matches the files with the finding.")] = "*"


class Audit(Table, frozen=True):
    """Settings of the audit. Options of `latebind audit` take precedence, except that `--ignore` adds to `ignore`."""

    profile: Annotated[
        Profile,
        Meta(
            description="Set of checks: whether packages install, load and are safe (loads), whether they bind late "
            "(runtime), or every check."
        ),
    ] = "all"
    select: Annotated[
        tuple[str, ...],
        Meta(description="Codes of checks to apply instead of a profile, or prefixes, such as LB1."),
    ] = ()
    ignore: Annotated[tuple[str, ...], Meta(description="Codes of checks to leave out, or prefixes of codes.")] = ()
    fail_on: Annotated[FailOn, Meta(description="Lowest severity that makes the audit fail.")] = "error"
    baseline: Annotated[
        str,
        Meta(
            description="File with known findings, of `latebind audit --write-baseline`. `latebind release` ignores it."
        ),
    ] = ""
    waive: Annotated[tuple[Waive, ...], Meta(description="Findings that you accept.")] = ()


class Release(Table, frozen=True):
    """What a release needs."""

    unverified: Annotated[
        dict[str, Annotated[str, Meta(min_length=1)]],
        Meta(
            description="Packages that may be released unverified, each with the reason. Each key is a kind (wheel, "
            'sdist, nupkg, npm, jar or sdk), or a kind and a target: { "sdk/osx-x64" = "..." }.'
        ),
    ] = msgspec.field(default_factory=dict)


class Document(Table, frozen=True):
    """The whole file."""

    project: Annotated[ProjectTable, Meta(description="Name, version, license.")]
    targets: Annotated[Targets, Meta(description="Targets, and the oldest systems that they support.")]
    package: Annotated[dict[str, Package], Meta(description="[package.<name>]: a package to make.", min_length=1)]
    native: Annotated[Native, Meta(description="The native code, and what builds it.")] = Native()
    runtime: Annotated[
        tuple[RuntimeUse, ...], Meta(description="[[runtime]]: the runtimes that the packages bind late.")
    ] = ()
    audit: Annotated[Audit, Meta(description="Waivers.")] = Audit()
    verify: Annotated[Verify, Meta(description="Consumers and runtime versions.")] = Verify()
    release: Annotated[Release, Meta(description="Packages that a release contains unverified.")] = Release()
