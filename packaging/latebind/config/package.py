"""The table `package`: what becomes a package, in which ecosystems."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from msgspec import Meta

from latebind.config.ecosystems import EcosystemTable, add_package_keys, package_keys
from latebind.config.plugin import EpConfig, PluginConfig  # noqa: TC001  # tools read the types of the tables
from latebind.config.reader import Table
from latebind.tables.wheelkinds import PYTHONS, WHEEL_KINDS, own_abi_kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from latebind.config.plugin import HostedConfig
    from loadcheck.facts import Image

_EcosystemTable = TypeVar("_EcosystemTable", bound=EcosystemTable)

NUGET_ID = re.compile(r"^[A-Za-z0-9_]+([.-][A-Za-z0-9_]+)*$")
MAX_NUGET_ID = 100
"""The longest id that feeds take (NuGet.Packaging, PackageIdValidator)."""
NugetId = Annotated[str, Meta(pattern=NUGET_ID.pattern, max_length=MAX_NUGET_ID)]
_WILDCARDS = frozenset("*?[")
MAX_DESCRIPTION = 4000
"""The longest text that the NuGet gallery takes in a field (NuGetGallery, ValidateNuGetPackageMetadata)."""


class WheelConfig(Table, frozen=True):
    """How latebind makes a wheel from the package."""

    source: Annotated[
        str,
        Meta(
            description="Folder of the wheel's pyproject.toml. Leave it out if your own build puts the wheel into "
            "dist/."
        ),
    ] = ""
    name: Annotated[
        str,
        Meta(description="Name of the distribution, as in its pyproject.toml. By default, the folder's name."),
    ] = ""
    module_name: Annotated[
        str,
        Meta(
            description="Name with which Python imports the package, such as cv2. By default, the distribution's name "
            "in lowercase, with underscores."
        ),
    ] = ""
    runtime: Annotated[
        Literal["", "none", "required"],
        Meta(
            description="required: the wheel requires the runtime's ordinary distribution. none: users install it "
            "apart, and the audit accepts that."
        ),
    ] = ""
    extras: Annotated[
        Literal["none", "channels"],
        Meta(description="channels: one extra for each distribution of the runtime, such as cpu and gpu."),
    ] = "none"
    kind: Annotated[
        str,
        Meta(
            description="Python versions that a wheel supports: py3-none (any), cpXY-abi3 (CPython X.Y and newer), "
            "cpXY-abi3.abi3t (also free-threaded, from 3.15 on), cpython (the CPython that builds it).",
            extra_json_schema={"pattern": WHEEL_KINDS.pattern},
        ),
    ] = "py3-none"
    pythons: Annotated[
        tuple[Annotated[str, Meta(extra_json_schema={"pattern": PYTHONS.pattern})], ...],
        Meta(
            description="CPython versions for the kind cpython, such as 3.10 and 3.13t (free-threaded). By default, "
            "the one that runs latebind, for this machine."
        ),
    ] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the wheels that the package becomes for each target: several where it names CPythons."""
        return tuple(map(own_abi_kind, self.pythons)) or (self.kind,)

    @property
    def installs_runtime(self) -> bool:
        """Whether a user who installs the wheel by name, with an extra if it has one, gets the runtime."""
        return self.runtime == "required" or self.extras == "channels"


class NugetConfig(Table, frozen=True):
    """How latebind makes a NuGet package from the package."""

    id: Annotated[
        NugetId,
        Meta(
            description="Id of the NuGet package, such as Acme.Core. It has letters, digits and _, with single . or - "
            "between them, and at most 100 characters."
        ),
    ]
    managed: Annotated[
        str,
        Meta(
            description="Folder with one .csproj, whose assembly is added. A package that it references needs "
            'PrivateAssets="all", unless the NuGet package also requires it.'
        ),
    ] = ""
    runtime: Annotated[
        NugetId,
        Meta(description="Id of the runtime's NuGet package to depend on, such as Microsoft.ML.OnnxRuntime."),
    ] = ""
    description: Annotated[
        str,
        Meta(
            description="One line. By default, the project's description.",
            max_length=MAX_DESCRIPTION,
        ),
    ] = ""
    icon: Annotated[str, Meta(description="PNG or JPEG file. The default is the project's icon.")] = ""
    split: Annotated[
        bool | Literal["auto"],
        Meta(
            description="Whether to make one NuGet package for each target, and one that depends on all. auto: if a "
            "single one would exceed the feed's limit."
        ),
    ] = "auto"
    tags: Annotated[tuple[str, ...], Meta(description="Search terms for the package.")] = ()


