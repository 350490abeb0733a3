"""A plugin of pytest: the packages of latenn, packed once, for its tests, and for latebind's tests that break them."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from tests.support.building import ROOT
from tests.support.needs import dotnet_environment
from tests.support.programs import run_checked

LATENN = ROOT / "latenn"


def copied_latenn(folder: Path, *, symbols: bool) -> Path:
    """Copy latenn into `folder`. Its symbols take as long as all libraries; without them its sdists are others."""
    outputs = shutil.ignore_patterns("build", "stage", "dist", "reports", "bin", "obj", "__pycache__", "tests", "bench")
    shutil.copytree(LATENN, folder / "latenn", ignore=outputs)
    if not symbols:
        file = folder / "latenn" / "latebind.toml"
        file.write_text(file.read_text("utf-8").replace("symbols = true\n", ""), encoding="utf-8")
    return folder


def packed_latenn(source: Path, out: Path, *more: str) -> Path:
    """Pack a copy of latenn that is in `source`; everything is made below `out`. Gives the folder of the packages."""
    try:
        env = dotnet_environment()
    except pytest.skip.Exception:
        env = dict(os.environ)
    command = [sys.executable, "-m", "latebind.cli", "-q", "-C", source / "latenn", "--workdir", out, "pack", *more]
    env = {**env, "LATEBIND_COMMIT": ""}  # copies have no repository
    run_checked(*command, env=env)
    return out / "dist"


def copy_once(source, names, work, add=lambda _: None):
    """Make a folder with copies of some of another's folders, unless another worker is quicker."""
    aside = Path(tempfile.mkdtemp(dir=work.parent))
    for name in names:
        shutil.copytree(source / name, aside / name)
    add(aside)
    try:
        aside.rename(work)
    except OSError:  # another worker was quicker
        shutil.rmtree(aside)


@pytest.fixture(scope="session")
def latenn_here(kept_builds):
    """The folder of latenn's packages for this machine. Workers share it; latebind locks it while one of them packs.

    latebind takes the libraries of an earlier `python3 noxfile.py` if they are of the same sources.
    """
    work = kept_builds / "latenn"
    if not work.exists() and (ROOT / "stage").is_dir():
        copy_once(ROOT, ["stage"], work)
    return packed_latenn(ROOT, work)


@pytest.fixture(scope="session")
def latenn_site(latenn_here, tmp_path_factory):
    """A folder with all wheels of latenn unpacked into it, as `pip install --target` leaves it."""
    folder = tmp_path_factory.mktemp("latenn-site")
    for wheel in latenn_here.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    return folder


@pytest.fixture(scope="session")
def latenn_packages(shared_folder, latenn_here):
    """The folder of latenn's packages for all targets, likewise; what was made for this machine is not made again."""
    here, work = latenn_here.parent, shared_folder / "latenn-packages"
    if not work.exists():
        made = [name for name in ("stage", "dist", "build/managed") if (here / name).is_dir()]
        copy_once(here, made, work, lambda aside: copied_latenn(aside / "project", symbols=False))
    return packed_latenn(work / "project", work, "--target", "all")
