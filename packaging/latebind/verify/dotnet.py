"""Runs a nupkg's cell: a console project that restores from a local feed, is built or published, and runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from latebind.errors import NotRun
from latebind.model import Outcome, State
from latebind.nuget.nuspec import semantic_version
from latebind.verify.dotnet_project import Consumer, Layout, SmokeRun, run_smoke
from latebind.verify.feed import assemble_runtime_nupkg
from latebind.verify.smoke import Smoke, judge

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.verify.cell import Bench

_LAYOUTS: dict[str, Layout] = {"dotnet-build": "build", "dotnet-publish": "publish", "dotnet-cache": "cache"}
ASSEMBLED = "the runtime's nupkg was assembled for this cell from its PyPI wheel"


def run_dotnet_cell(bench: Bench) -> Outcome:
    """Restore, build, run and judge.

    Raises NotRun without a .NET SDK or without the nupkgs, LatebindError when something other than them failed.
    """
    packages = [artifact.path for artifact in bench.artifacts if artifact.kind == "nupkg"]
    version = semantic_version(bench.config.project.version)
    wanted = {f"{row.nuget.id}.{version}.nupkg" for row in bench.config.packages.values() if row.nuget is not None}
    if not wanted <= {path.name for path in packages}:
        raise NotRun("not-built", "not every nupkg of the project was made")
    situation = bench.situation
    library = _runtime(bench)
    if library is not None and bench.use is not None:
        feed = bench.work / "runtime"
        packages.append(
            assemble_runtime_nupkg(library, bench.cell.version, feed, rid=bench.cell.target, runtime=bench.use.preset)
        )
    consumer = Consumer(
        project=bench.config.root / bench.config.document.verify.dotnet,
        packages=packages,
        version=bench.config.project.version,
        environment={**_environment(), **situation.environment},
        layout=_LAYOUTS[bench.cell.consumer],
        rid=bench.cell.target,
        runtime_version=bench.cell.version,
    )
    cases = bench.supply.data(bench.entry)
    ended = run_smoke(consumer, cases, bench.work / situation.folder, arguments=situation.arguments, log=bench.log)
    outcome = judge(
        bench.cell,
        bench.scenario,
        _smoke(ended),
        [str(bench.work)],
        values=bench.values(library.name if library else ""),
        reference=bench.reference(),
        at_least=bench.at_least(),
        binds=bench.binds(),
    )
    if outcome.state is State.PASSED and bench.cell.version:
        return Outcome(
            cell=outcome.cell,
            state=outcome.state,
            summary=outcome.summary,
            facts={**outcome.facts, "runtime_package": ASSEMBLED, "framework": ended.framework, "sdk": ended.sdk},
        )
    return outcome


def _runtime(bench: Bench) -> Path | None:
    """The runtime's library as the scenario wants it; None for none."""
    if bench.use is None or not bench.cell.version:
        return None
    library = bench.supply.library(bench.use, bench.cell.version, bench.cell.target)
    if bench.situation.spoil is None:
        return library
    spoiled = bench.work / "spoiled" / library.name
    spoiled.parent.mkdir()
    spoiled.write_bytes(bench.situation.spoil(library.read_bytes()))
    return spoiled


def _smoke(ended: SmokeRun) -> Smoke:
    document = ended.document
    return Smoke(
        status=ended.status,
        output=ended.output,
        passed=document.passed,
        failed=tuple((row.name, row.message) for row in document.failed),
        libraries=document.libraries,
        runtime_version=str((document.report or {}).get("version", "")),
        error=document.error.message if document.error else "",
    )


def _environment() -> dict[str, str]:
    """The caller's, less what changes how .NET and its loader search."""
    return {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("LD_", "DYLD_", "NUGET_", "PYTHON")) and not key.endswith("_LIB_PATH")
    }
