"""The declarations of a C header by name, without comments and layout, so that two versions can be compared."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)(?P<rest>[^\n]*)$", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#[^\n]*$", re.MULTILINE)
_LINKAGE = re.compile(r'extern\s*"C"\s*\{')
_FUNCTION = re.compile(r"(\w+)\s*\(")
_POINTER = re.compile(r"\(\s*\*\s*(\w+)\s*\)")
_WORD = re.compile(r"\w+")
_TAGGED = re.compile(r"^(?:typedef\s+)?(?:struct|union|enum)\s+(\w+)\s*\{")


def declarations(text: str) -> dict[str, str]:
    """Name -> declaration on one line. Macros that guard the header or choose an export attribute are left out."""
    plain = _COMMENT.sub(" ", text).replace("\\\n", " ")
    by_name = {
        f"#{macro['name']}": _line(f"#define {macro['name']}{macro['rest']}")
        for macro in _DEFINE.finditer(plain)
        if macro["rest"].strip() and "__attribute__" not in macro["rest"] and "__declspec" not in macro["rest"]
    }
    body = _LINKAGE.sub(" ", _DIRECTIVE.sub(" ", plain))
    for part in _statements(body):
        name = _name(part)
        if name:
            by_name[name] = part
    return by_name


def only_grew(old: str, new: str) -> bool:
    """Whether a struct or enum keeps its earlier members unchanged and adds others after them."""
    if not (_TAGGED.match(old) and _TAGGED.match(new)):
        return False
    before, after = _members(old), _members(new)
    return after[: len(before)] == before


def _members(part: str) -> list[str]:
    body = part[part.index("{") + 1 : part.rindex("}")]
    return [text.strip() for text in body.split(";" if ";" in body else ",") if text.strip()]


def _statements(text: str) -> list[str]:
    """The parts between semicolons that are outside braces."""
    parts, depth, start = [], 0, 0
    for index, char in enumerate(text):
        if char == "{":
            depth += 1
        elif char == "}":
            if depth == 0:  # closes extern "C"
                start = index + 1
                continue
            depth -= 1
        elif char == ";" and depth == 0:
            parts.append(_line(text[start:index]))
            start = index + 1
    return [part for part in parts if part]


def _name(part: str) -> str:
    if tagged := _TAGGED.match(part):
        return tagged[1]
    pointer = _POINTER.search(part) if part.startswith("typedef") else None
    if pointer:
        return pointer[1]
    function = _FUNCTION.search(part.partition("{")[0])
    if function and not part.startswith("typedef"):
        return function[1]
    names = _WORD.findall(part)
    return names[-1] if names else ""


def _line(text: str) -> str:
    return " ".join(text.split())
