"""Asks Cargo what it built, and which packages have rustc link native libraries (doc.rust-lang.org, External Tools)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from latebind.backend.programs import which
from latebind.errors import BuildError
from latebind.system.run import run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LIMIT = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Crate:
    """A package whose build script links libraries."""

    name: str
    """`ort-sys 2.0.0`."""
    script: str
    """The build script, from the project's folder; the package's Cargo.toml for one of a registry."""
    libraries: tuple[str, ...]
    """The names that the build script has for them: `onnxruntime`, `dylib=onnxruntime`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CargoBuild:
    """What Cargo did with a project."""

    crates: tuple[Crate, ...]
    files: tuple[Path, ...]
    """The programs and libraries that a linker made."""


def build_crates(root: Path) -> CargoBuild:
    """Build the Cargo project in a folder. Raises BuildError with what rustc printed."""
    cargo = which("cargo")
    if cargo is None:
        raise BuildError("cargo was not found", where=str(root), advice="Install Rust: https://rustup.rs")
    ended = run([cargo, "build", "--release", "--message-format=json"], cwd=root, timeout=_LIMIT, check=False)
    messages = [*_read_messages(ended.output)]
    if ended.returncode:
        said = [message["message"]["message"] for message in messages if message.get("reason") == "compiler-message"]
        plain = [line for line in ended.output.splitlines() if line.startswith("error")]
        raise BuildError(f"cargo cannot build the project\n    {[*plain, *said, ''][0]}", where=str(root))
    described = run([cargo, "metadata", "--format-version=1", "--offline"], cwd=root, timeout=_LIMIT).output
    packages = {row["id"]: row for row in next(_read_messages(described))["packages"]}
    return CargoBuild(
        crates=tuple(
            _describe(packages[message["package_id"]], message["linked_libs"], root)
            for message in messages
            if message.get("reason") == "build-script-executed" and message["linked_libs"]
        ),
        files=tuple(
            Path(name)
            for message in messages
            if message.get("reason") == "compiler-artifact"
            and {"cdylib", "dylib", "bin"} & {*message["target"]["crate_types"]}
            for name in message["filenames"]
        ),
    )


def _describe(package: Mapping[str, Any], libraries: list[str], root: Path) -> Crate:
    manifest = Path(package["manifest_path"])
    scripts = [Path(target["src_path"]) for target in package["targets"] if "custom-build" in target["kind"]]
    script = scripts[0].relative_to(root).as_posix() if manifest.is_relative_to(root) else "Cargo.lock"
    return Crate(name=f"{package['name']} {package['version']}", script=script, libraries=tuple(libraries))


def _read_messages(output: str) -> Iterator[dict[str, Any]]:
    """The lines that are JSON: Cargo prints others for people."""
    for line in output.splitlines():
        if line.startswith("{"):
            yield msgspec.json.decode(line)
