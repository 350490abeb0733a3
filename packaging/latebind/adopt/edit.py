"""The text of a CMake or C file with a runtime bound late instead of linked; decides on text alone, touches no file."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from latebind.adopt.cmake import commands
from latebind.adopt.find import KEYWORDS, runtime_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from latebind.adopt.cmake import Command

_PACKAGE = "find_package(latebind CONFIG REQUIRED)"
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b[^\n]*\n", re.MULTILINE)
_CALL = re.compile(r"(?<![\w.>])OrtGetApiBase\s*\(\s*\)")
_BINDING = """
static lb_binding latebind_ort = LB_BINDING_INIT;

/* What OrtGetApiBase() gave. Without a usable ONNX Runtime it ends the program with a sentence that says what fixes it,
 * as the system's loader did; hand report.sentence to your own way of telling errors instead. */
static const OrtApiBase* latebind_ort_base(void) {
  lb_report report = {sizeof report};
  const OrtApiBase*(ORT_API_CALL * get)(void) = NULL;
  if (lb_bind(&latebind_ort, &lb_onnxruntime, NULL, &report)) {
    fprintf(stderr, "%s\\n", report.sentence);
    abort();
  }
  lb_report_clear(&report);
  void* entry = lb_entry(&latebind_ort);
  memcpy(&get, &entry, sizeof get);
  return get();
}
"""


def edit_cmake(
    text: str, components: Collection[str], component: str, variables: Mapping[str, str] = MappingProxyType({})
) -> str:
    """A CMake file in which no target links a runtime; `components` are the targets to be installed as `component`."""
    changes: list[tuple[int, int, str]] = []
    rows = commands(text)
    asked = any(row.name == "find_package" and row.words[:1] == ("latebind",) for row in rows)
    installed = {word for row in rows if row.name == "install" for word in _installed(row)}
    for row in rows:
        if row.name == "find_package" and row.words and runtime_of(row.words[0]):
            changes.append((row.start, row.end, "" if asked else _PACKAGE))
            asked = True
        elif row.name == "target_link_libraries" and any(runtime_of(word, variables) for word in row.words[1:]):
            lines = [] if asked else [_PACKAGE]
            asked = True
            lines += _link(text, row, variables)
            if row.words[0] in components and row.words[0] not in installed:
                lines.append(f"install(TARGETS {row.words[0]} COMPONENT {component})")
            changes.append((row.start, row.end, f"\n{_indent(text, row.start)}".join(lines)))
        elif (targets := _installed(row)) and "COMPONENT" not in row.words and set(targets) <= set(components):
            end = row.arguments[len(targets)].end
            changes.append((end, end, f" COMPONENT {component}"))
    for start, end, new in sorted(changes, reverse=True):
        after = end + 1 if not new and text[end : end + 1] == "\n" else end
        text = text[:start] + new + text[after:]
    return text


def _link(text: str, row: Command, variables: Mapping[str, str]) -> list[str]:
    """The link line without runtimes, where something is left of it, and the calls that bind them."""
    target = row.words[0]
    runtimes = list(dict.fromkeys(filter(None, (runtime_of(word, variables) for word in row.words[1:]))))
    bound = [f"latebind_add_runtime({target} {runtime})" for runtime in runtimes]
    bound.append(f"latebind_hardening({target})")
    rest = [argument for argument in row.arguments[1:] if not runtime_of(argument.text, variables)]
    kept = [
        argument for index, argument in enumerate(rest)
        if argument.text not in KEYWORDS or (index + 1 < len(rest) and rest[index + 1].text not in KEYWORDS)
    ]  # fmt: skip
    if kept:
        shown = " ".join(text[argument.start : argument.end] for argument in kept)
        bound.insert(0, f"target_link_libraries({target} {shown})")
    return bound


def _installed(row: Command) -> tuple[str, ...]:
    """The targets of install(TARGETS ...)."""
    if row.name != "install" or row.words[:1] != ("TARGETS",):
        return ()
    found = []
    for word in row.words[1:]:
        if word.isupper():
            break
        found.append(word)
    return tuple(found)


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line if line.isspace() else ""


def edit_c(text: str) -> str:
    """A C or C++ file that takes ONNX Runtime's entry point from the loader instead of linking it."""
    includes = list(_INCLUDE.finditer(text))
    if not includes or not _CALL.search(text) or "latebind/onnxruntime.h" in text:
        return text
    headers = [name for name in ("stdio.h", "stdlib.h", "string.h") if f"<{name}>" not in text]
    own = "".join(f"#include <{name}>\n" for name in headers) + '#include "latebind/onnxruntime.h"\n' + _BINDING
    depths = [_depth(text[: include.start()]) for include in includes]
    at = max(include.end() for include, depth in zip(includes, depths, strict=True) if depth == min(depths))
    return text[:at] + own + _CALL.sub("latebind_ort_base()", text[at:])


def _depth(text: str) -> int:
    """How many #if are open at the end of a text."""
    words = re.findall(r"^[ \t]*#[ \t]*(if|endif)", text, re.MULTILINE)
    return words.count("if") - words.count("endif")
