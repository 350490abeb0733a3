"""Work at once: order, failure, and what a failure does to the others."""

import sys
import time

import pytest

from latebind.errors import ToolError
from latebind.system.parallel import Running, each
from latebind.system.run import run


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


@pytest.mark.skipif(sys.platform == "win32", reason="not run: Windows has no sessions like these")
def test_the_first_failure_ends_what_left_its_group_and_nothing_new_begins(tmp_path):
    script = tmp_path / "apart.py"
    apart = "subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)', __file__], start_new_session=True)"
    script.write_text(f"import subprocess, sys\n{apart}\n", encoding="utf-8")
    ended = []

    def work(code):
        if code:
            time.sleep(1)
            raise ToolError("failed first")
        for _ in range(2):
            try:
                run([sys.executable, script], timeout=30, check=False)
            except KeyboardInterrupt:  # and no ToolError: the script did not fail
                ended.append(script)

    started = time.monotonic()
    with pytest.raises(ToolError, match="failed first"):
        each(work, [0, 1], jobs=2)
    assert time.monotonic() - started < 8
    assert len(ended) == 2
    assert str(script) not in run(["ps", "-eo", "args"]).output


def test_what_has_run_longest_is_named():
    running = Running()
    with running.hold("first"), running.hold("second"), running.hold("third"):
        assert running.describe() == "(first for 0.0 s; second for 0.0 s)"
    assert running.describe() == ""
