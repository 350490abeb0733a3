"""A runtime that latebind has no preset for, as latebind.toml or a file describes it.

What a preset says in full is derived here from the little that a project knows.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta
from packaging.version import Version

from latebind.config.package import NugetId  # tools read the types of the tables
from latebind.config.reader import Key, Table
from latebind.semver import version_of
from latebind.tables.presets import (
    LONGEST_TEXT,
    NO_PYTHON,
    SYSTEMS,
    Compatible,
    HeaderSupply,
    LibraryFiles,
    NugetSupply,
    PerSystem,
    PythonSupply,
    RuntimePreset,
    RuntimeVariant,
    StubNames,
    Symbols,
    join_names,
    library_files,
    presets,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

RUNTIME_NAME = re.compile(r"^[a-z][a-z0-9_]*$")
C_FUNCTION = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")
RUNTIME_VERSION = re.compile(r"^\d+\.\d+(\.\d+)?$")
"""What CMake and the loader read as a version."""
WIDE = 64
"""Bits of an integer that is no int."""
NUMBERS = {"two-numbers": 2, "three-numbers": 3, "four-numbers": 4}
"""How many numbers `entry` writes, by the form of the version."""
Problem = tuple[tuple[Key, ...], str, str]
"""The keys below the description, what is wrong, what to do."""
_FUNCTIONS = re.compile(r"^[A-Za-z_*][A-Za-z0-9_*?]*$")
_LINKED = re.compile(r"^[A-Za-z0-9_.:+-]*$")
_SCALES = (2, 3)
"""How many numbers a scale has."""
_BITS = {"integer": (32, WIDE), "structure": (8, 16, 32)}
_ROOT = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*/[A-Za-z0-9_./-]+$")
_PLACEHOLDER = re.compile(r"\{(major|minor)\}")
_SIGN = re.compile(r"^[A-Za-z0-9_./+-]+$")
DISTRIBUTION = re.compile(r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$")
"""packaging.python.org, "Names and normalization"."""
_FILES = {
    "linux": (re.compile(r"(?=.*\.so(\.|\*|$))[A-Za-z0-9_.*+-]+$"), "libthing.so"),
    "macos": (re.compile(r"[A-Za-z0-9_.*+-]*\.dylib$"), "libthing.dylib"),
    "windows": (re.compile(r"[A-Za-z0-9_.*+-]*\.dll$", re.IGNORECASE), "thing.dll"),
}
"""The form of a library's file name on each system, and an example."""
_NO_FUNCTION = "is not the name of a C function"


class DescribedPython(Table, frozen=True, kw_only=True):
    """The wheels that supply the runtime."""

    folder: Annotated[
        str | tuple[str, ...],
        Meta(description="Folder of the library below site-packages, such as thing/lib. A list if systems differ."),
    ] = ()
    prefix: Annotated[
        str | tuple[str, ...],
        Meta(
            description="Folder of the library below Python's own (sys.prefix) instead, as of tbb and mkl: lib. A list "
            "if systems differ."
        ),
    ] = ()
    extras: Annotated[
        dict[str, str],
        Meta(description='Distribution that each extra installs, the default first: { cpu = "thing" }.'),
    ]

    @property
    def folders(self) -> tuple[str, ...]:
        """All folders below site-packages."""
        return (self.folder,) if isinstance(self.folder, str) else self.folder

    @property
    def prefixes(self) -> tuple[str, ...]:
        """All folders below Python's own."""
        return (self.prefix,) if isinstance(self.prefix, str) else self.prefix


class DescribedVariant(Table, frozen=True, kw_only=True):
    """One of several major versions that a binary can use, or one of several packages that supply the same version."""

    minimum: Annotated[
        str,
        Meta(description="Oldest suitable version of this major version, unless the library reports none."),
    ] = ""
    files: Annotated[PerSystem, Meta(description="File names of the library.")]
    python: Annotated[DescribedPython | None, Meta(description="The wheels that supply it.")] = None
    advice: Annotated[
        str,
        Meta(description="Command that installs it, for messages on the systems that `files` names."),
    ] = ""
    companions: Annotated[
        PerSystem,
        Meta(
            description="Files that the library opens by itself, such as libthing-core.so.{major}.{minor}. Without "
            "them, it counts as incomplete."
        ),
    ] = PerSystem()
    signs: Annotated[
        tuple[str, ...],
        Meta(
            description="Files of other packages below site-packages that need this variant. If one is there, "
            "messages advise this variant only."
        ),
    ] = ()


