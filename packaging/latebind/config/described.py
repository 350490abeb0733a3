"""A runtime that latebind has no preset for, as latebind.toml describes it; what is wrong with a description.

Reads no files. What a preset says in full is derived here from the little that a project knows.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta
from packaging.version import InvalidVersion, Version

from latebind.config.reader import Table
from latebind.tables.presets import NO_PYTHON, NugetSupply, PerSystem, PythonSupply, RuntimePreset, StubNames, presets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Problem = tuple[tuple[str, ...], str, str]
"""The keys below the description, what is wrong, what to do."""
_NAME = re.compile(r"^[a-z][a-z0-9_]*$")
_FUNCTION = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")
_FUNCTIONS = re.compile(r"^[A-Za-z_*][A-Za-z0-9_*?]*$")
_LINKED = re.compile(r"^[A-Za-z0-9_.:+-]*$")
_FILE = re.compile(r"^[A-Za-z0-9_.*+-]+$")
_PACKAGE = re.compile(r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$")
RUNTIME_VERSION = re.compile(r"^\d+\.\d+(\.\d+)?$")
"""What CMake and the loader read as a version."""
_ENDINGS = {
    "linux": (re.compile(r"\.so(\.|\*|$)"), "libthing.so"),
    "macos": (re.compile(r"\.dylib$"), "libthing.dylib"),
    "windows": (re.compile(r"\.dll$", re.IGNORECASE), "thing.dll"),
}


class DescribedFiles(Table, frozen=True):
    """The file names of the runtime's library on each system."""

    linux: Annotated[
        tuple[str, ...],
        Meta(
            description="File names on Linux, the best first. The loader uses a name with * only to search "
            "folders: libthing.so.*"
        ),
    ] = ()
    macos: Annotated[tuple[str, ...], Meta(description="File names on macOS, in the same form.")] = ()
    windows: Annotated[tuple[str, ...], Meta(description="File names on Windows, in the same form.")] = ()


class DescribedPython(Table, frozen=True):
    """The wheels that supply the runtime."""

    folder: Annotated[str, Meta(description="Folder of the library below site-packages, such as thing/lib.")]
    extras: Annotated[
        dict[str, str],
        Meta(description='Distribution that each extra installs, the ordinary one first: { cpu = "thing" }.'),
    ]


class DescribedStub(Table, frozen=True):
    """The stub: a small library that code links instead of the runtime, and that binds the runtime late."""

    functions: Annotated[
        tuple[str, ...],
        Meta(
            description="C functions of the runtime, or files that list them: a shared library, a .def file or a "
            "header. Files are relative to native.source. A pattern such as thing_* selects functions "
            "from the files.",
            min_length=1,
        ),
    ]
    failures: Annotated[
        dict[str, int | Literal["message", "abort"]],
        Meta(
            description="What each function returns if there is no runtime, by pattern; the last match takes "
            'precedence. The value is a number, "message" (return a text that names the problem), or '
            '"abort" (print it and end the process). The default is "abort".'
        ),
    ] = msgspec.field(default_factory=dict)
    library: Annotated[
        str, Meta(description="Name after -l in link commands. The default follows from the file's name.")
    ] = ""
    packages: Annotated[
        tuple[str, ...],
        Meta(description="Names for find_package(). The default is the names of the runtime and of the library."),
    ] = ()
    targets: Annotated[
        tuple[str, ...],
        Meta(description="Further CMake targets that projects link. NAME and NAME::NAME of each package always exist."),
    ] = ()
    header: Annotated[str, Meta(description="A header file by which latebind finds the folder of all headers.")] = ""
    system: Annotated[
        bool,
        Meta(
            description="Whether the stub also searches the system's libraries. Set false if the system may have "
            "an old copy that belongs to other programs."
        ),
    ] = True


