"""Finds and reads a configuration file, and reports all its problems at once."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from latebind.config.check import check_config, check_source, check_texts
from latebind.config.config import SDIST_LOADER, Config
from latebind.config.described import DescribedFile, problems, version_problems
from latebind.config.document import Document
from latebind.config.expand import expand
from latebind.config.reader import Reader
from latebind.config.runtime import RuntimeUse
from latebind.errors import ConfigError, InputError
from latebind.text import shell_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

FILE_NAME = "latebind.toml"
_TOML = "Correct the line that the message names, or the end of the line above it. The rules are on https://toml.io."


class NoProjectError(InputError):
    """A folder belongs to no project."""


def find(start: Path) -> Path:
    """The configuration that governs a folder: latebind.toml or [tool.latebind], there or above, up to the repository.

    Raises NoProjectError when there is none, InputError when it is above the folder and not trusted.
    """
    start = start.resolve()
    for folder in (start, *start.parents):
        config_path = folder / FILE_NAME
        if config_path.is_file():
            return _check_trusted(config_path, start)
        shared = folder / "pyproject.toml"
        if shared.is_file() and "latebind" in _parse(_read(shared), shared).get("tool", {}):
            return _check_trusted(shared, start)
        if (folder / ".git").exists():
            break
    raise NoProjectError(
        f"no {FILE_NAME} and no [tool.latebind] here or above",
        where=str(start),
        advice="Name the project's folder: latebind -C FOLDER ... For a new project: latebind new NAME.",
    )


def _check_trusted(file: Path, start: Path) -> Path:
    """A configuration that runs programs: it must not be another user's just because it is above the folder.

    The folder itself was chosen, and with it its owner and all who may write to it. Raises InputError.
    """
    if file.parent == start or sys.platform == "win32":
        return file
    here, file_stat = start.stat(), file.stat()
    reason = ""
    if file_stat.st_uid not in {0, os.geteuid(), here.st_uid}:
        reason = f"belongs to another user (uid {file_stat.st_uid})"
    elif file_stat.st_mode & ~here.st_mode & stat.S_IWOTH:
        reason = "can be changed by every user"
    if reason:
        advice = f"If you trust it, name its folder: latebind -C {shell_word(file.parent)} ..."
        raise InputError(f"is above {start} and {reason}", where=str(file), advice=advice)
    return file


def load(file: Path, *, alone: bool = False) -> Config:
    """Read one file, once, and check it; `alone`, as in a release, without the sources that it names.

    Raises ConfigError with all problems, or InputError when the file cannot be read or is not TOML.
    """
    content = _read(file)
    raw: Any = _parse(content, file)
    if file.name == "pyproject.toml":
        raw = raw.get("tool", {}).get("latebind", {})
    reader = Reader(file)
    check_texts(raw, reader)
    document = reader.read(Document, _split_targets(raw))
    if document is not None:
        root = file.parent.resolve()
        unpacked = (root / "PKG-INFO").is_file() and (root / SDIST_LOADER).is_dir()
        config = Config(root=root, file=file, document=expand(document, reader), unpacked=unpacked, content=content)
        check_config(config, reader)
        if not alone:
            check_source(config, reader)
    if reader.problems or document is None:
        raise ConfigError(reader.problems)
    return config


def load_described(file: Path, systems: Iterable[str], minimum: str = "", functions: Sequence[str] = ()) -> RuntimeUse:
    """A runtime that a file describes by the keys of [runtime.describe]; `functions` are added to its stub.

    Raises ConfigError with all problems, or InputError when the file cannot be read or is not TOML.
    """
    raw = _parse(_read(file), file)
    if functions and isinstance(stub := raw.setdefault("stub", {}), dict):
        stub["functions"] = [*stub.get("functions", []), *functions]
    reader = Reader(file)
    described = reader.read(DescribedFile, raw)
    if described is None:
        raise ConfigError(reader.problems)
    minimum = minimum or described.minimum or described.oldest
    if described.version == "none" and minimum:
        reader.problem(("minimum",), "the library does not report its version", "Remove minimum.")
    checked = version_problems("minimum", minimum) if described.version != "none" else ()
    for keys, text, advice in (*checked, *problems(described, minimum, systems)):
        reader.problem(keys, text, advice)
    if reader.problems:
        raise ConfigError(reader.problems)
    return RuntimeUse(describe=described, minimum=minimum, drop_in=True)


def standalone_text(config: Config) -> str:
    """The configuration as the text of a latebind.toml: its [tool.latebind] where it was read from a pyproject.toml."""
    if config.file.name == FILE_NAME:
        return _decode(config.content)
    import tomlkit  # noqa: PLC0415  # a build from an sdist does without it

    return tomlkit.dumps(_parse(config.content, config.file)["tool"]["latebind"])


def tables_of(text: str) -> dict[str, Any] | None:
    """The tables of a TOML text, None when it is not TOML."""
    try:
        return msgspec.toml.decode(text)  # type: ignore[no-any-return]
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        advice = "Correct the path, or give your account permission to read the file."
        raise InputError(f"cannot be read: {error.strerror}", where=str(file), advice=advice) from error


def _decode(content: bytes) -> str:
    """The text, without the byte order mark that Windows' editors write. Raises UnicodeDecodeError."""
    return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def _parse(content: bytes, file: Path) -> dict[str, Any]:
    try:
        return msgspec.toml.decode(_decode(content))  # type: ignore[no-any-return]
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise InputError(f"not TOML: {error}", where=str(file), advice=_TOML) from error


def _split_targets(raw: dict[str, Any]) -> dict[str, Any]:
    """Move the [targets.<rid>] tables below `options`, where the model has them."""
    table = raw.get("targets")
    if not isinstance(table, dict):
        return raw
    option_tables = {key: value for key, value in table.items() if isinstance(value, dict)}
    rest = {key: value for key, value in table.items() if key not in option_tables}
    return {**raw, "targets": {**rest, **({"options": option_tables} if option_tables else {})}}
