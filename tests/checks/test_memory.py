"""How much memory an audit takes, as ci/bench/memory.py measures it."""

import json
import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.builds

BASE, PER_BYTE = 120 * 10**6, 3


def measure_memory(wheel):
    command = [sys.executable, ROOT / "ci" / "bench" / "memory.py", wheel]
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
