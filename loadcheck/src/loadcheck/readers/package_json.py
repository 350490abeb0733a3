"""Reads package.json of an npm package, the files and packages that it names, and those that its code requires."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from loadcheck.binary import Data
    from loadcheck.readers.contents import Contents

MANIFEST = "package.json"
ON_INSTALL = ("preinstall", "install", "postinstall")
"""The scripts that npm runs when it installs a package."""
_SYSTEMS = "aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32"
_PROCESSORS = "arm64|arm|ia32|loong64|mips64el|ppc64|riscv64|s390x|x64"
_PLATFORM = re.compile(rf"(?P<whole>.+?)[/-](?P<os>{_SYSTEMS})-(?P<cpu>{_PROCESSORS})(-[a-z]+)*")
"""The names of packages for one platform, which end with Node's process.platform and process.arch."""
SYSTEM_NAMES = {
    **dict.fromkeys(("macos", "mac", "osx", "macosx"), "darwin"),
    **dict.fromkeys(("windows", "win", "win64"), "win32"),
    **dict.fromkeys(("solaris", "illumos"), "sunos"),
}
PROCESSOR_NAMES = {
    **dict.fromkeys(("x86", "x32", "i386", "i686", "386", "x86_32"), "ia32"),
    **dict.fromkeys(("amd64", "x86_64", "x86-64", "x64_64"), "x64"),
    **dict.fromkeys(("aarch64", "armv8"), "arm64"),
    **dict.fromkeys(("armv6", "armv6l", "armv7", "armv7l", "armhf", "arm32"), "arm"),
    **dict.fromkeys(("ppc64le", "powerpc64le"), "ppc64"),
    **dict.fromkeys(("loongarch64",), "loong64"),
}
"""What Node.js calls a system or processor with another name."""
_ANY_SYSTEM = "|".join((*sorted(SYSTEM_NAMES, reverse=True), _SYSTEMS))
_ANY_PROCESSOR = "|".join((*sorted(PROCESSOR_NAMES, reverse=True), _PROCESSORS))
_PREBUILT = re.compile(
    rf"(?:^|/)(?P<os>{_ANY_SYSTEM})[-_]"
    rf"(?P<cpus>universal2?|(?:{_ANY_PROCESSOR})(?:[+_](?:{_ANY_PROCESSOR}))*)(?:-(?:gnu|glibc|musl|msvc))?(?:/|$)"
)
"""A folder of prebuildify, `linux-x64`, `darwin-x64+arm64`: node-gyp-build opens the add-on in it.

Packages with a loader of their own also have `darwin-x64_arm64`, `darwin-universal`, and other names: `mac-x64`.
"""
SCRIPTS = (".js", ".cjs", ".mjs")
_REQUIRES = re.compile(rb"\brequire\(\s*['\"](@?[\w.~/-]{1,214})['\"]\s*\)")
_MOST_REQUIRED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A package.json at the root of an npm package. `inner` is its path in the tarball."""

    inner: str
    fields: Mapping[str, Any]

    def text(self, key: str) -> str:
        """The value of a key if it is a string, else ""."""
        value = self.fields.get(key)
        return value if isinstance(value, str) else ""

    def table(self, key: str) -> Mapping[str, Any]:
        """The value of a key if it is an object, else an empty one."""
        value = self.fields.get(key)
        return value if isinstance(value, dict) else {}

    def read_values(self, key: str) -> tuple[str, ...]:
        """The values of os, cpu or libc; () where the field restricts nothing."""
        value = self.fields.get(key)
        values = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        return () if "any" in values else tuple(text for text in values if isinstance(text, str))

    @property
    def platform(self) -> tuple[str, str, str]:
        """The main package, the system and the processor in the package's name; three empty strings for other names."""
        match = _PLATFORM.fullmatch(self.text("name"))
        return (match["whole"], match["os"], match["cpu"]) if match else ("", "", "")

    @property
    def parts(self) -> dict[str, str]:
        """The packages for one platform that it requires, with their ranges."""
        ranges = self.table("optionalDependencies").items()
        return {
            name: str(text) for name, text in ranges if (match := _PLATFORM.fullmatch(name)) and self._is_own(match)
        }

    @property
    def has_platform_packages(self) -> bool:
        """Whether it requires packages for several platforms: `@acme/bindings-linux-x64-gnu`, whatever it is called."""
        matches = filter(None, map(_PLATFORM.fullmatch, self.table("optionalDependencies")))
        return max(Counter(match["whole"] for match in matches).values(), default=0) > 1

    def find_required_parts(self, names: Iterable[str]) -> dict[tuple[str, str], list[str]]:
        """The packages for one platform among names of packages, by system and processor."""
        parts: dict[tuple[str, str], list[str]] = {}
        for match in filter(None, map(_PLATFORM.fullmatch, names)):
            parts.setdefault((match["os"], match["cpu"]), []).append(match[0])
        return parts

    def _is_own(self, match: re.Match[str]) -> bool:
        return match["whole"] == self.text("name")


