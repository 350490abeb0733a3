"""The names of JARs, and of the bundles that Maven repositories take."""

from __future__ import annotations

import re
from pathlib import Path

from latebind.config.config import Config
from latebind.ecosystems.maven.config import maven_tables
from latebind.errors import InputError
from latebind.formats import Identity, made_as
from loadcheck.facts import iter_members

_PROPERTIES = re.compile(r"META-INF/maven/[^/]+/[^/]+/pom\.properties")
_POM = re.compile(r"(?P<group>.+)/(?P<name>[^/]+)/(?P<version>[^/]+)/(?P=name)-(?P=version)\.pom")


def jar_file(name: str, version: str) -> str:
    """`tiny-1.0.0rc1.jar`; kinds.py refuses versions that Maven orders differently than PEP 440."""
    return f"{name}-{version}.jar"


def bundle_file(name: str, version: str) -> str:
    """`tiny-1.0.0rc1-maven.zip`: everything that a repository gets of an artifact."""
    return f"{name}-{version}{_BUNDLE}"


def _identify_jar(path: Path) -> Identity:
    """Name and version of the one artifact that is in it, by Maven's own metadata."""
    texts = [read() for name, read in iter_members(path, _JAR) if _PROPERTIES.fullmatch(name)]
    lines = [line.partition("=") for text in texts for line in text.decode("utf-8", "replace").splitlines()]
    fields = {key: value for key, _, value in lines}
    if len(texts) != 1 or not {"artifactId", "version"} <= fields.keys():
        raise InputError("does not have exactly one pom.properties with artifactId and version", where=str(path))
    return Identity(name=fields["artifactId"], version=fields["version"])


def _identify_bundle(path: Path) -> Identity:
    poms = [match for name, _ in iter_members(path, _ZIP) if (match := _POM.fullmatch(name))]
    if len(poms) != 1:
        raise InputError("does not have exactly one POM", where=str(path))
    return Identity(name=poms[0]["name"], version=poms[0]["version"])


def _explain_foreign(file_name: str, config: Config) -> str:
    """Judged by name, which is that of an artifact and its version."""
    names, version = [table.name for table in maven_tables(config.packages).values()], config.project.version
    if file_name in {file for name in names for file in (jar_file(name, version), bundle_file(name, version))}:
        return ""
    is_ours = any(re.fullmatch(rf"{re.escape(name)}-\d.*", file_name) for name in names)
    return f"not of version {config.project.version}" if is_ours else "of another project"


_BUNDLE = "-maven.zip"
_JAR = made_as(
    ".jar",
    name_project=lambda config, package: (
        f"{table.group}:{table.name}" if (table := maven_tables(config.packages).get(package)) else ""
    ),
    identify=_identify_jar,
    explain_foreign=_explain_foreign,
)
_ZIP = made_as(
    _BUNDLE,
    identify=_identify_bundle,
    explain_foreign=_explain_foreign,
)
FORMATS = (_JAR, _ZIP)
