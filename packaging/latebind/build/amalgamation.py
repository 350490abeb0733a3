"""Makes one C file and one header of the stub, for build systems that compile sources and link no libraries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from latebind.tables.presets import presets

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from latebind.build.stubtable import StubSource

_SYSTEMS = ("defined(__linux__)", "defined(__APPLE__)", "defined(_WIN32)")
"""In the order of latebindConfig.cmake."""
_OWN = re.compile(r'^[ \t]*#[ \t]*include "(?:[^"/]*/)*([^"/]+)".*\n', re.MULTILINE)
_SYSTEM = re.compile(r"^[ \t]*#[ \t]*include (<[^>]+>)", re.MULTILINE)
_HEAD = """\
/*
 * latebind's stub of {title} as one file. Made by `latebind stub`; change nothing here.
 * Compile it into a library or program that is written for a linked {title}, and link no runtime.
 *
 * {licence}
 */
"""
_HIDDEN = """\
#ifndef _MSC_VER
#pragma GCC visibility push(hidden)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* a header's, in the main file */
#endif
"""
_FIRST = "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n"


def amalgamation(loader: Path, source: StubSource) -> dict[str, str]:
    """The text of each file by name. `loader` is the folder of latebindConfig.cmake, which lists the sources.

    The minimum of the source holds unless the compiler's command line sets another.
    """
    runtime, made = source.runtime.name, source.files()
    listed = (loader / "latebindConfig.cmake").read_text("utf-8")
    common = _words(r"set\(sources ([^)]*)\)", listed)[0]
    groups = _words(r"list\(APPEND sources ([^)]*)\)", listed)
    stub = _words(r"set\(stub_sources ([^)]*)\)", listed)[0]
    of_runtime = _words(r"list\(APPEND stub_sources ([^)]*)\)", listed)[1 if made else 0]
    files = {path.stem: path.read_text("utf-8") for path in sorted(loader.glob("src/*.c"))}
    files |= {name.removesuffix(".c"): text for name, text in made.items() if name.endswith(".c")}
    first = [runtime] if runtime in files else []  # else the project reads the version itself
    parts = [([*common, *first, *stub, *of_runtime], ""), *zip(groups, _SYSTEMS, strict=True)]
    texts = [([files[name] for name in names], when) for names, when in parts]
    headers = _headers(loader, runtime, made)
    licence = (loader / "LICENSE").read_text("utf-8").strip()
    head = _HEAD.format(title=source.runtime.title, licence=licence.replace("\n", "\n * ").replace(" * \n", " *\n"))
    # System headers first: what follows is hidden, and their declarations must not be.
    lines = [head, _FIRST, _floor(runtime, source.minimum), "#define LATEBIND_STUB\n" if made else ""]
    lines += [_guarded(_includes([*bodies, *(headers if not when else ())]), when) for bodies, when in texts]
    lines += [_HIDDEN, *headers]
    lines += [_guarded("".join(_OWN.sub("", body) for body in bodies), when) for bodies, when in texts]
    lines.append("#ifndef _MSC_VER\n#pragma GCC diagnostic pop\n#pragma GCC visibility pop\n#endif\n")
    public = (loader / "include" / "latebind" / "stub.h").read_text("utf-8")
    declared = "" if runtime == "onnxruntime" else f"\nLB_DECLARE_STUB({runtime});\n"
    return {f"latebind_{runtime}.c": "\n".join(lines), f"latebind_{runtime}.h": f"{head}{public}{declared}"}


def _floor(runtime: str, minimum: str) -> str:
    numbers = [*minimum.split("."), "0"][:3]
    macros = [f"LATEBIND_{runtime.upper()}_MINIMUM_{part}" for part in ("MAJOR", "MINOR", "PATCH")]
    lines = [f"#define {macro} {number}" for macro, number in zip(macros, numbers, strict=True)]
    return "\n".join([f"#ifndef {macros[0]}", *lines, "#endif\n"])


def _words(pattern: str, text: str) -> list[list[str]]:
    return [found.split() for found in re.findall(pattern, text)]


def _headers(loader: Path, runtime: str, own: Mapping[str, str]) -> list[str]:
    """The loader's headers without their includes of each other, each after those that it includes.

    `own` are those that describe the runtime, by path. Those of other runtimes stay out.
    """
    paths = sorted([*loader.glob("include/latebind/*.h"), *loader.glob("src/*.h")])
    files = {path.name: path.read_text("utf-8") for path in paths}
    others = {f"{name}.h" for name in presets()} - {f"{runtime}.h"}
    others |= {name for name in files if name.startswith("ort_")} if own else set()
    files |= {name.rpartition("/")[2]: text for name, text in own.items() if name.endswith(".h")}
    made: dict[str, str] = {}

    def add(name: str) -> None:
        if name in made or name not in files or name in others:
            return
        text = files[name]
        for other in _OWN.findall(text):
            add(other)
        made[name] = _guarded(_OWN.sub("", text), "defined(_WIN32)" if name.endswith("_windows.h") else "")

    for name in files:
        add(name)
    return list(made.values())


def _includes(texts: Iterable[str]) -> str:
    names = sorted({name for text in texts for name in _SYSTEM.findall(text)})
    return "".join(f"#if __has_include({name})\n#include {name}\n#endif\n" for name in names)


def _guarded(text: str, when: str) -> str:
    return f"#if {when}\n{text}\n#endif\n" if when else text
