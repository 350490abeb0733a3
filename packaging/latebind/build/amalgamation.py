"""Makes one C file and one header of the stub, for build systems that compile sources and link no libraries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_SYSTEMS = ("defined(__linux__)", "defined(__APPLE__)", "defined(_WIN32)")
"""In the order of latebindConfig.cmake."""
_OWN = re.compile(r'^[ \t]*#[ \t]*include "(?:[^"/]*/)*([^"/]+)".*\n', re.MULTILINE)
_SYSTEM = re.compile(r"^[ \t]*#[ \t]*include (<[^>]+>)", re.MULTILINE)
_HEAD = """\
/*
 * latebind's stub of ONNX Runtime as one file. Made by `latebind stub`; change nothing here.
 * Compile it into a library or program that is written for a linked ONNX Runtime, and link no runtime.
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


def amalgamation(loader: Path, minimum: str) -> dict[str, str]:
    """The text of each file by name. `loader` is the folder of latebindConfig.cmake, which lists the sources.

    `minimum` is the oldest version to bind, unless the compiler's command line says another one.
    """
    listed = (loader / "latebindConfig.cmake").read_text("utf-8")
    common = _words(r"set\(sources ([^)]*)\)", listed)[0]
    groups = _words(r"list\(APPEND sources ([^)]*)\)", listed)
    stub = _words(r"foreach\(source IN ITEMS ([^)]*)\)", listed)[0]
    parts = [([*common, "onnxruntime", *stub], ""), *zip(groups, _SYSTEMS, strict=True)]
    texts = [([(loader / "src" / f"{name}.c").read_text("utf-8") for name in names], when) for names, when in parts]
    headers = _headers(loader)
    licence = (loader / "LICENSE").read_text("utf-8").strip()
    head = _HEAD.format(licence=licence.replace("\n", "\n * ").replace(" * \n", " *\n"))
    # System headers first: what follows is hidden, and their declarations must not be.
    lines = [head, _FIRST, _floor(minimum)]
    lines += [_guarded(_includes([*bodies, *(headers if not when else ())]), when) for bodies, when in texts]
    lines += [_HIDDEN, *headers]
    lines += [_guarded("".join(_OWN.sub("", body) for body in bodies), when) for bodies, when in texts]
    lines.append("#ifndef _MSC_VER\n#pragma GCC diagnostic pop\n#pragma GCC visibility pop\n#endif\n")
    public = (loader / "include" / "latebind" / "stub.h").read_text("utf-8")
    return {"latebind_onnxruntime.c": "\n".join(lines), "latebind_onnxruntime.h": f"{head}{public}"}


def _floor(minimum: str) -> str:
    numbers = [*minimum.split("."), "0"][:3]
    macros = [f"LATEBIND_ONNXRUNTIME_MINIMUM_{part}" for part in ("MAJOR", "MINOR", "PATCH")]
    lines = [f"#define {macro} {number}" for macro, number in zip(macros, numbers, strict=True)]
    return "\n".join([f"#ifndef {macros[0]}", *lines, "#endif\n"])


def _words(pattern: str, text: str) -> list[list[str]]:
    return [found.split() for found in re.findall(pattern, text)]


def _headers(loader: Path) -> list[str]:
    """The loader's own headers without their includes of each other, each after those that it includes."""
    files = {path.name: path for path in sorted([*loader.glob("include/latebind/*.h"), *loader.glob("src/*.h")])}
    made: dict[str, str] = {}

    def add(name: str) -> None:
        if name in made or name not in files or name in ("openvino.h", "litert.h"):
            return
        text = files[name].read_text("utf-8")
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
