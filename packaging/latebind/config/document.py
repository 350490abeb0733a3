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
from latebind.model import FailOn, Level, Profile, SbomFormat  # noqa: TC001  # as above
from latebind.tables.presets import RuntimePreset, preset
from latebind.tables.pythonabi import PYTHONS, WHEEL_KINDS

TomlValue = bool | int | str
SourceName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.+-]+$")]
_EcosystemTable = TypeVar("_EcosystemTable", bound=EcosystemTable)
ANY_VERSION = "default"
"""The key of requirements that hold for every version of the runtime."""


class ProjectTable(Table, frozen=True):
    """The name of the project, and its description in packages."""

    name: Annotated[str, Meta(description="Name of the project. Reports and symbol archives use it.", min_length=1)]
    version: Annotated[str, Meta(description="Version of all packages, in the form of PEP 440.", min_length=1)]
    description: Annotated[str, Meta(description="One line that describes the project in package metadata.")] = ""
    license: Annotated[str, Meta(description="SPDX license expression, such as MIT.")] = ""
    license_file: Annotated[str, Meta(description="File with the license text, relative to this file.")] = ""
    authors: Annotated[tuple[str, ...], Meta(description="Names of the authors for package metadata.")] = ()
    repository: Annotated[str, Meta(description="URL of the source repository.")] = ""
    readme: Annotated[str, Meta(description="Markdown file for NuGet packages, relative to this file.")] = ""
    icon: Annotated[
        str, Meta(description="PNG or JPEG file for NuGet packages, at most 1 MB, relative to this file.")
    ] = ""
    sbom: Annotated[
        SbomFormat,
        Meta(
            description="Format of the software bill of materials (SBOM) in each package. Few tools read CycloneDX "
            "1.7 yet."
        ),
    ] = "cyclonedx-1.6"


class Native(Table, frozen=True):
    """The native code, and what builds it."""

    source: Annotated[str, Meta(description="Folder of the native code, relative to this file.")] = "native"
    build: Annotated[
        Literal["cmake", "external"],
        Meta(
            description="What builds the native code. cmake: latebind does, with CMake. external: your own build does, "
            "such as Meson or make, and `latebind stage --import` takes its files."
        ),
    ] = "cmake"
    cmake: Annotated[
        str,
        Meta(
            description="Folder of the top-level CMakeLists.txt, relative to `source`. Set it if that file uses "
            "code in ../src."
        ),
    ] = ""
    exclude: Annotated[
        tuple[str, ...],
        Meta(
            description="Globs of files and folders that no build reads, such as test data and prebuilt libraries. "
            "They are relative to the source folder. latebind leaves these files out of the sdist, and "
            "does not rebuild when they change."
        ),
    ] = ()
    sources: Annotated[
        dict[SourceName, str],
        Meta(
            description="Archives or folders of what the CMake project would download, by the name that FetchContent, "
            "CPM or ExternalProject gives it. They are relative to `source`. If this table is there, the build cannot "
            "download anything."
        ),
    ] = msgspec.field(default_factory=dict)
    define: Annotated[dict[str, TomlValue], Meta(description="CMake cache variables for all targets.")] = msgspec.field(
        default_factory=dict
    )
    hide: Annotated[
        bool,
        Meta(
            description="Whether shared libraries export only the symbols in `exports` of the packages. Set it if "
            "the code does not mark its exported symbols. On Windows, `exports` then needs exact "
            "names. zig's linker for macOS ignores this key: compile with hidden visibility there."
        ),
    ] = False
    symbols: Annotated[
        bool,
        Meta(
            description="Whether to write an archive of debug symbols for each target to dist/symbols/. latebind "
            "then builds the code twice."
        ),
    ] = False


class RuntimeUse(Table, frozen=True, kw_only=True):
    """A runtime that the native code binds late. The code finds it at run time and does not link it."""

    preset: Annotated[
        str, Meta(description="Preset of the runtime. Leave it out if you describe the runtime yourself.")
    ] = ""
    describe: Annotated[DescribedRuntime | None, Meta(description="Description of a runtime that has no preset.")] = (
        None
    )
    minimum: Annotated[
        str,
        Meta(
            description="Oldest version of the runtime that works. The loader, package metadata and verification "
            "use it."
        ),
    ]
    drop_in: Annotated[
        bool,
        Meta(
            description="Whether CMake finds a stub that binds late when your project searches for the runtime. "
            "Code that links the runtime then needs no change. A described runtime needs "
            "[runtime.describe.stub]."
        ),
    ] = False
    headers: Annotated[
        str, Meta(description="Folder of the runtime's own headers for `drop_in`, relative to native.source.")
    ] = ""
    policy: Annotated[
        Literal["never-linked"], Meta(description="never-linked: the audit reports a linked or bundled runtime.")
    ] = "never-linked"

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
    """Settings that differ for one target."""

    toolchain: Annotated[
        Literal["zig", "host"], Meta(description="Compiler for this target: zig, or the system's own (host).")
    ] = "zig"
    define: Annotated[
        dict[str, TomlValue], Meta(description="CMake cache variables for this target, in addition to native.define.")
    ] = msgspec.field(default_factory=dict)
    cflags: Annotated[tuple[str, ...], Meta(description="Options for the C compiler.")] = ()
    cxxflags: Annotated[tuple[str, ...], Meta(description="Options for the C++ compiler.")] = ()
    exclude: Annotated[
        tuple[str, ...],
        Meta(description="Packages that are not made for this target. CMake need not install their components there."),
    ] = ()


