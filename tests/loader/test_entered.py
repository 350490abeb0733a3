"""A process that loads a library, enters another user's root folder or mount namespace, and makes its first call there.

What that user put there must not run: not in the system's folders, not by ldconfig's cache, not by a variable that
meant another root. A root folder of the superuser is as good as the first one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.loader.places import ATTACKER, CAPI, LIBRARY, USER, Site, make_site

if TYPE_CHECKING:
    from tests.support.building import Programs

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="not run: only root can make files of several users"
)
LDCONFIG = shutil.which("ldconfig", path=f"/sbin:/usr/sbin:{os.environ.get('PATH', '')}")
DEFAULTS = ("lib", "lib64", "usr/lib", "usr/lib64", f"usr/lib/{os.uname().machine}-linux-gnu", "usr/local/lib")
ADVICE = "Make the first call before this process enters another root folder or mount namespace."


@pytest.fixture
def site(plain: Programs) -> Iterator[Site]:
    with make_site(plain) as made:
        yield made


def make_root(site: Site, owner: int, stand_in: str) -> Path:
    """A root folder with a runtime in each default folder of the system's loader."""
    for folder in DEFAULTS:
        site.add_runtime(f"root/{folder}", owner=owner, stand_in=stand_in)
    site.make_folders("root/proc", owner)
    return site.base / "root"


def make_cache(site: Site, folder: Path) -> Path:
    """What ldconfig writes for a folder."""
    if LDCONFIG is None:
        pytest.skip("not run: there is no ldconfig here: apt-get install libc-bin")
    (site.base / "conf").write_text(f"{folder}\n")
    cache = site.base / "cache"
    subprocess.run([LDCONFIG, "-X", "-f", site.base / "conf", "-C", cache], check=True, capture_output=True)
    cache.chmod(0o644)
    return cache


def enter(site: Site, way: str, place: object, **environment: str) -> str:
    """What the library prints after root has entered the place."""
    library = site.install("libmine.so", "opt/pkg", owner=0)
    command = [site.programs.folder / "enter", library, way, str(place)]
    done = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode == 77:
        pytest.skip(f"not run: this machine does not let root enter it: {done.stderr.strip()}")
    assert "FOREIGN CODE RUNS" not in done.stdout
    return done.stdout


