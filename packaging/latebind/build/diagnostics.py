"""Finds the errors in the output of CMake, ninja and compilers, so that a failed build can show them first."""

from __future__ import annotations

import itertools
import re
import textwrap
from pathlib import Path, PurePosixPath

from latebind.text import shell_word

_COMPILER = re.compile(
    r"^(?P<file>(?:[A-Za-z]:)?[^:()\n]+?)(?::(?P<line>\d+)(?P<column>:\d+)?|\((?P<row>\d+)(?:,\d+)?\)) ?: "
    r"(?:fatal )?error\b(?: \w+)?: (?P<text>.+)$",
    re.MULTILINE,
)
"""`tiny.c:3:5: error: …` of GCC and Clang, `tiny.c(3,5): error C2065: …` of MSVC."""
_CMAKE = re.compile(
    r"^CMake Error at (?P<file>[^\n]+?):(?P<line>\d+) \([^\n]*\):\n+"
    r"(?P<text>(?:  [^\n]*\n?)+(?:(?<=:\n)\n(?:    [^\n]*\n?)+)?)",
    re.MULTILINE,
)
"""The first paragraph of the message. If it ends with a colon, also the next one, which names the subject."""
_LINKER = re.compile(
    r"^(?:\S+: )?(error: .+|.*undefined reference to .+|.*Undefined symbols.*|LINK : fatal error .+)$", re.MULTILINE
)
_RUNTIME_WANTED = re.compile(r"(?:undefined|unresolved)[^\n]*\n?[^\n]*\b_?OrtGetApiBase", re.IGNORECASE)
_HEADER_WANTED = re.compile(
    r"(?:onnxruntime_\w+\.h|openvino/c/\w+\.h)'?(?: file not found|: No such file)"
    r"|set to NOTFOUND\.(?:\n[^\n]*){0,4}(?:ORT|ONNXRUNTIME|OPENVINO)\w*INCLUDE",
    re.IGNORECASE,
)
"""Of Clang and GCC; of CMake for a variable of find_path()."""
_PYTHON_WANTED = re.compile(r"(?:undefined|unresolved)[^\n]*?[ `'\"]_*Py(?:[A-Z]\w*)?_\w+", re.IGNORECASE)
_FUNCTION_WANTED = re.compile(r"undefined (?:reference to|symbol:) [`']?(\w+)")
_NINJA_STEP = re.compile(r"^\[\d+/\d+\] ")
_NOISE = ("FAILED: ", "ninja: build stopped", "-- ")
_QUOTED = re.compile(r"\[\d+ lines of output\]\n(.*?)\n\s*\[end of output\]", re.DOTALL)
_SHOWN = 5


def first_errors(output: str, root: Path, cmake_source: Path) -> list[str]:
    """The first few errors as `file:line: error: text`, with paths relative to `root` where they are below it.

    CMake names its files relative to `cmake_source`. Errors of a linker have no file; they count when nothing else
    failed.
    """
    located = [(match.start(), _compiler_error(match)) for match in _COMPILER.finditer(output)]
    for match in _CMAKE.finditer(output):
        file = cmake_source / match["file"]
        located.append((match.start(), f"{file}:{match['line']}: error: {' '.join(match['text'].split())}"))
    errors = [text for _, text in sorted(located)] or [match[1].strip() for match in _LINKER.finditer(output)]
    return [relative(text, root) for text in dict.fromkeys(errors)][:_SHOWN]


def provider_advice(output: str) -> str:
    """What to do when an execution provider's link lacks the runtime's entry symbol; "" when it lacks something else.

    The C++ headers call it in each file that doesn't define a macro, and a provider links no runtime.
    """
    if not _RUNTIME_WANTED.search(output):
        return ""
    return (
        "ONNX Runtime passes its functions to CreateEpFactories(), and a provider links no runtime. Define "
        "ORT_API_MANUAL_INIT before each #include of onnxruntime_cxx_api.h, or with target_compile_definitions(), and "
        "call Ort::InitApi(ort_api) in CreateEpFactories()."
    )


def module_advice(output: str) -> str:
    """What to do when a library lacks the functions of CPython, which the interpreter has; "" for other errors."""
    if not _PYTHON_WANTED.search(output):
        return ""
    return (
        "The interpreter provides CPython's functions at run time. Make a Python module with pybind11_add_module(), "
        "Python_add_library() or add_library(NAME MODULE ...), or link Python::Module. LATEBIND_ALLOW_UNDEFINED = true "
        "below [native.define] allows undefined symbols in every library for Linux."
    )


def linker_advice(output: str) -> str:
    """What to do when a library lacks a function that no library of the link has; "" for other errors."""
    found = _FUNCTION_WANTED.search(output)
    if found is None:
        return ""
    return (
        f"Name the library that has {found[1]} in target_link_libraries(): m for the functions of <math.h>, which zig "
        "finds by itself and other compilers do not."
    )


def headers_advice(output: str, runtime: str, minimum: str, source: str) -> str:
    """What to do when a build lacks the official headers of a runtime; "" for other errors."""
    if not _HEADER_WANTED.search(output):
        return ""
    headers = f"third_party/{runtime}"
    return (
        f"The stub has no headers. Run `latebind headers {runtime} {minimum} --output "
        f'{shell_word(PurePosixPath(source, headers))}`. Then write headers = "{headers}" below the [[runtime]] of '
        f"{runtime}. This path is relative to native.source."
    )


def without_commands(output: str) -> str:
    """The output without CMake's status lines, ninja's progress, and the command lines that follow `FAILED:`."""
    remaining, skip = [], False
    for line in output.splitlines():
        if not skip and not _NINJA_STEP.match(line) and not line.startswith(_NOISE):
            remaining.append(line)
        skip = line.startswith("FAILED: ")
    return "\n".join(remaining).strip("\n")


def relative(text: str, root: Path) -> str:
    """The text with paths below `root` shortened."""
    return text.replace(f"{root}/", "").replace(f"{root}\\", "").replace(f"{root.as_posix()}/", "")


def _compiler_error(match: re.Match[str]) -> str:
    position = f"{match['line']}{match['column'] or ''}" if match["line"] else match["row"]
    return f"{match['file']}:{position}: error: {match['text']}"


def own_words(output: str) -> str:
    """The message of latebind's own hook, without the frontend's traceback around it; "" when it was not the hook."""
    _, separator, text = output.rpartition("latebind.errors.")
    lines = [line.strip() for line in text.partition(": ")[2].splitlines()]
    relevant = itertools.takewhile(lambda line: line and not line.startswith(("ERROR ", "error: ", "hint: ")), lines)
    return "\n  ".join(relevant) if separator else ""


def find_hook_output(output: str) -> str:
    """What the build backend printed, in the output of pip; "" where pip quotes none."""
    found = _QUOTED.search(output)
    return textwrap.dedent(found[1]).strip() if found else ""
