from typing import get_args

import pytest

from corpus.cases.case import check_case, check_causes
from latebind.checks.entry import CHECKS
from loadcheck import Profile
from loadcheck.api import FAMILIES, checks
from tests.checks.cases import jars, layout, linkage, macos, metadata, npms, projects, providers, windows

PARTS = (linkage, layout, metadata, providers, npms, jars, macos, windows, projects)
CASES = [case for part in PARTS for case in part.CASES]


@pytest.mark.parametrize("case", CASES, ids=map(str, CASES))
def test_bad_subject_is_found_and_its_good_twin_is_not(case, bench):
    check_case(case, bench)


@pytest.mark.parametrize("case", CASES, ids=map(str, CASES))
def test_other_words_leave_fingerprints_and_two_causes_in_one_file_have_two(case, bench):
    check_causes(case, bench)


def test_every_code_has_a_bad_subject():
    assert {check.code for check in CHECKS} <= {case.code for case in CASES}


def test_loadcheck_finds_them_by_the_entry_point():
    assert {check.code for check in CHECKS} <= set(checks())
    assert {check.origin for check in CHECKS} == {""}


@pytest.mark.parametrize("format_", ["macho", "pe"])
def test_every_binary_check_has_a_bad_subject_in_each_format_that_it_applies_to(format_):
    part = {"macho": macos, "pe": windows}[format_]
    expected = {check.code for check in CHECKS if check.scope == "binary" and format_ in check.formats}
    assert expected - {case.code for case in part.CASES} == set()


def test_two_checks_of_late_binding_judge_packages_of_others():
    assert {check.code for check in CHECKS if len(check.profiles) == len(get_args(Profile))} == {"LB102", "LB810"}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
def test_every_check_explains_itself(check):
    assert check.title
    assert len(check.rationale) > 60, "the rationale is what users read"
    assert check.example
    assert check.fix.endswith(".")
    assert check.code[:3] in FAMILIES
    assert check.because.endswith("."), "the page of all checks gives the reason for the severity"
