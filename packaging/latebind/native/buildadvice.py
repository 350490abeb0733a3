"""Finds out from the output of a failed build what to do."""

from __future__ import annotations

import itertools
import re
import textwrap
from pathlib import PurePosixPath

from latebind.config.config import Config
from latebind.tables.hosts import OPERATORS_ADVICE
from latebind.text import shell_word

_RUNTIME_WANTED = re.compile(r"(?:undefined|unresolved)[^\n]*\n?[^\n]*\b_?OrtGetApiBase", re.IGNORECASE)
_HEADER_WANTED = re.compile(
    r"(?:onnxruntime_\w+\.h|openvino/c/\w+\.h)'?(?: file not found|: No such file)"
    r"|set to NOTFOUND\.(?:\n[^\n]*){0,4}(?:ORT|ONNXRUNTIME|OPENVINO)\w*INCLUDE",
    re.IGNORECASE,
)
"""Of Clang and GCC; of CMake for a variable of find_path()."""
_PYTHON_WANTED = re.compile(r"(?:undefined|unresolved)[^\n]*?[ `'\"]_*Py(?:[A-Z]\w*)?_\w+", re.IGNORECASE)
_REFUSED = re.compile(
    r"requires\s+the\s+source\s+directory\s+for\s+dependency\s+(?P<content>[\w.+-]+)"
    r"|would\s+download\s+(?P<project>[\w.+-]+),\s+which"
    r"|Could(?:n't| not) connect to server|transport '\w+' not allowed"
)
_RAISED = re.compile(r"latebind\.(?:backend\.)?errors\.[^:]*: ")
_QUOTED = re.compile(r"\[\d+ lines of output\]\n(.*?)\n\s*\[end of output\]", re.DOTALL)


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


def operators_advice(output: str) -> str:
    """What to do when a library of custom operators lacks the runtime's entry symbol; "" for other errors."""
    return f"Link nothing of it. {OPERATORS_ADVICE}" if _RUNTIME_WANTED.search(output) else ""


def find_refused(output: str) -> str:
    """The dependency that CMake may not download, by the name that the project gives it; "" for other errors."""
    refused = _REFUSED.search(output)
    return (refused["content"] or refused["project"] or "NAME") if refused else ""


def sources_advice(config: Config, output: str) -> str:
    """What to do when a build failed since it may not download; "" for other errors."""
    name = find_refused(output) if config.document.native.sources else ""
    return name and (
        f"Builds of projects with [native.sources] download nothing. Put the dependency's archive or folder below "
        f'{config.document.native.source}/, and name it in that table: {name} = "third_party/{name}.tar.gz".'
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


def own_words(output: str) -> str:
    """The message of latebind's own hook, without the frontend's traceback around it; "" when it was not the hook."""
    raised = list(_RAISED.finditer(output))
    lines = [line.strip() for line in output[raised[-1].end() :].splitlines()] if raised else []
    relevant = itertools.takewhile(lambda line: line and not line.startswith(("ERROR ", "error: ", "hint: ")), lines)
    return "\n  ".join(relevant)


def find_hook_output(output: str) -> str:
    """What the build backend printed, in the output of pip; "" where pip quotes none."""
    found = _QUOTED.search(output)
    return textwrap.dedent(found[1]).strip() if found else ""
