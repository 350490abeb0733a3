"""LB309 compared with abi3audit: both find the same packages bad and good."""

import json

import pytest

from corpus.cases import macos, tags, windows
from corpus.processes import make_environment, run_program
from loadcheck.audit import audit_here

pytestmark = pytest.mark.slow

SEES_LESS = {
    "the lowest of several tags counts": "abi3audit takes the highest CPython of several tags",
    "Windows: functions from the library of one CPython": "abi3audit looks at names, not at the library they come from",
}
"""Bad subjects that abi3audit lets pass, and why."""
SEES_MORE = {
    "a name of CPython that is not stable; the entries of other modules": "it does not know PEP 793's PyModExport",
}
"""Good subjects that abi3audit refuses, and why."""
ALL = [case for part in (tags, macos, windows) for case in part.CASES if case.code == "LB309"]
OURS = (
    "abi3t",
    "chooses one",
    "does not choose",
    "one CPython alone",
    "newer CPythons do not export",
    "library of the package defines",
)
"""In the titles of cases that abi3audit 0.0.26 cannot tell apart: it does not know abi3t, nor that a library is for the
one Python that its name has, nor which names a CPython exports outside of the stable ABI, nor what libraries define."""
CASES = [case for case in ALL if not any(text in case.what for text in OURS)]


@pytest.fixture(scope="session")
def abi3audit(tmp_path_factory):
    """abi3audit in an environment of its own; says whether it accepts a wheel."""
    python = make_environment(tmp_path_factory.mktemp("abi3audit"), "abi3audit==0.0.26")

    def judge(wheel):
        report = json.loads(run_program(python, "-m", "abi3audit", "--strict", "--report", wheel).stdout)
        (spec,) = report["specs"].values()
        results = [entry["result"] for entry in spec["wheel"]]
        assert results, "abi3audit looked at nothing"
        return all(result["is_abi3"] and result["is_abi3_baseline_compatible"] for result in results)

    return judge


@pytest.mark.parametrize("case", CASES, ids=[case.what.replace(" ", "_") for case in CASES])
def test_both_say_the_same(case, bench, abi3audit):
    def ours(wheel):
        return not [finding for finding in audit_here([wheel], case.policy).findings if finding.code == "LB309"]

    (bad,) = case.bad(bench)
    assert not ours(bad)
    assert abi3audit(bad) == (case.what in SEES_LESS)
    bad.unlink()
    (good,) = case.good(bench)
    assert ours(good)
    assert abi3audit(good) == (case.what not in SEES_MORE)