@contextmanager
def namespace(setup: str, *options: str) -> Iterator[int]:
    """A process of the attacker with namespaces, in which the script has changed the mounts."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("not run: unshare is missing: apt-get install util-linux")
    command = [unshare, "-U", "-r", "-m", *options, "sh", "-c", f"{setup} && echo READY && read wait"]
    with subprocess.Popen(
        command, user=ATTACKER, group=ATTACKER, extra_groups=[], cwd="/",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        assert running.stdin
        assert running.stdout
        assert running.stderr
        if running.stdout.readline() != "READY\n":
            pytest.skip(f"not run: no namespaces of users here: {running.stderr.read()[-200:]}")
        try:
            yield running.pid
        finally:
            running.stdin.close()


FOLDER_WAYS = ("chroot", "unshare", "pivot_root")


@pytest.mark.parametrize("way", FOLDER_WAYS)
def test_nothing_of_another_users_root_is_opened(site, way):
    printed = enter(site, way, make_root(site, ATTACKER, "foreign"))
    assert printed.startswith("ONNX Runtime ")
    refused = [row for row in json.loads(printed.splitlines()[1])["attempts"] if row["outcome"] == "refused"]
    assert [row["detail"] for row in refused] == ["another user owns /"]


@pytest.mark.parametrize("way", FOLDER_WAYS)
def test_folders_of_another_user_in_a_root_of_the_superuser_are_refused(site, way):
    root = make_root(site, ATTACKER, "foreign")
    os.chown(root, 0, 0)
    assert enter(site, way, root).startswith("ONNX Runtime ")


@pytest.mark.parametrize("way", FOLDER_WAYS)
def test_a_root_of_the_superuser_is_searched(site, way):
    root = make_root(site, 0, "good")
    assert enter(site, way, root).splitlines()[0].endswith(f"/{LIBRARY}")
    assert str(site.base) not in enter(site, way, root)


@pytest.mark.parametrize("way", FOLDER_WAYS)
@pytest.mark.parametrize("variable", ["ONNXRUNTIME_LIB_PATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "HOME"])
def test_a_variable_meant_another_root(site, way, variable):
    root = make_root(site, ATTACKER, "foreign")
    os.chown(root, 0, 0)
    for packages in ("lib/python3.11/site-packages", ".local/lib/python3.11/site-packages"):
        site.add_runtime(f"root/named/{packages}/{CAPI}")
    site.add_runtime("root/named")
    printed = enter(site, way, root, **{variable: "/named"})
    assert "another user owns /named" in printed


@pytest.mark.parametrize("way", FOLDER_WAYS)
def test_the_library_of_the_same_path_in_the_new_root_is_another(site, way):
    """The attacker may even have a hard link to the library there."""
    root = make_root(site, ATTACKER, "foreign")
    library = site.install("libmine.so", "opt/pkg", owner=0)
    folder = str(library.parent).lstrip("/")
    site.add_runtime(f"root/{folder}")
    os.link(library, root / folder / library.name)
    for place in (root, *[root / part for part in Path(folder).parents]):
        os.chown(place, 0, 0)
        place.chmod(0o755)
    assert ADVICE in enter(site, way, root)


@pytest.mark.parametrize("way", ["setns", "setns-user"])
def test_the_cache_of_another_users_namespace_chooses_nothing(site, way):
    cache = make_cache(site, site.add_runtime("theirs").parent)
    with namespace(f"mount --bind {cache} /etc/ld.so.cache") as process:
        assert enter(site, way, process).startswith("ONNX Runtime ")


@pytest.mark.parametrize("way", ["setns", "setns-user"])
def test_what_another_user_mounted_over_the_librarys_neighbours_is_not_theirs(site, way):
    theirs = site.add_runtime("theirs").parent
    beside = site.make_folders(f"opt/{CAPI}", 0)
    with namespace(f"mount --bind {theirs} {beside}") as process:
        assert enter(site, way, process).startswith("ONNX Runtime ")


@pytest.mark.parametrize("way", ["setns", "setns-user"])
def test_a_file_system_that_another_user_made_is_theirs(site, way):
    """In the namespace, its owner has the number of root."""
    foreign = site.add_runtime("theirs")
    folder = site.make_folders(f"opt/{CAPI}", 0)
    setup = f"mount -t tmpfs none {folder} && cp {foreign} {folder}/{LIBRARY}"
    with namespace(setup) as process:
        assert enter(site, way, process).startswith("ONNX Runtime ")


def test_the_number_of_unknown_users_is_not_read_there(site):
    """A file over /proc/sys/kernel/overflowuid."""
    foreign = site.add_runtime("theirs")
    folder = site.make_folders(f"opt/{CAPI}", 0)
    (site.base / "number").write_text("1\n")
    setup = f"mount -t tmpfs none {folder} && cp {foreign} {folder}/{LIBRARY}"
    setup += f" && mount --bind {site.base}/number /proc/sys/kernel/overflowuid"
    with namespace(setup) as process:
        assert enter(site, "setns-user", process).startswith("ONNX Runtime ")


def test_the_first_root_is_searched_as_before(site):
    path = site.add_runtime("opt/pkg", owner=0, stand_in="good")
    assert enter(site, "stay", "").startswith(f"{path}\n")
    theirs = site.add_runtime("theirs", owner=USER, stand_in="good")
    assert enter(site, "stay", "", ONNXRUNTIME_LIB_PATH=str(theirs)).startswith(f"{theirs}\n")


def make_endless(path: Path) -> None:
    path.touch()
    os.truncate(path, 20 << 30)


@pytest.mark.parametrize("make", [os.mkfifo, make_endless])
@pytest.mark.parametrize(
    "name",
    ["proc/self/maps", "proc/self/status", "proc/sys/kernel/overflowuid", "proc/sys/kernel/overflowgid", "etc/group"],
)
def test_what_another_users_root_has_in_place_of_the_systems_files_stalls_nothing(site, name, make):
    root = make_root(site, ATTACKER, "foreign")
    (root / name).parent.mkdir(parents=True)
    make(root / name)
    before = time.monotonic()
    assert enter(site, "chroot", root).startswith("ONNX Runtime ")
    assert time.monotonic() - before < 5
