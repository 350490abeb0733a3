"""Reads and checks a configuration file; reports every problem at once, each with its line and the nearest name."""

from __future__ import annotations

import difflib
import re
import types
import typing
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
from packaging.version import InvalidVersion, Version

from latebind.config import Config, Document, RuntimeUse
from latebind.errors import ConfigError, InputError, LatebindError
from latebind.model import Rid
from latebind.ownruntime import RUNTIME_VERSION, DescribedRuntime, problems
from latebind.presets import presets
from latebind.pythonabi import kind_problem
from latebind.targets import targets
from latebind.tomllines import Key, headers, line_of

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "latebind.toml"
_ENTRIES = ("minimum", "each-minor", "latest")
_MINOR = re.compile(r"^3\.\d+$")
_DISTRIBUTION = re.compile(r"^([A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9])$")
"""packaging.python.org, "Names and normalization"."""
_T = TypeVar("_T")


def find(start: Path) -> Path:
    """The configuration that governs a folder: latebind.toml or [tool.latebind], there or above, up to the repository.

    Raises InputError when there is none.
    """
    start = start.resolve()
    for folder in (start, *start.parents):
        own = folder / FILE_NAME
        if own.is_file():
            return own
        shared = folder / "pyproject.toml"
        if shared.is_file() and "latebind" in _tables(shared).get("tool", {}):
            return shared
        if (folder / ".git").exists():
            break
    raise InputError(
        f"no {FILE_NAME} and no [tool.latebind] here or above",
        where=str(start),
        advice="Name the project's folder: latebind -C FOLDER ... To begin a project: latebind init.",
    )


def load(file: Path, *, alone: bool = False) -> Config:
    """Read and check one file; `alone`, without the sources that it speaks of, as a release keeps it.

    Raises ConfigError with all problems, or InputError when the file cannot be read or is not TOML.
    """
    raw: Any = _tables(file)
    prefix: tuple[Key, ...] = ()
    if file.name == "pyproject.toml":
        raw = raw.get("tool", {}).get("latebind", {})
        prefix = ("tool", "latebind")
    reader = _Reader(file, file.read_text("utf-8"), prefix)
    document = reader.read(Document, _split_targets(raw), ())
    if document is not None:
        config = Config(root=file.parent.resolve(), file=file, document=document)
        _check(config, reader)
        if not alone:
            _check_source(config, reader)
    if reader.problems or document is None:
        raise ConfigError(reader.problems)
    return config


def own_file(file: Path) -> str:
    """The [tool.latebind] of a pyproject.toml as the text of a latebind.toml, line by line as it was written."""
    top: list[str] = []
    rest: list[str] = []
    chosen: list[str] | None = None
    for line, header in headers(file.read_text("utf-8")):
        if header is not None:
            ours = header[:2] == ("tool", "latebind")
            chosen = (rest if len(header) > 2 else top) if ours else None  # noqa: PLR2004  # the length of the prefix
            if ours and len(header) > 2:  # noqa: PLR2004
                rest.append(re.sub(r"tool\s*\.\s*latebind\s*\.\s*", "", line, count=1))
        elif chosen is not None:
            chosen.append(line)
    return "\n".join([*top, *rest]) + "\n"


def tables_of(text: str) -> dict[str, Any] | None:
    """The tables of a TOML text, None when it is none."""
    try:
        return msgspec.toml.decode(text)  # type: ignore[no-any-return]
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _tables(file: Path) -> dict[str, Any]:
    try:
        return msgspec.toml.decode(file.read_bytes())  # type: ignore[no-any-return]
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(file)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InputError(f"not TOML: {error}", where=str(file)) from error


def _split_targets(raw: dict[str, Any]) -> dict[str, Any]:
    """Move the [targets.<rid>] tables below `options`, where the model has them."""
    table = raw.get("targets")
    if not isinstance(table, dict):
        return raw
    rows = {key: value for key, value in table.items() if isinstance(value, dict)}
    rest = {key: value for key, value in table.items() if key not in rows}
    return {**raw, "targets": {**rest, **({"options": rows} if rows else {})}}


