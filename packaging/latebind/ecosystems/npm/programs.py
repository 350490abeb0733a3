"""Node.js and npm: how they are run, and which versions of a package npm's registry has."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from packaging.version import Version

from latebind.backend.cache import callers_home
from latebind.backend.programs import which
from latebind.ecosystems.ecosystem import NeededProgram
from latebind.errors import NotRun, ToolError
from latebind.semver import version_of
from latebind.system.run import run
from latebind.verify.run.index import BELOW_FLOOR, EACH_MINOR, Question
from latebind.verify.run.installers import PROXIES, is_writable

NPM_INSTALL = ("install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock")
NPM_TARBALLS = "latebind-packages"
"""The folder of tarballs in an application."""
_TIME_LIMIT = 600.0
_SYSTEM = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR")
_ASKING = threading.Lock()
"""Held so that one package is asked for once."""
_CODE = re.compile(r"npm (?:error|ERR!) code (\w+)")
_UNREACHABLE = frozenset(
    {"EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ENETUNREACH", "ENOTCACHED", "ENOTFOUND", "ETIMEDOUT", "E401", "E403",
     "ERR_SOCKET_TIMEOUT"}
)  # fmt: skip
"""npm's codes of a registry that does not answer or denies access; E404 and ETARGET: it lacks the package."""


def find_program(name: Literal["node", "npm"]) -> Path:
    """Node.js or npm. Raises NotRun `no-node`."""
    program = which(name)
    if program is None:
        raise NotRun("no-node", "there is no Node.js with npm on PATH")
    return program


def run_npm(arguments: Sequence[str | Path], folder: Path, home: Path, log: Path | None = None) -> str:
    """What npm prints, in a folder. Raises NotRun `no-node` or `no-index`, otherwise ToolError."""
    try:
        return run(
            [find_program("npm"), *arguments], cwd=folder, env=npm_environment(home), timeout=_TIME_LIMIT, log=log
        ).output
    except ToolError as error:
        code = _CODE.search(error.message)
        if code and code[1] in _UNREACHABLE:
            raise NotRun("no-index", f"npm cannot use its registry: {error.message}") from error
        raise


def node_environment(home: Path) -> dict[str, str]:
    """The environment of a program: what the system needs, and nothing that changes where libraries are found."""
    return {**{key: os.environ[key] for key in _SYSTEM if key in os.environ}, "HOME": str(home)}


def npm_environment(home: Path) -> dict[str, str]:
    """The environment of npm: in addition, the caller's settings for the registry, and his cache if it is writable."""
    settings = {
        key: value
        for key, value in os.environ.items()
        if key.lower().startswith("npm_config_") or key.lower() in (*PROXIES, "node_extra_ca_certs")
    }
    cache = callers_home() / ".npm"
    settings.setdefault("npm_config_cache", str(cache if is_writable(cache) else home / "npm"))
    settings.setdefault("npm_config_userconfig", str(callers_home() / ".npmrc"))
    fixed = {"npm_config_update_notifier": "false", "npm_config_loglevel": "error"}
    return {**node_environment(home), **settings, **fixed}


def answer(question: Question, home: Path) -> tuple[str, ...]:
    """The versions that the registry has for a question, ascending. Raises NotRun."""
    home.mkdir(parents=True, exist_ok=True)
    with _ASKING:
        versions = fitting(question, _list_versions(question.distribution, home))
    if not versions:
        newer = f"{question.minimum} or newer"
        ranges = {"latest": newer, "minimum": newer, EACH_MINOR: newer, BELOW_FLOOR: f"older than {question.minimum}"}
        asked = f"{question.distribution} {ranges.get(question.entry, question.entry)}"
        raise NotRun("no-distribution", f"the npm registry has no {asked}")
    return versions


@cache
def _list_versions(name: str, home: Path) -> tuple[str, ...]:
    """All versions of a package."""
    try:
        listed = json.loads(run_npm(["view", name, "versions", "--json"], home, home))
    except ToolError as error:
        raise NotRun("no-distribution", f"npm cannot list the versions of {name}: {error.message}") from error
    return (listed,) if isinstance(listed, str) else tuple(listed)


def fitting(question: Question, listed: Sequence[str]) -> tuple[str, ...]:
    """The releases among `listed` that a question asks for, ascending: as the index of Python answers it."""
    releases = (text for text in listed if "-" not in text)  # none with a pre-release part
    every = sorted(version for text in releases if (version := version_of(text)) is not None)
    floor = Version(question.minimum)
    above = [version for version in every if version >= floor]
    if question.entry == EACH_MINOR:
        return tuple(map(str, {version.release[:2]: version for version in above}.values()))
    chosen = {
        "latest": above,
        "minimum": [version for version in above if version.release[:2] == above[0].release[:2]],
        BELOW_FLOOR: [version for version in every if version < floor],
    }.get(question.entry)
    if chosen is None:
        chosen = [version for version in every if str(version) == question.entry]
    return tuple(map(str, chosen[-1:]))


PROGRAMS = (
    NeededProgram(
        names=("node", "npm"),
        detail="npm packages are not verified without Node.js and npm",
        fix="Install Node.js, 18 or newer.",
    ),
)
