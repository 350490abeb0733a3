"""Checks LB951 to LB953: JARs with native files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loadcheck.engine.registry import Hit, Skip, check
from loadcheck.engine.wording import some
from loadcheck.kinds.maven.reading import NATIVE, find_pom, is_inherited, list_metadata, name_platforms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.kinds.maven.pom import Pom
    from loadcheck.readers.contents import Contents


@check(
    "LB951",
    "JAR without Maven metadata, or with the metadata of another artifact",
    "warning",
    profiles=("all",),
    because="Tools that read JARs cannot identify the artifact. The finding is an error if the file name has another "
    "version than the POM.",
    kinds=("jar",),
    example="tiny-1.2.3.jar has version 1.2.2 in META-INF/maven/io.github.acme/tiny/pom.xml",
    fix="Make the JAR with mvn package.",
)
def metadata_broken(package: Contents) -> Iterator[Hit | Skip]:
    """Scanners and build tools identify a JAR by the POM in it, whatever the JAR is called.

    A JAR that includes other JARs has several POMs, and nobody can tell which one describes the JAR itself. A
    classifier may follow the version in the file name: tiny-1.2.3-linux-x86_64.jar. The version is not compared if the
    POM gets it from a property.
    """
    places, found = list_metadata(package), find_pom(package)
    if found is None:
        what = "has no readable pom.xml" if len(places) < 2 else f"has {len(places)} pom.xml files"  # noqa: PLR2004  # one
        yield Hit(
            cause="several" if places[1:] else "absent",
            message=f"{what} in META-INF/maven",
            evidence=some(places) or ("missing: META-INF/maven",),
        )
        return
    inner, pom = found
    if not package.path.name.startswith(f"{pom.name}-"):
        text = f"is named {pom.name} in its POM, but the file is {package.path.name}"
        yield Hit(cause="name", inner=inner, message=text, evidence=(f"artifactId: {pom.name}",))
    elif not is_inherited(pom.version, pom) and not _has_version(package.path.name, pom):
        text = f"has version {pom.version} in its POM, but the file is {package.path.name}"
        yield Hit(cause="version", inner=inner, message=text, evidence=(f"version: {pom.version}",), severity="error")


def _has_version(file_name: str, pom: Pom) -> bool:
    """Whether a file is named for the POM's version. A repository replaces -SNAPSHOT with the build's time and number.

    Source: "Maven2 Repository Layout".
    """
    release, snapshot, _ = pom.version.partition("-SNAPSHOT")
    build = r"-(SNAPSHOT|\d{8}\.\d{6}-\d+)" if snapshot else ""
    return re.fullmatch(rf"{re.escape(f'{pom.name}-{release}')}{build}(-.+)?\.jar", file_name) is not None


@check(
    "LB952",
    "Native folder of an unknown platform",
    "warning",
    profiles=("loads",),
    because="The JAR contains the library, but neither latebind's nor ONNX Runtime's Java class looks in that folder.",
    kinds=("jar",),
    example="native/linux-amd64/libtiny.so",
    fix="Name the folder after the target: native/linux-x64, native/osx-arm64, native/win-x64.",
)
def unknown_platform(package: Contents) -> Iterator[Hit | Skip]:
    """The class that loads the library derives the folder's name from os.name and os.arch, with a fixed table."""
    known = name_platforms()
    for file in package.native:
        match = NATIVE.fullmatch(file.name)
        if match and match["platform"] not in known:
            text = f"is in the folder {match['platform']}, which is not the name of a platform"
            yield Hit(cause=match["platform"], inner=file.name, message=text, evidence=(file.name,))
