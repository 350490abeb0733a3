"""A runtime that latebind has no preset for, as latebind.toml describes it.

Reads no files. What a preset says in full is derived here from the little that a project knows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta
from packaging.version import Version

from latebind.config.nuget_id import NugetId  # noqa: TC001  # tools read the types of the tables
from latebind.config.reader import Table
from latebind.semver import version_of
from latebind.tables.presets import (
    NO_PYTHON,
    Compatible,
    LibraryFiles,
    NugetSupply,
    PerSystem,
    PythonSupply,
    RuntimePreset,
    RuntimeVariant,
    StubNames,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

RUNTIME_NAME = re.compile(r"^[a-z][a-z0-9_]*$")
C_FUNCTION = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")
RUNTIME_VERSION = re.compile(r"^\d+\.\d+(\.\d+)?$")
"""What CMake and the loader read as a version."""
WIDE = 64
"""Bits of an integer that is no int."""
NUMBERS = {"two-numbers": 2, "three-numbers": 3, "four-numbers": 4}
"""How many numbers `entry` writes, by the form of the version."""


class DescribedFiles(Table, frozen=True):
    """The file names of the runtime's library on each system."""

    linux: Annotated[
        tuple[str, ...],
        Meta(description="File names on Linux, in order of preference. Names with * are only for folders."),
    ] = ()
    macos: Annotated[tuple[str, ...], Meta(description="File names on macOS, in the same form.")] = ()
    windows: Annotated[tuple[str, ...], Meta(description="File names on Windows, in the same form.")] = ()


class DescribedPython(Table, frozen=True):
    """The wheels that supply the runtime."""

    folder: Annotated[
        str | tuple[str, ...],
        Meta(description="Folder of the library below site-packages, such as thing/lib. A list if systems differ."),
    ]
    extras: Annotated[
        dict[str, str],
        Meta(description='Distribution that each extra installs, the default first: { cpu = "thing" }.'),
    ]

    @property
    def folders(self) -> tuple[str, ...]:
        """All folders."""
        return (self.folder,) if isinstance(self.folder, str) else self.folder


class DescribedVariant(Table, frozen=True, kw_only=True):
    """One of several major versions that a binary can use, or one of several packages that supply the same version."""

    minimum: Annotated[
        str,
        Meta(description="Oldest suitable version of this major version, unless the library reports none."),
    ] = ""
    files: Annotated[DescribedFiles, Meta(description="File names of the library.")]
    python: Annotated[DescribedPython | None, Meta(description="The wheels that supply it.")] = None
    advice: Annotated[
        str,
        Meta(description="Command that installs it, for messages."),
    ] = ""
    companions: Annotated[
        DescribedFiles,
        Meta(
            description="Files that the library opens by itself, such as libthing-core.so.{major}.{minor}. Without "
            "them, it counts as incomplete."
        ),
    ] = DescribedFiles()
    signs: Annotated[
        tuple[str, ...],
        Meta(
            description="Files of other packages below site-packages that need this variant. If one is there, "
            "messages advise this variant only."
        ),
    ] = ()


class DescribedStub(Table, frozen=True):
    """The stub: a small library that code links instead of the runtime, and that binds the runtime late."""

    functions: Annotated[
        tuple[str, ...],
        Meta(
            description="C functions, C++ functions by their symbols (_ZN5thing3runEv), or files that list them, "
            "relative to native.source, or to the file with the description: a shared library, a .def file or a C "
            "header. A pattern such as thing_* selects from the files. A stub needs some."
        ),
    ] = ()
    failures: Annotated[
        dict[str, int | Literal["message", "nan", "nothing", "abort"]],
        Meta(
            description="What each function does if it cannot be called, by pattern; the last match takes precedence. "
            'A number (0 also for a pointer), "message", "nan", "nothing", or "abort", the default, which '
            "ends the process."
        ),
    ] = msgspec.field(default_factory=dict)
    since: Annotated[
        dict[str, tuple[str, ...]],
        Meta(description="Further functions, by the version that has them first. Messages name it."),
    ] = msgspec.field(default_factory=dict)
    library: Annotated[
        str,
        Meta(description="Name after -l. By default from the file names: thing for libthing.so.1."),
    ] = ""
    packages: Annotated[
        tuple[str, ...],
        Meta(description="Names for find_package(). By default, those of the runtime and the library."),
    ] = ()
    targets: Annotated[
        tuple[str, ...],
        Meta(description="Further CMake targets that projects link, besides NAME and NAME::NAME of each package."),
    ] = ()
    variables: Annotated[
        tuple[str, ...],
        Meta(description="Variables in which CMake's find modules keep the library, such as CUDA_nvrtc_LIBRARY."),
    ] = ()
    pkg_config: Annotated[
        str,
        Meta(description="Name for pkg-config, `name` by default. `latebind stub` adds those that this machine has."),
    ] = ""
    header: Annotated[str, Meta(description="A header by which latebind finds the folder of all headers.")] = ""
    system: Annotated[
        bool,
        Meta(description="Whether the stub also searches the system's libraries."),
    ] = True


