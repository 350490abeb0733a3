"""Writes what the loader compiles into the stub of a C library: its description, and its functions by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from latebind.build.functions import find_functions, show_names
from latebind.build.loadersource import described_source, runtime_header, three_numbers
from latebind.config.runtime import RuntimeUse
from latebind.errors import LatebindError
from latebind.fill import fill
from latebind.tables.presets import FunctionTable, RuntimePreset, StubNames, function_table
from loadcheck.text import DOCS, plural

if TYPE_CHECKING:
    from latebind.config.described import DescribedRuntime

ABORT, NOTHING = "abort", "nothing"
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
        table = structs.replace(table, functions={"0.0": oldest, **since})
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
    since = table.since
    if not 0 < len(since) <= _MOST:
        text = f"a stub of {runtime.title} would have {len(since):,} functions"
        raise LatebindError(text, advice=f"Select 1 to {_MOST:,} functions with a pattern: thing_*.")
    stub, failures = runtime.stub, runtime.stub.failures if runtime.stub else {}
    flags = [] if stub is None or stub.system else ["LB_FLAG_NO_SYSTEM"]
    flags += ["LB_FLAG_DRIVER"] if stub and stub.driver else []
    entries = [
        f"  row({position}, {name}, {_failure(name, failures)}, {', '.join(three_numbers(version))})"
        for position, (name, version) in enumerate(since.items())
    ]
    texts = [f'  row({name}, "{text}")' for name, text in sorted(table.texts.items())]
    return fill(
        "stub_table.h",
        name=runtime.name,
        title=runtime.title,
        below=";".join(runtime.python.folders),
        roots=";".join(runtime.roots),
        npm=runtime.npm,
        nuget=next(iter(runtime.nuget.ids), ""),
        flags=" | ".join(flags) or "0",
        count=str(len(since)),
        functions=" \\\n".join(entries),
        texts=" \\\n".join(texts),
    )


def _failure(name: str, failures: Mapping[str, int | str]) -> str:
    """What a function does when it cannot be called: the kind and the number."""
    chosen = [result for pattern, result in failures.items() if fnmatchcase(name, pattern)]
    result = chosen[-1] if chosen else ABORT
    number = 0 if result == NOTHING else result
    return f"NUMBER, {number}" if isinstance(number, int) else f"{number.upper()}, 0"
