"""What latebind knows of runtimes: TOML files in `runtimes/`, `functions/` and `libraries/`, read into frozen data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta
from packaging.version import Version

from latebind.backend.targets import render_marker
from latebind.errors import LatebindError

if TYPE_CHECKING:
    from loadcheck import System

LONGEST_TEXT = 60
"""Programs have room for as many characters wherever they copy a library's texts."""
Symbols = Literal["linked", "global", "local"]
Compatible = Literal["major", "minor", "always"]
_FOLDER = Path(__file__).parent


class PerSystem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file names of the runtime's library on each system."""

    linux: Annotated[
        tuple[str, ...],
        Meta(description="File names on Linux, in order of preference. Names with * are only for folders."),
    ] = ()
    macos: Annotated[tuple[str, ...], Meta(description="File names on macOS, in the same form.")] = ()
    windows: Annotated[tuple[str, ...], Meta(description="File names on Windows, in the same form.")] = ()


def join_names(parts: Iterable[PerSystem], is_wanted: Callable[[str], bool] = bool) -> PerSystem:
    """The names of all parts, each once, without those that are not wanted."""
    systems, parts = PerSystem.__struct_fields__, list(parts)
    names = {system: dict.fromkeys(name for part in parts for name in getattr(part, system)) for system in systems}
    return PerSystem(**{system: tuple(filter(is_wanted, names[system])) for system in systems})


class LibraryFiles(PerSystem, frozen=True, forbid_unknown_fields=True):
    """What a supplier calls the runtime's library, best first; a name with * is tried in folders."""

    prefix: dict[str, str] = {}
    """The folder of the library below Python's prefix, by system, of a supplier whose Python package lacks it."""


class PythonSupply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How Python distributions supply the runtime: the folder that holds it, and the distribution of each extra."""

    folder: str
    extras: dict[str, str]
    more_folders: tuple[str, ...] = ()
    """Those of other systems and variants."""
    prefix: tuple[str, ...] = ()
    """The folders below Python's own (sys.prefix) into which distributions such as tbb install it."""
    minimums: dict[str, str] = {}
    """The oldest suitable version of a distribution that supplies a variant."""
    targets: dict[str, tuple[str, ...]] = {}
    """The targets that the distribution of an extra has wheels for; an extra that is not here has them for all."""

    libraries: tuple[str, ...] = ()
    """All libraries that these distributions have, as globs; empty if that isn't known."""

    def is_supplied(self, extra: str, rid: str) -> bool:
        """Whether the distribution of an extra exists for a target."""
        return rid in self.targets.get(extra, (rid,))

    def render_requirement(self, extra: str, minimum: str) -> str:
        """What an extra requires, only where that exists: `onnxruntime-directml>=1.19; sys_platform == 'win32'`.

        The ordinary extra has no marker: without the runtime there is nothing to install, and pip says so.
        """
        marker = f"; {render_marker(self.targets[extra])}" if extra in self.targets and extra != self.extra else ""
        return f"{self.extras[extra]}>={self.oldest_of(self.extras[extra], minimum)}{marker}"

    def oldest_of(self, distribution: str, minimum: str) -> str:
        """The oldest suitable version of a distribution: the minimum, or a variant's own if that is higher."""
        own = self.minimums.get(distribution, "")
        return max(own, minimum, key=Version) if own and minimum else own or minimum

    @property
    def extra(self) -> str:
        """The ordinary extra: the first."""
        return next(iter(self.extras))

    @property
    def distribution(self) -> str:
        """The ordinary distribution: that of the first extra."""
        return self.extras[self.extra]

    @property
    def folders(self) -> tuple[str, ...]:
        """All folders that may hold it, the best first; () if no wheel supplies it."""
        return tuple(filter(None, (self.folder, *self.more_folders)))


NO_PYTHON = PythonSupply(folder="", extras={})
"""For a runtime that no wheel supplies."""


class NugetSupply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The NuGet packages that supply the runtime."""

    ids: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()
    """Globs of what the packages, and the wheel, hold next to the runtime's library."""


class RuntimeArtifacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the packages of one more ecosystem supply the runtime."""

    packages: tuple[str, ...]
    """Their names, the default first."""
    folder: str
    """The folder in them that has a folder for each target."""
    targets: dict[str, str]
    """Targets to the names of those folders."""
    files: PerSystem
    """The names of the runtime's files there, of which its library leads and not all must exist."""
    location: str = ""
    """The setting by which the ecosystem's own interface of the runtime is given the library's file; "" for none."""


