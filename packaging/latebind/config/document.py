"""latebind.toml, or [tool.latebind] of pyproject.toml, as frozen data; the single source of what a project configures.

The JSON Schema (schema.py) and the reference page are derived from the types below. Nothing here touches the network,
runs a program, or executes anything of the project.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from latebind.config.described import DescribedRuntime  # noqa: TC001  # tools read the types of the tables
from latebind.config.ep import EpConfig  # noqa: TC001  # as above
from latebind.config.extension import EcosystemTable, add_package_keys, add_program_keys, package_keys
from latebind.config.reader import Table
from latebind.config.sdk import SdkConfig  # noqa: TC001  # as above
from latebind.model import FailOn, Profile, SbomFormat  # noqa: TC001  # as above
from latebind.tables.presets import RuntimePreset, preset
from latebind.tables.pythonabi import PYTHONS, WHEEL_KINDS

TomlValue = bool | int | str
_EcosystemTable = TypeVar("_EcosystemTable", bound=EcosystemTable)
ANY_VERSION = "default"
"""The key of requirements that hold for every version of the runtime."""


class ProjectTable(Table, frozen=True):
    """What the project is called and how it is described in packages."""

    name: Annotated[str, Meta(description="Name of the project; reports and symbol archives use it.", min_length=1)]
    version: Annotated[str, Meta(description="Version of all packages, as in PEP 440.", min_length=1)]
    description: Annotated[str, Meta(description="One line for package metadata.")] = ""
    license: Annotated[str, Meta(description="SPDX license expression, such as MIT.")] = ""
    license_file: Annotated[str, Meta(description="License text, relative to this file.")] = ""
    authors: Annotated[tuple[str, ...], Meta(description="Names for package metadata.")] = ()
    repository: Annotated[str, Meta(description="URL of the source repository.")] = ""
    readme: Annotated[str, Meta(description="Markdown file for NuGet packages, relative to this file.")] = ""
    icon: Annotated[str, Meta(description="PNG or JPEG for NuGet packages, at most 1 MB, relative to this file.")] = ""
    sbom: Annotated[
        SbomFormat, Meta(description="Format of the SBOM in each package. Few tools read CycloneDX 1.7 yet.")
    ] = "cyclonedx-1.6"


class Native(Table, frozen=True):
    """The CMake project that holds the native code."""

    source: Annotated[str, Meta(description="Folder of the native code, relative to this file.")] = "native"
    cmake: Annotated[
        str,
        Meta(description="Folder of the top CMakeLists.txt, relative to `source`: for a project that takes in ../src."),
    ] = ""
    exclude: Annotated[
        tuple[str, ...],
        Meta(
            description="Globs of files and folders that no build reads, such as test data and prebuilt libraries, "
            "relative to the source folder. They are neither hashed nor in the sdist."
        ),
    ] = ()
    define: Annotated[dict[str, TomlValue], Meta(description="CMake cache variables.")] = msgspec.field(
        default_factory=dict
    )
    hide: Annotated[
        bool,
        Meta(
            description="Link shared libraries so that they export what `exports` of the packages lists, and nothing "
            "else: for code that marks nothing. On Windows the names must be exact; zig cannot do it for macOS."
        ),
    ] = False
    symbols: Annotated[
        bool, Meta(description="Build twice, and write an archive of debug symbols for each target to dist/symbols/.")
    ] = False


class RuntimeUse(Table, frozen=True, kw_only=True):
    """A runtime that the native code binds late."""

    preset: Annotated[str, Meta(description="Preset of the runtime; leave it out to describe a runtime yourself.")] = ""
    describe: Annotated[
        DescribedRuntime | None, Meta(description="[runtime.describe]: a runtime without a preset.")
    ] = None
    minimum: Annotated[
        str, Meta(description="Oldest version that works. The loader, package metadata and verification use it.")
    ]
    drop_in: Annotated[
        bool,
        Meta(
            description="Answer every search of the CMake project for the runtime with a stub that binds late: code "
            "that links the runtime stays as it is. A described runtime needs [runtime.describe.stub]."
        ),
    ] = False
    headers: Annotated[
        str, Meta(description="Folder of the runtime's own headers for `drop_in`, relative to native.source.")
    ] = ""
    policy: Annotated[Literal["never-linked"], Meta(description="The audit reports a linked or bundled runtime.")] = (
        "never-linked"
    )

    @property
    def name(self) -> str:
        """What it is called in this file, in CMake, and in reports."""
        return self.describe.name if self.describe else self.preset

    @property
    def traits(self) -> RuntimePreset:
        """What its preset or description says about the runtime. Raises LatebindError for an unknown preset."""
        return self.describe.preset() if self.describe else preset(self.preset)

    @property
    def has_text(self) -> bool:
        """Whether its library may hold its version as text, which a compiled stand-in for it changes."""
        return self.describe is None or self.describe.version in ("text", "own")


class TargetOptions(Table, frozen=True):
    """What differs for one target."""

    toolchain: Annotated[
        Literal["zig", "host"], Meta(description="Compiler for this target: zig, or the system's own.")
    ] = "zig"
    define: Annotated[
        dict[str, TomlValue], Meta(description="CMake cache variables of this target, added to native.define.")
    ] = msgspec.field(default_factory=dict)
    cflags: Annotated[tuple[str, ...], Meta(description="Options of the C compiler.")] = ()
    cxxflags: Annotated[tuple[str, ...], Meta(description="Options of the C++ compiler.")] = ()


class Targets(Table, frozen=True):
    """The platforms that are built, and the oldest systems that they run on."""

    include: Annotated[tuple[str, ...], Meta(description="Targets to build, by RID.", min_length=1)]
    glibc: Annotated[str, Meta(description="Oldest glibc of the Linux targets.", pattern=r"^2\.(0|[1-9][0-9]*)$")] = (
        "2.28"
    )
    macos: Annotated[
        str,
        Meta(
            # packaging.tags.mac_platforms: from macOS 11 on no installer knows a tag whose minor version is not 0.
            description="Oldest macOS. From 11 on, installers accept only whole versions such as 13.0.",
            pattern=r"^(10\.(0|[1-9][0-9]*)|[1-9][0-9]+\.0)$",
        ),
    ] = "11.0"
    options: Annotated[dict[str, TargetOptions], Meta(description="[targets.<rid>]: settings of one target.")] = (
        msgspec.field(default_factory=dict)
    )


class WheelConfig(Table, frozen=True):
    """How a package becomes a wheel."""

    source: Annotated[str, Meta(description="Folder of the wheel's pyproject.toml, relative to this file.")]
    name: Annotated[str, Meta(description="Name of the distribution; by default that of the source folder.")] = ""
    extras: Annotated[
        Literal["none", "channels"],
        Meta(description="channels: one extra for each distribution of the runtime, such as cpu and gpu."),
    ] = "none"
    kind: Annotated[
        str,
        Meta(
            description="Python versions of a wheel: py3-none (any), cpXY-abi3 (CPython X.Y and newer), "
            "cpXY-abi3.abi3t (free-threaded ones too, from 3.15 on), cpython (the one that builds it).",
            extra_json_schema={"pattern": WHEEL_KINDS.pattern},
        ),
    ] = "py3-none"
    pythons: Annotated[
        tuple[Annotated[str, Meta(extra_json_schema={"pattern": PYTHONS.pattern})], ...],
        Meta(
            description="The CPythons of kind cpython, one wheel for each and each target: 3.10, 3.13t (no GIL); "
            "by default the one that builds it, for its own machine."
        ),
    ] = ()


class NugetConfig(Table, frozen=True):
    """How a package becomes a nupkg."""

    id: Annotated[str, Meta(description="Id of the NuGet package.", pattern=r"^[A-Za-z0-9_]+([.-][A-Za-z0-9_]+)*$")]
    managed: Annotated[str, Meta(description="Folder of the .NET project, relative to this file.")] = ""
    runtime: Annotated[str, Meta(description="Id of the runtime's NuGet package to depend on; by default none.")] = ""
    description: Annotated[str, Meta(description="One line; by default that of the project.")] = ""
    icon: Annotated[str, Meta(description="PNG or JPEG, relative to this file; by default that of the project.")] = ""
    split: Annotated[
        bool | Literal["auto"],
        Meta(
            description="Make one package for each target, and one that depends on all of them; auto: if a single "
            "package would exceed the feed's limit."
        ),
    ] = "auto"
    tags: Annotated[tuple[str, ...], Meta(description="Search words.")] = ()


class Package(Table, frozen=True):
    """One component of the native build, in packages of one ecosystem or several."""

    component: Annotated[
        str, Meta(description="CMake install component of its files.", pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")
    ]
    exports: Annotated[
        tuple[str, ...],
        Meta(
            description="Symbols that its libraries may export. Exact names are required on every target; globs "
            "are allowed. Only a package with `ep` may leave it out.",
            min_length=1,
        ),
    ] = ()
    requires: Annotated[tuple[str, ...], Meta(description="Other packages of this project that it requires.")] = ()
    runtime: Annotated[str, Meta(description="Runtime that it binds; by default the one with the package's name.")] = ""
    wheel: Annotated[WheelConfig | None, Meta(description="Settings of its wheel; leave it out for none.")] = None
    nuget: Annotated[NugetConfig | None, Meta(description="Settings of its NuGet package; leave it out for none.")] = (
        None
    )
    sdk: Annotated[
        bool | SdkConfig,
        Meta(
            description="`true` or a table: put its libraries and headers, and those of what it requires, into an "
            "archive for C and C++ for each target."
        ),
    ] = False
    ep: Annotated[
        EpConfig | None, Meta(description="A plugin execution provider for ONNX Runtime, in a wheel and a nupkg.")
    ] = None

    @property
    def tables(self) -> dict[str, EcosystemTable]:
        """The tables that ecosystems declare and the package has, by key."""
        values = {key.name: getattr(self, key.name) for key in package_keys()}
        return {name: table for name, table in values.items() if table is not None}

    def find_table(self, kind: type[_EcosystemTable]) -> _EcosystemTable | None:
        """The table of an ecosystem, by its type; None where the package has none."""
        return next((table for table in self.tables.values() if isinstance(table, kind)), None)


class Waive(Table, frozen=True):
    """A finding that is accepted, with the reason why."""

    code: Annotated[str, Meta(description="Code of the check.", pattern=r"^[A-Z]{2,10}[0-9]{3}$")]
    reason: Annotated[str, Meta(description="Why the finding is accepted; reports show it.", min_length=1)]
    subject: Annotated[str, Meta(description="Glob of the subjects.")] = "*"


class Audit(Table, frozen=True):
    """Settings of the audit. The options of `latebind audit` have the same names and come first."""

    profile: Annotated[Profile, Meta(description="Checks to apply: every one, or those of a narrower profile.")] = "all"
    select: Annotated[
        tuple[str, ...], Meta(description="Codes of checks, or prefixes such as LB1, to apply instead of a profile.")
    ] = ()
    ignore: Annotated[tuple[str, ...], Meta(description="Codes of checks, or their prefixes, to leave out.")] = ()
    fail_on: Annotated[FailOn, Meta(description="Least severity that fails the audit.")] = "error"
    baseline: Annotated[
        str,
        Meta(
            description="File of known findings, relative to this file; `latebind audit --write-baseline` writes it. "
            "A release doesn't use it."
        ),
    ] = ""
    waive: Annotated[tuple[Waive, ...], Meta(description="Accepted findings.")] = ()


class VerifyData(Table, frozen=True):
    """A script that prepares what the consumers compute, in an environment of its own."""

    script: Annotated[str, Meta(description="Script that gets the folder to write to, relative to this file.")]
    requires: Annotated[
        dict[str, tuple[str, ...]],
        Meta(
            description="Requirements of the script, from a runtime version on: { 1.19 = [...] }, with the version "
            "quoted; or for every version, as `default`."
        ),
    ] = msgspec.field(default_factory=dict)


class VerifyOwn(Table, frozen=True):
    """What differs for one runtime of several."""

    scenarios: Annotated[tuple[str, ...], Meta(description="Scenarios to run; by default all.")] = ()
    data: Annotated[VerifyData | None, Meta(description="Prepares inputs and expected outputs.")] = None
    at_least: Annotated[dict[str, int], Meta(description="How many cases must pass, from a version on.")] = (
        msgspec.field(default_factory=dict)
    )
    native_only: Annotated[
        bool, Meta(description="Skip it on emulated machines and with other CPythons, where it would be too slow.")
    ] = False


class Verify(Table, frozen=True):
    """How the packages are shown to work."""

    python: Annotated[str, Meta(description="Script that runs in each clean Python environment.")] = ""
    python_requires: Annotated[
        tuple[str, ...], Meta(description="What the scripts need besides the packages and the runtime.")
    ] = ()
    reference: Annotated[
        str,
        Meta(
            description="Script that computes the same without the packages; called with --reference. What it cannot "
            "compute does not count against them."
        ),
    ] = ""
    at_least: Annotated[
        dict[str, int],
        Meta(
            description="How many cases must pass, from a runtime version on: { 1.19 = 1000 }, with the version quoted."
        ),
    ] = msgspec.field(default_factory=dict)
    data: Annotated[VerifyData | None, Meta(description="Prepares the inputs and expected outputs.")] = None
    wheel: Annotated[
        str, Meta(description="Script that tests an installed wheel where it was built: cibuildwheel's test-command.")
    ] = ""
    dotnet: Annotated[str, Meta(description="Folder of a console project that uses the NuGet packages.")] = ""
    c: Annotated[str, Meta(description="Folder of a CMake project in C that uses the NuGet packages.")] = ""
    sdk: Annotated[str, Meta(description="Folder of a CMake project in C or C++ that uses the SDK archive.")] = ""
    runtimes: Annotated[
        dict[str, tuple[str, ...]],
        Meta(description="Versions to test: minimum, each-minor, latest, or a version."),
    ] = msgspec.field(default_factory=dict)
    own: Annotated[
        dict[str, VerifyOwn],
        Meta(description="What differs for a runtime. With several runtimes, the scripts get --runtime NAME."),
    ] = msgspec.field(default_factory=dict)
    each_minor: Annotated[
        tuple[str, ...],
        Meta(description="Targets that test `each-minor`, with --all; by default the first one."),
    ] = ()
    pythons: Annotated[
        tuple[str, ...],
        Meta(description="CPython versions to test wheels with, with --all, such as 3.11; by default latebind's own."),
    ] = ()
    required: Annotated[
        tuple[str, ...],
        Meta(
            description="Globs over ids of test cases that must pass somewhere before a release: */linux-x64/*/works. "
            "By default `works` and every negative scenario, for every target."
        ),
    ] = ()

    def find_program(self, key: str) -> str:
        """The folder of the program that an ecosystem's key names; "" for none."""
        folder: str = getattr(self, key)
        return folder


if not TYPE_CHECKING:  # what ecosystems add is known when their tables are read
    Package, Verify = add_package_keys(Package), add_program_keys(Verify)


class Document(Table, frozen=True):
    """The whole file."""

    project: Annotated[ProjectTable, Meta(description="Name, version, license.")]
    targets: Annotated[Targets, Meta(description="Targets and their oldest systems.")]
    package: Annotated[dict[str, Package], Meta(description="[package.<name>]: a package to make.", min_length=1)]
    native: Annotated[Native, Meta(description="The CMake project.")] = Native()
    runtime: Annotated[tuple[RuntimeUse, ...], Meta(description="[[runtime]]: what is bound late.")] = ()
    audit: Annotated[Audit, Meta(description="Waivers.")] = Audit()
    verify: Annotated[Verify, Meta(description="Consumers and runtime versions.")] = Verify()
