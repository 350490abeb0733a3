import subprocess
import sys
from functools import partial

import pytest

from corpus.packages import GOOD, RUNTIME
from loadcheck.audit import audit_here
from loadcheck.errors import UserError
from loadcheck.readers import package as reading


def test_a_library_that_is_mapped_from_the_disk_has_the_same_findings(bench, monkeypatch):
    binaries = {
        "a.so": bench.good(),
        "b.so": bench.compiler.library(RUNTIME + GOOD).read_bytes() + bytes(40 << 20),
        "c.dylib": bench.dylib(),
        "d.dll": bench.dll(),
    }
    (wheel,) = bench.wheel({f"latenn/{name}": data for name, data in binaries.items()})
    expected = audit_here([wheel])
    assert expected.findings
    monkeypatch.setattr(reading, "_MAX_IN_MEMORY", -1)
    assert audit_here([wheel]) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="not run: only Linux has a device that is always full")
def test_a_disk_without_room_is_named(bench, monkeypatch):
    (wheel,) = bench.wheel({"latenn/liblatenn.so": bench.good()})
    monkeypatch.setattr(reading, "_MAX_IN_MEMORY", -1)
    monkeypatch.setattr(reading.tempfile, "TemporaryFile", partial(open, "/dev/full", "r+b", 0))
    with pytest.raises(UserError, match=r"No space left on device.*\n?.*Set TMPDIR"):
        audit_here([wheel])


@pytest.mark.skipif(sys.platform != "linux", reason="not run: only Linux counts mapped pages so")
def test_looking_for_numpy_in_a_large_file_keeps_little_of_it_in_memory(tmp_path):
    path = tmp_path / "large.so"
    with path.open("wb") as file:
        file.truncate(1 << 29)
    code = (
        "import mmap, re, sys\n"
        "from loadcheck.binary import Image, Import\n"
        "from loadcheck.readers.numpyapi import find_numpy_use\n"
        "user = Image(format='elf', file_type='shared', arch='x86_64', imports=(Import('PyCapsule_New'),))\n"
        "with open(sys.argv[1], 'rb') as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:\n"
        "    find_numpy_use(data, [user])\n"
        "print(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1])\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, path], check=True, capture_output=True, text=True)
    assert int(ended.stdout) < 200_000
