"""Runs a wheel's cell: a clean environment, the wheels of dist/ by hash, the index's runtime, the consumer."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from latebind.archive import ZipReader, sha256
from latebind.errors import InputError, LatebindError, NotRun
from latebind.presets import preset
from latebind.run import run
from latebind.verify.cells import scenario
from latebind.verify.environments import consumer_environment, python_of
from latebind.verify.smoke import judge, read_python

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.model import Artifact, Outcome
    from latebind.verify.cell import Bench

_TIME_LIMIT = 900.0


def run_python_cell(bench: Bench) -> Outcome:
    """Install, run and judge.

    Raises NotRun when the cell cannot be tried here, LatebindError when something other than the packages failed.
    """
    wheels = [artifact for artifact in bench.artifacts if artifact.kind == "wheel"]
    if len(wheels) < sum(package.wheel is not None for package in bench.config.packages.values()):
        raise NotRun("not-built", "not every wheel of the project was made")
    environment = bench.work / "env"
    home = bench.work / "home"
    home.mkdir(parents=True)
    bench.supply.installer.create(environment, bench.python, bench.log)
    names = [name for package in bench.config.packages if (name := bench.config.wheel_name(package))]
    wanted = _wanted(bench, wheels, [(name, bench.config.project.version) for name in names])
    bench.supply.installer.install(environment, wanted, links=_links(bench, wheels), ours=names, log=bench.log)
    _assert_installed(environment, wheels)
    script = bench.config.root / bench.config.document.verify.python
    out = bench.work / "result.json"
    argv: list[str | Path] = [
        python_of(environment),
        "-I",
        script,
        "--cases",
        bench.supply.data(bench.entry),
        "--out",
        out,
    ]
    ended = run(
        [*argv, *bench.arguments()],
        cwd=home,
        env=consumer_environment(environment, home),
        timeout=_TIME_LIMIT,
        check=False,
        log=bench.log,
    )
    try:
        smoke = read_python(ended.returncode, ended.output, out.read_bytes())
    except OSError as error:
        raise InputError(
            f"the consumer ended with status {ended.returncode} and wrote no result: {ended.output[-2000:]}",
            where=str(script),
        ) from error
    return judge(
        bench.cell,
        scenario(bench.cell.scenario),
        smoke,
        environment,
        values=bench.values(),
        reference=bench.reference(),
        at_least=bench.at_least(),
    )


def _wanted(bench: Bench, wheels: list[Artifact], ours: list[tuple[str, str]]) -> list[str]:
    """What the installer is told: files of dist/ by path, the runtime by name; or only what a user would type."""
    if bench.cell.scenario == "extra" and bench.use is not None:
        extra = preset(bench.use.preset).python.extra
        # The version keeps an index's package of the same name out; a user would not write it.
        return [
            f"{name}[{extra}]=={version}" if name == bench.config.wheel_name(bench.package) else f"{name}=={version}"
            for name, version in ours
        ]
    runtime = [f"{bench.cell.runtime}=={bench.cell.version}"] if bench.cell.version else []
    return [*(str(wheel.path) for wheel in wheels), *runtime, *bench.config.document.verify.python_requires]


def _links(bench: Bench, wheels: list[Artifact]) -> Path | None:
    return wheels[0].path.parent if bench.cell.scenario == "extra" else None


def _assert_installed(environment: Path, wheels: list[Artifact]) -> None:
    """Every file of our wheels lies in the environment with the very bytes of dist/, whose hashes are the report's."""
    pattern = "Lib/site-packages" if sys.platform == "win32" else "lib/python*/site-packages"
    site = next(environment.glob(pattern))
    for wheel in wheels:
        if sha256(wheel.path) != wheel.sha256:
            raise LatebindError(f"{wheel.path.name} changed while it was verified", advice="Run the command again.")
        with ZipReader(wheel.path) as archive:
            for member in archive.members:
                installed = site / member.name
                # The installer writes RECORD anew.
                if member.name.endswith("/RECORD") or member.is_folder:
                    continue
                if not installed.is_file() or installed.read_bytes() != archive.read(member.name):
                    raise LatebindError(f"{installed} is not the file that {wheel.path.name} holds")
