"""What identifies a finding and its cause: never how a message is worded."""

import pytest
from audit.test_checks import CASES

from corpus.cases.case import check_causes
from loadcheck.audit import audit_here
from loadcheck.engine.cause import cause_id, fingerprint
from loadcheck.engine.policy import Policy


@pytest.mark.parametrize("case", CASES, ids=map(str, CASES))
def test_other_words_leave_fingerprints_and_two_causes_in_one_file_have_two(case, bench):
    check_causes(case, bench)


def test_a_finding_is_the_same_in_the_next_version_and_its_cause_in_another_file(bench):
    library = bench.linked_library()
    report = [
        audit_here(bench.wheel({name: library}, version=version), Policy()).findings
        for name, version in (("latenn/a.so", "1.0"), ("latenn/a.so", "1.1"), ("latenn/b.so", "1.1"))
    ]
    first, second, other = ([finding for finding in findings if finding.code == "LB107"] for findings in report)
    assert first
    assert first[0].subject != second[0].subject
    assert [*map(fingerprint, first)] == [*map(fingerprint, second)] != [*map(fingerprint, other)]
    assert [*map(cause_id, first)] == [*map(cause_id, second)] == [*map(cause_id, other)]
