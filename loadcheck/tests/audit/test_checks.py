import pytest

from corpus.cases import (
    hygiene,
    instructions,
    jars,
    layout,
    linkage,
    macos,
    metadata,
    modules,
    npms,
    nugetrules,
    numpyapi,
    opened,
    rid,
    sdists,
    sdks,
    symbols,
    tags,
    undefined,
    windows,
)
from corpus.cases.case import check_case
from corpus.packages import GLIBC
from loadcheck.audit import audit_here
from loadcheck.engine.catalog import FAMILIES, own_checks
from loadcheck.model import PROFILES

PARTS = (
    linkage, undefined, symbols, tags, layout, metadata, hygiene, rid, macos, windows, nugetrules, sdists, sdks,
    npms, jars, instructions, numpyapi, opened, modules,
)  # fmt: skip
CASES = [case for part in PARTS for case in part.CASES]
# A worker that dies cannot be a row of a table: test_pool.py kills real ones. tests/index has indexes and environments.
ELSEWHERE = {"LB119", "LB120", "LB121", "LB511", "LB605"}


@pytest.mark.parametrize("case", CASES, ids=map(str, CASES))
def test_bad_subject_is_found_and_its_good_twin_is_not(case, bench):
    check_case(case, bench)


def test_every_check_has_its_profiles():
    assert all("all" in check.profiles for check in own_checks().values())
    in_each = {code for code, check in own_checks().items() if len(check.profiles) == len(PROFILES)}
    assert in_each == {"LB601", "LB604", "LB605"}  # a check that states none is in each


def test_every_code_has_a_bad_subject():
    assert {case.code for case in CASES} | ELSEWHERE == set(own_checks())


@pytest.mark.parametrize("format_", ["macho", "pe"])
def test_every_binary_check_has_a_bad_subject_in_each_format_that_it_applies_to(format_):
    part = {"macho": macos, "pe": windows}[format_]
    expected = {check.code for check in own_checks().values() if check.scope == "binary" and format_ in check.formats}
    assert expected - {case.code for case in part.CASES} == set()


@pytest.mark.parametrize("code", own_checks())
def test_every_check_explains_itself(code):
    check = own_checks()[code]

    assert check.title
    assert len(check.rationale) > 60, "the rationale is what users read"
    assert check.example
    assert check.fix.endswith(".")
    assert code[:3] in FAMILIES
    assert check.severity in ("error", "warning", "note")
    assert check.because.endswith("."), "the page of all checks gives the reason for the severity"


def test_good_packages_are_clean(bench):
    targets = {"linux-x64": GLIBC, "linux-musl-x64": "x86_64-linux-musl"}
    files = {f"runtimes/{rid}/native/liblatenn.so": bench.good(target) for rid, target in targets.items()}
    paths = [*bench.wheel(version="1.0.0"), *bench.nupkg(files)]

    report = audit_here(paths)

    assert report.findings == ()
    assert report.subjects == 2
    assert report.exit_status == 0


def test_binaries_for_a_system_with_other_rules_are_not_judged(bench):
    report = audit_here(
        bench.wheel({"latenn/liblatenn.so": bench.linked_library()}, tag="cp313-cp313-android_24_x86_64")
    )

    codes = {finding.code for finding in report.findings if finding.subject.endswith(".so")}
    assert {code for code in codes if code < "LB4"} == {"LB117"}  # Android's own rule
    assert {skip.reason for skip in report.skipped if skip.subject.endswith(".so")} == {
        "platform tag not checked: android_24_x86_64 has its own rules for binaries"
    }
