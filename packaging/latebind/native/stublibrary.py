"""The stub of a runtime: what it is made of, and the static library that is linked in the runtime's place."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import msgspec

from latebind.backend.files import digest, write_changed, write_text
from latebind.backend.members import Row
from latebind.backend.recipe import StubRecipe
from latebind.backend.stub import DESCRIBED, INCLUDE, SOURCES, install_stub, run_step
from latebind.backend.targets import Target
from latebind.backend.toolchain import Toolchain
from latebind.backend.tree import hash_tree
from latebind.config.runtime import RuntimeUse
from latebind.errors import BuildError, LatebindError
from latebind.native.amalgamation import amalgamation, declare_reader, stub_sources
from latebind.native.functions import find_functions, show_names
from latebind.native.loadersource import described_source, runtime_header, three_numbers
from latebind.system.folders import swap_in
from latebind.system.log import LOG
from latebind.system.run import run
from latebind.tables.presets import LONGEST_TEXT, FunctionTable, RuntimePreset, StubNames, function_table
from latebind.templates import fill
from latebind.text import DOCS, plural

if TYPE_CHECKING:
    from latebind.config.described import DescribedRuntime
    from loadcheck import System

_MARK = ".latebind"
"""The file that says which stubs a folder has."""
_SINGLE = "single"
_NO_OBJECT = b"!<arch>\n"
"""A static library without an object (ar(5))."""
_VISUAL_CPP_FOLDER = "lib/msvc"
"""Where a stub's folder has the library for Visual C++."""
_VISUAL_CPP_FLAGS = (
    *("-std=c99", "-O2", "-DNDEBUG", "-fstack-protector-strong"),
    *("-s", "-g0", "-mno-incremental-linker-compatible"),  # no paths of this machine, and no time
    "-fno-addrsig",  # nothing that only LLVM's linker reads
    *("-Xclang", "-cfguard-no-checks"),  # lists what control-flow guard may call
)
_VERSION = re.compile(r"^Version: (.*)$", re.MULTILINE)
_LIBRARIES = re.compile(r"^Libs:.*$", re.MULTILINE)
_OWN_FOLDER = " -I${includedir}"
"""What a stub's pkg-config file says of headers; CMake refuses to export it where the stub is in the source folder."""
_FLAGS = re.compile(r"^Cflags: .*$", re.MULTILINE)
ABORT, NOTHING = "abort", "nothing"
SYSTEM_MACROS: Mapping[System, str] = {
    "linux": "defined(__linux__)",
    "macos": "defined(__APPLE__)",
    "windows": "defined(_WIN32)",
}
"""What a C compiler defines for each system."""
_OWN_READER = (
    "every program that links the stub needs int lb_{name}_read_version(void* entry, char* text, size_t size), which "
    f"you write in C: {DOCS}/howto/stub.md#how-the-library-reports-its-version"
)
_MOST = 16_000
"""The most functions in a table: a function's number is a 16-bit operand on arm64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StubSource:
    """What a stub is made of on every target."""

    runtime: RuntimePreset
    names: StubNames
    minimum: str
    table: FunctionTable | None
    """Its functions by name; None for ONNX Runtime, whose functions are in a table of its own."""
    described: DescribedRuntime | None = None
    """The description of a runtime without a preset."""
    priority: str = "recommended"
    """How much programs need the runtime, for the section .note.dlopen."""

    def files(self) -> dict[str, str]:
        """The text of each file, by its path below the folder that CMake calls LATEBIND_DESCRIBED.

        Raises LatebindError for too many functions.
        """
        if self.table is None:
            return {}
        files = {f"{self.runtime.name}/stub_table.h": stub_table(self.runtime, self.table)}
        if self.described:
            header = runtime_header(self.runtime, self.minimum, "a description by latebind")
            files[f"latebind/{self.runtime.name}.h"] = header
            files[f"{self.runtime.name}.c"] = described_source(self.described)
        return files

    def rows(self) -> list[Row]:
        """Linux's functions; [] for a stub without a table."""
        listed = self.table.since_on("linux") if self.table else {}
        return [
            Row(name, *_failure(name, self.names.failures), [int(number) for number in three_numbers(version)])
            for name, version in listed.items()
        ]

    def variables_header(self) -> str:
        """The header with which programs use the library's variables; "" if it has none."""
        variables = self.table.variables if self.table else ()
        if not variables:
            return ""
        name = self.runtime.name
        use = f"LATEBIND_{name.upper()}_VARIABLE"
        macros = (f"#ifndef {variable}\n#define {variable} {use}({variable})\n#endif" for variable in variables)
        return fill(
            "stub_variables.h", name=name, macro=name.upper(), title=self.runtime.title, macros="\n".join(macros)
        )


