"""How a .NET application that uses the packages is built and started, and what must hold of it."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from latebind.compilers.mono import FRAMEWORK
from latebind.text import plural

OLDER_FRAMEWORK = ".NETStandard,Version=v2.0"
"""The TargetFramework attribute of an assembly for netstandard2.0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """An application that was built, and what its process loaded."""

    packages: Sequence[Path]
    """The nupkgs of the feed."""
    rid: str
    out: Path
    """The folder of the application."""
    cache: Path
    """NuGet's package folder."""
    libraries: tuple[str, ...] = ()
    """Mapped files of the packages and the runtime; none when nothing ran."""
    parts: int = 0
    """How many packages have native libraries for this process: the project's own, and the runtime's."""
    framework: str = ""
    """The TargetFramework attribute of the managed assembly that was loaded."""

    @property
    def loaded(self) -> set[str]:
        """The names of the libraries: a package may hold one that its others open only sometimes."""
        return {path.rpartition("/")[2] for path in self.libraries}


Proof: TypeAlias = "Callable[[Application], list[str]]"
"""What is wrong with an application; [] when nothing is."""


class _Member(NamedTuple):
    """A file of a package that an application may get."""

    package: str
    name: str
    """Its path in the package."""
    data: bytes

    @property
    def file(self) -> str:
        return self.name.rpartition("/")[2]

    @property
    def rid(self) -> str:
        return self.name.split("/")[1]


def from_the_packages(seen: Application) -> list[str]:
    """NuGet installed the packages of the feed, byte for byte, and none of the same name from elsewhere."""
    installed = {path.name.lower(): path for path in seen.cache.glob("*/*/*.nupkg")}
    wrong = []
    for package in seen.packages:
        copy = installed.get(package.name.lower())
        if copy is not None and copy.read_bytes() != package.read_bytes():
            wrong.append(f"NuGet installed a {package.name} that differs from the packed one")
    return wrong


def apart(seen: Application) -> list[str]:
    """Each loaded native library came out of its package's folder, and there are as many folders as packages."""
    homes = {
        path.rpartition("/")[2]: path.partition("/runtimes/")[0]
        for path in seen.libraries
        if path.startswith(f"{seen.cache}/") and "/runtimes/" in path
    }
    expected = {member.file for member in _native(seen.packages) if member.rid == seen.rid} & seen.loaded
    wrong = [f"{file} was not loaded from a package in {seen.cache}" for file in sorted(expected - set(homes))]
    folders = sorted(set(homes.values()))
    if len(folders) != seen.parts:
        listing = ", ".join(folders)
        packages = plural(len(folders), "package")
        wrong.append(f"native libraries came from {packages} instead of {seen.parts}: {listing or 'none'}")
    return wrong


def next_to_it(seen: Application) -> list[str]:
    """Build files copied the native libraries next to the application, and they were loaded from there."""
    wrong = []
    for member in _native(seen.packages):
        if member.rid == seen.rid:
            path = seen.out / member.file
            wrong += _differences(path, [member])
            if path.is_file() and member.file in seen.loaded and str(path) not in seen.libraries:
                wrong.append(f"{member.file} was not loaded from the application's folder")
    return wrong


def files_of_the_rid(seen: Application) -> list[str]:
    """The application has the RID's native files and the managed assemblies of the packages, and no others."""
    native = _native(seen.packages)
    expected = [member for member in native if member.rid == seen.rid]
    wrong = [] if expected else [f"no package has a native file for {seen.rid}"]
    for member in expected:
        wrong += _differences(seen.out / member.file, [member])
    for file, members in _list_assemblies(seen.packages).items():
        wrong += _differences(seen.out / file, members)
    foreign = {member.file for member in native} - {member.file for member in expected}
    strangers = [path for path in sorted(seen.out.rglob("*")) if path.name in foreign]
    nested = [path for path in sorted(seen.out.glob("runtimes/**/*")) if path.is_file()]
    return wrong + [f"{path.relative_to(seen.out)} is of another RID" for path in dict.fromkeys([*strangers, *nested])]


def one_program(seen: Application) -> list[str]:
    """The managed assemblies are inside the program, not next to it."""
    outside = sorted(set(_list_assemblies(seen.packages)) & {path.name for path in seen.out.iterdir()})
    return [f"{file} is next to the program, not inside it" for file in outside]


def older_assembly(seen: Application) -> list[str]:
    """The managed assembly that was loaded is the one for netstandard2.0."""
    if seen.framework == OLDER_FRAMEWORK:
        return []
    return [f"an assembly for {seen.framework or 'an unknown framework'} was loaded, not one for {OLDER_FRAMEWORK}"]


def _differences(path: Path, members: Sequence[_Member]) -> list[str]:
    """What is wrong with a file that must be one of the members."""
    where = f"{members[0].package}!{members[0].name}"
    if not path.is_file():
        return [f"{path.name} is missing; it should come from {where}"]
    data = path.read_bytes()
    return [] if any(member.data == data for member in members) else [f"{path.name} differs from {where}"]


