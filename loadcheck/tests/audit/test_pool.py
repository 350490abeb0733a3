import multiprocessing
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from corpus import hostile
from corpus.processes import run_program
from loadcheck.audit import audit_here, audit_paths
from loadcheck.engine.pool import Pool, WorkerLimits

LIMITS = WorkerLimits(seconds=3, memory=4 << 30)
"""A busy machine may need minutes for 3 s of processor time: only a test of waiting has a short limit of its own."""


def reader_findings(report):
    return [finding for finding in report.findings if finding.code == "LB605"]


@pytest.mark.parametrize(
    ("end", "how"),
    [
        ("aborts", "was killed by SIGABRT"),
        pytest.param("computes", "exceeded its limit of 3 s of CPU time", marks=pytest.mark.slow),
        pytest.param("waits", "exceeded its limit of 6 s", marks=pytest.mark.slow),
        pytest.param("hoards", "exceeded its limit of 4096 MiB of memory", marks=pytest.mark.slow),
        pytest.param("fails", "failed with a bug in loadcheck: KeyError", marks=pytest.mark.slow),
    ],
)
def test_a_reader_that_dies_is_a_finding_and_the_rest_is_audited(bench, end, how):
    wheels = bench.wheel({hostile.VICTIM: bench.good(), "latenn/.env": b"x"}, version="1.0.0")

    limits = replace(LIMITS, wall=6) if end == "waits" else LIMITS
    report = audit_paths([*wheels, *bench.nupkg()], jobs=1, limits=limits, work=partial(hostile.audit, end=end))

    (finding,) = reader_findings(report)
    assert finding.subject.endswith(f"!{hostile.VICTIM}")
    is_slow = end in ("computes", "waits")
    assert (finding.severity, finding.cause) == (("warning", "slow") if is_slow else ("error", "crash"))
    assert how in finding.message
    assert "LB611" in {finding.code for finding in report.findings}, "the other files of the package are still audited"
    assert any(skip.subject == finding.subject for skip in report.skipped), "checks not applied are reported"


def test_a_package_that_no_reader_survives_is_a_finding(bench):
    report = audit_paths(bench.wheel(), jobs=1, limits=LIMITS, work=hostile.always_aborts)

    (finding,) = report.findings
    assert (finding.code, finding.severity) == ("LB605", "error")
    assert "was not audited" in finding.message


def test_a_package_whose_checks_take_too_long_is_not_finished(bench):
    work = partial(hostile.audit_and, end="computes")
    report = audit_paths(bench.wheel(), jobs=1, limits=WorkerLimits(seconds=1), work=work)

    (finding,) = report.findings
    assert (finding.code, finding.severity) == ("LB605", "warning")
    assert "not finished" in finding.fix


def test_waiting_for_a_busy_machine_is_no_slowness(bench):
    work = partial(hostile.audit_and, end="naps")
    assert not audit_paths(bench.wheel(), jobs=1, limits=WorkerLimits(seconds=1), work=work).findings


def test_reports_do_not_depend_on_the_number_of_workers_or_the_order(bench):
    paths = [*bench.wheel(version="1.0.0"), *bench.wheel({"latenn/.env": b"x"}, version="1.1"), *bench.nupkg()]

    expected = audit_paths(paths, jobs=1)

    assert audit_paths(paths[::-1], jobs=3) == expected
    assert audit_here(paths) == expected


def test_results_of_no_more_workers_than_asked_for_come_in_the_order_of_the_tasks():
    before = set(multiprocessing.active_children())
    with Pool(hostile.double, 3, LIMITS) as pool:
        assert pool.run(list(range(20))) == [number * 2 for number in range(20)]
        assert len(set(multiprocessing.active_children()) - before) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="not run: only Linux has /proc")
def test_no_worker_outlives_a_killed_parent():
    """Workers see their pipe close and end; else each killed audit would leave its workers for ever."""
    code = (
        "import multiprocessing, os, signal, sys\n"
        "from loadcheck.engine.pool import WorkerLimits, Pool\n"
        "from corpus import hostile\n"
        "with Pool(hostile.double, 2, WorkerLimits()) as pool:\n"
        "    pool.run([1, 2])\n"
        "    print(*(child.pid for child in multiprocessing.active_children()), flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = run_program(sys.executable, "-c", code, cwd=Path(__file__).resolve().parents[1], timeout=60)
    pids = done.stdout.split()
    deadline = time.monotonic() + 10
    while any(Path("/proc", pid).exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)

    assert len(pids) == 2
    assert not [pid for pid in pids if Path("/proc", pid).exists()]


def test_no_worker_outlives_its_pool(bench):
    before = set(multiprocessing.active_children())
    audit_paths(bench.wheel(), jobs=2)
    deadline = time.monotonic() + 5
    while set(multiprocessing.active_children()) - before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not set(multiprocessing.active_children()) - before
