"""The matrix of GitHub Actions: every test case in one job, within GitHub's limits."""

import dataclasses
import json
from math import ceil

import msgspec
import pytest

from latebind.backend.targets import targets
from latebind.config.file import load
from latebind.errors import InputError
from latebind.verify.cases.select import (
    CASES_PER_JOB,
    MAX_BYTES,
    MAX_JOBS,
    cases_of,
    in_shard,
    matrix,
    matrix_json,
    read_shard,
)
from tests.support.client import CONFIG as TINY
from tests.support.client import SEVERAL, write_client

PROJECT = load(SEVERAL)
RIDS = PROJECT.document.targets.include


def with_versions(number):
    verify = msgspec.structs.replace(
        PROJECT.document.verify, runtimes={"onnxruntime": tuple(f"1.{minor}.0" for minor in range(19, 19 + number))}
    )
    return dataclasses.replace(PROJECT, document=msgspec.structs.replace(PROJECT.document, verify=verify))


def wheels_alone():
    verify = msgspec.structs.replace(PROJECT.document.verify, dotnet="", sdk="", node="", java="", pythons=())
    document = msgspec.structs.replace(PROJECT.document, verify=verify, runtime=PROJECT.document.runtime[:1])
    return dataclasses.replace(PROJECT, document=document)


def test_a_small_project_has_few_jobs_for_each_target_on_its_runner():
    jobs = matrix(wheels_alone(), RIDS, ["3.12"])["include"]
    pairs = dict.fromkeys((job["target"], job["runner"]) for job in jobs)
    assert list(pairs) == [(rid, targets()[rid].runner) for rid in RIDS]
    assert jobs[-1] == {
        "target": RIDS[-1],
        "runner": targets()[RIDS[-1]].runner,
        "shard": "2/2",
        "python": "3.12",
        "pythons": "3.11\n3.13\n3.14\n3.12",
        "args": f"verify --all --target {RIDS[-1]} --shard 2/2",
    }


def test_over_256_cells_are_shared_out_and_each_is_in_one_job():
    config = with_versions(100)
    cases = [configured.case for rid in RIDS for configured in cases_of(config, rid, "3.12")]
    assert len(cases) > MAX_JOBS
    jobs = matrix(config, RIDS, ["3.12"])["include"]
    assert len(RIDS) < len(jobs) <= MAX_JOBS
    for case in cases:
        matching = [job for job in jobs if job["target"] == case.target and in_shard(case, *read_shard(job["shard"]))]
        assert len(matching) == 1
        assert matching[0]["args"] == f"verify --all --target {case.target} --shard {matching[0]['shard']}"
    assert max(int(job["shard"].partition("/")[2]) for job in jobs) * CASES_PER_JOB >= len(cases) / len(RIDS)


@pytest.mark.parametrize("limit", [*range(26, 40), 256])
def test_jobs_are_as_small_as_the_limit_allows(limit):
    config = with_versions(20)
    counts = [len(cases_of(config, rid, "3.12")) for rid in RIDS]
    numbers = (sum(ceil(count / size) for count in counts) for size in range(CASES_PER_JOB, max(counts)))
    assert len(matrix(config, RIDS, ["3.12"], limit)["include"]) == next(each for each in numbers if each <= limit)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [6, 7, 20, 256])
def test_jobs_keep_to_the_limit(limit):
    assert len(matrix(with_versions(800), RIDS, ["3.12"], limit)["include"]) <= limit


def test_no_job_needs_a_python_that_its_runner_lacks():
    """actions/python-versions has no CPython 3.10 for win32 on arm64, so that setup-python ended with an error."""
    jobs = matrix(PROJECT, RIDS, ["3.10", "3.14"])["include"]
    for job in jobs:
        pythons = job["pythons"].splitlines()
        assert pythons[-1] == job["python"]
        assert sorted(pythons) == [*targets()[job["target"]].pythons]
    assert {job["python"] for job in jobs if job["runner"] == "windows-11-arm"} == {"3.14"}
    assert {job["python"] for job in jobs if job["runner"] == "windows-2025"} == {"3.10", "3.14"}
    consumers = {rid: {case.case.consumer for case in cases_of(PROJECT, rid, "3.12")} for rid in RIDS}
    assert "python3.11" in consumers["win-arm64"]
    assert [rid for rid in RIDS if "python3.10" in consumers[rid]] == [rid for rid in RIDS if rid != "win-arm64"]


def test_too_few_jobs_for_the_targets_are_refused():
    with pytest.raises(InputError, match="6 targets and 2 Pythons need at least 12 jobs, more than 11"):
        matrix(PROJECT, [*RIDS, "linux-arm"], ["3.11", "3.14"], 11)  # no runner has that processor


def test_a_text_over_the_limit_of_an_output_is_refused():
    with pytest.raises(InputError, match="bytes as GitHub counts them, more than 1,000,000"):
        matrix(with_versions(800), RIDS, ["3." + "1" * 3000], 256)


@pytest.mark.slow
def test_the_largest_matrix_fits_an_output():
    text = matrix_json(matrix(with_versions(800), RIDS, ["3.10", "3.14"]))
    assert len(text.encode("utf-16-le")) < MAX_BYTES
    assert text.count("\n") == 1


def test_the_command(latebind, tiny):
    write_client(tiny, latebind=TINY + '[verify]\npython = "smoke.py"\n')
    ended = latebind("-C", tiny, "matrix", "--python", "3.10", "--python", "3.14")
    jobs = json.loads(ended.stdout)["include"]
    assert [(job["target"], job["python"], job["args"]) for job in jobs] == [
        ("linux-x64", python, "verify --all --target linux-x64") for python in ("3.10", "3.14")
    ]
    refused = latebind("-C", tiny, "matrix", "--python", "3.10", "--python", "3.14", "--max-jobs", "1")
    assert (refused.returncode, "need at least 2 jobs, more than 1" in refused.stderr) == (2, True)
