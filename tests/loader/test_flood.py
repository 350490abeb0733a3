"""Others may fill places where a program looks: its first call takes no longer for that, in time of the processor."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.loader.places import ATTACKER, CAPI, USER, Site, make_site

if TYPE_CHECKING:
    from tests.support.building import Programs

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="not run: only root can make files of several users"
)
COUNT = 3000
BOUND = 0.05
"""Seconds."""


@pytest.fixture
def site(plain: Programs) -> Iterator[Site]:
    with make_site(plain) as made:
        yield made


PAD = "a/../" * 800


def fill(folder: Path, pattern: str) -> None:
    for number in range(COUNT):
        path = folder / pattern.format(number)
        path.touch()
        os.chown(path, ATTACKER, ATTACKER)


def link(path: Path, target: str) -> None:
    path.symlink_to(target)
    os.lchown(path, ATTACKER, ATTACKER)


def make_chain(folder: Path) -> str:
    """Links of which each is long and leads to the next; where to begin."""
    (folder / "a").mkdir()
    (folder / "end").touch()
    for number in range(38):
        link(folder / f"l{number}", PAD + (f"l{number - 1}" if number else "end"))
    return PAD + "l37"


def files(site: Site) -> None:
    fill(site.make_folders(CAPI, ATTACKER), "libonnxruntime.so.{}")


def folders(site: Site) -> None:
    for number in range(COUNT):
        site.make_folders(f"{CAPI}/libonnxruntime.so.{number}", ATTACKER)


def chains_of_links(site: Site) -> None:
    folder = site.make_folders(CAPI, ATTACKER)
    start = make_chain(folder)
    for number in range(COUNT // 3):
        link(folder / f"libonnxruntime.so.{number}", start)


def folder_behind_a_chain_of_links(site: Site) -> None:
    make_chain(site.make_folders("deep", ATTACKER))
    for name in ("onnxruntime", "node_modules", "runtimes"):
        link(site.base / name, "deep/l37")


def versions_of_modules(site: Site) -> None:
    for number in range(COUNT):
        site.make_folders(f"node_modules/onnxruntime-node/bin/napi-v{number}/linux/x64", ATTACKER)


def versions_of_python(site: Site) -> None:
    for number in range(COUNT):
        site.make_folders(f"env/lib/python3.{number}/site-packages/{CAPI}", ATTACKER)


def next_to_the_library(site: Site) -> None:
    """In a sticky folder, as /tmp."""
    fill(site.base / "mine", "libonnxruntime.so.{}")
    fill(site.base / "mine", "{}.deps.json")


def install(site: Site, flood: Callable[[Site], None]) -> Path:
    """A library where a flood will reach it."""
    library = site.install("libmine.so", "mine" if flood is next_to_the_library else "mine/app")
    if flood is next_to_the_library:
        library.parent.chmod(0o1777)
    return library


def measure(site: Site, library: Path, user: int) -> tuple[float, str]:
    """Time of the processor in seconds, and what is printed."""
    environment = {"VIRTUAL_ENV": str(site.base / "env")}
    command = [str(site.programs.folder / "host"), str(library)]
    who = {"user": user, "group": user, "extra_groups": []}
    with subprocess.Popen(command, cwd="/", env=environment, stdout=subprocess.PIPE, text=True, **who) as running:
        assert running.stdout
        printed = running.stdout.read()
        _, _, used = os.wait4(running.pid, 0)
        running.returncode = 0
    return used.ru_utime + used.ru_stime, printed


FLOODS = [files, folders, chains_of_links, folder_behind_a_chain_of_links, versions_of_modules, versions_of_python,
          next_to_the_library]  # fmt: skip


@pytest.mark.parametrize("user", [USER, 0], ids=["user", "root"])
@pytest.mark.parametrize("flood", FLOODS, ids=lambda value: value.__name__)
def test_what_others_fill_costs_nothing(site, flood: Callable[[Site], None], user):
    library = install(site, flood)
    before = min(measure(site, library, user)[0] for _ in range(3))
    flood(site)
    runs = [measure(site, library, user) for _ in range(3)]
    assert min(used for used, _ in runs) < before + BOUND
    printed = runs[0][1]
    assert printed.startswith("ONNX Runtime ")
    assert len(printed) < 10_000


def test_of_many_names_in_a_trusted_folder_some_are_tried(site):
    library = site.install("libmine.so", "app")
    for number in range(1000):
        (library.parent / f"libonnxruntime.so.{number}").touch()
    _, printed = measure(site, library, USER)
    assert printed.count('"not-a-library"') == 256