class _Reader:
    """Turns TOML values into the model and collects what does not fit."""

    def __init__(self, file: Path, text: str, prefix: tuple[Key, ...]) -> None:
        self.problems: list[LatebindError] = []
        self._file = file
        self._text = text
        self._prefix = prefix

    def problem(self, path: tuple[Key, ...], message: str, advice: str = "") -> None:
        """Note a problem at a key."""
        shown = tuple(key for key in path if path[:2] != ("targets", "options") or key != "options")
        line = line_of(self._text, self._prefix + shown)
        self.problems.append(LatebindError(message, where=f"{self._file.name}:{line}", advice=advice))

    def read(self, kind: type[_T], raw: object, path: tuple[Key, ...]) -> _T | None:
        """A struct from a table, or None when something in it does not fit."""
        before = len(self.problems)
        value = self._value(kind, raw, path)
        return typing.cast("_T", value) if len(self.problems) == before else None

    def _value(self, kind: Any, raw: Any, path: tuple[Key, ...]) -> object:
        kind = _plain(kind)
        origin, args = typing.get_origin(kind), typing.get_args(kind)
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return self._struct(kind, raw, path)
        if origin is dict and _is_struct(args[1]) and isinstance(raw, dict):
            rows = {key: self._value(args[1], row, (*path, key)) for key, row in raw.items()}
            return rows or self._converted(dict[str, Any], raw, path)
        if origin is tuple and _is_struct(args[0]) and isinstance(raw, list):
            return tuple(self._value(args[0], row, (*path, index)) for index, row in enumerate(raw))
        return self._converted(kind, raw, path)

    def _struct(self, kind: type[msgspec.Struct], raw: Any, path: tuple[Key, ...]) -> object:
        if not isinstance(raw, dict):
            self.problem(path, f"{_dotted(path)} must be a table")
            return None
        fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
        before = len(self.problems)
        values = {}
        for key, value in raw.items():
            if key in fields:
                values[fields[key].name] = self._value(fields[key].type, value, (*path, key))
            else:
                self.problem((*path, key), f"unknown key {_dotted((*path, key))}", _nearest(key, fields))
        for key, field in fields.items():
            if field.required and key not in raw:
                self.problem(path, f"{_dotted((*path, key))} is missing")
        return kind(**values) if len(self.problems) == before else None

    def _converted(self, kind: Any, raw: Any, path: tuple[Key, ...]) -> object:
        try:
            return msgspec.convert(raw, kind, strict=True)
        except msgspec.ValidationError as error:
            text = str(error).partition(" - at ")[0]
            advice = _nearest(raw, _choices(kind)) if isinstance(raw, str) else ""
            self.problem(path, f"{_dotted(path)}: {text[:1].lower()}{text[1:]}", advice)
            return None


def _plain(kind: Any) -> Any:
    """The type below Annotated and `| None` (TOML has no null). Constraints stay where msgspec needs them."""
    if typing.get_origin(kind) is typing.Annotated:
        inner = typing.get_args(kind)[0]
        return _plain(inner) if _is_struct(inner) or _holds_structs(inner) else kind
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        rest = [arg for arg in typing.get_args(kind) if arg is not type(None)]
        return _plain(rest[0]) if len(rest) == 1 else kind
    return kind


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


def _dotted(path: tuple[Key, ...]) -> str:
    parts = [f"[{key}]" if isinstance(key, int) else f".{key}" for key in path if key != "options"]
    return "".join(parts).lstrip(".") or "the file"


def _nearest(word: str, known: typing.Iterable[str]) -> str:
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if close:
        return f"Did you mean {close[0]}?"
    return f"Known: {', '.join(names)}." if names else ""


def _check(config: Config, reader: _Reader) -> None:
    """What types cannot say: names that must exist, versions that must be versions."""
    document = config.document
    if _version(document.project.version) is None:
        reader.problem(("project", "version"), f"{document.project.version!r} is not a version", "Write it as 1.2.3.")
    known = [str(rid) for rid in targets()]
    for path, rid in [
        *((("targets", "include"), rid) for rid in document.targets.include),
        *((("targets", rid), rid) for rid in document.targets.options),
    ]:
        if rid not in known:
            reader.problem(path, f"{rid!r} is not a target", _nearest(rid, known))
    for rid in document.targets.include:
        row = targets().get(Rid(rid))
        if row is not None and row.libc == "glibc" and Version(document.targets.glibc) < Version(row.floor):
            text = f"glibc {document.targets.glibc} is older than {rid} can be built for"
            reader.problem(("targets", "glibc"), text, f'Write glibc = "{row.floor}" or a newer one.')
    _check_runtimes(config, reader)
    _check_verify(config, reader)
    _check_packages(config, reader)


def _check_source(config: Config, reader: _Reader) -> None:
    document = config.document
    source = config.native_source
    if not source.resolve().is_relative_to(config.root):
        reader.problem(("native", "source"), f"the native source {document.native.source} lies outside {config.root}")
    elif not (source / "CMakeLists.txt").is_file():
        reader.problem(
            ("native", "source"),
            f"the native source {document.native.source}/CMakeLists.txt is not there",
            "Set native.source to the folder of the top CMakeLists.txt.",
        )


def _check_runtimes(config: Config, reader: _Reader) -> None:
    for index, use in enumerate(config.document.runtime):
        if use.describe is None:
            _check_preset(reader, use, ("runtime", index))
        else:
            _check_described(config, reader, use, use.describe, ("runtime", index))
    names = [use.name for use in config.document.runtime]
    for index, name in enumerate(names):
        if name and name in names[:index]:
            reader.problem(("runtime", index), f"{name} is a [[runtime]] twice", "Keep one of them.")
    _check_tried(config, reader)


