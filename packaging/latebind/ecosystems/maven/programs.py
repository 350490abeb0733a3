"""The JDK: where it is, and how it compiles the Java sources of a package and the description of its module."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from latebind.backend.programs import which
from latebind.ecosystems.ecosystem import NeededProgram
from latebind.ecosystems.maven.config import OLDEST_JAVA
from latebind.errors import BuildError, NotRun, ToolError
from latebind.system.run import run

MODULE = "module-info"
_TIME_LIMIT = 600.0
_VERSION = re.compile(r"^javac (?:1\.)?(?P<major>\d+)")
"""Java 8 and older call themselves 1.8."""

PROGRAMS = (
    NeededProgram(
        names=("java", "javac"),
        detail="JARs are neither made nor verified without a JDK",
        fix="Install a JDK, 11 or newer (Debian: apt install default-jdk-headless).",
    ),
)


def find_jdk(oldest: int, environment: Mapping[str, str] = os.environ) -> Path:
    """The folder with `javac` and `java`: that of JAVA_HOME, else the one on PATH.

    Raises NotRun `no-program` without a JDK, and with one that is older than `oldest`.
    """
    home, newer = environment.get("JAVA_HOME", ""), f"Install JDK {oldest} or newer, and set JAVA_HOME."
    compiler = which("javac", path=str(Path(home, "bin"))) if home else which("javac", path=environment.get("PATH"))
    if compiler is None:
        where = f"in JAVA_HOME ({home})" if home else "on PATH"
        advice = PROGRAMS[0].fix if oldest <= OLDEST_JAVA else newer
        raise NotRun("no-program", f"there is no javac {where}", advice=advice)
    major = read_major(compiler)
    if major < oldest:
        actual = f"is from Java {major}" if major else "does not report its version"
        raise NotRun("no-program", f"Java {oldest} or newer is needed, but {compiler} {actual}", advice=newer)
    return compiler.parent


@cache
def read_major(compiler: Path) -> int:
    """The major version of a `javac`; 0 where it does not say."""
    match = _VERSION.match(run([compiler, "-version"], timeout=60, check=False).output)
    return int(match["major"]) if match else 0


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


def list_packages(classes: Iterable[str]) -> list[str]:
    """The Java packages of classes, by their files; "" for those outside of packages."""
    return sorted({path.rpartition("/")[0].replace("/", ".") for path in classes})


def describe_module(
    classes: Mapping[str, bytes], name: str, others: Sequence[str], release: int, *, uses_base: bool
) -> dict[str, bytes]:
    """The source of a module's description and its class, by their names; jlink takes no JAR without them.

    The module exports all packages of the classes, and requires `others` and the modules of the JDK that the classes
    use. With `uses_base` that is java.base alone, and jdeps is not asked. Empty for classes outside of packages, which
    no module may have. Raises NotRun without a JDK.
    """
    packages = list_packages(classes)
    if "" in packages:
        return {}
    jdk = find_jdk(release)
    with tempfile.TemporaryDirectory(prefix="latebind-java-") as folder_name:
        folder = Path(folder_name)
        _write(classes, folder / "classes")
        used = ["java.base"] if uses_base else list_used_modules(jdk, folder / "classes")
        lines = [f"  requires {module};" for module in used if module != "java.base"]
        lines += [f"  requires transitive {module};" for module in others]
        lines += [f"  exports {package};" for package in packages]
        source = "\n".join([f"module {name} {{", *lines, "}", ""])
        _write({f"{MODULE}.java": source.encode()}, folder / "own")
        javac: list[str | Path] = [
            jdk / "javac", "--release", str(release), "-encoding", "UTF-8", "-Xlint:-options,-module"
        ]  # fmt: skip
        for other in others:
            _write({f"{MODULE}.java": f"module {other} {{ }}\n".encode()}, folder / "stubs" / other)
            stub = folder / "stubs" / other / f"{MODULE}.java"
            run([*javac, "-d", folder / "modules" / other, stub], timeout=_TIME_LIMIT)
        (folder / "modules").mkdir(exist_ok=True)
        javac += ["--module-path", folder / "modules", "--patch-module", f"{name}={folder / 'classes'}"]
        run([*javac, "-d", folder / "out", folder / "own" / f"{MODULE}.java"], timeout=_TIME_LIMIT)
        compiled = (folder / "out" / f"{MODULE}.class").read_bytes()
    return {f"{MODULE}.java": source.encode(), f"{MODULE}.class": compiled}


def list_used_modules(jdk: Path, classes: Path) -> list[str]:
    """The modules of the JDK that classes use."""
    command: list[str | Path] = [jdk / "jdeps", "--ignore-missing-deps", "--print-module-deps", classes]
    return run(command, timeout=_TIME_LIMIT).output.split()[-1].split(",")


def _write(sources: Mapping[str, bytes], folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, data in sources.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