class StubNames(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How projects look for the runtime when they link it: a stub answers to all of it."""

    library: str
    """What follows -l."""
    packages: tuple[str, ...]
    """Names for CMake's find_package(), in the spellings of their variables."""
    targets: tuple[str, ...] = ()
    """CMake targets, except NAME and NAME::NAME of each package."""
    variables: tuple[str, ...] = ()
    """Variables in which CMake's own find modules keep the library: CUDA_nvrtc_LIBRARY of FindCUDAToolkit."""
    linked_with: tuple[str, ...] = ()
    """What builds name with -l besides it, and need nothing of: the stub comes with an empty library for each."""
    pkg_config: str = ""
    header: str = ""
    """A header that identifies the folder of all headers."""
    minimum_macro: str = ""
    """The macro by which the headers hide what is newer than the minimum, which is an integer for them."""
    system: bool = True
    """Whether the stub searches the system's libraries, too."""
    driver: bool = False
    """Whether the library is a part of a driver, which Windows has in the system folder."""
    symbols: Symbols = "local"
    """Who sees the library's symbols, but for Windows: "linked", everybody if the stub is in a program, as with a
    linked library; "global", everybody; "local", nobody."""
    longest_text: int = LONGEST_TEXT
    """How many characters a text has at most that a function returns in place of the library's: a message or less."""
    failures: dict[str, int | str] = {}
    """Patterns of functions and what a matching one returns without a runtime: a number, "message", "nan",
    "nothing" or "abort"; the last match counts, and the default is "abort"."""

    @property
    def pkg_config_name(self) -> str:
        """What pkg-config calls it."""
        return self.pkg_config or self.library


class HeaderSupply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the runtime's official headers are."""

    repository: str = ""
    tag: str = ""
    """What is in front of the version in the names of its tags."""
    sources: tuple[str, ...] = ()
    """Folders of the repository; the first has the header that identifies all."""
    folders: tuple[str, ...] = ()
    """Folders of headers below the one that compilers search; () for that of the header that identifies all."""
    globs: tuple[str, ...] = ("*",)
    """Their file names, for folders that hold others, too."""
    wheel: str = ""
    """The distribution whose wheels hold them."""
    target: str = ""
    """The target whose wheel is the smallest; "" for this machine's."""
    macro: str = ""
    """The macro of the identifying header that states the version, as a number in `macro_version`."""
    macro_version: str = ""
    sha256: dict[str, str] = {}
    """Of the identifying header, by version."""


SYSTEMS: tuple[System, ...] = ("linux", "macos", "windows")


class RuntimeVariant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of several major versions of a runtime, or one of several suppliers of the same."""

    minimum: str
    """Newer versions of the same major version are suitable, too; "" for any."""
    advice: str
    companions: PerSystem
    """Files that the runtime opens by itself, with {major} and {minor} of its version."""
    signs: tuple[str, ...]
    """Files of packages that need this variant, below site-packages."""
    systems: tuple[Literal["linux", "macos", "windows"], ...] = SYSTEMS
    """Where it exists: messages advise it there."""


class RuntimePreset(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A runtime: its names, how an image of it is recognized, and who supplies it."""

    name: str
    title: str
    supplier: str = ""
    """Who makes it, for SBOMs."""
    environment: str
    entry_symbols: tuple[str, ...]
    file_globs: tuple[str, ...]
    """File names of the runtime itself and of what belongs to it."""
    linked_globs: tuple[str, ...]
    """What a binary that was linked against the runtime asks for."""
    release_versions: tuple[str, ...] = ()
    """Globs of its symbol versions that are those of one release each. Others, as of most libraries, stay in later
    releases."""
    plugin_symbols: tuple[str, ...] = ()
    """What a plugin for the runtime exports: a library of its own that may be named like one of the runtime's."""
    part_symbols: tuple[str, ...] = ()
    """What other libraries of the runtime itself export: with one of them, or an entry symbol, it is not a plugin."""
    markers: tuple[str, ...] = ()
    """Strings that a statically embedded copy contains."""
    floor: str
    floor_reason: str
    built: str
    stub: StubNames | None = None
    """The stub that takes the place of a linked runtime."""
    headers: HeaderSupply | None = None
    files: dict[str, LibraryFiles]
    """The library's files, by supplier."""
    python: PythonSupply
    variants: tuple[RuntimeVariant, ...] = ()
    """The best first; () for a runtime of one major version."""
    roots: tuple[str, ...] = ()
    """More folders where stubs look, below those that environment variables name: THING_HOME/lib."""
    advice: str = ""
    """The command that gets the runtime, where it is not `pip install`."""
    nuget: NugetSupply = NugetSupply()
    npm: str = ""
    """The npm package that supplies the runtime."""
    supplies: dict[str, RuntimeArtifacts] = {}
    """Its packages in further ecosystems, by the ecosystem's name."""
    compatible: Compatible = "major"
    """Which versions at or above the minimum have the same interface: those of the same major version, those of the
    same minor version, or always the later ones."""
    has_version: bool = True
    """Whether the library reports its version."""
    check: bool = False
    """The loader's source of this runtime has lb_<name>_check()."""
    libc: tuple[str, ...] = ()
    """The C libraries of Linux that its packages are built for; () for any. Elsewhere it says nothing."""
    file: str = ""
    """The file of the user that describes it."""

    @property
    def stub_argument(self) -> str:
        """What `latebind stub` takes."""
        return self.file or self.name

    @property
    def distribution(self) -> str:
        """The ordinary distribution on PyPI that supplies it; "" for none."""
        return self.python.distribution if self.python.extras else ""

    @property
    def majors(self) -> tuple[str, ...]:
        """The major versions of its variants."""
        return tuple(dict.fromkeys(variant.minimum.partition(".")[0] for variant in self.variants if variant.minimum))

    def list_companions(self, system: System, version: str = "") -> tuple[str, ...]:
        """What the runtime opens by itself; of the variant of a version, with its numbers, or of the best one."""
        major, _, rest = version.partition(".")
        fitting = (variant for variant in self.variants if variant.minimum.partition(".")[0] in ("", major))
        variant = next(fitting, None) if version else next(iter(self.variants), None)
        names: tuple[str, ...] = getattr(variant.companions, system) if variant else ()
        minor = rest.partition(".")[0]
        return tuple(name.replace("{major}", major).replace("{minor}", minor) for name in names)

    @property
    def names(self) -> PerSystem:
        """The file names of all suppliers."""
        return join_names(self.files.values(), lambda name: "*" not in name)

    @property
    def globs(self) -> PerSystem:
        """Those with a wildcard, which are tried in folders."""
        return join_names(self.files.values(), lambda name: "*" in name)

    @property
    def short_text(self) -> str:
        """What a stub's function that returns a text gives in place of a message that is too long."""
        longest = self.stub.longest_text if self.stub else LONGEST_TEXT
        what = f"{self.title} is not available"
        longer = f"{what}: LATEBIND_ON_MISSING=print"
        return longer if len(longer) <= longest else what[:longest]

    def plain_name(self, system: System) -> str:
        """The file name without a version or an addition of a supplier: the shortest."""
        names: tuple[str, ...] = getattr(self.names, system)
        return min(names, key=len)

    def list_files(self, system: System) -> tuple[str, ...]:
        """The file names of all suppliers on a system, those with a wildcard last."""
        return (*getattr(self.names, system), *getattr(self.globs, system))

    def list_prefix_folders(self, system: System) -> tuple[str, ...]:
        """Where suppliers put the library below Python's prefix."""
        found = [files.prefix[system] for files in self.files.values() if system in files.prefix]
        return tuple(dict.fromkeys([*self.python.prefix, *found]))


class FunctionTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a stub serves by name."""

    functions: dict[str, tuple[str, ...]]
    """Names by the version that has them first; "0.0" where that is not known."""
    absent: PerSystem = PerSystem()
    """Names that the libraries of a system lack, whatever their version."""
    texts: dict[str, str] = {}
    """Variables that point at a text, which is the same in every version."""
    variables: tuple[str, ...] = ()
    """Other variables, whose addresses programs ask for."""

    @property
    def since(self) -> dict[str, str]:
        """The version that has it first, by name; sorted by name."""
        return dict(sorted((name, version) for version, names in self.functions.items() for name in names))

    def since_on(self, system: System) -> dict[str, str]:
        """The same of what a system's libraries have."""
        lacking = frozenset(getattr(self.absent, system))
        return {name: version for name, version in self.since.items() if name not in lacking}


@cache
def presets() -> Mapping[str, RuntimePreset]:
    """All presets by name, sorted."""
    files = sorted(_FOLDER.glob("runtimes/*.toml"))
    return {file.stem: msgspec.toml.decode(file.read_bytes(), type=RuntimePreset) for file in files}


def preset(name: str) -> RuntimePreset:
    """The preset of that name. Raises LatebindError naming the known ones."""
    try:
        return presets()[name]
    except KeyError:
        names = ", ".join((*presets(), *library_files()))
        raise LatebindError(f"{name} is not a known runtime", advice=f"Use one of: {names}.") from None


@cache
def function_table(runtime: str) -> FunctionTable | None:
    """The functions of a preset; None for one that is not reached by names."""
    path = _FOLDER / "functions" / f"{runtime}.toml"
    return msgspec.toml.decode(path.read_bytes(), type=FunctionTable) if path.is_file() else None


@cache
def library_files() -> Mapping[str, Path]:
    """latebind's own descriptions of libraries, with the keys of [runtime.describe], by name, sorted."""
    return {file.stem: file for file in sorted(_FOLDER.glob("libraries/*.toml"))}
