"""The names of SDK archives."""

from __future__ import annotations

from latebind.config.config import Config
from latebind.filenames import sdk_file
from latebind.formats import identify_by_name, made_as
from latebind.tables.targets import targets
from loadcheck.facts import SDK_FILE

_PROBLEM = "is not named like an SDK archive: name-version-target-sdk.tar.gz or .zip"


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
