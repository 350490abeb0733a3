"""Finds the package indexes that this machine's installers use: pip's and uv's variables and files."""

from __future__ import annotations

import configparser
import importlib.util
import os
import sys
import zipimport
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from loadcheck.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FIRST = ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL")
_MORE = ("PIP_EXTRA_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL")
_OFF = ("PIP_NO_INDEX", "UV_OFFLINE", "UV_NO_INDEX")
_TRUE = frozenset({"1", "true", "yes", "on", "t", "y"})
_ADVICE = "Set PIP_INDEX_URL or UV_DEFAULT_INDEX to the address of an index, such as that of your mirror."


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSettings:
    """Where to ask, and whether to ask at all."""

    urls: tuple[str, ...]
    """The simple API of each index; the first one counts if two have the same file."""
    is_offline: bool
    cache: Path


def explain_no_index() -> str:
    """Why it is not known which package index to ask; "" if one is configured or pip is installed."""
    try:
        read_index_settings()
    except UserError as error:
        return str(error)
    return ""


def read_index_settings(environment: Mapping[str, str] | None = None) -> IndexSettings:
    """The indexes as pip and uv have them: variables come before files, and a default index before further ones.

    Without a configured default index it is the one that pip has built in. Raises UserError if nobody knows it: what
    the other indexes lack may be there.
    """
    env = os.environ if environment is None else environment
    files = [*_read_pip(env), *_read_uv(env)]
    first = [env[name] for name in _FIRST if env.get(name)] + [url for is_first, url in files if is_first]
    more = [url for name in _MORE for url in env.get(name, "").split()]
    more += [url for is_first, url in files if not is_first]
    is_offline = any(env.get(name, "").lower() in _TRUE for name in _OFF)
    default = first[0] if first else _find_default()
    if not default and not is_offline:
        raise UserError("no default index is configured, and no pip is installed here", advice=_ADVICE)
    urls = [default, *more] if default else more
    # uv's variables and files may name an index: NAME=URL.
    plain = (url.partition("=")[2] if "=" in url.partition(":")[0] else url for url in urls)
    return IndexSettings(
        urls=tuple(dict.fromkeys(url.rstrip("/") for url in plain)), is_offline=is_offline, cache=find_cache(env)
    )


def _find_default() -> str:
    """The index that pip has built in: the installed one, or that of new environments; "" for none."""
    with suppress(Exception):  # another pip may have it elsewhere
        return str(importlib.import_module("pip._internal.models.index").PyPI.simple_url)
    with suppress(Exception):
        (wheel,) = Path(importlib.import_module("ensurepip").__file__ or "").parent.glob("_bundled/pip-*.whl")
        spec = zipimport.zipimporter(f"{wheel}/pip/_internal/models").find_spec("index")
        if spec and spec.loader:
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return str(module.PyPI.simple_url)
    return ""


def _read_pip(env: Mapping[str, str]) -> Iterator[tuple[bool, str]]:
    """The indexes of pip's files, of the last file that names them: whether each is the default, and its address."""
    found: dict[str, str] = {}
    for path in _list_pip_files(env):
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError, OSError) as error:
            raise UserError(f"pip's configuration cannot be read: {error}", where=str(path)) from error
        for section in ("global", "download", "install"):
            if parser.has_section(section):
                found.update(parser.items(section))
    yield from ((True, url) for url in found.get("index-url", "").split())
    yield from ((False, url) for url in found.get("extra-index-url", "").split())


def _list_pip_files(env: Mapping[str, str]) -> list[Path]:
    """pip's files, the strongest last (pip's documentation, "Configuration files")."""
    named = env.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return []
    home = Path.home()
    if sys.platform == "win32":
        paths = [Path(env.get("PROGRAMDATA", "C:/ProgramData"), "pip/pip.ini"), home / "pip/pip.ini"]
        paths += [Path(env.get("APPDATA", home), "pip/pip.ini"), Path(sys.prefix, "pip.ini")]
    else:
        folders = env.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":")
        system = ["/Library/Application Support"] if sys.platform == "darwin" else folders
        paths = [*(Path(folder, "pip/pip.conf") for folder in system if folder), Path("/etc/pip.conf")]
        paths += [home / ".pip/pip.conf", home / "Library/Application Support/pip/pip.conf"]
        paths += [Path(env.get("XDG_CONFIG_HOME", home / ".config"), "pip/pip.conf"), Path(sys.prefix, "pip.conf")]
    return [*paths, *([Path(named)] if named else [])]


def _read_uv(env: Mapping[str, str]) -> Iterator[tuple[bool, str]]:
    """The indexes of uv's file of the user."""
    home = Path(env.get("APPDATA" if sys.platform == "win32" else "XDG_CONFIG_HOME") or Path.home() / ".config")
    path = Path(env.get("UV_CONFIG_FILE") or home / "uv/uv.toml")
    try:
        table: dict[str, Any] = msgspec.toml.decode(path.read_bytes())
    except OSError:
        return
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UserError(f"uv's configuration cannot be read: {error}", where=str(path)) from error
    rows = table.get("index") if isinstance(table.get("index"), list) else []
    for row in rows or []:
        if isinstance(row, dict) and isinstance(row.get("url"), str):
            yield bool(row.get("default")), row["url"]
    for key, is_first in (("index-url", True), ("extra-index-url", False)):
        value = table.get(key)
        for url in value if isinstance(value, list) else [value]:
            if isinstance(url, str):
                yield is_first, url


def find_cache(env: Mapping[str, str]) -> Path:
    """The folder in which loadcheck keeps what it has read."""
    if sys.platform == "win32":
        base = Path(env.get("LOCALAPPDATA") or Path.home() / "AppData/Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library/Caches"
    else:
        base = Path(env.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(env.get("LOADCHECK_CACHE_DIR") or base / "loadcheck")