class Targets(Table, frozen=True):
    """The platforms to build for, and the oldest systems that the packages support."""

    include: Annotated[
        tuple[str, ...], Meta(description="Targets to build, by runtime identifier (RID).", min_length=1)
    ]
    glibc: Annotated[
        str, Meta(description="Oldest supported glibc of the Linux targets.", pattern=r"^2\.(0|[1-9][0-9]*)$")
    ] = "2.28"
    macos: Annotated[
        str,
        Meta(
            # packaging.tags.mac_platforms: from macOS 11 on no installer knows a tag whose minor version is not 0.
            description="Oldest supported macOS. From 11 on, installers accept only whole versions such as 13.0.",
            pattern=r"^(10\.(0|[1-9][0-9]*)|[1-9][0-9]+\.0)$",
        ),
    ] = "11.0"
    options: Annotated[dict[str, TargetOptions], Meta(description="[targets.<rid>]: settings of one target.")] = (
        msgspec.field(default_factory=dict)
    )


class WheelConfig(Table, frozen=True):
    """How latebind makes a wheel from the package."""

    source: Annotated[
        str,
        Meta(
            description="Folder of the wheel's pyproject.toml, relative to this file. Leave it out if your own build "
            "makes the wheel: latebind then audits and verifies the wheel that is in dist/."
        ),
    ] = ""
    name: Annotated[
        str,
        Meta(
            description="Name of the distribution, as in the pyproject.toml of the source folder. The default is the "
            "name of that folder, with hyphens."
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
            "version gets one wheel for each target. By default, only the CPython that runs latebind "
            "builds a wheel, for its own machine."
        ),
    ] = ()


class NugetConfig(Table, frozen=True):
    """How latebind makes a NuGet package from the package."""

    id: Annotated[str, Meta(description="Id of the NuGet package.", pattern=r"^[A-Za-z0-9_]+([.-][A-Za-z0-9_]+)*$")]
    managed: Annotated[str, Meta(description="Folder of the .NET project, relative to this file.")] = ""
    runtime: Annotated[
        str,
        Meta(
            description="Id of the runtime's NuGet package that the package depends on. By default, it depends on none."
        ),
    ] = ""
    description: Annotated[
        str, Meta(description="One line that describes the package. The default is the project's description.")
    ] = ""
    icon: Annotated[
        str, Meta(description="PNG or JPEG file, relative to this file. The default is the project's icon.")
    ] = ""
    split: Annotated[
        bool | Literal["auto"],
        Meta(
            description="Whether to make one NuGet package for each target, and one that depends on all of them. "
            "auto: only if a single package would exceed the feed's size limit."
        ),
    ] = "auto"
    tags: Annotated[tuple[str, ...], Meta(description="Search terms for the package.")] = ()


class Package(Table, frozen=True):
    """One component of the native build. It becomes a package in one or several ecosystems."""

    component: Annotated[
        str,
        Meta(
            description="CMake install component that has the package's files.",
            pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$",
        ),
    ]
    exports: Annotated[
        tuple[str, ...],
        Meta(
            description="Symbols that the package's libraries may export, as names or globs. The libraries must "
            "export every exact name, on every target. Only a package with `ep`, and one of which latebind makes no "
            "file, may leave this key out.",
            min_length=1,
        ),
    ] = ()
    requires: Annotated[
        tuple[str, ...], Meta(description="Other packages of this project that the package requires.")
    ] = ()
    runtime: Annotated[
        str, Meta(description="Runtime that the package binds. The default is the runtime with the package's name.")
    ] = ""
    wheel: Annotated[
        WheelConfig | None, Meta(description="Settings of the wheel. Leave the table out to make no wheel.")
    ] = None
    nuget: Annotated[
        NugetConfig | None,
        Meta(description="Settings of the NuGet package. Leave the table out to make no NuGet package."),
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
            description="Settings of a plugin execution provider (EP) for ONNX Runtime. It becomes a wheel and a "
            "NuGet package."
        ),
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
    """A finding that you accept, with the reason."""

    code: Annotated[str, Meta(description="Code of the check.", pattern=r"^[A-Z]{2,10}[0-9]{3}$")]
    reason: Annotated[str, Meta(description="Why you accept the finding. Reports show the reason.", min_length=1)]
    subject: Annotated[str, Meta(description="Glob that matches the files with the finding.")] = "*"


