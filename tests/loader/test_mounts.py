"""Mounts: what is mounted below a folder is out of reach for those who may write to the folder.

The device is the same in each set-up, so only the mount tells the library's folder from those above it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.loader.places import ATTACKER, CAPI, GROUP, LIBRARY, USER, Site, make_site
from tests.loader.test_hostile import change_list, own

if TYPE_CHECKING:
    from tests.support.building import Programs

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="not run: only root can make files of several users"
)


@pytest.fixture
def site(plain: Programs) -> Iterator[Site]:
    with make_site(plain) as made:
        yield made


def start(site: Site, script: str, library: Path, user: int) -> str:
    """What a user's program prints, after the script has changed the mounts."""
    unshare, setpriv = shutil.which("unshare"), shutil.which("setpriv")
    if not unshare or not setpriv:
        pytest.skip("not run: unshare or setpriv is missing: apt-get install util-linux")
    drop = f"{setpriv} --reuid={user} --regid={user} --clear-groups"
    words = [unshare, "-m", "sh", "-c", f"mount --make-rprivate / && {script} && exec {drop} $0 $1"]
    command = [*words, str(site.programs.folder / "host"), str(library)]
    env = {"PATH": os.environ["PATH"]}
    done = subprocess.run(command, cwd="/", env=env, capture_output=True, text=True, timeout=60, check=False)
    if "mount:" in done.stderr or "unshare:" in done.stderr:
        pytest.skip(f"not run: no private mounts here: {done.stderr[-200:]}")
    return done.stdout


def list_of_the_team(team: Path) -> None:
    own(team, 0, GROUP, 0o2775)
    change_list(team, f"u:{ATTACKER}:rwx")


def list_of_another_group(team: Path) -> None:
    own(team, 0, GROUP, 0o2775)
    change_list(team, f"g:{ATTACKER}:rwx")


def another_group(team: Path) -> None:
    own(team, 0, ATTACKER, 0o2775)


def everybody(team: Path) -> None:
    own(team, 0, 0, 0o777)


@pytest.mark.parametrize("user", [USER, 0], ids=["user", "root"])
@pytest.mark.parametrize("kind", ["folder", "file"])
@pytest.mark.parametrize("share", [list_of_the_team, list_of_another_group, another_group, everybody])
def test_those_who_may_write_above_a_mount_are_strangers(site, share: Callable[[Path], None], kind, user):
    """The library is mounted: nobody who may write to the folder above can replace it."""
    library = site.install("libmine.so", "real", owner=0)
    own(library, 0, GROUP, 0o775)
    own(library.parent, 0, GROUP, 0o2775)
    package = site.make_folders("team/pkg", 0)
    share(site.base / "team")
    site.add_runtime(f"team/{CAPI}")
    for place in (site.base / "team/onnxruntime", site.base / f"team/{CAPI}"):
        own(place, ATTACKER, GROUP, 0o2775)  # as the folder of the team gives its group to what is made in it
    own(site.base / f"team/{CAPI}/{LIBRARY}", ATTACKER, GROUP, 0o775)
    if kind == "folder":
        script = f"mount --bind {library.parent} {package}"
    else:
        (package / library.name).touch()
        script = f"mount --bind {library} {package}/{library.name}"
    printed = start(site, script, package / library.name, user)
    assert "FOREIGN CODE RUNS" not in printed
    assert printed.startswith("ONNX Runtime at ")


def test_a_team_may_write_above_its_library_where_nothing_is_mounted(site):
    library = site.install("libmine.so", "team/pkg", owner=0)
    path = site.add_runtime(f"team/{CAPI}", owner=USER + 1, stand_in="good")
    for place in (site.base / "team", *(site.base / "team").rglob("*")):
        own(place, place.stat().st_uid, GROUP, 0o2775)
    assert start(site, "true", library, USER).startswith(f"{path}\n")


@pytest.mark.parametrize("how", ["rw", "ro"])
def test_a_share_without_owners_is_taken_for_reading_as_for_writing(site, how):
    library = site.install("libmine.so", "share/pkg", owner=0)
    path = site.add_runtime(f"share/{CAPI}", owner=ATTACKER, stand_in="good")
    share = site.base / "share"
    for place in (share, *share.rglob("*")):
        place.chmod(0o777)
    script = f"mount --bind {share} {share} && mount -o remount,{how},bind {share}"
    assert start(site, script, library, USER).startswith(f"{path}\n")


@pytest.mark.parametrize("place", ["", "env/lib/python3.11/site-packages/", "node/"])
def test_a_share_for_reading_says_nothing_of_other_places(site, place):
    """Everybody may change the library by its modes, but nobody by its mount."""
    library = site.install("libmine.so", "pkg/share", owner=0)
    library.parent.chmod(0o777)
    library.chmod(0o777)
    site.add_runtime(f"{place}{CAPI}")
    share = library.parent
    script = f"mount --bind {share} {share} && mount -o remount,ro,bind {share} && export VIRTUAL_ENV={site.base}/env"
    printed = start(site, script, library, USER)
    assert "FOREIGN CODE RUNS" not in printed
    assert printed.startswith("ONNX Runtime ")