class DescribedHeaders(Table, frozen=True, kw_only=True):
    """Where `latebind headers` gets the runtime's official headers."""

    wheel: Annotated[str, Meta(description="Distribution whose wheels hold them.")]
    target: Annotated[
        str,
        Meta(description="Target whose wheel is the smallest, such as osx-arm64. By default, this machine's."),
    ] = ""
    folders: Annotated[
        tuple[str, ...],
        Meta(
            description="Their folders below the one that compilers search, such as thing/core. By default, the one of "
            "`stub.header`."
        ),
    ] = ()


class DescribedStub(Table, frozen=True):
    """The stub: a small library that code links instead of the runtime, and that binds the runtime late."""

    functions: Annotated[
        tuple[str, ...],
        Meta(
            description="C functions, C++ functions by their symbols (_ZN5thing3runEv), or files that list them, "
            "relative to native.source, or to the file with the description: a shared library, a .def file or a C "
            "header. A pattern such as thing_* selects from the files, and !thing_error leaves out what a program "
            "defines itself. A stub needs some."
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
    linked_with: Annotated[
        tuple[str, ...],
        Meta(
            description="Names after -l of further libraries that builds link with it, and of which a program needs "
            "nothing. The stub comes with an empty library for each."
        ),
    ] = ()
    pkg_config: Annotated[
        str,
        Meta(description="Name for pkg-config, `name` by default. `latebind stub` adds those that this machine has."),
    ] = ""
    header: Annotated[str, Meta(description="A header by which latebind finds the folder of all headers.")] = ""
    minimum_macro: Annotated[
        str,
        Meta(
            description="Macro by which the headers hide what is newer than the oldest version to support, an integer "
            "as that of `entry`. Projects that link the stub get it."
        ),
    ] = ""
    system: Annotated[
        bool,
        Meta(description="Whether the stub also searches the system's libraries."),
    ] = True
    symbols: Annotated[
        Symbols,
        Meta(
            description='Who sees the library\'s symbols on Linux and macOS: with "linked" plug-ins that are loaded '
            'later, if the stub is in a program, as with a linked library; with "global" always; with "local" never.'
        ),
    ] = "linked"
    longest_text: Annotated[
        int,
        Meta(
            ge=0,
            le=4096,
            description='How long a text is at most that a function with the failure "message" returns, since callers '
            "copy it, in characters. Instead of a longer message it returns: TITLE is not available: "
            "LATEBIND_ON_MISSING=print, or what fits of that.",
        ),
    ] = LONGEST_TEXT


class DescribedRuntime(Table, frozen=True, kw_only=True):
    """A runtime that has no preset: how the loader finds and recognizes it, and which packages supply it."""

    former_keys: ClassVar[dict[str, str]] = {"calendar": 'Write compatible = "always" instead of calendar = true.'}
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
    files: Annotated[PerSystem, Meta(description="File names of the library.")] = PerSystem()
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
    headers: Annotated[DescribedHeaders | None, Meta(description="Where the official headers are.")] = None
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
        """The preset that the description stands for."""
        systems = msgspec.structs.asdict(self.every_file)
        plain = [(system, name) for system, names in systems.items() for name in names if "*" not in name]
        copies = tuple(dict.fromkeys(glob for system, name in plain for glob in _copies(system, name)))
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
            headers=HeaderSupply(**msgspec.structs.asdict(self.headers)) if self.headers else None,
            nuget=NugetSupply(ids=self.nuget),
            compatible=self.compatible,
            has_version=self.version != "none",
            libc=self.libc,
        )

    @property
    def every_file(self) -> PerSystem:
        """The file names of all variants, the best first."""
        return join_names([self.files, *(variant.files for variant in self.variants)])

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
            linked_with=self.stub.linked_with,
            pkg_config=self.stub.pkg_config or self.name,
            header=self.stub.header,
            minimum_macro=self.stub.minimum_macro,
            system=self.stub.system,
            driver=self.driver,
            symbols=self.stub.symbols,
            longest_text=self.stub.longest_text,
            failures=dict(self.stub.failures),
        )


