"""latebind.toml, or [tool.latebind] of pyproject.toml, as frozen data; the only truth about what a project configures.

The JSON Schema (schema.py) and the reference page are derived from the types below. Nothing here touches the network,
runs a program, or executes anything of the project.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from latebind.config.described import DescribedRuntime  # noqa: TC001  # tools read the types of the tables
from latebind.config.reader import Table
from latebind.tables.presets import RuntimePreset, preset
from latebind.tables.pythonabi import WHEEL_KINDS

TomlValue = bool | int | str


class Project(Table, frozen=True):
    """What the project is called and how it is described in packages."""

    name: Annotated[str, Meta(description="The project's name.", min_length=1)]
    version: Annotated[str, Meta(description="The one version of all packages, PEP 440.", min_length=1)]
    description: Annotated[str, Meta(description="One line for package metadata.")] = ""
    license: Annotated[str, Meta(description="SPDX licence expression.")] = ""
    license_file: Annotated[str, Meta(description="Licence text, relative to this file.")] = ""
    authors: Annotated[tuple[str, ...], Meta(description="Names for package metadata.")] = ()
    repository: Annotated[str, Meta(description="URL of the source repository.")] = ""
    readme: Annotated[str, Meta(description="Markdown file for NuGet packages, relative to this file.")] = ""
    icon: Annotated[str, Meta(description="PNG or JPEG for NuGet packages, at most 1 MB, relative to this file.")] = ""


class Native(Table, frozen=True):
    """The CMake project that holds the native code."""

    source: Annotated[str, Meta(description="Folder of the top CMakeLists.txt, relative to this file.")] = "native"
    exclude: Annotated[
        tuple[str, ...],
        Meta(
            description="Globs, relative to the source folder, of files and folders that no build reads, such as test "
            "data and prebuilt libraries: they are not hashed, and not in the sdist."
        ),
    ] = ()
    define: Annotated[dict[str, TomlValue], Meta(description="CMake cache variables.")] = msgspec.field(
        default_factory=dict
    )
    symbols: Annotated[
        bool, Meta(description="Make an archive of debug symbols for each target, by a second build: dist/symbols/.")
    ] = False


class RuntimeUse(Table, frozen=True, kw_only=True):
    """A runtime that the native code binds late."""

    preset: Annotated[str, Meta(description="Name of the runtime's preset; without one, it is described.")] = ""
    describe: Annotated[
        DescribedRuntime | None, Meta(description="Written as [runtime.describe]: a runtime without a preset.")
    ] = None
    minimum: Annotated[str, Meta(description="The lowest version that is accepted, written once, here.")]
    policy: Annotated[
        Literal["never-linked"], Meta(description="The audit's gate: the runtime is never linked and never bundled.")
    ] = "never-linked"

    @property
    def name(self) -> str:
        """What it is called in this file, in CMake, and in reports."""
        return self.describe.name if self.describe else self.preset

    @property
    def known(self) -> RuntimePreset:
        """All that is known of the runtime. Raises LatebindError for a preset that there is not."""
        return self.describe.preset() if self.describe else preset(self.preset)

    @property
    def has_text(self) -> bool:
        """Whether its library may hold its version as text, which a compiled stand-in for it changes."""
        return self.describe is None or self.describe.version in ("text", "own")


class TargetOptions(Table, frozen=True):
    """What differs for one target."""

    toolchain: Annotated[Literal["zig", "host"], Meta(description="Who compiles for this target.")] = "zig"


class Targets(Table, frozen=True):
    """The platforms that are built, and the oldest systems that they run on."""

    include: Annotated[tuple[str, ...], Meta(description="RIDs to build.", min_length=1)]
    glibc: Annotated[str, Meta(description="Floor of the Linux targets.", pattern=r"^2\.(0|[1-9][0-9]*)$")] = "2.28"
    macos: Annotated[
        str,
        Meta(
            # packaging.tags.mac_platforms: from macOS 11 on no installer knows a tag with another minor version than 0.
            description="Floor of the macOS targets, from 11 on a whole number, as installers know no other: 13.0.",
            pattern=r"^(10\.(0|[1-9][0-9]*)|[1-9][0-9]+\.0)$",
        ),
    ] = "11.0"
    options: Annotated[
        dict[str, TargetOptions], Meta(description="Written as [targets.<rid>]: what differs for one target.")
    ] = msgspec.field(default_factory=dict)


class WheelConfig(Table, frozen=True):
    """How a package becomes a wheel."""

    source: Annotated[str, Meta(description="Folder of the wheel's pyproject.toml, relative to this file.")]
    name: Annotated[str, Meta(description="The distribution's name; by default the source folder's.")] = ""
    extras: Annotated[
        Literal["none", "channels"],
        Meta(description="channels: one extra for each distribution that supplies the runtime, at the minimum."),
    ] = "none"
    kind: Annotated[
        str,
        Meta(
            description="Which Pythons one wheel serves: py3-none (any), cpXY-abi3 (CPython X.Y and newer), cpython "
            "(the very one that builds it).",
            extra_json_schema={"pattern": WHEEL_KINDS.pattern},
        ),
    ] = "py3-none"


class NugetConfig(Table, frozen=True):
    """How a package becomes a nupkg."""

    id: Annotated[str, Meta(description="The package's id.", pattern=r"^[A-Za-z0-9_]+([.-][A-Za-z0-9_]+)*$")]
    managed: Annotated[str, Meta(description="Folder of the managed project, relative to this file.")] = ""
    runtime: Annotated[
        str, Meta(description="Id of the runtime's NuGet package to depend on, from the minimum; none by default.")
    ] = ""
    description: Annotated[str, Meta(description="One line; by default the project's.")] = ""
    icon: Annotated[str, Meta(description="PNG or JPEG, relative to this file; by default the project's.")] = ""
    split: Annotated[
        bool | Literal["auto"],
        Meta(
            description="One package for each target, and one of the plain id that depends on all; auto: when a single "
            "package would be over the feed's limit."
        ),
    ] = "auto"
    tags: Annotated[tuple[str, ...], Meta(description="Search words.")] = ()


class Package(Table, frozen=True):
    """One component of the native build, packed as a wheel, a nupkg, or both."""

    component: Annotated[
        str, Meta(description="The CMake install component.", pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")
    ]
    exports: Annotated[
        tuple[str, ...],
        Meta(
            description="The symbols that its libraries export: exact names, which each target must have, and globs, "
            "which allow more.",
            min_length=1,
        ),
    ]
    requires: Annotated[tuple[str, ...], Meta(description="Other packages of this project that it needs.")] = ()
    runtime: Annotated[str, Meta(description="The runtime that it binds; by default the one of its own name.")] = ""
    wheel: Annotated[WheelConfig | None, Meta(description="Make a wheel.")] = None
    nuget: Annotated[NugetConfig | None, Meta(description="Make a nupkg.")] = None


class Waive(Table, frozen=True):
    """A finding that is accepted, with the reason why."""

    code: Annotated[str, Meta(description="The check's code.", pattern=r"^[A-Z]{2,10}[0-9]{3}$")]
    reason: Annotated[str, Meta(description="Why; shown in every report.", min_length=1)]
    subject: Annotated[str, Meta(description="Glob of the subjects that it holds for.")] = "*"


class Audit(Table, frozen=True):
    """Settings of the audit."""

    waive: Annotated[tuple[Waive, ...], Meta(description="Accepted findings.")] = ()


class VerifyData(Table, frozen=True):
    """A script that prepares what the consumers compute, in an environment of its own."""

    script: Annotated[str, Meta(description="Script, called with the folder to write to, relative to this file.")]
    requires: Annotated[
        dict[str, tuple[str, ...]],
        Meta(description="What it needs installed, for each entry of the runtime's versions, or `default`."),
    ] = msgspec.field(default_factory=dict)


class VerifyOwn(Table, frozen=True):
    """What differs for one runtime of several."""

    scenarios: Annotated[tuple[str, ...], Meta(description="The scenarios that it is tried in; by default all.")] = ()
    data: Annotated[VerifyData | None, Meta(description="Prepares its inputs and expected outputs.")] = None
    at_least: Annotated[dict[str, int], Meta(description="How many cases must pass, from its versions on.")] = (
        msgspec.field(default_factory=dict)
    )
    native_only: Annotated[
        bool, Meta(description="Too slow elsewhere: not tried on emulated machines, nor with further CPythons.")
    ] = False


class Verify(Table, frozen=True):
    """How the packages are shown to work."""

    python: Annotated[str, Meta(description="Script that runs in each clean Python environment.")] = ""
    python_requires: Annotated[
        tuple[str, ...], Meta(description="What the scripts need next to the packages and the runtime.")
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
        str, Meta(description="Script that tries an installed wheel where it was built: cibuildwheel's test-command.")
    ] = ""
    dotnet: Annotated[str, Meta(description="Folder of the console project that consumes the nupkgs.")] = ""
    c: Annotated[str, Meta(description="Folder of the CMake project in C that consumes the nupkgs.")] = ""
    runtimes: Annotated[
        dict[str, tuple[str, ...]],
        Meta(description="Versions of each runtime: minimum, each-minor, latest, or a version."),
    ] = msgspec.field(default_factory=dict)
    own: Annotated[
        dict[str, VerifyOwn],
        Meta(description="What differs for a runtime. With several runtimes, the scripts get --runtime NAME."),
    ] = msgspec.field(default_factory=dict)
    each_minor: Annotated[
        tuple[str, ...],
        Meta(description="Targets on which `each-minor` counts, with --all; by default the first that is included."),
    ] = ()
    pythons: Annotated[
        tuple[str, ...],
        Meta(description="CPythons that the wheels are tried with, with --all: 3.10, 3.11. By default latebind's own."),
    ] = ()
    required: Annotated[
        tuple[str, ...],
        Meta(
            description="Globs over ids of test cases that must pass somewhere before a release: */linux-x64/*/works. "
            "By default works and every negative scenario, for every target."
        ),
    ] = ()


class Document(Table, frozen=True):
    """The whole file."""

    project: Annotated[Project, Meta(description="Name, version, licence.")]
    targets: Annotated[Targets, Meta(description="Platforms and floors.")]
    package: Annotated[dict[str, Package], Meta(description="[package.<name>]: what is packed.", min_length=1)]
    native: Annotated[Native, Meta(description="The CMake project.")] = Native()
    runtime: Annotated[tuple[RuntimeUse, ...], Meta(description="[[runtime]]: what is bound late.")] = ()
    audit: Annotated[Audit, Meta(description="Waivers.")] = Audit()
    verify: Annotated[Verify, Meta(description="Consumers and runtime versions.")] = Verify()