class _Installed(msgspec.Struct, frozen=True):
    """What a folder has of one stub."""

    key: str
    files: tuple[str, ...]


def _read_mark(prefix: Path) -> dict[str, _Installed]:
    """The stubs in a folder, by the names of their runtimes. Raises BuildError for a folder of something else."""
    if not prefix.exists():
        return {}
    try:
        return msgspec.json.decode((prefix / _MARK).read_bytes(), type=dict[str, _Installed])
    except (OSError, msgspec.DecodeError) as error:
        advice = "Name another folder, or remove this one."
        raise BuildError("exists and was not made by latebind", where=str(prefix), advice=advice) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledHeaders:
    """A library's headers that stay where they are, as its own pkg-config file describes them."""

    flags: str
    """How a compiler finds them."""
    version: str
    variables: tuple[tuple[str, str], ...]
    """What builds ask pkg-config for besides, with values."""
    others: tuple[str, ...] = ()
    """The further libraries that it gives, as linkers take them."""
    requires: tuple[str, ...] = ()
    """The packages whose libraries programs link with it, as pkg-config lists them: base >= 1.2."""

    def describe(self, text: str) -> str:
        """The stub's pkg-config file, `text`, with what the library's own says, but not where libraries are."""
        places = ("prefix", "includedir", "libdir", "pcfiledir")
        kept = "".join(f"{key}={value}\n" for key, value in self.variables if not key.endswith(places))
        version = self.version or _VERSION.findall(text)[0]
        text = _VERSION.sub(lambda _: f"Version: {version}", text.replace("\nName: ", f"{kept}\nName: ", 1))
        requires = f"Requires: {', '.join(self.requires)}\n" if self.requires else ""
        text = _FLAGS.sub(lambda line: f"{requires}{line[0].replace(_OWN_FOLDER, '')} {self.flags}".rstrip(), text)
        return _LIBRARIES.sub(lambda line: " ".join([line[0].rstrip(), *self.others]), text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stub:
    """A stub for one target."""

    source: StubSource
    target: Target
    floor: str
    toolchain: Toolchain
    loader: Path
    headers: Path | None = None
    """A folder of the runtime's official headers to install as well."""
    installed: Mapping[str, InstalledHeaders] = field(default_factory=dict)
    """The headers that stay where they are, by each name that pkg-config has for the library."""
    scripted: tuple[str, ...] = ()
    """The further libraries that a linker gets with the library, if that is a linker script here: -ltinfo."""
    visual_cpp: Path | None = None
    """zig, if a stub for Windows is to have a library for Visual C++ as well."""

    def make(self, prefix: Path) -> None:
        """Build and install it in `prefix`, unless what is there was made from the same inputs. Other stubs stay there.

        Raises BuildError or ToolError; what was there before stays then.
        """
        there = _read_mark(prefix)
        if self.source.runtime.name in there and there[self.source.runtime.name].key == self.key:
            return
        prefix.parent.mkdir(parents=True, exist_ok=True)
        title = f"the stub of {self.source.runtime.title} for {self.target.rid}"
        with (
            LOG.step(f"building {title}", f"built {title}"),
            TemporaryDirectory(dir=prefix.parent, prefix=".") as scratch,
        ):
            aside = Path(scratch) / "prefix"
            self._install(Path(scratch), aside)
            self._add_others(aside, prefix, there)
            swap_in(aside, prefix)

    def _install(self, folder: Path, prefix: Path) -> None:
        install_stub(
            self.recipe,
            stub_texts(self.loader, self.source),
            loader=self.loader,
            target=self.target,
            floor=self.floor,
            toolchain=self.toolchain,
            folder=folder,
            prefix=prefix,
            headers=self.headers,
            run=run,
        )
        for library in self.source.names.linked_with:
            (prefix / "lib" / f"lib{library}.a").write_bytes(_NO_OBJECT)
        if self.scripted:
            text = f"INPUT(lib{self.source.names.library}.a AS_NEEDED({' '.join(self.scripted)}))\n"
            write_text(prefix / "lib" / f"lib{self.source.names.library}.so", text)
        packages = prefix / "lib" / "pkgconfig"
        plain = (packages / f"{self.source.names.pkg_config_name}.pc").read_text("utf-8")
        for name, installed in self.installed.items():
            write_text(packages / f"{name}.pc", installed.describe(plain))
        if self.visual_cpp is not None and self.target.system == "windows":
            environment = self.toolchain.environment(folder / "tree")
            write_changed(amalgamation(self.loader, self.source), folder / _SINGLE)
            self._install_for_visual_cpp(self.visual_cpp, environment, folder / _SINGLE, prefix)

    def _install_for_visual_cpp(self, zig: Path, environment: Mapping[str, str], single: Path, prefix: Path) -> None:
        """Add a library in Microsoft's ABI, made without Microsoft's SDK, and a file with which pkg-config finds it.

        It has one object that needs KERNEL32 and any C runtime. The headers are our own declarations of what the loader
        uses of Windows and C.
        """
        names, folder = self.source.names, prefix / _VISUAL_CPP_FOLDER
        (folder / "pkgconfig").mkdir(parents=True)
        name = f"latebind_{self.source.runtime.name}"
        flags: list[str | Path] = [
            *_VISUAL_CPP_FLAGS,
            f"-ffile-prefix-map={single}=source",
            "-isystem",
            self.loader / "stub" / "msvc",
        ]
        triple = f"{self.target.arch}-windows-msvc"
        steps: list[list[str | Path]] = [
            [zig, "cc", "-target", triple, *flags, "-c", f"{name}.c", "-o", f"{name}.obj"],
            [zig, "lib", "-nologo", f"-out:{folder / names.library}.lib", f"{name}.obj"],
        ]
        for step in steps:
            problem = f"{name}.c could not be compiled for Visual C++ on {self.target.rid}"
            run_step(step, single, environment, problem, run)
        file = Path("pkgconfig") / f"{self.source.names.pkg_config_name}.pc"
        text = (prefix / "lib" / file).read_text("utf-8")
        moved = {
            "prefix=${pcfiledir}/../..": "prefix=${pcfiledir}/../../..",
            "libdir=${prefix}/lib\n": f"libdir=${{prefix}}/{_VISUAL_CPP_FOLDER}\n",
        }
        for before, after in moved.items():
            text = text.replace(before, after)
        write_text(folder / file, text)

    def _add_others(self, aside: Path, prefix: Path, there: Mapping[str, _Installed]) -> None:
        """Add the other stubs of an earlier prefix to a new one, and note whose each file is."""
        name = self.source.runtime.name
        own = tuple(path.relative_to(aside).as_posix() for path in sorted(aside.rglob("*")) if path.is_file())
        others = {other: installed for other, installed in there.items() if other != name}
        for other, installed in others.items():
            for file in installed.files:
                if file in own and (aside / file).read_bytes() != (prefix / file).read_bytes():
                    text = f"the stubs of {other} and {name} both install {file}"
                    advice = "Write another stub.library, stub.packages or stub.pkg_config, or choose another folder."
                    raise BuildError(text, where=str(prefix), advice=advice)
                (aside / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(prefix / file, aside / file)
        write_text(aside / _MARK, msgspec.json.encode({**others, name: _Installed(self.key, own)}).decode())

    @property
    def recipe(self) -> StubRecipe:
        """What the build needs to know of it."""
        runtime = self.source.runtime
        return StubRecipe(
            name=runtime.name,
            title=runtime.title,
            minimum=self.source.minimum,
            names={
                **_list_names(runtime, self.source.names, has_table=self.source.table is not None),
                **_define_minimum(self.source.names, self.source.described, self.source.minimum),
            },
        )

    @property
    def key(self) -> str:
        """A hash of all that it is made from."""
        headers = hash_tree(self.headers, modes=False) if self.headers else ""
        made_of = [
            hash_tree(self.loader, modes=False),
            self.toolchain.fingerprint(),
            self.source.minimum,
            self.source.priority,
            repr(self.installed),
            *self.scripted,
        ]
        made_of += self.source.names.linked_with
        texts = [text for pair in sorted({**self.recipe.names, **self.source.files()}.items()) for text in pair]
        kinds = "visual-cpp" if self.visual_cpp is not None else ""
        return digest([*made_of, self.target.rid, self.floor, headers, kinds, *texts])


def stub_texts(loader: Path, source: StubSource) -> dict[str, str]:
    """The generated files of a stub, by name. Raises LatebindError for too many functions."""
    name = source.runtime.name
    headers = {"variables": source.variables_header(), "version": declare_reader(source)}
    return {
        **{f"{DESCRIBED}/{file}": text for file, text in source.files().items()},
        **{f"{SOURCES}/{file}": text for file, text in stub_sources(loader, source).items()},
        **{f"{INCLUDE}/{name}_{kind}.h": text for kind, text in headers.items() if text},
    }


def name_stub(runtime: RuntimeUse) -> dict[str, str]:
    """CMake's variables for how projects look for a runtime of theirs that has a stub."""
    preset, described = runtime.traits, runtime.describe
    has_table = function_table(preset.name) is not None or bool(described and described.stub)
    if preset.stub is None:
        return {}
    names = _list_names(preset, preset.stub, has_table=has_table)
    return {**names, **_define_minimum(preset.stub, described, runtime.minimum)}


def _define_minimum(names: StubNames, described: DescribedRuntime | None, minimum: str) -> dict[str, str]:
    """CMake's variable for the macro by which the runtime's headers hide what is newer than the minimum."""
    if not names.minimum_macro or described is None:
        return {}
    parts = zip(described.scale, map(int, three_numbers(minimum)), strict=False)
    return {"LATEBIND_DEFINITIONS": f"{names.minimum_macro}={sum(scale * part for scale, part in parts):#018x}"}


def _list_names(runtime: RuntimePreset, names: StubNames, *, has_table: bool) -> dict[str, str]:
    return {
        "LATEBIND_RUNTIME": runtime.name,
        "LATEBIND_LIBRARY": names.library,
        "LATEBIND_PACKAGES": ";".join(names.packages),
        "LATEBIND_TARGETS": ";".join(names.targets),
        "LATEBIND_VARIABLES": ";".join(names.variables),
        "LATEBIND_PKG_CONFIG": names.pkg_config_name,
        "LATEBIND_VERSION": (runtime.built or "0.0") if has_table else "",
        "LATEBIND_HEADER": names.header,
    }


def stub_source(
    runtime: RuntimeUse, folder: Path, called: frozenset[str] | None = None
) -> tuple[StubSource, list[str]]:
    """The stub of a project's runtime, and notes about what cannot be in it. `folder` is that of its native sources.

    It has only what is `called`, if given, of a described runtime.

    Raises LatebindError for a runtime without a stub, and what `find_functions` raises.
    """
    preset, described = runtime.traits, runtime.describe
    table, notes = function_table(preset.name), list[str]()
    if preset.stub is None:
        advice = "List its functions below [runtime.describe.stub]."
        raise LatebindError(f"there is no stub of {preset.title}", advice=advice)
    if described and described.stub:
        table, notes = find_functions(described.stub.functions, folder, described.entry, described.version, called)
        newer = {name for names in described.stub.since.values() for name in names}
        oldest = tuple(name for name in table.functions["0.0"] if name not in newer)
        since = {
            version: tuple(name for name in names if called is None or name in called)
            for version, names in described.stub.since.items()
        }
        table = msgspec.structs.replace(table, functions={"0.0": oldest, **since})
        for pattern in described.stub.failures if called is None else ():
            if not any(fnmatchcase(name, pattern) for name in table.since):
                advice = "Correct the pattern, or add the function to functions or since."
                raise LatebindError(
                    f"{pattern!r} matches no function of the stub", where="stub.failures", advice=advice
                )
        notes += _list_ending(table, described.stub.failures, preset.title)
    if described and described.version == "own":
        notes.append(_OWN_READER.format(name=preset.name))
    source = StubSource(
        runtime=preset,
        names=preset.stub,
        minimum=runtime.minimum,
        table=table,
        described=described,
        priority=runtime.priority,
    )
    return source, notes


def _list_ending(table: FunctionTable, failures: Mapping[str, int | str], title: str) -> list[str]:
    """A note on the functions for which nobody chose what they return without the library; [] if there are none."""
    ending = sorted(name for name in table.since if not any(fnmatchcase(name, pattern) for pattern in failures))
    text = f"{plural(len(ending), 'function')} would end the process without {title} ({show_names(ending, 3)})"
    return [f"{text}; stub.failures can say what they return instead, if your code checks that"] if ending else []


def stub_table(runtime: RuntimePreset, table: FunctionTable) -> str:
    """stub_table.h. Raises LatebindError for too many functions, or none."""
    if not 0 < len(table.since) <= _MOST:
        text = f"a stub of {runtime.title} would have {len(table.since):,} functions"
        raise LatebindError(text, advice=f"Select 1 to {_MOST:,} functions with a pattern: thing_*.")
    stub, failures = runtime.stub, runtime.stub.failures if runtime.stub else {}
    flags = [] if stub is None or stub.system else ["LB_FLAG_NO_SYSTEM"]
    flags += ["LB_FLAG_DRIVER"] if stub and stub.driver else []
    flags += ["LB_FLAG_GLOBAL"] if stub and stub.symbols == "global" else []
    lists = {system: _list_rows(table.since_on(system), failures) for system in SYSTEM_MACROS}
    is_same = len(set(lists.values())) == 1
    conditions = zip(("#if", "#elif", "#elif"), SYSTEM_MACROS.items(), strict=True)
    parts = [f"{condition} {macro}\n{lists[system]}" for condition, (system, macro) in conditions]
    texts = [f'  row({name}, "{text}")' for name, text in sorted(table.texts.items())]
    return fill(
        "stub_table.h",
        name=runtime.name,
        title=runtime.title,
        below=";".join([*runtime.python.folders, *runtime.python.prefix]),
        roots=";".join(runtime.roots),
        flags=" | ".join(flags) or "0",
        longest=str(stub.longest_text if stub else LONGEST_TEXT),
        short=runtime.short_text,
        linked=str(int(bool(stub and stub.symbols == "linked"))),
        functions=next(iter(lists.values())) if is_same else "\n".join([*parts, "#endif"]),
        texts=" \\\n".join(texts),
    )


def _list_rows(since: Mapping[str, str], failures: Mapping[str, int | str]) -> str:
    """The functions that a system's library has, as macros of C."""
    columns = [
        (str(position), name, *map(str, _failure(name, failures)), *three_numbers(version))
        for position, (name, version) in enumerate(since.items())
    ]
    rows = [f"  row({', '.join(row)})" for row in columns]
    count = f"#define LB_TRAMPOLINE_COUNT {len(since)}"
    return " \\\n".join([f"{count}\n#define LB_STUB_FUNCTIONS(row)", *rows])


def _failure(name: str, failures: Mapping[str, int | str]) -> tuple[str, int]:
    """What a function does when it cannot be called: the kind and the number."""
    chosen = [result for pattern, result in failures.items() if fnmatchcase(name, pattern)]
    result = chosen[-1] if chosen else ABORT
    number = 0 if result == NOTHING else result
    return ("NUMBER", number) if isinstance(number, int) else (number.upper(), 0)