class DescribedFile(DescribedRuntime, frozen=True, kw_only=True):
    """A file that describes a runtime for `latebind stub`."""

    minimum: Annotated[str, Meta(description="Oldest version that works.")] = ""


def read_description(file: Path) -> DescribedFile:
    """A description of a library. Raises msgspec.ValidationError or msgspec.DecodeError for another file."""
    return msgspec.toml.decode(file.read_bytes(), type=DescribedFile)


@cache
def libraries() -> Mapping[str, RuntimePreset]:
    """The libraries that latebind itself describes, in the form of presets, by name."""
    return {name: read_description(file).preset() for name, file in library_files().items()}


def link_name(file: str) -> str:
    """What linkers take after -l for a library: `png16` for libpng16.so.16."""
    return re.sub(r"^lib|\.(so|dylib)\b.*$", "", file)


def _join(supplies: Sequence[DescribedPython], minimums: dict[str, str]) -> PythonSupply:
    """The wheels of all variants; the first are the ordinary ones."""
    if not supplies:
        return NO_PYTHON
    folders = tuple(dict.fromkeys(folder for supply in supplies for folder in supply.folders))
    prefixes = tuple(dict.fromkeys(folder for supply in supplies for folder in supply.prefixes))
    extras = {extra: name for supply in reversed(supplies) for extra, name in reversed(supply.extras.items())}
    return PythonSupply(
        folder="".join(folders[:1]),
        more_folders=folders[1:],
        prefix=prefixes,
        extras=dict(reversed(extras.items())),
        minimums=minimums,
    )