def _native(packages: Sequence[Path]) -> list[_Member]:
    return _list_members(packages, re.compile("runtimes/[^/]+/native/.*[^/]"))


def _list_assemblies(packages: Sequence[Path]) -> dict[str, list[_Member]]:
    """The assemblies of all frameworks by their file's name."""
    by_file: dict[str, list[_Member]] = {}
    for member in _list_members(packages, re.compile(r"lib/.*\.dll")):
        by_file.setdefault(member.file, []).append(member)
    return by_file


def _list_members(packages: Sequence[Path], pattern: re.Pattern[str]) -> list[_Member]:
    members = []
    for package in packages:
        with zipfile.ZipFile(package) as archive:
            names = filter(pattern.fullmatch, archive.namelist())
            members += [_Member(package.name, name, archive.read(name)) for name in names]
    return members


Start = Literal["assembly", "program", "mono", "nothing"]
"""What is run: the assembly by `dotnet`, the program that the SDK makes for it, the program by `mono`, or nothing: then
only its files are checked."""

_FRAMEWORK_DEPENDENT = ("--self-contained", "false")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A consumer of nupkgs. `{rid}` in `command` and `properties` stands for the target.

    In `properties`, `{references}` stands for Mono's reference assemblies.
    """

    name: str
    title: str
    command: tuple[str, ...] = ("build",)
    """The arguments of `dotnet`, without the output folder and the properties."""
    properties: Mapping[str, str] = field(default_factory=dict)
    start: Start = "assembly"
    application: str = ""
    """A folder of templates/nuget/consumer: an application around the consumer, which becomes a class library."""
    targets: str = ""
    """A file of templates/nuget/consumer that the consumer's build takes in: its Directory.Build.targets."""
    proofs: tuple[Proof, ...] = (from_the_packages,)
    """What must hold of the application, apart from what the consumer computes."""
    needs_sdk: int = 0
    """The oldest major version of an SDK that can make it."""
    fetches: bool = False
    """Whether the SDK fetches parts of .NET from the feeds that are configured on the machine."""


CACHE = "dotnet-cache"

LAYOUTS: tuple[Layout, ...] = (
    Layout(name="dotnet-build", title="built, no RID given"),
    Layout(name="dotnet-rid", title="built for the RID",
           command=("build", "-r", "{rid}"), properties={"SelfContained": "false"}),
    Layout(name="dotnet-publish", title="published for the RID, framework-dependent",
           command=("publish", "-r", "{rid}", *_FRAMEWORK_DEPENDENT)),
    Layout(name="dotnet-single-file", title="published as a single file, and started as a program",
           command=("publish", "-r", "{rid}", *_FRAMEWORK_DEPENDENT), properties={"PublishSingleFile": "true"},
           start="program", proofs=(from_the_packages, one_program)),
    Layout(name="dotnet-transitive", title="references only a class library, which references the packages",
           application="transitive"),
    Layout(name=CACHE, title="built, but the packages' libraries are not copied next to the application",
           properties={"CopyLocalLockFileAssemblies": "false", "GenerateRuntimeConfigDevFile": "true"},
           proofs=(from_the_packages, apart)),
    Layout(name="dotnet-netstandard2.0", title="built with the netstandard2.0 assembly of the package",
           targets="netstandard2.0.targets", proofs=(from_the_packages, older_assembly)),
    Layout(name="dotnet-files", title="published for the RID, but not started: latebind checks only its files",
           command=("publish", "-r", "{rid}", *_FRAMEWORK_DEPENDENT),
           # The program that starts an application is another package for each RID, and not what is looked at.
           properties={"UseAppHost": "false"}, start="nothing",
           proofs=(from_the_packages, files_of_the_rid)),
    Layout(name="mono", title="a .NET Framework 4.7.2 application, run by Mono", targets="mono.targets", start="mono",
           properties={"ConsumerFramework": FRAMEWORK, "ConsumerRid": "{rid}", "FrameworkPathOverride": "{references}"},
           proofs=(from_the_packages, older_assembly, next_to_it)),
    Layout(name="dotnet-net8.0", title="built for net8.0", properties={"ConsumerFramework": "net8.0"},
           needs_sdk=8, fetches=True),
    Layout(name="dotnet-self-contained", title="published together with .NET, and started as a program",
           command=("publish", "-r", "{rid}", "--self-contained", "true"), start="program", needs_sdk=8, fetches=True),
    Layout(name="dotnet-trimmed", title="published together with .NET, and trimmed",
           command=("publish", "-r", "{rid}", "--self-contained", "true"), properties={"PublishTrimmed": "true"},
           start="program", needs_sdk=8, fetches=True),
)  # fmt: skip

BUILD = LAYOUTS[0]


def find_layout(name: str) -> Layout:
    """The layout of a consumer."""
    return next(layout for layout in LAYOUTS if layout.name == name)
