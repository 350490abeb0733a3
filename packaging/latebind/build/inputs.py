"""What a package is made from beside its own folder: found out, so that a change of it is never missed."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

from latebind.errors import BuildError
from latebind.resources import cmake_dir
from latebind.run import run
from latebind.tree import hash_file, hash_tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from latebind.config import Config
    from latebind.tree import Folders

_MSBUILD = (
    "Directory.Build.props",
    "Directory.Build.targets",
    "Directory.Build.rsp",
    "Directory.Packages.props",
    "global.json",
    "nuget.config",
    "NuGet.config",
    "NuGet.Config",
)
"""What MSBuild and NuGet look for in every folder above a project."""
_INSTALLED = frozenset({"site-packages", "dist-packages", "node_modules"})
_LIMIT = 60.0


def read_inputs(ninja: Path, tree: Path) -> list[Path]:
    """Every file that the compiler read for a build tree, as ninja recorded it."""
    output = run([ninja, "-C", tree, "-t", "deps"], timeout=_LIMIT).output
    names = {line.strip() for line in output.splitlines() if line.startswith("    ")}
    return sorted((tree / name).resolve() for name in names)


def refuse_outside(config: Config, inputs: Sequence[Path], sources: Sequence[Path]) -> None:
    """Refuse files of the project that the native code is made from but that are not among its sources.

    The key of a stage is a hash of the sources, and the sdist carries them: both would miss such a file. Headers of
    the system, of compilers and of other installations are not the project's.

    Raises BuildError naming them.
    """
    repository = next((folder for folder in (config.root, *config.root.parents) if (folder / ".git").exists()), None)
    carried = (config.root / "loader").resolve()
    known = {path.resolve() for path in sources}
    strangers = [
        path
        for path in inputs
        if path.is_relative_to(repository or config.root)
        and path not in known
        and not any(path.is_relative_to(folder) for folder in (carried, cmake_dir().resolve()))
        and not _is_installed(path.relative_to(repository or config.root))
    ]
    if strangers:
        shown = ", ".join(str(path) for path in strangers[:5])
        raise BuildError(
            f"the native code includes files from outside {config.document.native.source}/: {shown}",
            where=config.file.name,
            advice="Move them below it, or set native.source to a folder that holds them all, as the sdist must.",
        )


def outside_hash(source: Path, outputs: Folders) -> str:
    """A hash of what a wheel source or a managed project takes from elsewhere: forced includes, MSBuild's settings."""
    parts = [
        f"{path} {hash_tree(path, outputs=outputs) if path.is_dir() else hash_file(path)}" for path in _forced(source)
    ]
    parts += [hash_file(folder / name) for folder in (source, *source.parents) for name in _MSBUILD]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _forced(source: Path) -> Iterator[Path]:
    """The files that hatchling's force-include tables name."""
    file = source / "pyproject.toml"
    try:
        document = msgspec.toml.decode(file.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return  # the backend says what is wrong with it
    for path in _tables(document.get("tool", {}).get("hatch", {}).get("build", {})):
        yield source / path


def _tables(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "force-include" and isinstance(value, dict):
                yield from value
            else:
                yield from _tables(value)


def _is_installed(path: Path) -> bool:
    """Whether a file below a repository was installed there and not written: an environment, a hidden folder."""
    return any(part.startswith(".") or part in _INSTALLED for part in path.parts)
