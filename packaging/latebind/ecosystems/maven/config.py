"""The `maven` table of a package: how it becomes a JAR, and the key `java` of [verify]."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from latebind.config.ecosystems import EcosystemTable, PackageKey, ProgramKey, find_tables

if TYPE_CHECKING:
    from latebind.config.package import Package
    from latebind.tables.presets import RuntimePreset

_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
"""What Maven accepts in coordinates (DefaultModelValidator); a repository's folders are made of them."""
_JAVA_PACKAGE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
_RESERVED_WORDS = """
_ abstract assert boolean break byte case catch char class const continue default do double else enum extends false
final finally float for goto if implements import instanceof int interface long native new null package private
protected public return short static strictfp super switch synchronized this throw throws transient true try void
volatile while
"""
_KEYWORDS = frozenset(_RESERVED_WORDS.split())
"""Words that can be no part of a Java package (Java Language Specification 3.9)."""
_COORDINATES = re.compile(rf"{_ID.pattern}:{_ID.pattern}")
ECOSYSTEM = "maven"
"""Its name in the tables of runtimes."""
OLDEST_JAVA = 11
PROGRAM = "java"


class MavenConfig(EcosystemTable, frozen=True, kw_only=True):
    """How latebind makes a JAR with a POM from the package."""

    group: Annotated[
        str,
        Meta(
            description="The groupId, such as io.github.acme. It has letters, digits, and any of . _ -, and does not "
            "begin with . or -.",
            pattern=f"^{_ID.pattern}$",
        ),
    ]
    name: Annotated[
        str,
        Meta(
            description="The artifactId, such as core. The same characters as in the groupId are valid.",
            pattern=f"^{_ID.pattern}$",
        ),
    ]
    source: Annotated[
        str,
        Meta(description="Folder of Java sources to compile into the JAR."),
    ] = ""
    package: Annotated[
        str,
        Meta(
            description="Java package of the class NativeLibrary. By default from group and name, such as "
            "io.github.acme.core."
        ),
    ] = ""
    release: Annotated[
        int,
        Meta(description="Oldest Java version that the classes run on.", ge=OLDEST_JAVA),
    ] = OLDEST_JAVA
    runtime: Annotated[
        str,
        Meta(description="Artifact of the runtime that the JAR requires, as group:name. By default, it is optional."),
    ] = ""

    @property
    def java_package(self) -> str:
        """The package of the generated class: `io.github.acme.tiny_core`."""
        parts = re.sub(r"[^A-Za-z0-9.]", "_", f"{self.group}.{self.name}").split(".")
        return self.package or ".".join(map(_name_part, parts))

    @property
    def folders(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """The folder of Java sources."""
        return {"source": (self.source, ("**/*.java",))}

    def problems(self) -> Iterator[tuple[str, str, str]]:
        """The key, the problem and advice for each value that types cannot refuse."""
        for key, id_ in (("group", self.group), ("name", self.name)):
            if "" in id_.split("."):
                yield key, f"{id_!r} has an empty part", "Remove the dot."
        is_named = _JAVA_PACKAGE.fullmatch(self.package) and _KEYWORDS.isdisjoint(self.package.split("."))
        if self.package and not is_named:
            yield "package", f"{self.package!r} is not a Java package", "Write it as io.github.acme.tiny."
        if self.runtime and not _COORDINATES.fullmatch(self.runtime):
            advice = "Write group and name: com.microsoft.onnxruntime:onnxruntime."
            yield "runtime", f"{self.runtime!r} is not an artifact", advice


def _name_part(part: str) -> str:
    """A part of a group or name as that of a Java package, by the convention of the language (6.1)."""
    return f"_{part}" if part[:1].isdigit() else f"{part}_" if part in _KEYWORDS else part


def maven_tables(packages: Mapping[str, Package]) -> dict[str, MavenConfig]:
    """The packages that become JARs, by name, with their tables."""
    return find_tables(packages, MavenConfig)


def find_runtime_artifact(runtime: RuntimePreset) -> str:
    """The artifact that supplies a runtime, as `group:name`; "" for none."""
    supply = runtime.supplies.get(ECOSYSTEM)
    return supply.packages[0] if supply is not None else ""


PACKAGE_KEYS = (
    PackageKey(
        name="maven",
        title="Maven",
        table=MavenConfig,
        description="Settings of the JAR.",
    ),
)
PROGRAM_KEYS = (ProgramKey(name=PROGRAM, description="Folder of a Java program that uses the JARs."),)
