"""What the nox sessions have in common: the tool's environment, the lint commands, the test command."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import dotnet_sdk

if TYPE_CHECKING:
    import nox

ROOT = Path(__file__).resolve().parent.parent
PROJECT = "latenn"


def tool(session: nox.Session, *extras: str, groups: tuple[str, ...] = ()) -> None:
    """Install latebind, editable, with extras and dependency groups; nothing when that is done already.

    The mark beside the environment is a hash of all that decides what is installed.
    """
    files = [ROOT / "pyproject.toml", ROOT / "packaging" / "latebind" / "__init__.py"]
    parts = [*extras, *groups, str(session.python), *(file.read_text("utf-8") for file in files)]
    wanted = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    mark = Path(session.virtualenv.location) / ".latebind-installed"
    if mark.is_file() and mark.read_text("utf-8") == wanted:
        return
    if groups:
        session.install(*nox_groups(*groups))
    session.install("-e", f".[{','.join(extras)}]" if extras else ".")
    mark.write_text(wanted, encoding="utf-8")


def nox_groups(*groups: str) -> list[str]:
    """The requirements of dependency groups in pyproject.toml."""
    import nox  # noqa: PLC0415  # this module is read by type checkers without nox

    project = nox.project.load_toml(ROOT / "pyproject.toml")
    return list(nox.project.dependency_groups(project, *groups))


def latebind(session: nox.Session, *arguments: str) -> None:
    """Run one command of latebind on our own first client."""
    session.run("latebind", "-C", PROJECT, "--workdir", ".", *arguments, env=dotnet())


def lint(session: nox.Session) -> None:
    """Everything that reads the code and does not run it."""
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")
    session.run("lint-imports", "--no-cache")
    sources = sorted(str(path.relative_to(ROOT)) for path in c_sources())
    session.run("clang-format", "--dry-run", "--Werror", *sources, silent=True)
    session.run("python", "ci/gen.py", "--check")


def pytest(session: nox.Session, *arguments: str) -> None:
    """All tests, on every processor, unless the arguments say otherwise."""
    workers = [] if any(word.startswith("-n") for word in arguments) else ["-n", "auto", "--dist", "worksteal"]
    session.run("pytest", *workers, *arguments, env=dotnet())


def c_sources() -> list[Path]:
    """The C files that are ours."""
    folders = [ROOT / name for name in ("loader", "latenn/native", "tests/native")]
    return [path for folder in folders for path in folder.rglob("*") if path.suffix in (".c", ".h")]


def dotnet() -> dict[str, str | None]:
    """The environment with a .NET SDK: the one on PATH, else the one for tests, else none (cells are then not run).

    LATEBIND_NO_DOTNET=1 leaves it out.
    """
    if os.environ.get("LATEBIND_NO_DOTNET"):
        return {}
    try:
        made = dotnet_sdk.prepare(ROOT / ".latebind" / "dotnet")
    except dotnet_sdk.SdkError as error:
        print(f"no .NET SDK: {error}", file=sys.stderr)
        return {}
    return dict(made.apply(os.environ))
