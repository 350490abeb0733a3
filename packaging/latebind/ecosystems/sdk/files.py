"""The names of SDK archives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.version import Version

from latebind.backend.targets import target, targets
from latebind.config.config import Config
from latebind.formats import identify_by_name, made_as
from loadcheck.facts import SDK_FILE

if TYPE_CHECKING:
    from latebind.config.document import ProjectTable

_PROBLEM = "is not named like an SDK archive: name-version-target-sdk.tar.gz or .zip"


def sdk_file(project: ProjectTable, rid: str) -> str:
    """`tiny-1.0.0rc1-linux-x64-sdk.tar.gz`; a zip for Windows, the only kind that every Windows opens."""
    kind = "zip" if target(rid).system == "windows" else "tar.gz"
    return f"{project.name}-{Version(project.version)}-{rid}-sdk.{kind}"


def _explain_foreign(file_name: str, config: Config) -> str:
    """Judged by name, which has the version and the target."""
    if file_name in {sdk_file(config.project, rid) for rid in targets()}:
        return ""
    is_ours = file_name.startswith(f"{config.project.name}-")
    return f"not of version {config.project.version}" if is_ours else "of another project"


FORMATS = tuple(
    made_as(
        suffix,
        headers=r"[^/]+/include/",
        identify=lambda path: identify_by_name(path, SDK_FILE, _PROBLEM),
        explain_foreign=_explain_foreign,
    )
    for suffix in ("-sdk.zip", "-sdk.tar.gz")
)