def _check_preset(reader: _Reader, use: RuntimeUse, here: tuple[Key, ...]) -> None:
    if not use.preset:
        text = "a runtime has neither preset nor description"
        advice = f"Write preset = one of {', '.join(presets())}, or describe it below [runtime.describe]."
        reader.problem(here, text, advice)
        return
    preset = presets().get(use.preset)
    if preset is None:
        reader.problem((*here, "preset"), f"{use.preset!r} is not a known runtime", _nearest(use.preset, presets()))
        return
    minimum = _version(use.minimum)
    if minimum is None:
        reader.problem((*here, "minimum"), f"{use.minimum!r} is not a version", "Write it as 1.19.")
    elif minimum < Version(preset.floor):
        reader.problem(
            (*here, "minimum"),
            f"{preset.title} {use.minimum} cannot be the minimum: {preset.floor_reason}",
            f'Write minimum = "{preset.floor}".',
        )


def _check_described(
    config: Config, reader: _Reader, use: RuntimeUse, described: DescribedRuntime, here: tuple[Key, ...]
) -> None:
    if use.preset:
        text = f"a runtime is the preset {use.preset} and described as well"
        reader.problem((*here, "preset"), text, "Take preset out, or [runtime.describe].")
    if not RUNTIME_VERSION.match(use.minimum):
        text = f"{use.minimum!r} is not two or three numbers"
        reader.problem((*here, "minimum"), text, "Write it as 1.19 or 1.19.2.")
    rows = (targets().get(Rid(rid)) for rid in config.document.targets.include)
    for keys, text, advice in problems(described, use.minimum, [row.system for row in rows if row is not None]):
        reader.problem((*here, "describe", *keys), f"{_dotted((*here, 'describe', *keys))}: {text}", advice)


def _check_tried(config: Config, reader: _Reader) -> None:
    used = [use.name for use in config.document.runtime]
    for name in config.document.verify.own:
        if name not in used:
            reader.problem(("verify", "own", name), f"{name!r} is not a [[runtime]] here", _nearest(name, used))
    for name, versions in config.document.verify.runtimes.items():
        if name not in used:
            reader.problem(("verify", "runtimes", name), f"{name!r} is not a [[runtime]] here", _nearest(name, used))
        for version in versions:
            if version not in _ENTRIES and _version(version) is None:
                advice = _nearest(version, _ENTRIES)
                reader.problem(("verify", "runtimes", name), f"{version!r} is not a version", advice)


def _check_verify(config: Config, reader: _Reader) -> None:
    verify = config.document.verify
    for rid in verify.each_minor:
        if rid not in targets():
            reader.problem(("verify", "each_minor"), f"{rid!r} is not a target", _nearest(rid, map(str, targets())))
    for minor in verify.pythons:
        if not _MINOR.match(minor):
            reader.problem(("verify", "pythons"), f"{minor!r} is no minor version of CPython", 'Write it as "3.11".')
    advice = 'Write the runtime version from which on the number holds: { "1.19" = 1000 }.'
    counts: dict[tuple[Key, ...], dict[str, int]] = {("verify", "at_least"): verify.at_least}
    for name, own in verify.own.items():
        counts["verify", "own", name, "at_least"] = own.at_least
    for where, known in counts.items():
        for version in [text for text in known if _version(text) is None]:
            reader.problem(where, f"{version!r} is not a version", advice)


def _check_packages(config: Config, reader: _Reader) -> None:
    for name, package in config.packages.items():
        if package.wheel is not None and not _DISTRIBUTION.match(config.wheel_name(name)):
            text = f"{config.wheel_name(name)!r} is no name of a distribution"
            reader.problem(("package", name, "wheel"), text, "Set package.<name>.wheel.name.")
        kind = package.wheel.kind if package.wheel is not None else "py3-none"
        if wrong := kind_problem(name, kind, config.module_kind, nuget=package.nuget is not None):
            reader.problem(("package", name, "wheel"), *wrong)
        for other in package.requires:
            if other not in config.packages:
                text = f"{other!r} is not a package here"
                reader.problem(("package", name, "requires"), text, _nearest(other, config.packages))
        used = [use.name for use in config.document.runtime]
        if package.runtime and package.runtime not in used:
            advice = _nearest(package.runtime, used)
            reader.problem(("package", name, "runtime"), f"{package.runtime!r} is not a [[runtime]] here", advice)
        if package.wheel is not None and package.wheel.extras == "channels" and config.runtime_of(name) is None:
            reader.problem(
                ("package", name, "wheel"),
                f"package {name} asks for extras but binds no runtime",
                f'Add runtime = "..." to [package.{name}].',
            )


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None
