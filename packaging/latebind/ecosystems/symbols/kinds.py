"""Archives of native debug symbols: one for each target, with all components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from latebind.config.config import Config
from latebind.ecosystems.ecosystem import PackageKind, PlannedFile
from latebind.ecosystems.symbols.pack import pack_symbols
from latebind.filenames import symbols_file


def _plan(config: Config, _suited: Mapping[str, Sequence[str]], rids: Sequence[str]) -> list[PlannedFile]:
    components = sorted({package.component for package in config.packages.values()})
    return [
        PlannedFile(
            file=symbols_file(config, rid),
            kind="symbols",
            package=config.project.name,
            inputs=tuple(f"stage/{rid}/{one}" for one in components),
        )
        for rid in (rids if config.document.native.symbols else ())
    ]


SYMBOLS = PackageKind(
    name="symbols",
    compiles=True,
    plan=_plan,
    jobs=lambda run: run.list_target_jobs("symbols", run.stages if run.config.document.native.symbols else ()),
    make=lambda run, job: [pack_symbols(run.project, job.stages[0], run.dist)],
)
KINDS = (SYMBOLS,)
