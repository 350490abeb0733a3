import json
import os
import subprocess
import sys
from functools import partial

import pytest
from tests.audit.corpus import GOOD, RUNTIME

from loadcheck.audit import audit_here
from loadcheck.errors import UserError
from loadcheck.readers import package as reading
from tests.conftest import ROOT

BASE, PER_BYTE = 120 * 10**6, 3


def measure_memory(wheel):
    command = [sys.executable, ROOT / "bench" / "memory.py", wheel]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=300)
    (measurement,) = json.loads(done.stdout)
    return measurement


@pytest.mark.skipif(sys.platform == "win32", reason="not run: Windows reports no peak of a process")
def test_a_worker_takes_little_more_than_three_times_the_member_that_it_reads(bench):
    library = bench.good() + os.urandom(60 << 20)
    (wheel,) = bench.wheel({"latenn/liblatenn.so": library})

    memory = measure_memory(wheel)

    assert memory["largest"] == len(library) > 60 << 20
    assert memory["peak"] <= BASE + PER_BYTE * memory["largest"]
    assert memory["peak"] > memory["largest"], "else it was not the reader that was measured"


@pytest.mark.skipif(sys.platform == "win32", reason="not run: Windows reports no peak of a process")
def test_a_huge_library_is_not_held_in_memory(bench):
    (wheel,) = bench.wheel({"latenn/liblatenn.so": bench.good() + os.urandom(200 << 20)})
    assert measure_memory(wheel)["peak"] < BASE


def test_a_library_that_is_mapped_from_the_disk_has_the_same_findings(bench, monkeypatch):
    path = b"/home/someone/src/a.c\0"
    binaries = {
        "a.so": bench.good() + path,
        "b.so": bench.compiler.library(RUNTIME + GOOD).read_bytes() + bytes(40 << 20) + path,
        "c.dylib": bench.dylib(),
        "d.dll": bench.dll() + b":\\Users\\someone\\x.c\0",
    }
    (wheel,) = bench.wheel({f"latenn/{name}": data for name, data in binaries.items()})
    expected = audit_here([wheel])
    assert {"latenn/a.so", "latenn/b.so", "latenn/d.dll"} <= {
        finding.subject.partition("!")[2] for finding in expected.findings if finding.code == "LB610"
    }
    monkeypatch.setattr(reading, "_MAX_IN_MEMORY", -1)
    assert audit_here([wheel]) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="not run: only Linux has a device that is always full")
def test_a_disk_without_room_is_named(bench, monkeypatch):
    (wheel,) = bench.wheel({"latenn/liblatenn.so": bench.good()})
    monkeypatch.setattr(reading, "_MAX_IN_MEMORY", -1)
    monkeypatch.setattr(reading.tempfile, "TemporaryFile", partial(open, "/dev/full", "r+b", 0))
    with pytest.raises(UserError, match=r"No space left on device.*\n?.*Set TMPDIR"):
        audit_here([wheel])
