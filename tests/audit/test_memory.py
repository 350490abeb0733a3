import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BASE, PER_BYTE = 120 * 10**6, 3


@pytest.mark.skipif(sys.platform == "win32", reason="the peak of a process is read as POSIX tells it")
def test_a_worker_takes_little_more_than_three_times_the_member_that_it_reads(bench):
    library = bench.good() + os.urandom(60 << 20)
    (wheel,) = bench.wheel({"latenn/liblatenn.so": library})

    done = subprocess.run(
        [sys.executable, ROOT / "bench" / "memory.py", wheel], check=True, stdout=subprocess.PIPE, timeout=300
    )

    (row,) = json.loads(done.stdout)
    assert row["largest"] == len(library) > 60 << 20
    assert row["peak"] <= BASE + PER_BYTE * row["largest"]
    assert row["peak"] > row["largest"], "else it was not the reader that was measured"
