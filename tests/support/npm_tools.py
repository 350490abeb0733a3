"""Installs tools from npm's registry once for all tests."""

from __future__ import annotations

import fcntl
from typing import TYPE_CHECKING

import pytest

from tests.support.needs import require_programs
from tests.support.programs import run_program

if TYPE_CHECKING:
    from pathlib import Path

TOOLS = ("pnpm@10", "yarn@1", "@yarnpkg/cli-dist@4", "bun@1", "jest@30", "vitest@3", "koffi@^3", "publint@0.3")
INSTALL = ("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund")
_UNREACHABLE = ("EAI_AGAIN", "ENOTFOUND", "ECONNREFUSED", "ETIMEDOUT")


def install(folder: Path, *packages: str | Path) -> Path:
    """The node_modules of a folder with packages from npm; the test is skipped where its registry cannot be reached."""
    require_programs("npm")
    ended = run_program(*INSTALL, *packages, cwd=folder, timeout=600)
    if ended.returncode and any(code in ended.stderr for code in _UNREACHABLE):
        pytest.skip("not run: the npm registry cannot be reached")
    assert ended.returncode == 0, ended.stderr
    return folder / "node_modules"


def install_tools(kept_builds: Path) -> Path:
    """The node_modules with the tools; the test is skipped where the registry cannot be reached."""
    folder = kept_builds / "npm-tools"
    folder.mkdir(exist_ok=True)
    done = folder / "-".join(name.replace("/", "+") for name in TOOLS)
    with (kept_builds / "npm-tools.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            (folder / "package.json").write_text("{}")
            install(folder, *TOOLS)
            run_program("node", "node_modules/bun/install.js", cwd=folder)  # the script that puts its program in place
            done.touch()
    return folder / "node_modules"
