"""Turns the tables of a TOML file into structs, and collects every problem with its key and the nearest name."""

from __future__ import annotations

import difflib
import re
import types
import typing
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
from msgspec import inspect as info

from latebind.errors import LatebindError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_T = TypeVar("_T")
_CANNOT = "cannot be "
Key = str | int
"""A key of a table, or the index of a list."""
_TYPES: typing.Mapping[type, str] = {
    bool: "true or false", str: "a string", int: "a whole number", float: "a number", list: "a list", dict: "a table",
}  # fmt: skip
"""The types that TOML reads into, in words."""
_TYPES_OF: typing.Mapping[type, type] = {
    info.BoolType: bool, info.StrType: str, info.IntType: int, info.FloatType: float, info.VarTupleType: list,
    info.ListType: list, info.DictType: dict,
}  # fmt: skip
"""The type of value that msgspec reads a type of the model from."""


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table whose keys are all known."""

    former_keys: typing.ClassVar[typing.Mapping[str, str]] = {}
    """What to write instead of keys that earlier versions had."""


class Reader:
    """Turns TOML values into the model and collects what does not fit."""

    def __init__(self, file: Path) -> None:
        self.problems: list[LatebindError] = []
        self._file = file

    def problem(self, path: tuple[Key, ...], message: str, advice: str = "") -> None:
        """Note a problem at a key, which the place names unless the message does."""
        key = format_key(path)
        where = self._file.name if key in message or not path else f"{self._file.name}: {key}"
        self.problems.append(LatebindError(message, where=where, advice=advice))

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
                former: typing.Mapping[str, str] = getattr(kind, "former_keys", {})
                advices.add(advice := former.get(key) or nearest(key, fields))
                self.problem((*path, key), f"unknown key {format_key((*path, key))}", advice)
        for key, field in fields.items():
            if field.required and key not in raw and f"Did you mean {key}?" not in advices:
                self.problem(path, f"{format_key((*path, key))} is missing", _describe(field.type))
        return kind(**values) if len(self.problems) == before else None

    def _convert(self, kind: Any, raw: Any, path: tuple[Key, ...], description: str = "") -> object:
        try:
            return msgspec.convert(raw, kind, strict=True)
        except msgspec.ValidationError:
            wanted = _without_metadata(info.type_info(kind))
            if isinstance(wanted, info.DictType) and isinstance(raw, dict):
                before, plain = len(self.problems), typing.get_args(kind)[0] if hasattr(kind, "__metadata__") else kind
                for key, value in raw.items():
                    self._convert(typing.get_args(plain)[1], value, (*path, key), description)
                if len(self.problems) > before:  # else a key is wrong, or there is none
                    return None
            advice = nearest(raw, _choices(kind)) if isinstance(raw, str) else ""
            if isinstance(wanted, info.StrType) and isinstance(raw, (int, float)) and not isinstance(raw, bool):
                advice = "Write the value in quotation marks."
            if raw == []:
                advice = f"Write at least one value. {description}".rstrip()
            self.problem(path, f"{format_key(path)} {_find_misfit(wanted, raw)}", advice or description)
            return None


def _find_misfit(wanted: info.Type, raw: Any) -> str:
    """Why a value does not fit a type of the model: `must be a string, not a number`; "" if it fits."""
    wanted = _without_metadata(wanted)
    if isinstance(wanted, info.UnionType):
        return _find_misfit_in_all(wanted.types, raw)
    if isinstance(wanted, info.LiteralType):
        return "" if raw in wanted.values else f"cannot be {raw!r}"
    expected = _TYPES_OF.get(type(wanted), type(raw))
    if type(raw) is not expected and (expected, type(raw)) != (float, int):
        return f"must be {_TYPES[expected]}, not {_TYPES.get(type(raw), 'a date or time')}"
    if isinstance(raw, (list, dict)):
        return _find_misfit_inside(wanted, raw)
    return _find_broken_limit(wanted, raw)


def _without_metadata(wanted: info.Type) -> info.Type:
    return _without_metadata(wanted.type) if isinstance(wanted, info.Metadata) else wanted


def _find_misfit_in_all(types_: Iterable[info.Type], raw: Any) -> str:
    """Why a value fits none of these types; the reason of the type that it has, if one has it."""
    misfits = [_find_misfit(wanted, raw) for wanted in types_]
    if "" in misfits:
        return ""
    return min(misfits, key=lambda text: text.startswith("must be "))


def _find_misfit_inside(wanted: info.Type, raw: list[Any] | dict[str, Any]) -> str:
    if not raw:
        return "must not be empty"
    if isinstance(raw, dict):
        pairs = [(wanted.key_type, raw), (wanted.value_type, raw.values())] if isinstance(wanted, info.DictType) else []
    else:
        pairs = [(wanted.item_type, raw)] if isinstance(wanted, (info.VarTupleType, info.ListType)) else []
    found = [text for kind, values in pairs for value in values if (text := _find_misfit(kind, value))]
    malformed = [text.removeprefix(_CANNOT) for text in found if text.startswith(_CANNOT)]
    return f"{_CANNOT}{', '.join(malformed)}" if malformed else next(iter(found), "is invalid")


def _find_broken_limit(wanted: info.Type, raw: Any) -> str:
    if isinstance(wanted, info.StrType):
        if wanted.max_length is not None and len(raw) > wanted.max_length:
            return f"must have at most {wanted.max_length} characters"
        if wanted.min_length is not None and len(raw) < wanted.min_length:
            return "must not be empty"
        if wanted.pattern is not None and not re.search(wanted.pattern, raw):
            return f"{_CANNOT}{raw!r}"  # the key's description has the form in words
    if isinstance(wanted, info.IntType):
        if wanted.ge is not None and raw < wanted.ge:
            return f"must be >= {wanted.ge}"
        if wanted.le is not None and raw > wanted.le:
            return f"must be <= {wanted.le}"
    return ""


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