class SdkConfig(Table, frozen=True, kw_only=True):
    """Settings of the package's libraries in an SDK archive."""

    soversion: Annotated[
        int,
        Meta(
            description="Version of the binary interface, for the SONAME in the archive: 1 gives libx.so.1. A "
            "target's SOVERSION in CMake takes precedence. No effect on Windows.",
            ge=0,
        ),
    ]


class Package(Table, frozen=True):
    """One component of the native build. It becomes a package in one or more ecosystems."""

    component: Annotated[
        str,
        Meta(
            description="CMake install component with the package's files, such as core. It has letters, digits, and "
            "any of . _ -, and does not begin with . or -.",
            pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$",
        ),
    ]
    exports: Annotated[
        tuple[str, ...],
        Meta(
            description="Symbols that the libraries may export, as names or globs; exact names must be there. "
            "Required, except with `ep` or `plugin`.",
            min_length=1,
        ),
    ] = ()
    requires: Annotated[
        tuple[str, ...], Meta(description="Other packages of this project that the package requires.")
    ] = ()
    runtime: Annotated[
        str, Meta(description="Runtime that the package binds. By default, the one with the package's name.")
    ] = ""
    wheel: Annotated[WheelConfig | None, Meta(description="Settings of the wheel.")] = None
    nuget: Annotated[
        NugetConfig | None,
        Meta(description="Settings of the NuGet package."),
    ] = None
    sdk: Annotated[
        bool | SdkConfig,
        Meta(description="`true` or a table: make an SDK archive for C and C++ for each target."),
    ] = False
    ep: Annotated[
        EpConfig | None,
        Meta(description="A plugin execution provider (EP) for ONNX Runtime."),
    ] = None
    plugin: Annotated[
        PluginConfig | None,
        Meta(description="A plugin for another program: a SQLite extension, an ADBC driver, a PJRT plugin."),
    ] = None

    @property
    def hosted(self) -> HostedConfig | None:
        """The table `ep` or `plugin`; None for a library that no program loads as its plugin."""
        return self.ep or self.plugin

    @property
    def companions(self) -> tuple[str, ...]:
        """Globs of the files that a plugin has next to its library."""
        return self.hosted.companions if self.hosted else ()

    @property
    def tables(self) -> dict[str, EcosystemTable]:
        """The tables that ecosystems declare and the package has, by key."""
        values = {key.name: getattr(self, key.name) for key in package_keys()}
        return {name: table for name, table in values.items() if table is not None}

    def find_table(self, kind: type[_EcosystemTable]) -> _EcosystemTable | None:
        """The table of an ecosystem, by its type; None where the package has none."""
        return next((table for table in self.tables.values() if isinstance(table, kind)), None)


def list_missing_exports(exports: Iterable[str], images: Sequence[Image]) -> tuple[str, ...]:
    """The exact names of a list that the images of some architecture do not export.

    A name with a wildcard allows exports but does not require any.
    """
    offered: dict[str, set[str]] = {}
    for image in images:
        offered.setdefault(image.arch, set()).update(export.name for export in image.exports)
    exact = (name for name in exports if not set(name) & _WILDCARDS)
    return tuple(name for name in exact if not all(name in names for names in offered.values()))


if not TYPE_CHECKING:  # what ecosystems add is known when their tables are read
    Package = add_package_keys(Package)
