"""Work at once: order, failure, and what a failure does to the others."""

import sys
import time

import pytest
from latebind.errors import ToolError
from latebind.parallel import each
from latebind.run import run


def test_results_come_in_the_order_of_the_items():
    def work(number):
        time.sleep(0.05 * (3 - number))
        return number * 10

    assert each(work, [0, 1, 2], jobs=3) == [0, 10, 20]


def test_the_first_failure_ends_the_processes_of_the_others():
    def work(code):
        return run([sys.executable, "-c", code], timeout=60)

    started = time.monotonic()
    with pytest.raises(ToolError, match="failed with status 7"):
        each(work, ["import time; time.sleep(50)", "import time; time.sleep(0.5); raise SystemExit(7)"], jobs=2)
    assert time.monotonic() - started < 20