def _variant(variant: DescribedVariant) -> RuntimeVariant:
    distribution = next(iter(variant.python.extras.values()), "") if variant.python else ""
    requirement = f"{distribution}>={variant.minimum}" if variant.minimum else distribution
    return RuntimeVariant(
        minimum=variant.minimum,
        advice=variant.advice or f'pip install "{requirement}"',
        companions=variant.companions,
        signs=variant.signs,
        systems=tuple(system for system in SYSTEMS if getattr(variant.files, system)),
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


def problems(described: DescribedRuntime, minimum: str, systems: Iterable[str]) -> Iterator[Problem]:
    """What types cannot check in a description; `systems` are those of the project's targets."""
    yield from _name_problems(described)
    if described.stub:
        yield from _stub_problems(described.stub)
    yield from _version_form_problems(described)
    yield from _built_problems(described, minimum)
    yield from _every_file_problems(described, systems)
    what = "is not a folder below an environment variable"
    yield from _misfits(("roots",), described.roots, _ROOT, what, "Write it as THING_HOME/lib.")
    for index, variant in enumerate(described.variants):
        for keys, text, advice in _variant_problems(described, variant):
            yield ("variants", index, *keys), text, advice
    yield from _apart_problems(described) if described.variants else _supply_problems(described)


def _misfits(
    here: tuple[Key, ...], values: Iterable[str], form: re.Pattern[str], what: str, advice: str
) -> Iterator[Problem]:
    """A problem for each value that does not have the form."""
    return ((here, f"{value!r} {what}", advice) for value in values if not form.match(value))


def _name_problems(described: DescribedRuntime) -> Iterator[Problem]:
    if described.name in presets():
        text = f"{described.name} is a runtime that latebind knows"
        yield ("name",), text, f'Write preset = "{described.name}" instead of the description, or choose another name.'
    advice = "Use lowercase letters, digits and _, starting with a letter."
    yield from _misfits(("name",), [described.name], RUNTIME_NAME, "cannot be part of a name in C", advice)
    what, advice = "cannot be the name of an environment variable", f"{described.name.upper()}_LIB_PATH"
    variables = [described.environment] if described.environment else []
    yield from _misfits(("environment",), variables, C_FUNCTION, what, f"Leave it out to use {advice}.")
    yield from _advice_problems(described.advice)
    if not described.title.isprintable() or set('"\\*') & set(described.title):
        yield ("title",), f"{described.title!r} is not a plain title", 'Write it without ", \\, * and line breaks.'
    advice = "Name an exported function: nm -D lists them."
    yield from _misfits(("entry",), [described.entry], C_FUNCTION, _NO_FUNCTION, advice)


def _advice_problems(advice: str) -> Iterator[Problem]:
    if not advice.isprintable():
        yield ("advice",), "the advice has line breaks or control characters", "Write one plain line."


def version_problems(key: str, version: str) -> Iterator[Problem]:
    """A problem of the key unless the version has the form that C code can have."""
    if not version:
        yield (), f"{key} is missing", f'Write a version: {key} = "1.19".'
    elif not RUNTIME_VERSION.match(version):
        yield (key,), f"{version!r} does not have two or three numbers", "Write it as 1.19 or 1.19.2."


def _version_form_problems(described: DescribedRuntime) -> Iterator[Problem]:
    is_integer, units = described.version.startswith("integer"), described.scale
    may_be_number = is_integer or described.version in ("text", "variable")
    most = 2**63 if described.bits == WIDE and described.version == "integer" else 2**32
    is_falling = all(above > below for above, below in pairwise((most, *units, 0)))
    if (is_integer or (units and may_be_number)) and not (len(units) in _SCALES and is_falling):
        text = f'version = "{described.version}" needs two or three falling numbers as its scale'
        example = "scale = [10000, 100, 1] if 20304 is 2.3.4"
        advice = f"Write what one major, one minor and one patch version count: {example}."
        yield ("scale",), text, advice
    if described.bits not in _BITS.get(described.version, (32,)):
        yield ("bits",), f'version = "{described.version}" cannot have {described.bits} bits', "Remove bits."
    if units and not may_be_number:
        yield ("scale",), "scale is for a version that is one number", 'Write version = "integer", or remove scale.'


def _built_problems(described: DescribedRuntime, minimum: str) -> Iterator[Problem]:
    if described.version == "none" and not described.built:
        return
    yield from (wrong := list(version_problems("built", described.built)))
    if not wrong and (least := version_of(minimum)) and Version(described.built) < least:
        yield (
            ("built",),
            f"built = {described.built} is older than the minimum, {minimum}",
            "Name an older minimum, or write the newest version that you tried in `built`.",
        )


def _apart_problems(described: DescribedRuntime) -> Iterator[Problem]:
    """Keys that each variant has for itself."""
    for key, is_given in (
        ("files", described.files != PerSystem()),
        ("python", described.python is not None),
        ("advice", bool(described.advice)),
        ("compatible", described.compatible != "major"),
        ("minimum", isinstance(described, DescribedFile) and bool(described.minimum)),
    ):
        if is_given:
            yield (key,), f"{key} has no effect next to variants", f"Remove {key}, or write it below [[variants]]."


def _companion_problems(described: DescribedRuntime, variant: DescribedVariant) -> Iterator[Problem]:
    for system, names in msgspec.structs.asdict(variant.companions).items():
        here, others = ("companions", system), [getattr(other.companions, system) for other in described.variants]
        yield from _list_no_files(system, [_PLACEHOLDER.sub("0", name) for name in names], here)
        for name in names:
            if set("*{}") & set(_PLACEHOLDER.sub("", name)):
                yield here, f"{name!r} is not a file name", "Of a version, {major} and {minor} can be in it."
            if described.version == "none" and "{" in name:
                text = "a companion's name has a version, which the library does not report"
                yield here, text, "Leave the file out."
            if "{major}" not in name and not all(name in other for other in others):
                text = f"{name!r} is not a companion of all variants"
                yield here, text, "Add it to the others, or write {major} in place of the number."


def _variant_problems(described: DescribedRuntime, variant: DescribedVariant) -> Iterator[Problem]:
    if described.version != "none":
        yield from version_problems("minimum", variant.minimum)
    elif variant.minimum:
        yield ("minimum",), "the library does not report its version", "Remove minimum."
    yield from _advice_problems(variant.advice)
    yield from _supply_problems(variant)
    yield from _file_problems(variant.files)
    yield from _companion_problems(described, variant)
    what = "is not a file below site-packages"
    yield from _misfits(("signs",), variant.signs, _SIGN, what, "Write it as thing/lib/libthing.so.2.")


def _every_file_problems(described: DescribedRuntime, systems: Iterable[str]) -> Iterator[Problem]:
    named = msgspec.structs.asdict(described.every_file)
    for system in sorted(set(systems)):
        if not any("*" not in name for name in named[system]):
            text = f"no file name without * for {system}, which a target needs"
            below = " below a [[variants]]" if described.variants else ""
            advice = f'Write files.{system} = ["{_FILES[system][1]}"]{below}, or leave those targets out.'
            yield ("files",), text, advice
    yield from _file_problems(described.files)


def _file_problems(files: PerSystem) -> Iterator[Problem]:
    for system, names in msgspec.structs.asdict(files).items():
        yield from _list_no_files(system, names, ("files", system))


def _list_no_files(system: str, names: Iterable[str], here: tuple[Key, ...]) -> Iterator[Problem]:
    form, example = _FILES[system]
    advice = f'Write the plain name, without a folder: "{example}".'
    return _misfits(here, names, form, f"is not the file name of a library on {system}", advice)


def _stub_problems(stub: DescribedStub) -> Iterator[Problem]:
    if not stub.functions:
        advice = 'Write functions = ["thing_open", "libthing.so"], or name the library: latebind stub --functions FILE.'
        yield ("stub",), "the stub has no functions", advice
    for key, names in (
        ("packages", stub.packages),
        ("targets", stub.targets),
        ("variables", stub.variables),
        ("library", (stub.library,)),
        ("linked_with", stub.linked_with),
        ("pkg_config", (stub.pkg_config,)),
    ):
        yield from _misfits(
            ("stub", key), names, _LINKED, "cannot be a name in CMake", "Use letters, digits, and any of _.:+-"
        )
    advice = "Write a name, or a pattern: thing_*."
    yield from _misfits(("stub", "failures"), stub.failures, _FUNCTIONS, "matches no C function", advice)
    for version, functions in stub.since.items():
        for _, text, advice in version_problems("version", version):
            yield ("stub", "since"), text, advice
        yield from _misfits(("stub", "since"), functions, C_FUNCTION, _NO_FUNCTION, "Patterns cannot be here.")


def _supply_problems(described: DescribedRuntime | DescribedVariant) -> Iterator[Problem]:
    if described.python is None:
        if not described.advice:
            text = "no wheel supplies the runtime, and there is no advice on how to get it"
            yield ("python",), text, 'Write python = { folder = "thing/lib", extras = { cpu = "thing" } }, or advice.'
        return
    python = described.python
    for key, place, folders in (
        ("folder", "site-packages", python.folders or (() if python.prefixes else ("",))),
        ("prefix", "Python's own", python.prefixes),
    ):
        for folder in folders:
            path = PurePosixPath(folder)
            if not folder or path.is_absolute() or ".." in path.parts or set("\\;") & set(folder):
                text = f"{folder!r} is not a folder below {place}"
                yield ("python", key), text, 'Write where the wheel has the library: "thing/lib".'
    if not described.python.extras:
        yield ("python", "extras"), "no distribution supplies the runtime", 'Name one: extras = { cpu = "thing" }.'
    for extra, distribution in described.python.extras.items():
        if not DISTRIBUTION.match(extra) or not DISTRIBUTION.match(distribution):
            text = f'{extra} = "{distribution}" does not map an extra to a distribution'
            yield ("python", "extras"), text, "Write the distribution without a version: the minimum is added."