class DescribedRuntime(Table, frozen=True):
    """A runtime that has no preset: how the loader finds and recognizes it, and which packages supply it."""

    name: Annotated[
        str,
        Meta(
            description="Name of the runtime in this file, in CMake and in C: lb_<name>.",
            extra_json_schema={"pattern": _NAME.pattern},
        ),
    ]
    entry: Annotated[
        str,
        Meta(
            description="An exported function that only this library has, and that reports the version.",
            extra_json_schema={"pattern": _FUNCTION.pattern},
        ),
    ]
    version: Annotated[
        Literal["text", "three-numbers", "four-numbers", "own"],
        Meta(
            description="How `entry` reports the version. text: const char* entry(void). three-numbers: void "
            "entry(unsigned*, unsigned*, unsigned*). four-numbers: the same with a fourth argument. "
            "own: your project defines lb_<name>_read_version(), which <latebind/latebind.h> declares."
        ),
    ]
    built: Annotated[
        str,
        Meta(
            description="Newest version that you have tried. The loader also uses newer versions, and its report "
            "notes that."
        ),
    ]
    files: Annotated[DescribedFiles, Meta(description="File names of the library.")]
    python: Annotated[DescribedPython | None, Meta(description="The wheels that supply the runtime.")] = None
    advice: Annotated[str, Meta(description="Command that installs the runtime, if no wheel supplies it.")] = ""
    stub: Annotated[DescribedStub | None, Meta(description="The stub for `drop_in` and `latebind stub`.")] = None
    title: Annotated[str, Meta(description="Name of the runtime in messages. The default is `name`.")] = ""
    environment: Annotated[
        str,
        Meta(
            description="Environment variable that names the runtime's file or folder. The default is <NAME>_LIB_PATH."
        ),
    ] = ""
    nuget: Annotated[tuple[str, ...], Meta(description="Ids of the NuGet packages that supply the runtime.")] = ()
    markers: Annotated[
        tuple[str, ...],
        Meta(
            description="Strings that only the runtime itself contains. The audit uses them to detect a copy that "
            "was linked in."
        ),
    ] = ()
    calendar: Annotated[
        bool,
        Meta(description="Whether the major version is a year. A later major version then has the same interface."),
    ] = False
    libc: Annotated[
        tuple[Literal["glibc", "musl"], ...],
        Meta(description="C libraries of Linux that the runtime is supplied for. By default, any."),
    ] = ()

    def preset(self) -> RuntimePreset:
        """The same in the form of a preset."""
        systems = {"linux": self.files.linux, "macos": self.files.macos, "windows": self.files.windows}
        plain = {key: tuple(name for name in names if "*" not in name) for key, names in systems.items()}
        globs = {key: tuple(name for name in names if "*" in name) for key, names in systems.items()}
        copies = tuple(
            dict.fromkeys(glob for key, names in plain.items() for name in names for glob in _copies(key, name))
        )
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
            names=PerSystem(**plain),
            globs=PerSystem(**globs),
            python=PythonSupply(folder=self.python.folder, extras=self.python.extras) if self.python else NO_PYTHON,
            advice=self.advice,
            stub=self._stub_names(),
            nuget=NugetSupply(ids=self.nuget),
            calendar=self.calendar,
            libc=self.libc,
        )

    def _stub_names(self) -> StubNames | None:
        if self.stub is None:
            return None
        file = next((name for name in (*self.files.linux, *self.files.macos) if "*" not in name), f"lib{self.name}.so")
        library = self.stub.library or re.sub(r"^lib|\.(so|dylib)\b.*$", "", file)
        return StubNames(
            library=library,
            packages=self.stub.packages or tuple(dict.fromkeys((self.name, library))),
            targets=self.stub.targets,
            header=self.stub.header,
            system=self.stub.system,
            failures=dict(self.stub.failures),
        )


