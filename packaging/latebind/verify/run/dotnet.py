"""Runs a nupkg's cell: a console project that restores from a local feed, is built or published, and runs."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from latebind.errors import InputError, NotRun
from latebind.filenames import nupkg_file
from latebind.model import Outcome, State
from latebind.tables.targets import target
from latebind.verify.plan.layouts import layout
from latebind.verify.plan.proofs import Application
from latebind.verify.run.dotnet_access import settle
from latebind.verify.run.dotnet_project import Consumer, Made, SmokeDocument, SmokeRun, make_consumer, run_smoke
from latebind.verify.run.feed import assemble_runtime_nupkg
from latebind.verify.run.judge import Smoke, judge
from latebind.verify.run.stage import failing_at

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.verify.run.bench import Bench

ASSEMBLED = "the runtime's nupkg was assembled for this cell from its PyPI wheel"


def run_dotnet_cell(bench: Bench) -> Outcome:
    """Restore, build, run and judge.

    Raises NotRun without a .NET SDK or without the nupkgs, LatebindError when something other than them failed.
    """
    consumer = _consumer(bench)
    work = bench.work / bench.situation.folder
    if consumer.layout.start == "nothing":
        with failing_at("install"):
            made = make_consumer(consumer, work, log=bench.log)
        wrong = _unproven(bench, consumer, made)
        outcome = Outcome(cell=bench.cell, state=State.PASSED, summary="the files are those of the packages")
    else:
        ended = _run(bench, consumer, work)
        made = ended.made
        wrong = [] if bench.scenario.negative else _unproven(bench, consumer, made, ended.document)
        outcome = _judged(bench, ended)
    if outcome.state is State.FAILED or wrong:
        reason = "\n".join(filter(None, [outcome.reason, *wrong]))
        stage = "install" if consumer.layout.start == "nothing" else "load"  # what is unproven: where files lie
        facts = {"stage": stage, **outcome.facts}
        return replace(outcome, state=State.FAILED, reason=reason, summary="", facts=facts)
    facts = {**outcome.facts, "framework": made.framework, "sdk": made.sdk}
    if made.mono:
        facts |= {"mono": made.mono}
    if _is_on_feed(bench):
        facts |= {"runtime_package": ASSEMBLED}
    return replace(outcome, facts=facts)


def feed_of(bench: Bench) -> list[Path]:
    """The project's nupkgs, and the runtime's where the cell has one. Raises NotRun when one of them was not made."""
    packages = [artifact.path for artifact in bench.artifacts if artifact.kind == "nupkg"]
    version = bench.config.project.version
    wanted = {nupkg_file(row.nuget.id, version) for row in bench.config.packages.values() if row.nuget is not None}
    if not wanted <= {path.name for path in packages}:
        raise NotRun("not-built", "not every nupkg of the project was made")
    return [*packages, *_runtime_package(bench)]


def clean_environment() -> dict[str, str]:
    """The caller's, less what changes how .NET and the system's loader search."""
    return {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("LD_", "DYLD_", "NUGET_", "MONO_", "PYTHON")) and not key.endswith("_LIB_PATH")
    }


def _runtime_package(bench: Bench) -> list[Path]:
    """The runtime's nupkg: for all cells the same, unless the scenario spoils the library in it."""
    if bench.use is None or not _is_on_feed(bench):
        return []
    version, rid = bench.cell.version, bench.cell.target
    if bench.situation.spoil is None:
        return [bench.supply.runtime_nupkg(bench.use, version, rid)]
    library = bench.supply.library(bench.use, version, rid)
    spoiled = bench.work / "spoiled" / library.name
    spoiled.parent.mkdir()
    spoiled.write_bytes(bench.situation.spoil(library.read_bytes()))
    feed = bench.work / "runtime"
    return [assemble_runtime_nupkg(spoiled, version, feed, rid=rid, runtime=bench.use.known)]


