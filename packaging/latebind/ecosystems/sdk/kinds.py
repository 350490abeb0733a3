"""SDK archives for C and C++: one for each target, with all packages that ask for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from latebind.build.native import apply_soversion
from latebind.config.config import Config
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, PackRun, PlannedFile
from latebind.ecosystems.sdk.pack import pack_sdk
from latebind.filenames import sdk_file


def _held(config: Config, rid: str) -> list[str]:
    """The packages in a target's archive: those whose runtime exists there."""
    return [name for name in config.sdk_packages if not config.explain_not_made(name, rid)]


def _plan(config: Config, _suited: Mapping[str, Sequence[str]], rids: Sequence[str]) -> list[PlannedFile]:
    return [
        PlannedFile(
            file=sdk_file(config, rid),
            kind="sdk",
            package=config.project.name,
            inputs=tuple(f"stage/{rid}/{config.packages[name].component}" for name in held),
        )
        for rid in rids
        if (held := _held(config, rid))
    ]


def _make(run: PackRun, job: PackageJob) -> Sequence[Path]:
    (stage,) = job.stages
    with apply_soversion(run.project, stage) as named:
        return [pack_sdk(run.config, _held(run.config, stage.rid), named, run.dist)]


SDKS = PackageKind(
    name="sdk",
    is_for=lambda package: bool(package.sdk),
    plan=_plan,
    jobs=lambda run: run.list_target_jobs("sdk", [stage for stage in run.stages if _held(run.config, stage.rid)]),
    make=_make,
)
KINDS = (SDKS,)
