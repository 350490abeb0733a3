"""Compiles the Java sources of a package with the JDK that is there."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.ecosystems.maven.programs import find_jdk
from latebind.errors import BuildError, ToolError
from latebind.system.run import run

if TYPE_CHECKING:
    from collections.abc import Mapping

_TIME_LIMIT = 600.0


def compile_sources(
    sources: Mapping[str, bytes], needed: Mapping[str, bytes], release: int, where: str, advice: str
) -> dict[str, bytes]:
    """The classes of some sources, by their names in a JAR; `needed` are sources that they use and that stay out.

    The same sources and the same JDK give the same bytes. Raises NotRun without a JDK that is new enough, BuildError
    with the compiler's words, which name the sources by their places in the project's folder.
    """
    jdk = find_jdk(release)
    with tempfile.TemporaryDirectory(prefix="latebind-java-") as name:
        folder = Path(name)
        _write(sources, folder / "sources")
        _write(needed, folder / "needed")
        (folder / "classes").mkdir()
        command: list[str | Path] = [
            jdk / "javac", "--release", str(release), "-encoding", "UTF-8", "-proc:none", "-implicit:none",
            "-Xlint:-options", "-g:source,lines", "-sourcepath", folder / "needed", "-d", folder / "classes",
            *(f"./{source}" for source in sorted(sources)),
        ]  # fmt: skip
        try:
            run(command, cwd=folder / "sources", timeout=_TIME_LIMIT)
        except ToolError as error:
            raise BuildError(f"the Java sources do not compile: {error.message}", where=where, advice=advice) from error
        classes = sorted((folder / "classes").rglob("*.class"))
        return {path.relative_to(folder / "classes").as_posix(): path.read_bytes() for path in classes}


def _write(sources: Mapping[str, bytes], folder: Path) -> None:
    folder.mkdir()
    for name, data in sources.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