def _is_on_feed(bench: Bench) -> bool:
    """Whether the cell has a runtime that a feed has, too: its application takes it from there."""
    return bench.use is not None and bool(bench.cell.version) and bool(bench.use.known.nuget.ids)


def _consumer(bench: Bench) -> Consumer:
    return Consumer(
        project=bench.config.root / bench.config.document.verify.dotnet,
        packages=feed_of(bench),
        version=bench.config.project.version,
        environment=clean_environment(),
        layout=layout(bench.cell.consumer),
        rid=bench.cell.target,
        runtime_version=bench.cell.version if _is_on_feed(bench) else "",
        variables=bench.situation.environment,
        properties={**_left_out(bench), **_about(bench)},
    )


def _left_out(bench: Bench) -> dict[str, str]:
    """The package that the consumer's project is told to do without."""
    nuget = bench.config.packages[bench.situation.without].nuget if bench.situation.without else None
    return {"WithoutPackage": nuget.id} if nuget is not None else {}


def _about(bench: Bench) -> dict[str, str]:
    """Which of several runtimes the consumer's project is about."""
    several = len(bench.config.document.runtime) > 1
    return {"RuntimeName": bench.use.name} if several and bench.use is not None else {}


def _run(bench: Bench, consumer: Consumer, work: Path) -> SmokeRun:
    """In the folder that relative paths of the situation start from."""
    home = bench.work / "home"
    home.mkdir(exist_ok=True)
    words = (*bench.consumer_words(), *bench.situation.action)
    cases = bench.data()
    first = bench.situation.first
    if first and bench.use is not None:
        older = bench.supply.runtime_nupkg(bench.use, first, bench.cell.target)
        before = replace(consumer, packages=[*consumer.packages, older], runtime_version=first)
        ended = run_smoke(before, cases, work, arguments=words, log=bench.log, cwd=home)
        bound = (ended.document.report or {}).get("version")
        if bound != first:
            raise InputError(f"{bound or 'no version'} was bound before the upgrade, and {first} was installed")

    def locked(made: Made) -> int | None:
        return settle(bench, consumer, made, _installed(bench, made))

    return run_smoke(consumer, cases, work, arguments=words, log=bench.log, cwd=home, settle=locked)


def _unproven(bench: Bench, consumer: Consumer, made: Made, document: SmokeDocument | None = None) -> list[str]:
    """What the layout promises and does not hold of the packages that the consumer asks for."""
    ids = {name: row.nuget.id.lower() for name, row in bench.config.packages.items() if row.nuget is not None}
    restored = {name for name, one in ids.items() if (made.cache / one).is_dir()}
    missing = [name for name in bench.config.needed(bench.package) if name not in restored] if bench.use else []
    if missing and bench.situation.without not in missing:
        return [f"the consumer restored nothing of the package {name}" for name in missing]
    ours = {artifact.path.name for artifact in bench.artifacts}
    cached = {path.name for path in made.cache.glob("*/*/*.nupkg")}  # NuGet keeps them in small letters
    application = Application(
        packages=[path for path in consumer.packages if path.name not in ours or path.name.lower() in cached],
        rid=consumer.rid,
        out=made.out,
        cache=made.cache,
        libraries=document.libraries if document else (),
        parts=len(restored) + bool(consumer.runtime_version),
        framework=document.assembly.framework if document else "",
    )
    return [wrong for proof in consumer.layout.proofs for wrong in proof(application)]


def _installed(bench: Bench, made: Made) -> Path | None:
    """The runtime's library as the application has it; None when it has none."""
    if bench.use is None:
        return None
    names = getattr(bench.use.known.names, target(bench.cell.target).system)
    return next((path for name in names for path in sorted(made.out.rglob(name))), None)


def _judged(bench: Bench, ended: SmokeRun) -> Outcome:
    outcome = judge(
        bench.cell,
        bench.scenario,
        _smoke(ended),
        [str(bench.work)],
        values=bench.values(str(_installed(bench, ended.made) or "")),
        reference=bench.reference(),
        at_least=bench.at_least(),
        binds=bench.binds(),
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
