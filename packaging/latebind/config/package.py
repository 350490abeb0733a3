"""The table `package`: what becomes a package, in which ecosystems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from msgspec import Meta

from latebind.config.ep import EpConfig  # noqa: TC001  # tools read the types of the tables
from latebind.config.extension import EcosystemTable, add_package_keys, package_keys
from latebind.config.nuget_id import NugetId  # noqa: TC001  # as above
from latebind.config.plugin import PluginConfig  # noqa: TC001  # as above
from latebind.config.reader import Table
from latebind.config.sdk import SdkConfig  # noqa: TC001  # as above
from loadcheck.tables.pythonabi import PYTHONS, WHEEL_KINDS

if TYPE_CHECKING:
    from latebind.config.plugin import HostedConfig

_EcosystemTable = TypeVar("_EcosystemTable", bound=EcosystemTable)


MAX_DESCRIPTION = 4000
"""The longest text that the NuGet gallery takes in a field (NuGetGallery, ValidateNuGetPackageMetadata)."""


class WheelConfig(Table, frozen=True):
    """How latebind makes a wheel from the package."""

    source: Annotated[
        str,
        Meta(
            description="Folder of the wheel's pyproject.toml. Leave it out if your own build "
            "makes the wheel: latebind then audits and verifies the wheel that is in dist/."
        ),
    ] = ""
    name: Annotated[
        str,
        Meta(
            description="Name of the distribution, as in the pyproject.toml of the source folder. The default is the "
            "name of that folder, with hyphens in place of underscores."
        ),
    ] = ""
    module_name: Annotated[
        str,
        Meta(
            description="Name with which Python imports the package, such as cv2 or acme.vision. The libraries are in "
            "this module's folder. The default is the name of the distribution in lowercase, with underscores."
        ),
    ] = ""
    runtime: Annotated[
        Literal["", "none", "required"],
        Meta(
            description="required: the wheel requires the runtime's ordinary distribution, such as onnxruntime. none: "
            "users install it apart, and the audit accepts that. By default, latebind adds no requirement, and the "
            "audit reports a wheel that requires no distribution of the runtime, not even in an extra."
        ),
    ] = ""
    extras: Annotated[
        Literal["none", "channels"],
        Meta(
            description="channels: the wheel has one extra for each distribution of the runtime, such as cpu and gpu."
        ),
    ] = "none"
    kind: Annotated[
        str,
        Meta(
            description="Python versions that a wheel supports: py3-none (any), cpXY-abi3 (CPython X.Y and newer), "
            "cpXY-abi3.abi3t (also free-threaded CPython, from 3.15 on), cpython (the CPython that "
            "builds the wheel).",
            extra_json_schema={"pattern": WHEEL_KINDS.pattern},
        ),
    ] = "py3-none"
    pythons: Annotated[
        tuple[Annotated[str, Meta(extra_json_schema={"pattern": PYTHONS.pattern})], ...],
        Meta(
            description="CPython versions for the kind cpython, such as 3.10 and 3.13t (free-threaded). Each "
            "version gets one wheel for each target. By default, latebind makes one wheel, for the "
            "CPython that runs it and for this machine."
        ),
    ] = ()

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
            description="Folder with one .csproj. latebind adds this project's assembly and its "
            "translations, but no other assemblies. A package that the project references needs "
            'PrivateAssets="all", unless the NuGet package also requires it.'
        ),
    ] = ""
    runtime: Annotated[
        NugetId,
        Meta(
            description="Id of the runtime's NuGet package that the package depends on, such as "
            "Microsoft.ML.OnnxRuntime. By default, there is no such dependency."
        ),
    ] = ""
    description: Annotated[
        str,
        Meta(
            description="One line that describes the package. The default is the project's description.",
            max_length=MAX_DESCRIPTION,
        ),
    ] = ""
    icon: Annotated[str, Meta(description="PNG or JPEG file. The default is the project's icon.")] = ""
    split: Annotated[
        bool | Literal["auto"],
        Meta(
            description="Whether to make one NuGet package for each target, and one that depends on all of them. "
            "auto: only if a single package would exceed the feed's size limit."
        ),
    ] = "auto"
    tags: Annotated[tuple[str, ...], Meta(description="Search terms for the package.")] = ()


class Package(Table, frozen=True):
    """One component of the native build. It becomes a package in one or more ecosystems."""

    component: Annotated[
        str,
        Meta(
            description="CMake install component that has the package's files, such as core. It has letters, digits, "
            "and any of . _ -, and does not begin with . or -.",
            pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$",
        ),
    ]
    exports: Annotated[
        tuple[str, ...],
        Meta(
            description="Symbols that the package's libraries may export, as names or globs. The libraries must "
            "export every exact name, on every target. Required, except with `ep` or `plugin`, or if latebind makes "
            "none of the package's files.",
            min_length=1,
        ),
    ] = ()
    requires: Annotated[
        tuple[str, ...], Meta(description="Other packages of this project that the package requires.")
    ] = ()
    runtime: Annotated[
        str, Meta(description="Runtime that the package binds. The default is the runtime with the package's name.")
    ] = ""
    wheel: Annotated[WheelConfig | None, Meta(description="Settings of the wheel.")] = None
    nuget: Annotated[
        NugetConfig | None,
        Meta(description="Settings of the NuGet package."),
    ] = None
    sdk: Annotated[
        bool | SdkConfig,
        Meta(
            description="`true` or a table: make an SDK archive for C and C++ for each target. It has the "
            "libraries and headers of the package, and of the packages that it requires."
        ),
    ] = False
    ep: Annotated[
        EpConfig | None,
        Meta(
            description="Settings of a plugin execution provider (EP) for ONNX Runtime. It becomes a wheel and, with "
            "`ep.vendor` or `nuget`, a NuGet package."
        ),
    ] = None
    plugin: Annotated[
        PluginConfig | None,
        Meta(
            description="Settings of a plugin for another program: a SQLite extension, an ADBC driver, a PJRT plugin. "
            "latebind generates the modules and the assembly that give its path to applications."
        ),
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


if not TYPE_CHECKING:  # what ecosystems add is known when their tables are read
    Package = add_package_keys(Package)
