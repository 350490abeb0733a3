"""Makes one C file and one header of the stub, or of the loader, for build systems that compile sources."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from latebind.build.stubtable import StubSource

_SYSTEMS = ("defined(__linux__)", "defined(__APPLE__)", "defined(_WIN32)")
"""In the order of loader.c."""
_OWN = re.compile(r'^[ \t]*#[ \t]*include "(?:[^"/]*/)*([^"/]+)".*\n', re.MULTILINE)
_SYSTEM = re.compile(r"^[ \t]*#[ \t]*include (<[^>]+>)", re.MULTILINE)
_HEAD = """\
/*
 * {what}
 *
 * {licence}
 */
"""
_STUB = """latebind's stub of {title} as one file. Made by `latebind stub`; change nothing here.
 * Compile it into a library or program that is written for a linked {title}, and link no runtime."""
_LOADER = """latebind's loader as one file. Made by `latebind loader-source --single`; change nothing here.
 * Compile latebind.c into your library, and include latebind.h. ONNX Runtime's functions, lb_ort_*, are declared where
 * LATEBIND_ORT_API is defined; a file that includes the official header does so before this one."""
_PUBLIC = ("path", "available", "message", "sentence", "version", "file", "report", "on_missing")
"""The stub's own functions, of <latebind/stub.h>."""
_ORT_API = "defined(LATEBIND_ORT_API)"
_HIDDEN = """\
#if !defined(_MSC_VER) || defined(__clang__)
#pragma GCC visibility push(hidden)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* a header's, in the main file */
#endif
"""
_HIDDEN_END = """\
#if !defined(_MSC_VER) || defined(__clang__)
#pragma GCC diagnostic pop
#pragma GCC visibility pop
#endif
"""
_FIRST = "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n"


def amalgamation(loader: Path, source: StubSource) -> dict[str, str]:
    """The text of each file by name. `loader` is the folder of latebindConfig.cmake, which lists the stub's sources.

    The minimum of the source holds unless the compiler's command line sets another. All names of the loader are the
    stub's own, since several such files, and the loader's, may be in one program.
    """
    runtime, described_files = source.runtime.name, source.files()
    every, of_table, by_name = _stub_sources(loader)
    names = [*every, *(by_name if described_files else of_table)]
    bodies = [text for name, text in described_files.items() if name.endswith(".c")]
    of_preset = loader / "src" / f"{runtime}.c"
    bodies += [
        path.read_text("utf-8")
        for path in (of_preset, *(loader / "src" / f"{name}.c" for name in names))
        if path.exists()
    ]  # a described runtime may read its version in the project's own sources
    head = _head(loader, _STUB.format(title=source.runtime.title))
    lines = [head, _FIRST, _floor(runtime, source.minimum), "#define LATEBIND_STUB\n" if described_files else ""]
    own_headers = {name.rpartition("/")[2]: text for name, text in described_files.items() if name.endswith(".h")}
    public = (loader / "include" / "latebind" / "stub.h").read_text("utf-8")
    declared = "" if runtime == "onnxruntime" else f"\nLB_DECLARE_STUB({runtime});\n"
    text = "\n".join([*lines, *_join_sources(loader, bodies, own_headers=own_headers)])
    public_names = [f"{runtime}_{name}" for name in _PUBLIC]
    if source.version == "own":  # what the project defines, and what that may call
        public_names += [f"{runtime}_read_version", "image_symbol", "image_keep"]
    return {
        f"latebind_{runtime}.c": re.sub(
            rf"\blb_(?!(?:{'|'.join(public_names)})\b)(?=[a-z])", f"lb_in_{runtime}_", text
        ),
        f"latebind_{runtime}.h": f"{head}{public}{declared}",
    }


