"""Applications are locked, and the lock is tested before they run."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from latebind.compilers.interpreters import everybody_reaches
from latebind.ecosystems.nuget import consumer as nuget
from latebind.errors import LatebindError
from latebind.verify.declared import Situation
from latebind.verify.run.access import NOBODY, is_root, unlock

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="not run: the permissions are those of Linux and macOS")


@pytest.fixture
def application(tmp_path_factory, monkeypatch):
    """A trial, a consumer and what was made of it, in folders that everybody may enter."""
    root = tmp_path_factory.mktemp("access")
    for folder in (root, *root.parents):
        if is_root() and not everybody_reaches(root / "file"):
            folder.chmod(folder.stat().st_mode | 0o055)
    for name in ("work/out", "work/answers", "home"):
        (root / name).mkdir(parents=True)
    library = root / "work/out/libruntime.so"
    library.write_bytes(b"\x7fELF")
    monkeypatch.setattr(nuget.dotnet, "find", lambda _: library)
    trial = SimpleNamespace(work=root, data=lambda: root / "cases.json")
    yield trial, SimpleNamespace(environment={}), SimpleNamespace(out=root / "work/out"), library
    unlock(root)


def lock_situation(application, **situation):
    trial, consumer, built, library = application
    trial.situation = Situation(**situation)
    return nuget.lock_application(trial, consumer, built, built.out.parent / "answers", library)


def test_an_ordinary_situation_changes_nothing(application):
    library = application[3]
    assert lock_situation(application) is None
    library.write_bytes(b"still mine")


def test_nothing_can_be_written_and_the_library_still_be_read(application):
    assert lock_situation(application, unprivileged=True) == (NOBODY if is_root() else None)
    assert application[3].stat().st_mode & 0o777 == 0o444
    assert application[2].out.stat().st_mode & 0o777 == 0o555


def test_a_library_that_nobody_may_read_stays_so(application):
    lock_situation(application, unprivileged=True, unreadable=True)
    assert application[3].stat().st_mode & 0o777 == 0


def test_a_lock_that_does_not_hold_is_told(application, monkeypatch):
    monkeypatch.setattr(nuget, "lock", lambda folder: folder.chmod(0o777))
    with pytest.raises(LatebindError, match=r"out can be written to by (this )?user.*ignores permissions"):
        lock_situation(application, unprivileged=True)