class Audit(Table, frozen=True):
    """Settings of the audit. The options of `latebind audit` have the same names and take precedence."""

    profile: Annotated[Profile, Meta(description="Set of checks to apply: all, or a smaller set.")] = "all"
    select: Annotated[
        tuple[str, ...],
        Meta(description="Codes of checks to apply instead of a profile, or prefixes of codes, such as LB1."),
    ] = ()
    ignore: Annotated[tuple[str, ...], Meta(description="Codes of checks to leave out, or prefixes of codes.")] = ()
    fail_on: Annotated[FailOn, Meta(description="Lowest severity that makes the audit fail.")] = "error"
    baseline: Annotated[
        str,
        Meta(
            description="File that lists known findings, relative to this file. `latebind audit --write-baseline` "
            "writes it. `latebind release` ignores it."
        ),
    ] = ""
    waive: Annotated[tuple[Waive, ...], Meta(description="Findings that you accept.")] = ()


class VerifyData(Table, frozen=True):
    """A script that prepares the data for the consumers. It runs in an environment of its own."""

    script: Annotated[
        str, Meta(description="The script, relative to this file. Its argument is the folder to write to.")
    ]
    requires: Annotated[
        dict[str, tuple[str, ...]],
        Meta(
            description="Requirements of the script. Each key is the runtime version from which its list applies, "
            'with quotes: { "1.19" = [...] }. The key `default` applies to every version.'
        ),
    ] = msgspec.field(default_factory=dict)


class VerifyOwn(Table, frozen=True):
    """Settings for one of several runtimes."""

    scenarios: Annotated[tuple[str, ...], Meta(description="Scenarios to run. By default, all scenarios run.")] = ()
    data: Annotated[
        VerifyData | None, Meta(description="Script that prepares inputs and expected outputs for this runtime.")
    ] = None
    at_least: Annotated[
        dict[str, int],
        Meta(description="How many cases must pass. Each key is the runtime version from which its number applies."),
    ] = msgspec.field(default_factory=dict)
    native_only: Annotated[
        bool,
        Meta(
            description="Whether to skip the runtime on emulated machines and with other CPythons, where it would "
            "be too slow."
        ),
    ] = False


class Verify(Table, frozen=True):
    """How latebind verifies that the packages work."""

    python: Annotated[str, Meta(description="Script that runs in each clean Python environment.")] = ""
    python_requires: Annotated[
        tuple[str, ...], Meta(description="Requirements of the scripts, in addition to the packages and the runtime.")
    ] = ()
    reference: Annotated[
        str,
        Meta(
            description="Script that computes the same cases without the packages. latebind calls it with "
            "--reference. Cases that it cannot compute do not count against the packages."
        ),
    ] = ""
    at_least: Annotated[
        dict[str, int],
        Meta(
            description="How many cases must pass. Each key is the runtime version from which its number applies, "
            'with quotes: { "1.19" = 1000 }.'
        ),
    ] = msgspec.field(default_factory=dict)
    data: Annotated[VerifyData | None, Meta(description="Script that prepares inputs and expected outputs.")] = None
    wheel: Annotated[
        str,
        Meta(
            description="Script that tests an installed wheel on the machine that built it. cibuildwheel uses it "
            "as the test command."
        ),
    ] = ""
    dotnet: Annotated[str, Meta(description="Folder of a console project that uses the NuGet packages.")] = ""
    c: Annotated[str, Meta(description="Folder of a CMake project in C that uses the NuGet packages.")] = ""
    sdk: Annotated[str, Meta(description="Folder of a CMake project in C or C++ that uses the SDK archive.")] = ""
    runtimes: Annotated[
        dict[str, tuple[str, ...]],
        Meta(description="Versions of each runtime to test: minimum, each-minor, latest, or a version."),
    ] = msgspec.field(default_factory=dict)
    own: Annotated[
        dict[str, VerifyOwn],
        Meta(
            description="Settings that differ for one runtime. With several runtimes, the scripts get --runtime NAME."
        ),
    ] = msgspec.field(default_factory=dict)
    each_minor: Annotated[
        tuple[str, ...],
        Meta(description="Targets that test `each-minor`, only with --all. The default is the first target."),
    ] = ()
    pythons: Annotated[
        tuple[str, ...],
        Meta(
            description="Further CPython versions to test wheels with, such as 3.11; only with --all. By default, "
            "there are none."
        ),
    ] = ()
    required: Annotated[
        tuple[str, ...],
        Meta(
            description="Globs that match the ids of the test cases that must pass before a release, such as "
            "*/linux-x64/*/works. The default is `works` and every negative scenario, for every "
            "target."
        ),
    ] = ()
    level: Annotated[
        Level,
        Meta(
            description="What the gate accepts as passed: real (on the system itself), emulated (also on an emulator) "
            "or glue (also without the real runtime)."
        ),
    ] = "emulated"

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
