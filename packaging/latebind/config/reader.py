"""Turns the tables of a TOML file into structs, and collects every problem with its line and the nearest name."""

from __future__ import annotations

import difflib
import re
import types
import typing
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from latebind.config.lines import Key, line_of, place_of
from latebind.errors import LatebindError

if TYPE_CHECKING:
    from pathlib import Path

_T = TypeVar("_T")
_WRONG_TYPE = re.compile(r"Expected `(\w+)`, got `(\w+)`")
_TYPES = {
    "str": "a string", "int": "a whole number", "float": "a number", "bool": "true or false", "array": "a list",
    "object": "a table",
}  # fmt: skip
"""msgspec's names of types, in words."""
_MALFORMED = re.compile(r"Expected `\w+` matching regex '(.*)'")
_CONSTRAINTS = {
    r"Expected `\w+` of length >= 1": "must not be empty",
    r"Expected `str` of length <= (\d+)": "must have at most {0} characters",
    r"Expected `int` (>=|<=) (\S+)": "must be {0} {1}",
    r"Invalid enum value (.*)": "cannot be {0}",
}


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table whose keys are all known."""


class Reader:
    """Turns TOML values into the model and collects what does not fit."""

    def __init__(self, file: Path, text: str, prefix: tuple[Key, ...]) -> None:
        self.problems: list[LatebindError] = []
        self._file = file
        self._text = text
        self._prefix = prefix

    def problem(self, path: tuple[Key, ...], message: str, advice: str = "") -> None:
        """Note a problem at a key."""
        shown = tuple(key for key in path if path[:2] != ("targets", "options") or key != "options")
        where, excerpt = place_of(self._file.name, self._text, self._prefix + shown, message)
        self.problems.append(LatebindError(message, where=where, advice=advice, excerpt=excerpt))

    def read(self, kind: type[_T], raw: object, path: tuple[Key, ...]) -> _T | None:
        """A struct from a table, or None when something in it does not fit."""
        before = len(self.problems)
        value = self._value(kind, raw, path)
        return typing.cast("_T", value) if len(self.problems) == before else None

    def _value(self, kind: Any, raw: Any, path: tuple[Key, ...]) -> object:
        described, kind = kind, _plain(kind)
        origin, args = typing.get_origin(kind), typing.get_args(kind)
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return self._struct(kind, raw, path)
        if origin is dict and _is_struct(args[1]) and isinstance(raw, dict):
            structs = {key: self._value(args[1], value, (*path, key)) for key, value in raw.items()}
            return structs or self._convert(dict[str, Any], raw, path)
        if origin is tuple and _is_struct(args[0]) and isinstance(raw, list):
            return tuple(self._value(args[0], value, (*path, index)) for index, value in enumerate(raw))
        return self._convert(kind, raw, path, _describe(described))

    def _struct(self, kind: type[msgspec.Struct], raw: Any, path: tuple[Key, ...]) -> object:
        if not isinstance(raw, dict):
            self.problem(path, f"{format_key(path)} must be a table")
            return None
        fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
        before = len(self.problems)
        values, advices = {}, set()
        for key, value in raw.items():
            if key in fields:
                values[fields[key].name] = self._value(fields[key].type, value, (*path, key))
            else:
                advices.add(advice := nearest(key, fields))
                self.problem((*path, key), f"unknown key {format_key((*path, key))}", advice)
        for key, field in fields.items():
            if field.required and key not in raw and f"Did you mean {key}?" not in advices:
                self.problem(path, f"{format_key((*path, key))} is missing")
        return kind(**values) if len(self.problems) == before else None

    def _convert(self, kind: Any, raw: Any, path: tuple[Key, ...], description: str = "") -> object:
        try:
            return msgspec.convert(raw, kind, strict=True)
        except msgspec.ValidationError as error:
            text = str(error).partition(" - at ")[0]
            advice = nearest(raw, _choices(kind)) if isinstance(raw, str) else ""
            wrong = _WRONG_TYPE.fullmatch(text)
            if wrong and wrong[1] == "str" and isinstance(raw, (int, float)) and not isinstance(raw, bool):
                advice = f'Write it as "{self._read_number(path) or raw}".'
            if raw == [] and text.endswith("of length >= 1"):
                advice = f"Write at least one value. {description}".rstrip()
            self.problem(path, f"{format_key(path)} {_in_words(text, raw)}", advice or description)
            return None

    def _read_number(self, path: tuple[Key, ...]) -> str:
        """A number as it is written in the file: 1.20, which TOML reads as 1.2."""
        line = self._text.splitlines()[line_of(self._text, self._prefix + path) - 1]
        match = re.search(rf"\b{re.escape(str(path[-1]))}[\"']?\s*=\s*([-+0-9._]+)", line)
        return match[1] if match else ""


def _in_words(text: str, raw: Any) -> str:
    """msgspec's message about a value in words: `must be a string, not a number`."""
    if malformed := _MALFORMED.fullmatch(text):  # the key's description has the form in words
        names = [raw] if isinstance(raw, str) else [name for name in raw if not re.search(malformed[1], str(name))]
        return f"cannot be {', '.join(map(repr, names))}"
    if wrong := _WRONG_TYPE.fullmatch(text):
        return f"must be {_TYPES.get(wrong[1], wrong[1])}, not {_TYPES.get(wrong[2], wrong[2])}"
    for form, template in _CONSTRAINTS.items():
        if match := re.fullmatch(form, text):
            return template.format(*match.groups())
    return f"is invalid: {text[:1].lower()}{text[1:]}"


def _plain(kind: Any) -> Any:
    """The type below Annotated and `| None` (TOML has no null). Constraints stay where msgspec needs them."""
    if typing.get_origin(kind) is typing.Annotated:
        inner = typing.get_args(kind)[0]
        return _plain(inner) if _is_struct(inner) or _holds_structs(inner) else kind
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        rest = [arg for arg in typing.get_args(kind) if arg is not type(None)]
        return _plain(rest[0]) if len(rest) == 1 else kind
    return kind


def _describe(kind: Any) -> str:
    """What a key means, which is the advice where a value does not fit and nothing is nearer."""
    return next((meta.description for meta in getattr(kind, "__metadata__", ()) if meta.description), "")


def _choices(kind: Any) -> tuple[Any, ...]:
    """The values of a Literal, however it is wrapped; else nothing."""
    if typing.get_origin(kind) is typing.Annotated:
        return _choices(typing.get_args(kind)[0])
    return typing.get_args(kind) if typing.get_origin(kind) is Literal else ()


def _is_struct(kind: Any) -> bool:
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return any(_is_struct(arg) for arg in typing.get_args(kind))
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _holds_structs(kind: Any) -> bool:
    return typing.get_origin(kind) in (dict, tuple) and any(_is_struct(arg) for arg in typing.get_args(kind))


def format_key(path: tuple[Key, ...]) -> str:
    """Keys as they are written in TOML: `runtime[0].describe.name`."""
    parts = [f"[{key}]" if isinstance(key, int) else f".{key}" for key in path if key != "options"]
    return "".join(parts).lstrip(".") or "the file"


def nearest(text: str, choices: typing.Iterable[str]) -> str:
    """The nearest known word, or all of them."""
    names = sorted(choices)
    close = difflib.get_close_matches(text, names, n=1, cutoff=0.6)
    if close:
        return f"Did you mean {close[0]}?"
    return f"Known: {', '.join(names)}." if names else ""