def admits(chosen: tuple[str, ...], value: str) -> bool:
    """Whether a field admits a value, as npm decides it (npm-install-checks): `!win32` is all but win32."""
    if f"!{value}" in chosen:
        return False
    return value in chosen or all(choice.startswith("!") for choice in chosen)


def prebuilt_for(folder: str) -> tuple[str, tuple[str, ...]]:
    """The system and the processors that a folder of prebuilt add-ons names; "" and none for other folders."""
    match = _PREBUILT.search(folder)
    if match is None:
        return "", ()
    system, is_universal = SYSTEM_NAMES.get(match["os"], match["os"]), match["cpus"].startswith("universal")
    if is_universal:
        return (system, ("x64", "arm64")) if system == "darwin" else ("", ())
    named = re.findall(_ANY_PROCESSOR, match["cpus"])
    return system, tuple(PROCESSOR_NAMES.get(name, name) for name in named)


def manifest_path(package: Contents) -> str:
    """The path of package.json in the tarball, below the one folder that npm strips; "" if there is none."""
    return next((name for name in sorted(package.texts) if name.count("/") == 1 and name.endswith(f"/{MANIFEST}")), "")


def read_manifest(package: Contents) -> Manifest | None:
    """The package.json of an npm package; None when it is missing or not a JSON object, which LB901 reports."""
    inner = manifest_path(package)
    fields = _parse_json(package.texts[inner]) if inner else None
    return Manifest(inner=inner, fields=fields) if isinstance(fields, dict) else None


@lru_cache(maxsize=1)
def _parse_json(text: bytes) -> object:
    """Cached, since several checks ask for the same one."""
    try:
        return json.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def builds_on_install(package: Contents, manifest: Manifest) -> bool:
    """Whether npm runs something when it installs the package, which may build or get an add-on.

    Without a script of the package, a binding.gyp at the root makes npm run node-gyp.
    """
    return not manifest.table("scripts").keys().isdisjoint(ON_INSTALL) or "binding.gyp" in installed_files(package)


def installed_files(package: Contents) -> dict[str, str]:
    """The files as npm installs them, without the first folder; each with its path in the tarball."""
    return {file.name.partition("/")[2]: file.name for file in package.files}


def find_required(code: Data) -> tuple[str, ...]:
    """The packages that JavaScript code requires by names that are written out; not its own files."""
    names = dict.fromkeys(match[1].decode("ascii", "replace") for match in _REQUIRES.finditer(code))
    return tuple(name for name in names if not name.startswith((".", "/")))[:_MOST_REQUIRED]


def exported_files(value: object, conditions: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The plain files that `exports` names, each with its conditions."""
    if isinstance(value, str):
        if "*" not in value and not value.endswith("/"):
            yield value, conditions
    elif isinstance(value, dict):
        for key, target in value.items():
            yield from exported_files(target, conditions if key.startswith(".") else (*conditions, key))
    elif isinstance(value, list):
        yield from (path for target in value[:1] for path in exported_files(target, conditions))
