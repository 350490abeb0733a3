"""Runs a nupkg's cell: a console project that restores from a local feed, is built or published, and runs."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from latebind.errors import NotRun
from latebind.model import Outcome, State
from latebind.nuget.nuspec import semantic_version
from latebind.verify.cells import scenario
from latebind.verify.dotnet_project import Consumer, Made, SmokeDocument, SmokeRun, make_consumer, run_smoke
from latebind.verify.layouts import layout
from latebind.verify.proofs import Application
from latebind.verify.smoke import Smoke, judge

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.verify.cell import Bench

_PLATFORM = {"linux-x64": "x86_64"}
ASSEMBLED = "the runtime's nupkg was assembled for this cell from its PyPI wheel"


def run_dotnet_cell(bench: Bench) -> Outcome:
    """Restore, build, run and judge.

    Raises NotRun without a .NET SDK or without the nupkgs, LatebindError when something other than them failed.
    """
    consumer = _consumer(bench)
    work = bench.work / "dotnet"
    if consumer.layout.start == "nothing":
        made = make_consumer(consumer, work, log=bench.log)
        wrong = _unproven(bench, consumer, made)
        outcome = Outcome(cell=bench.cell, state=State.PASSED, summary="the files are those of the packages")
    else:
        cases = bench.supply.data(bench.entry)
        ended = run_smoke(consumer, cases, work, arguments=bench.arguments(), log=bench.log)
        made = ended.made
        wrong = [] if bench.negative else _unproven(bench, consumer, made, ended.document)
        outcome = _judged(bench, ended)
    if outcome.state is State.FAILED or wrong:
        return replace(
            outcome, state=State.FAILED, reason="\n".join(filter(None, [outcome.reason, *wrong])), summary=""
        )
    facts = {**outcome.facts, "framework": made.framework, "sdk": made.sdk}
    if bench.cell.version:
        facts |= {"runtime_package": ASSEMBLED}
    return replace(outcome, facts=facts)


def feed_of(bench: Bench) -> list[Path]:
    """The project's nupkgs, and the runtime's where the cell has one. Raises NotRun when one of them was not made."""
    packages = [artifact.path for artifact in bench.artifacts if artifact.kind == "nupkg"]
    version = semantic_version(bench.config.project.version)
    wanted = {f"{row.nuget.id}.{version}.nupkg" for row in bench.config.packages.values() if row.nuget is not None}
    if not wanted <= {path.name for path in packages}:
        raise NotRun("not-built", "not every nupkg of the project was made")
    if bench.use is not None and bench.cell.version:
        platform = _PLATFORM[bench.cell.target]
        packages.append(bench.supply.runtime_nupkg(bench.use, bench.cell.version, platform, bench.cell.target))
    return packages


def _consumer(bench: Bench) -> Consumer:
    return Consumer(
        project=bench.config.root / bench.config.document.verify.dotnet,
        packages=feed_of(bench),
        version=bench.config.project.version,
        environment=clean_environment(),
        layout=layout(bench.cell.consumer),
        rid=bench.cell.target,
        runtime_version=bench.cell.version,
    )


def _unproven(bench: Bench, consumer: Consumer, made: Made, document: SmokeDocument | None = None) -> list[str]:
    """What the layout promises and does not hold."""
    seen = Application(
        packages=consumer.packages,
        rid=consumer.rid,
        out=made.out,
        cache=made.cache,
        libraries=document.libraries if document else (),
        parts=sum(row.nuget is not None for row in bench.config.packages.values()) + bool(consumer.runtime_version),
        framework=document.assembly.framework if document else "",
    )
    return [wrong for proof in consumer.layout.proofs for wrong in proof(seen)]


def _judged(bench: Bench, ended: SmokeRun) -> Outcome:
    outcome = judge(
        bench.cell,
        scenario(bench.cell.scenario),
        _smoke(ended),
        bench.work,
        values=bench.values(),
        reference=bench.reference(),
        at_least=bench.at_least(),
    )
    assembly = ended.document.assembly
    if not assembly.framework:
        return outcome
    return replace(outcome, facts={**outcome.facts, "assembly": f"{assembly.path} ({assembly.framework})".strip()})


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


def clean_environment() -> dict[str, str]:
    """The caller's, less what changes how .NET and its loader search."""
    return {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("LD_", "DYLD_", "NUGET_", "PYTHON")) and not key.endswith("_LIB_PATH")
    }
