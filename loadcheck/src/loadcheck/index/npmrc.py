"""Finds the npm registries that this machine's npm uses, by its variables and files. npm itself is not run."""

from __future__ import annotations

import base64
import binascii
import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from loadcheck.index.settings import find_cache

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PREFIX = "npm_config_"
_VARIABLE = re.compile(r"\$\{([^${}?]+)(\??)\}")
_LINE = re.compile(r"\s*([^=;#\[\s][^=]*?)\s*=\s*(.*?)\s*")
_DEFINITIONS = ("node_modules/@npmcli/config/lib/definitions/definitions.js", "lib/utils/config/definitions.js")
"""Where npm 7 and later has its options, below its own folder."""
_DEFAULT = re.compile(r"Definition\('registry',\s*\{\s*default:\s*['\"](https://[^'\"\s]+)['\"]")


@dataclass(frozen=True, slots=True, kw_only=True)
class NpmSettings:
    """Which registries to ask, with which credentials, and whether to ask at all."""

    fields: Mapping[str, str]
    """The options by npm's names: `registry`, `@acme:registry`, `//host/:_authToken`."""
    default: str
    """The registry that npm has built in; "" if no npm is installed here."""
    cache: Path

    @property
    def is_offline(self) -> bool:
        """Whether npm is to ask nobody."""
        return self.fields.get("offline", "").lower() == "true"

    def find_registry(self, package: str) -> str:
        """The registry of a package, which its scope may choose; "" if none is known."""
        scope = package.partition("/")[0] if package.startswith("@") else ""
        registry = (scope and self.fields.get(f"{scope}:registry")) or self.fields.get("registry") or self.default
        return registry.rstrip("/")

    def find_credentials(self, url: str) -> str:
        """The header Authorization for an address: of the longest folder on its host with credentials; "" for none."""
        parts = urlsplit(url)
        folder = f"//{parts.netloc.rpartition('@')[2]}{parts.path.rpartition('/')[0]}/"
        while folder != "//":
            if found := self._read_credentials(folder):
                return found
            folder = f"{folder[:-1].rpartition('/')[0]}/"
        return ""

    def _read_credentials(self, folder: str) -> str:
        token, basic, user, password = (
            self.fields.get(f"{folder}:{name}") for name in ("_authToken", "_auth", "username", "_password")
        )
        if token:
            return f"Bearer {token}"
        if user and password:
            with suppress(binascii.Error):
                basic = base64.b64encode(user.encode() + b":" + base64.b64decode(password)).decode()
        return f"Basic {basic}" if basic else ""


def read_npm_settings(environment: Mapping[str, str] | None = None) -> NpmSettings:
    """The options as npm has them: variables come before the files of folder, user and machine."""
    env = os.environ if environment is None else environment
    given = {_name_option(key): value for key, value in env.items() if key.lower().startswith(_PREFIX) and value}
    npm = _find_npm(env)
    fields: dict[str, str] = {}
    for path in _list_files(given, npm):
        fields.update(_read_file(path, env))
    return NpmSettings(fields={**fields, **given}, default=_find_default(npm), cache=find_cache(env))


def _name_option(variable: str) -> str:
    """`registry` for NPM_CONFIG_REGISTRY; credentials keep their letters."""
    key = variable[len(_PREFIX) :]
    return key if key.startswith("//") else key[:1].lower() + key[1:].lower().replace("_", "-")


def _find_npm(env: Mapping[str, str]) -> Path | None:
    """The folder of npm's own code; None without npm."""
    found = shutil.which("npm", path=env.get("PATH", ""))
    if found is None:
        return None
    beside = Path(found).parent / "node_modules/npm"
    return beside if beside.is_dir() else Path(found).resolve().parent.parent


def _find_default(npm: Path | None) -> str:
    for name in _DEFINITIONS if npm else ():
        with suppress(OSError, UnicodeDecodeError):
            if match := _DEFAULT.search((npm or Path()).joinpath(name).read_text(encoding="utf-8")):
                return match[1]
    return ""


def _list_files(given: Mapping[str, str], npm: Path | None) -> Iterator[Path]:
    """npm's files, the strongest last (npm's documentation, "npmrc")."""
    if npm is not None:
        yield npm / "npmrc"
        prefix = Path(given.get("prefix") or (npm.parent.parent if os.name == "nt" else npm.parent.parent.parent))
        yield Path(given.get("globalconfig") or prefix / "etc/npmrc")
    yield Path(given.get("userconfig") or Path.home() / ".npmrc")
    yield Path(".npmrc")


def _read_file(path: Path, env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The options of an .npmrc file; nothing if it cannot be read, since npm goes on without it, too."""
    with suppress(OSError, UnicodeDecodeError):
        for line in path.read_text(encoding="utf-8-sig").splitlines():
            if match := _LINE.fullmatch(line):
                value = match[2][1:-1] if match[2][:1] in "'\"" and match[2][-1:] == match[2][:1] else match[2]
                yield _fill(match[1], env), _fill(value, env)


def _fill(text: str, env: Mapping[str, str]) -> str:
    """A text with its variables: `${NAME}` of one that is not set stays, and `${NAME?}` is empty."""
    return _VARIABLE.sub(lambda match: env.get(match[1], "" if match[2] else match[0]), text)
