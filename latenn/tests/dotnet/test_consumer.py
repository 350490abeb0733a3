"""The .NET program that verifies latenn's nupkgs: what it passes, and that wrong numbers and words fail it."""

from __future__ import annotations

import json
import sys

import pytest
from small_cases import NUMERIC, small_cases, spoiled_cases

from tests.support.building import runtime_library
from tests.support.latenn import LATENN
from tests.support.programs import run_program

ODD_CASES = 4
pytestmark = [
    pytest.mark.builds,
    pytest.mark.skipif(sys.platform != "linux", reason="not run: the runtime's library is taken from a Linux wheel"),
]


@pytest.fixture
def compute(build_program, latenn_here, tmp_path):
    """Builds the consumer; the function runs it over cases: the status, and what it wrote."""
    packages = [latenn_here / f"{name}.0.1.0.nupkg" for name in ("Latenn", "Latenn.OnnxRuntime")]
    argv, environment = build_program(LATENN / "verify/Smoke", packages)

    def run(cases, *arguments):
        result = tmp_path / "result.json"
        result.unlink(missing_ok=True)
        ended = run_program(*argv, cases, result, *arguments, env=environment)
        return ended.returncode, json.loads(result.read_text("utf-8")) if result.exists() else None

    return run


@pytest.mark.slow
def test_it_passes_right_numbers_and_fails_wrong_ones(compute, tmp_path):
    cases, runtime = small_cases(tmp_path / "cases"), ("--runtime-path", runtime_library())
    passed = compute(cases, *runtime)
    failed = compute(spoiled_cases(cases, tmp_path / "spoiled"), *runtime)

    assert (passed[0], passed[1]["failed"], len(passed[1]["passed"])) == (0, [], len(NUMERIC) + ODD_CASES)
    assert (failed[0], [failure["name"] for failure in failed[1]["failed"]]) == (1, ["identity_1"])
    assert "element 0 is" in failed[1]["failed"][0]["message"]


@pytest.mark.slow
def test_words_that_cannot_be_followed_end_without_a_result(compute, tmp_path):
    cases = small_cases(tmp_path / "cases")
    for arguments in (["--preload", "/nowhere/x.so"], ["--threads", "no"], ["--sample", "0"]):
        status, document = compute(cases, *arguments)
        assert (status != 0, document) == (True, None)