def loader_amalgamation(loader: Path, runtimes: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The loader without a stub: the text of each file by name. `runtimes` are the header and the source of each."""
    include = loader / "include" / "latebind"
    texts = {path.name: path.read_text("utf-8") for path in include.glob("*.h")}
    head = _head(loader, _LOADER)
    public = [texts["latebind.h"], *(header for header, _ in runtimes), _guard(texts["ort_api.h"], _ORT_API)]
    first = f"{_FIRST}#define LATEBIND_ORT_API\n"
    joined = _join_sources(loader, [source for _, source in runtimes], texts, '#include "latebind.h"\n')
    return {
        "latebind.c": "\n".join([head, first, *joined]),
        "latebind.h": "\n".join([head, *(_OWN.sub("", text) for text in public)]),
        "latebind.hpp": (include / "latebind.hpp").read_text("utf-8").replace("latebind/latebind.h", "latebind.h"),
    }


def _head(loader: Path, what: str) -> str:
    licence = (loader / "LICENSE").read_text("utf-8").strip()
    return _HEAD.format(what=what, licence=licence.replace("\n", "\n * ").replace(" * \n", " *\n"))


def _join_sources(
    loader: Path,
    bodies: list[str],
    apart: Iterable[str] = (),
    first: str = "",
    own_headers: Mapping[str, str] | None = None,
) -> list[str]:
    """The loader's own sources with more `bodies`, and the headers of all, as parts of one file.

    Headers named in `apart` are left out; `first` includes them. `own_headers` holds more headers, by name.
    """
    parts = list(zip(_loader_sources(loader), ("", *_SYSTEMS), strict=True))
    texts = [([(loader / "src" / f"{name}.c").read_text("utf-8") for name in names], when) for names, when in parts]
    texts[0][0].extend(bodies)
    headers = _headers(loader, [body for some, _ in texts for body in some], apart, own_headers or {})
    # System headers first: what follows is hidden, and their declarations must not be.
    lines = [_guard(_includes([*some, *(headers if not when else ())]), when) for some, when in texts]
    lines += [_HIDDEN, first, *headers]
    lines += [_guard("".join(_OWN.sub("", body) for body in some), when) for some, when in texts]
    return [*lines, _HIDDEN_END]


def _floor(runtime: str, minimum: str) -> str:
    numbers = [*minimum.split("."), "0"][:3]
    macros = [f"LATEBIND_{runtime.upper()}_MINIMUM_{part}" for part in ("MAJOR", "MINOR", "PATCH")]
    lines = [f"#define {macro} {number}" for macro, number in zip(macros, numbers, strict=True)]
    return "\n".join([f"#ifndef {macros[0]}", *lines, "#endif\n"])


def _stub_sources(loader: Path) -> list[list[str]]:
    """The names of the stub's sources in latebindConfig.cmake: of every runtime, of ONNX Runtime, of all others."""
    listed = (loader / "latebindConfig.cmake").read_text("utf-8")
    return [names.split() for names in re.findall(r"(?:set\(|list\(APPEND )stub_sources ([^)]*)\)", listed)][:3]


def _loader_sources(loader: Path) -> list[list[str]]:
    """The names of the loader's sources in loader.c: of every system, then of each of `_SYSTEMS`."""
    text = (loader / "src" / "loader.c").read_text("utf-8")
    parts = re.split("|".join(re.escape(system) for system in _SYSTEMS), text[text.index("#include") :])
    return [re.findall(r'^#include "(\w+)\.c"', part, re.MULTILINE) for part in parts]


def _headers(loader: Path, bodies: Iterable[str], excluded: Iterable[str], own_headers: Mapping[str, str]) -> list[str]:
    """The headers that are needed, without their includes of each other, each after those that it includes."""
    paths = (*loader.glob("include/latebind/*.h"), *loader.glob("src/*.h"))
    files = {**{path.name: path.read_text("utf-8") for path in paths}, **own_headers}
    texts: dict[str, str] = dict.fromkeys(excluded, "")

    def add(name: str) -> None:
        if name in texts or name not in files:
            return
        text = files[name]
        for other in _OWN.findall(text):
            add(other)
        texts[name] = _guard(_OWN.sub("", text), "defined(_WIN32)" if name.endswith("_windows.h") else "")

    for name in sorted({name for body in bodies for name in _OWN.findall(body)}):
        add(name)
    return [text for text in texts.values() if text]


def _includes(texts: Iterable[str]) -> str:
    names = sorted({name for text in texts for name in _SYSTEM.findall(text)})
    return "".join(f"#if __has_include({name})\n#include {name}\n#endif\n" for name in names)


def _guard(text: str, when: str) -> str:
    return f"#if {when}\n{text}\n#endif\n" if when else text