class DescribedRuntime(Table, frozen=True, kw_only=True):
    """A runtime that has no preset: how the loader finds and recognizes it, and which packages supply it."""

    former_keys: ClassVar = {"calendar": 'Write compatible = "always" instead of calendar = true.'}
    name: Annotated[
        str,
        Meta(
            description="Name of the runtime here, in CMake and in C (lb_<name>), such as thing.",
            extra_json_schema={"pattern": RUNTIME_NAME.pattern},
        ),
    ]
    entry: Annotated[
        str,
        Meta(
            description="An exported function (or variable) that only this library has, such as thing_version.",
            extra_json_schema={"pattern": C_FUNCTION.pattern},
        ),
    ]
    version: Annotated[
        Literal[
            "text",
            "integer",
            "integer-out",
            "two-numbers",
            "three-numbers",
            "four-numbers",
            "structure",
            "variable",
            "none",
            "own",
        ],
        Meta(
            description="How `entry` reports the version: as text, as an integer with `scale`, through pointers to "
            "integers, as a structure with `bits`, as a variable with text, not at all, or by your own "
            "lb_<name>_read_version()."
        ),
    ]
    scale: Annotated[
        tuple[int, ...],
        Meta(
            description="What one major, minor and patch version count in the integer, or in a text that is one "
            "number: [10000, 100, 1] if 20304 is 2.3.4."
        ),
    ] = ()
    bits: Annotated[
        Literal[8, 16, 32, 64],
        Meta(description="Size of each number of the structure (8, 16, 32), or of the integer (32, 64)."),
    ] = 32
    built: Annotated[
        str,
        Meta(
            description="Newest version that you have tried; newer ones are used, too. Only for a library without a "
            "version, leave it out."
        ),
    ] = ""
    files: Annotated[DescribedFiles, Meta(description="File names of the library.")] = DescribedFiles()
    python: Annotated[
        DescribedPython | None,
        Meta(description="The wheels that supply the runtime. `latebind stub` needs none if there is `advice`."),
    ] = None
    variants: Annotated[
        tuple[DescribedVariant, ...],
        Meta(description="Several major versions, the best first, in place of `files`, `python` and `advice`."),
    ] = ()
    driver: Annotated[
        bool,
        Meta(description="Whether it is part of a device's driver, which Windows has in the system folder."),
    ] = False
    roots: Annotated[
        tuple[str, ...],
        Meta(description="More folders for stubs, searched last, below one that a variable names: THING_HOME/lib."),
    ] = ()
    advice: Annotated[
        str,
        Meta(
            description="Command that installs the runtime, for messages. By default, pip install with the first "
            "distribution of `python`."
        ),
    ] = ""
    stub: Annotated[DescribedStub | None, Meta(description="The stub for `drop_in` and `latebind stub`.")] = None
    title: Annotated[str, Meta(description="Name of the runtime in messages. The default is `name`.")] = ""
    environment: Annotated[
        str,
        Meta(description="Variable that names the runtime's file or folder. By default, <NAME>_LIB_PATH."),
    ] = ""
    nuget: Annotated[
        tuple[NugetId, ...],
        Meta(description="Ids of the NuGet packages that supply the runtime, such as Acme.Thing."),
    ] = ()
    markers: Annotated[
        tuple[str, ...],
        Meta(
            description="Strings that only the runtime contains, by which the audit detects a copy that was linked in."
        ),
    ] = ()
    compatible: Annotated[
        Compatible,
        Meta(
            description="Which versions from the minimum on have the same interface: those of the same major version, "
            "of the same minor version, or always all."
        ),
    ] = "major"
    libc: Annotated[
        tuple[Literal["glibc", "musl"], ...],
        Meta(description="C libraries on Linux for which the runtime is supplied. By default, all."),
    ] = ()

    def preset(self) -> RuntimePreset:
        """The same in the form of a preset."""
        systems = msgspec.structs.asdict(self.every_file)
        plain = {key: tuple(name for name in names if "*" not in name) for key, names in systems.items()}
        copies = tuple(
            dict.fromkeys(glob for key, names in plain.items() for name in names for glob in _copies(key, name))
        )
        supplies = tuple(supply for supply in (self.python, *(variant.python for variant in self.variants)) if supply)
        minimums = {
            distribution: variant.minimum
            for variant in self.variants
            if variant.minimum and variant.python
            for distribution in variant.python.extras.values()
        }
        return RuntimePreset(
            name=self.name,
            title=self.title or self.name,
            environment=self.environment or f"{self.name.upper()}_LIB_PATH",
            entry_symbols=(self.entry,),
            file_globs=copies,
            linked_globs=(*copies, *(f"*/{glob}" for glob in copies if glob.endswith(".dylib"))),
            markers=self.markers,
            floor="",
            floor_reason="",
            built=self.built,
            files={self.name: LibraryFiles(**systems)},
            python=_join(supplies, minimums),
            variants=tuple(_variant(variant) for variant in self.variants),
            roots=self.roots,
            advice=self.advice,
            stub=self._stub_names(),
            nuget=NugetSupply(ids=self.nuget),
            compatible=self.compatible,
            has_version=self.version != "none",
            libc=self.libc,
        )

    @property
    def every_file(self) -> DescribedFiles:
        """The file names of all variants, the best first."""
        parts = (self.files, *(variant.files for variant in self.variants))
        return DescribedFiles(
            **{
                system: tuple(dict.fromkeys(name for part in parts for name in getattr(part, system)))
                for system in DescribedFiles.__struct_fields__
            }
        )

    @property
    def oldest(self) -> str:
        """The minimum of the oldest variant; "" without one."""
        minimums = (variant.minimum for variant in self.variants if version_of(variant.minimum))
        return min(minimums, key=Version, default="")

    def _stub_names(self) -> StubNames | None:
        if self.stub is None:
            return None
        names = (*self.every_file.linux, *self.every_file.macos)
        file = next((name for name in names if "*" not in name), f"lib{self.name}.so")
        library = self.stub.library or link_name(file)
        return StubNames(
            library=library,
            packages=self.stub.packages or tuple(dict.fromkeys((self.name, library))),
            targets=self.stub.targets,
            variables=self.stub.variables,
            pkg_config=self.stub.pkg_config or self.name,
            header=self.stub.header,
            system=self.stub.system,
            driver=self.driver,
            failures=dict(self.stub.failures),
        )


