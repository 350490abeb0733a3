"""What a requirement may install that nobody has read: every check asks the policy, for each library."""

from dataclasses import dataclass

import pytest

from corpus.cases.case import wheel
from corpus.cases.linkage import CP312, needy
from corpus.cases.windows import with_odd as dll_with
from corpus.packages import WINDOWS_TAG
from loadcheck.audit import audit_here
from loadcheck.engine.policy import Policy

NEEDS = "Requires-Dist: {}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known(Policy):
    """A policy that knows what one distribution has."""

    def may_bring(self, distribution, library):
        return distribution != "known" or library == "libknown.so.1"


def crt(requirement):
    return wheel({"latenn/latenn.dll": dll_with("MSVCP140.dll")}, tag=WINDOWS_TAG, metadata=NEEDS.format(requirement))


def modules(requirement):
    files = {"latenn/_a.so": needy("_a"), "latenn/_b.so": needy("_b")}
    return wheel(files, tag=CP312, metadata=NEEDS.format(requirement))


@pytest.mark.parametrize(
    ("make", "code", "severity", "says"),
    [
        (crt, "LB111", "warning", "which Windows does not include: MSVCP140.dll"),
        (modules, "LB107", "error", "nothing in the package loads without it"),
    ],
)
def test_what_a_known_distribution_lacks_is_decided_and_what_an_unknown_one_may_have_is_not(
    bench, make, code, severity, says
):
    known = audit_here(make("known")(bench), Known())
    unknown = audit_here(make("unknown")(bench), Known())

    found = [finding for finding in known.findings if finding.code == code]
    assert found
    assert {finding.severity for finding in found} == {severity}
    assert all(says in finding.message for finding in found)
    assert not known.undecided
    assert code not in {finding.code for finding in unknown.findings}
    assert {skip.check for skip in unknown.undecided} == {code}
