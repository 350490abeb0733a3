"""Turns the tables of a TOML file into structs, and collects every problem with its key and the nearest name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import msgspec
from msgspec import inspect as info

from latebind.errors import LatebindError

if TYPE_CHECKING:
    from pathlib import Path

_T = TypeVar("_T")
_CANNOT = "cannot be "
Key = str | int
"""A key of a table, or the index of a list."""
_TYPES: Mapping[type, str] = {
    bool: "true or false", str: "a string", int: "a whole number", float: "a number", list: "a list", dict: "a table",
}  # fmt: skip
"""The types that TOML reads into, in words."""
_TYPES_OF: Mapping[type, type] = {
    info.BoolType: bool, info.StrType: str, info.IntType: int, info.VarTupleType: list, info.DictType: dict,
    info.StructType: dict,
}  # fmt: skip
"""The type of value that msgspec reads a type of the model from."""


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table whose keys are all known."""

    former_keys: ClassVar[Mapping[str, str]] = {}
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

    def check_known(self, path: tuple[Key, ...], name: str, what: str, choices: Iterable[str]) -> None:
        """Note a name that is not one of the known ones, with the nearest."""
        names = [*choices]
        if name not in names:
            self.problem(path, f"{name!r} is not {what}", nearest(name, names))

    def read(self, kind: type[_T], raw: object) -> _T | None:
        """A struct from a table, or None when something in it does not fit."""
        try:
            return msgspec.convert(raw, kind, strict=True)
        except msgspec.ValidationError as error:  # it names the first problem only
            before = len(self.problems)
            self._check(info.type_info(kind), raw, ())
            if len(self.problems) == before:
                self.problem((), str(error))
            return None

    def _check(self, wanted: info.Type, raw: Any, path: tuple[Key, ...], description: str = "") -> None:
        """Note each problem of a value; the description of its key is the advice where nothing is nearer."""
        description, wanted = _describe(wanted) or description, _choose(wanted, raw)
        before = len(self.problems)
        if isinstance(wanted, info.StructType) and isinstance(raw, dict):
            self._check_table(wanted, raw, path)
        elif isinstance(wanted, info.DictType) and isinstance(raw, dict):
            for key, value in raw.items():
                self._check(wanted.value_type, value, (*path, key), description)
        elif isinstance(wanted, info.VarTupleType) and isinstance(wanted.item_type, info.StructType):
            for index, value in enumerate(raw if isinstance(raw, list) else ()):
                self._check(wanted.item_type, value, (*path, index))
        if len(self.problems) == before and (misfit := _find_misfit(wanted, raw)):
            advice = ""
            if isinstance(wanted, info.LiteralType) and isinstance(raw, str):
                advice = nearest(raw, map(str, wanted.values))
            if isinstance(wanted, info.StrType) and isinstance(raw, (int, float)) and not isinstance(raw, bool):
                advice = "Write the value in quotation marks."
            if raw == []:
                advice = f"Write at least one value. {description}".rstrip()
            self.problem(path, f"{format_key(path)} {misfit}", advice or description)

    def _check_table(self, wanted: info.StructType, raw: dict[str, Any], path: tuple[Key, ...]) -> None:
        fields, advices = {field.encode_name: field for field in wanted.fields}, set()
        for key, value in raw.items():
            if key in fields:
                self._check(fields[key].type, value, (*path, key))
            else:
                former: Mapping[str, str] = getattr(wanted.cls, "former_keys", {})
                advices.add(advice := former.get(key) or nearest(key, fields))
                self.problem((*path, key), f"unknown key {format_key((*path, key))}", advice)
        for key, field in fields.items():
            if field.required and key not in raw and f"Did you mean {key}?" not in advices:
                self.problem(path, f"{format_key((*path, key))} is missing", _describe(field.type))


def _describe(wanted: info.Type) -> str:
    """What a key means."""
    schema = wanted.extra_json_schema if isinstance(wanted, info.Metadata) else None
    return str((schema or {}).get("description", ""))


def _choose(wanted: info.Type, raw: Any) -> info.Type:
    """The type without its description, and of several the one that a value is meant for, if that is known."""
    if isinstance(wanted, info.Metadata):
        return _choose(wanted.type, raw)
    if isinstance(wanted, info.UnionType):
        options = [option for option in wanted.types if not isinstance(option, info.NoneType)]  # TOML has no null
        tables = [option for option in options if isinstance(option, info.StructType) and isinstance(raw, dict)]
        return next(iter(tables), options[0] if len(options) == 1 else wanted)
    return wanted


def _find_misfit(wanted: info.Type, raw: Any) -> str:
    """Why a value does not fit a type of the model: `must be a string, not a number`; "" if it fits."""
    wanted = _choose(wanted, raw)
    if isinstance(wanted, info.UnionType):
        misfits = [_find_misfit(option, raw) for option in wanted.types]
        return "" if "" in misfits else min(misfits, key=lambda text: text.startswith("must be "))
    if isinstance(wanted, info.LiteralType):
        return "" if raw in wanted.values else f"{_CANNOT}{raw!r}"
    expected = _TYPES_OF.get(type(wanted), type(raw))
    if type(raw) is not expected:
        return f"must be {_TYPES[expected]}, not {_TYPES.get(type(raw), 'a date or time')}"
    if isinstance(wanted, (info.DictType, info.VarTupleType)) and isinstance(raw, (dict, list)):
        return _find_misfit_inside(wanted, raw)
    return _find_broken_limit(wanted, raw)


def _find_misfit_inside(wanted: info.DictType | info.VarTupleType, raw: list[Any] | dict[str, Any]) -> str:
    if wanted.min_length is not None and len(raw) < wanted.min_length:
        return "must not be empty"
    kind = wanted.key_type if isinstance(wanted, info.DictType) else wanted.item_type
    found = [text for value in raw if (text := _find_misfit(kind, value))]
    malformed = [text.removeprefix(_CANNOT) for text in found if text.startswith(_CANNOT)]
    return f"{_CANNOT}{', '.join(malformed)}" if malformed else next(iter(found), "")


def _find_broken_limit(wanted: info.Type, raw: Any) -> str:
    if isinstance(wanted, info.StrType):
        if wanted.max_length is not None and len(raw) > wanted.max_length:
            return f"must have at most {wanted.max_length} characters"
        if wanted.min_length is not None and len(raw) < wanted.min_length:
            return "must not be empty"
        if wanted.pattern is not None and not re.search(wanted.pattern, raw):
            return f"{_CANNOT}{raw!r}"  # the key's description has the form in words
    if isinstance(wanted, info.IntType) and wanted.ge is not None and raw < wanted.ge:
        return f"must be >= {wanted.ge}"
    return ""


def format_key(path: tuple[Key, ...]) -> str:
    """Keys as they are written in TOML: `runtime[0].describe.name`."""
    parts = [f"[{key}]" if isinstance(key, int) else f".{key}" for key in path if key != "options"]
    return "".join(parts).lstrip(".") or "the file"


def nearest(text: str, choices: Iterable[str]) -> str:
    """The nearest known word, or all of them."""
    names = sorted(choices)
    close = difflib.get_close_matches(text, names, n=1, cutoff=0.6)
    if close:
        return f"Did you mean {close[0]}?"
    return f"Known: {', '.join(names)}." if names else ""