class DescribedFile(DescribedRuntime, frozen=True):
    """A file that describes a runtime for `latebind stub`."""

    minimum: Annotated[str, Meta(description="Oldest version that works.")] = ""


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
    if described.name in presets():
        text = f"{described.name} is a runtime that latebind knows"
        yield ("name",), text, f'Write preset = "{described.name}" instead of the description, or choose another name.'
    if not _NAME.match(described.name):
        text = f"{described.name!r} cannot be part of a name in C"
        yield ("name",), text, "Use small letters, digits and _, a letter first."
    if described.environment and not _FUNCTION.match(described.environment):
        text = f"{described.environment!r} is not the name of a variable"
        yield ("environment",), text, f"Leave it out: it is {described.name.upper()}_LIB_PATH then."
    if not described.advice.isprintable():
        yield ("advice",), "the advice has line ends or control characters", "Write one plain line."
    if not described.title.isprintable() or set('"\\*') & set(described.title):
        yield ("title",), f"{described.title!r} is not a plain title", 'Write it without ", \\, * and line ends.'
    if not _FUNCTION.match(described.entry):
        yield (
            ("entry",),
            f"{described.entry!r} is not the name of a C function",
            "Name an exported one: nm -D shows them.",
        )
    if described.stub:
        yield from _stub_problems(described.stub)
    yield from _built_problems(described, minimum)
    yield from _file_problems(described.files, systems)
    yield from _supply_problems(described)


def version_problems(key: str, version: str) -> Iterator[Problem]:
    """A problem of the key unless the version has the form that C code can have."""
    if not RUNTIME_VERSION.match(version):
        yield (key,), f"{version!r} is not two or three numbers", "Write it as 1.19 or 1.19.2."


def _built_problems(described: DescribedRuntime, minimum: str) -> Iterator[Problem]:
    yield from (wrong := list(version_problems("built", described.built)))
    if not wrong and (least := version_of(minimum)) and Version(described.built) < least:
        yield (
            ("built",),
            f"built = {described.built} is older than the minimum, {minimum}",
            "Write the newest one tried.",
        )


def _file_problems(files: DescribedFiles, systems: Iterable[str]) -> Iterator[Problem]:
    named = {"linux": files.linux, "macos": files.macos, "windows": files.windows}
    for system in sorted(set(systems)):
        if not any("*" not in name for name in named[system]):
            text = f"no file name for {system}, which a target is of"
            yield ("files",), text, f'Write files.{system} = ["{_ENDINGS[system][1]}"], or leave those targets out.'
    for system, names in named.items():
        ending, example = _ENDINGS[system]
        for name in names:
            if not _FILE.match(name) or not ending.search(name):
                text = f"{name!r} is not the file name of a library on {system}"
                yield ("files", system), text, f'Write the plain name, without a folder: "{example}".'


def _stub_problems(stub: DescribedStub) -> Iterator[Problem]:
    for key, names in (("packages", stub.packages), ("targets", stub.targets), ("library", (stub.library,))):
        for name in names:
            if not _LINKED.match(name):
                yield ("stub", key), f"{name!r} cannot be a name in CMake", "Use letters, digits, and any of _.:+-"
    for pattern in stub.failures:
        if not _FUNCTIONS.match(pattern):
            yield ("stub", "failures"), f"{pattern!r} matches no C function", "Write a name, or a pattern: thing_*."


def _supply_problems(described: DescribedRuntime) -> Iterator[Problem]:
    if described.python is None:
        if not described.advice:
            text = "no wheel supplies it, and there is no advice on how to get it"
            yield ("python",), text, 'Write python = { folder = "thing/lib", extras = { cpu = "thing" } }, or advice.'
        return
    folder = PurePosixPath(described.python.folder)
    if not described.python.folder or folder.is_absolute() or ".." in folder.parts or "\\" in str(folder):
        text = f"{described.python.folder!r} is not a folder below site-packages"
        yield ("python", "folder"), text, 'Write where the wheel has the library: "thing/lib".'
    if not described.python.extras:
        yield ("python", "extras"), "no distribution supplies it", 'Name one: extras = { cpu = "thing" }.'
    for extra, distribution in described.python.extras.items():
        if not _PACKAGE.match(extra) or not _PACKAGE.match(distribution):
            text = f'{extra} = "{distribution}" is not an extra and a distribution'
            yield ("python", "extras"), text, "Write the distribution without a version: the minimum is added."
    for name in described.nuget:
        if not _PACKAGE.match(name):
            yield ("nuget",), f"{name!r} is not the id of a NuGet package", "Write the id alone."


def version_of(text: str) -> Version | None:
    """The version that a text states in PEP 440's form; None for any other text."""
    try:
        return Version(text)
    except InvalidVersion:
        return None
