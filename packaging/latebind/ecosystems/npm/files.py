"""The names of npm packages."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
from packaging.version import Version

from latebind.backend.targets import npm_platform, targets
from latebind.config.config import Config
from latebind.ecosystems.npm.config import npm_tables
from latebind.errors import BuildError, InputError
from latebind.formats import Identity, made_as
from latebind.semver import LARGEST_IN_NPM, semantic_version
from latebind.system.decoding import DECODE_ERRORS
from loadcheck.facts import iter_members


def npm_version(version: str) -> str:
    """A PEP 440 version in SemVer: `1.0.0-rc.1`. Raises BuildError for one that SemVer cannot express."""
    semantic = semantic_version(version, LARGEST_IN_NPM)
    if semantic.partition("-")[0].count(".") > 2:  # noqa: PLR2004  # NuGet knows a fourth number
        what = "has four numbers" if Version(version).post is None else "is a post-release"
        raise BuildError(f"version {version} {what}, which npm cannot express", advice="Use the form 1.2.3.")
    return semantic


def npm_target(name: str, rid: str) -> str:
    """The npm package that holds one target of another package: `@latenn/core-linux-x64`."""
    return f"{name}-{npm_platform(rid).name}"


def npm_file(name: str, version: str) -> str:
    """`latenn-core-1.0.0-rc.1.tgz` for `@latenn/core`, as `npm pack` names it."""
    return f"{name.removeprefix('@').replace('/', '-')}-{npm_version(version)}.tgz"


class _Manifest(msgspec.Struct):
    """The fields of package.json by which npm chooses a package."""

    name: str
    version: str
    os: list[str] = []
    cpu: list[str] = []
    libc: list[str] = []


def _identify(path: Path) -> Identity:
    """Name, version, and the target that its fields choose."""
    try:
        text = next(read() for name, read in iter_members(path, FORMATS[0]) if name == "package/package.json")
        fields = msgspec.json.decode(text, type=_Manifest)
    except (StopIteration, *DECODE_ERRORS) as error:
        raise InputError("has no valid package/package.json", where=str(path)) from error
    chosen = (fields.os, fields.cpu, fields.libc)
    platforms = {rid: npm_platform(rid) for rid in targets()}
    rids = (rid for rid, npm in platforms.items() if chosen == ([npm.os], [npm.cpu], [npm.libc] if npm.libc else []))
    return Identity(name=fields.name, version=fields.version, targets=tuple(rids))


def _explain_foreign(file_name: str, config: Config) -> str:
    """Judged by name, which is that of the main package or of one target."""
    mains = [table.name for table in npm_tables(config.packages).values()]
    names = [name for main in mains for name in (main, *(npm_target(main, rid) for rid in targets()))]
    ours = [npm_file(name, config.project.version) for name in names]
    if file_name in ours:
        return ""
    stems = {file.removesuffix(f"-{npm_version(config.project.version)}.tgz") for file in ours}
    is_ours = any(re.fullmatch(rf"{re.escape(stem)}-\d+\.\d+\.\d+(-.*)?\.tgz", file_name) for stem in stems)
    return f"not of version {config.project.version}" if is_ours else "of another project"


FORMATS = (
    made_as(
        ".tgz",
        name_project=lambda config, package: npm.name if (npm := npm_tables(config.packages).get(package)) else "",
        is_semantic=True,
        identify=_identify,
        explain_foreign=_explain_foreign,
    ),
)

REASONS = (("no-node", "there is no Node.js with npm on this machine", "Node.js with npm"),)
