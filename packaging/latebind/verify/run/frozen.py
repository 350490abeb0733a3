"""Freezes a consumer with PyInstaller into one folder, as an application's developer would."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.system.archive import ZipReader
from latebind.system.run import run
from latebind.verify.dist import wheels_for
from latebind.verify.plan.installers import consumer_environment

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.verify.run.bench import Bench
    from latebind.verify.run.environment import Environment

REQUIREMENT = "pyinstaller>=6"
_TIME_LIMIT = 600.0


def freeze(bench: Bench, environment: Environment, script: Path) -> Path:
    """The frozen program. `--collect-all` takes data files, libraries and metadata of the packages and the runtime.

    Raises NotRun or ToolError when PyInstaller cannot be installed, ToolError when it fails.
    """
    environment.install([REQUIREMENT], log=bench.log)
    folder = bench.work / "frozen"
    names = sorted({name for row in wheels_for(bench.cell.target, bench.artifacts) for name in _packages(row.path)})
    if bench.use is not None and bench.cell.version:
        names.append(bench.use.known.python.folder.partition("/")[0])
    argv: list[str | Path] = [environment.python, "-I", "-m", "PyInstaller", "--noconfirm", "--onedir"]
    argv += ["--name", "consumer", "--distpath", environment.root / "dist"]
    argv += ["--workpath", folder, "--specpath", folder]
    argv += [word for name in names for word in ("--collect-all", name)]
    env = consumer_environment(environment.python, bench.work / "home")
    run([*argv, script], cwd=bench.work, env=env, timeout=_TIME_LIMIT, log=bench.log)
    return environment.root / "dist" / "consumer" / "consumer"


def _packages(wheel: Path) -> set[str]:
    """The importable packages of a wheel: its top-level folders but those of metadata and data."""
    with ZipReader(wheel) as archive:
        tops = {member.name.partition("/")[0] for member in archive.members if "/" in member.name}
    return {name for name in tops if not name.endswith((".dist-info", ".data"))}