class DescribedFile(DescribedRuntime, frozen=True, kw_only=True):
    """A file that describes a runtime for `latebind stub`."""

    minimum: Annotated[str, Meta(description="Oldest version that works.")] = ""


def link_name(file: str) -> str:
    """What linkers take after -l for a library: `png16` for libpng16.so.16."""
    return re.sub(r"^lib|\.(so|dylib)\b.*$", "", file)


def _join(supplies: Sequence[DescribedPython], minimums: dict[str, str]) -> PythonSupply:
    """The wheels of all variants; the first are the ordinary ones."""
    if not supplies:
        return NO_PYTHON
    folders = tuple(dict.fromkeys(folder for supply in supplies for folder in supply.folders))
    extras = {extra: name for supply in reversed(supplies) for extra, name in reversed(supply.extras.items())}
    return PythonSupply(
        folder=folders[0], more_folders=folders[1:], extras=dict(reversed(extras.items())), minimums=minimums
    )


def _variant(variant: DescribedVariant) -> RuntimeVariant:
    distribution = next(iter(variant.python.extras.values()), "") if variant.python else ""
    requirement = f"{distribution}>={variant.minimum}" if variant.minimum else distribution
    return RuntimeVariant(
        minimum=variant.minimum,
        advice=variant.advice or f'pip install "{requirement}"',
        companions=PerSystem(**msgspec.structs.asdict(variant.companions)),
        signs=variant.signs,
    )


def _copies(system: str, name: str) -> tuple[str, ...]:
    """The names that copies of a library have: with a version, and with the hash that repair tools put into them."""
    if system == "linux":
        stem = name.partition(".so")[0]
        return (f"{stem}.so*", f"{stem}-[0-9a-f]*.so*")
    if system == "macos":
        stem = re.sub(r"(\.\d+)*\.dylib$", "", name)
        return (f"{stem}.dylib", f"{stem}.[0-9]*.dylib")
    stem = name[: -len(".dll")]
    return (f"{stem}.dll", f"{stem}-[0-9a-f]*.dll")
