"""The engine's decisions as tables: what a choice takes, what a tag promises, and what reports say at their limits."""

from dataclasses import replace

import pytest

from loadcheck.engine import platforms
from loadcheck.engine.catalog import checks
from loadcheck.engine.cause import causes, sections
from loadcheck.engine.check import Hit, check
from loadcheck.engine.policy import Choice, Waiver, read_codes
from loadcheck.engine.pool import WorkerLimits
from loadcheck.engine.symbols import glibc_since, is_libm_alone
from loadcheck.engine.wording import count_line, first, join_names, list_names, others, some, unread_line
from loadcheck.errors import UserError
from loadcheck.model import PASSED_OVER, AuditReport, Finding, Skipped, Waived


def find(code="LB107", severity="error", subject="a.whl!x.so", message="is bad", cause=""):
    return Finding(code=code, severity=severity, subject=subject, message=message, fix="Mend it.", cause=cause)


# ---- which checks run


@pytest.mark.parametrize(
    ("choice", "text"),
    [
        (Choice(), "--profile all"),
        (Choice(profile="loads"), "--profile loads: {} of {} checks"),
        (Choice(select=("LB1",), ignore=("LB107",)), "--select LB1 --ignore LB107: {} of {} checks"),
        (Choice(ignore=("LB107", "LB2")), "--profile all --ignore LB107,LB2: {} of {} checks"),
    ],
)
def test_a_choice_says_how_many_checks_it_takes_unless_it_takes_all(choice, text):
    taken = sum(map(choice.takes, checks()))
    assert str(choice) == text.format(taken, len(checks()))
    assert (taken == len(checks())) is ("{}" not in text)


@pytest.mark.parametrize(("text", "near"), [("LB108x", "LB108"), ("LB999", "LB9"), ("ZZ", "LB"), ("", None)])
def test_a_code_that_matches_no_check_is_refused_with_one_that_exists(text, near):
    if near is None:
        assert read_codes([text, "lb107, LB1", "LB107"], "here") == ("LB107", "LB1")
        return
    with pytest.raises(UserError, match=f"{text} matches no check") as caught:
        read_codes([text], "here")
    assert f"Did you mean {near}" in caught.value.advice


def test_a_waiver_covers_its_own_check_and_subjects():
    waiver = Waiver(code="LB107", subject="a.whl!*.so", reason="known")
    covered = [find(), find(code="LB108"), find(subject="a.whl!x.py"), find(subject="b.whl!x.so")]
    assert [waiver.covers(finding) for finding in covered] == [True, False, False, False]
    with pytest.raises(UserError, match="has no reason"):
        Waiver(code="LB107", subject="*", reason=" ")


def test_a_check_that_asks_for_what_its_scope_lacks_is_refused_by_the_first_name():
    def judge(package, weather, mood):
        del package, weather, mood
        return ()

    declare = check("ACME001", "Title", "error", because="It is.", example="x", fix="Fix it.")
    with pytest.raises(UserError, match="has the parameter 'weather', which a package check does not get"):
        declare(judge)


@pytest.mark.parametrize(
    ("parameters", "scope"),
    [
        ("package", "package"),
        ("file", "binary"),
        ("image", "binary"),
        ("package, image", "binary"),
        ("packages", "set"),
    ],
)
def test_what_a_check_asks_for_is_its_scope(parameters, scope):
    judge = eval(f"lambda {parameters}: ()")  # noqa: S307  # the parameters are the table's
    declare = check("ACME001", "Title", "error", because="It is.", example="x", fix="Fix it.")
    assert declare(judge).scope == scope


def test_workers_have_a_minute_of_cpu_ten_of_waiting_and_8_gib():
    limits = WorkerLimits()
    assert (limits.seconds, limits.wall, limits.memory) == (60, 600, 8 << 30)


# ---- what a platform tag promises

TAGS = {
    "manylinux1_i686": ("glibc", (2, 5), "linux-x86"),
    "manylinux2010_x86_64": ("glibc", (2, 12), "linux-x64"),
    "manylinux2014_aarch64": ("glibc", (2, 17), "linux-arm64"),
    "manylinux_2_28_x86_64": ("glibc", (2, 28), "linux-x64"),
    "manylinux_2_17_armv7l": ("glibc", (2, 17), "linux-arm"),
    "musllinux_1_2_x86_64": ("musl", (1, 2), "linux-musl-x64"),
    "musllinux_1_1_aarch64": ("musl", (1, 1), "linux-musl-arm64"),
    "linux_x86_64": (None, None, "linux-x64"),
    "win_amd64": (None, None, "win-x64"),
    "win32": (None, None, "win-x86"),
    "win_arm64": (None, None, "win-arm64"),
    "macosx_10_9_x86_64": (None, None, "osx-x64"),
    "macosx_11_0_arm64": (None, None, "osx-arm64"),
    "macosx_11_0_universal2": (None, None, ""),
    "manylinux3000_x86_64": (None, None, "linux-x64"),
    "any": (None, None, ""),
}


@pytest.mark.parametrize("tag", TAGS)
def test_a_platform_tag_names_a_library_a_floor_and_a_target(tag):
    libc, floor, rid = TAGS[tag]
    parts = platforms.linux_tag(tag)
    assert (parts and parts.libc, parts and parts.floor) == (libc, floor)
    assert platforms.rid_of_tag(tag) == rid
    if parts is not None:
        assert hash(parts) == hash(platforms.linux_tag(tag))  # answers are kept by it


@pytest.mark.parametrize(
    ("tag", "arch", "floor"),
    [
        ("macosx_10_9_x86_64", "x86_64", (10, 9)),
        ("macosx_10_16_x86_64", "x86_64", (11, 0)),
        ("macosx_10_9_universal2", "arm64", (11, 0)),
        ("macosx_10_9_universal2", "aarch64", (11, 0)),
        ("macosx_10_9_universal2", "x86_64", (10, 9)),
        ("macosx_12_3_arm64", "arm64", (12, 3)),
        ("win_amd64", "x86_64", ()),
    ],
)
def test_a_tag_promises_a_macos(tag, arch, floor):
    assert platforms.macos_floor(tag, arch) == floor


def test_symbols_that_systems_lack_are_listed_for_their_own_family_of_tags():
    old, new = (platforms.linux_tag(f"manylinux_2_{minor}_x86_64") for minor in (17, 39))
    musl = platforms.linux_tag("musllinux_1_2_x86_64")
    assert platforms.list_forbidden(old, "libz.so.1")
    assert platforms.list_forbidden(old, "libz.so.1") >= platforms.list_forbidden(new, "libz.so.1")
    assert platforms.list_forbidden(old, "libnothing.so") == frozenset()
    assert platforms.list_forbidden(old, "libc.so.6")
    assert platforms.list_forbidden(musl, "libc.so.6") == frozenset()
    assert platforms.list_forbidden(musl, "libz.so.1") != platforms.list_forbidden(old, "libz.so.1")


@pytest.mark.parametrize(
    ("name", "arch", "alone"),
    [
        ("rintf", "x86_64", True),
        ("rintf", "", True),
        ("remainderf128", "x86_64", True),
        ("remainderf128", "armv7l", False),
        ("pow10l", "armv7l", True),
        ("printf", "x86_64", False),
    ],
)
def test_functions_of_libm_are_so_on_every_processor_or_on_some(name, arch, alone):
    assert is_libm_alone(name, arch) is alone


def test_a_symbol_of_an_older_glibc_has_no_version():
    assert (glibc_since("printf"), glibc_since("no_such_function")) == ((), ())
    assert glibc_since("getrandom") == (2, 25)


# ---- what reports say


@pytest.mark.parametrize(("number", "more"), [(0, 0), (12, 0), (13, 1), (14, 2), (20, 8)])
def test_twelve_names_are_shown_and_the_others_counted(number, more):
    names = [f"n{one}" for one in range(number)]
    assert some(names) == (*names[:12], *[f"and {more} more"] * bool(more))


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "c"], "a, b and c"),
        (["a", "b", "c", "d"], "a, b, c and 1 more"),
        (["a", "b", "c", "d", "e", "f"], "a, b, c and 3 more"),
    ],
)
def test_three_names_are_in_a_sentence(names, text):
    assert list_names(names) == text
    assert join_names(names[:3]) == list_names(names[:3])


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["a"], "a"),
        (["a", "b", "c"], "a, b, c"),
        (["a", "b", "c", "d"], "a, b, c, ..."),
        (["a", "a"], "a"),
        (["x" * 300, "b"], "x" * 300 + ", ..."),
    ],
)
def test_a_headline_has_as_many_names_as_fit(names, text):
    assert first(names) == text


@pytest.mark.parametrize(
    ("subjects", "messages", "text"),
    [
        (["a.whl!x"], ["m"], ""),
        (["a.whl!x", "a.whl!y"], ["m"], " and 1 other file"),
        (["a.whl!x", "a.whl!y", "a.whl!z", "a.whl!q"], ["m"], " and 3 other files"),
        (["a.whl!x", "a.whl!y"], ["m", "n"], "; similar in 1 other file"),
        (["a.whl!x", "b.whl!x", "b.whl!y"], ["m"], " and 2 other files in 2 packages"),
    ],
)
def test_a_cause_tells_how_many_other_files_have_it(subjects, messages, text):
    findings = [find(subject=one, message=messages[number % len(messages)]) for number, one in enumerate(subjects)]
    report = AuditReport(subjects=2, findings=tuple(findings), packages=("a.whl", "b.whl"))
    (cause,) = causes(findings)
    assert others(cause, report) == text


UNREAD = Skipped(check="LB107", subject="a.whl!x", reason="r", library="libx.so", unread=("torch",))


@pytest.mark.parametrize(
    ("fields", "hidden", "line"),
    [
        ({}, False, "a.whl: 0 errors, 0 warnings, 0 notes"),
        ({"findings": (find(), find(subject="a.whl!y"))}, False, "a.whl: 2 errors with 1 cause, 0 warnings, 0 notes"),
        ({"findings": (find(), find(code="LB108"))}, False, "a.whl: 2 errors, 0 warnings, 0 notes"),
        ({"findings": (find(severity="note"),)}, True, "a.whl: 0 errors, 0 warnings, 1 note not shown (-v)"),
        ({"findings": (find(severity="note"),)}, False, "a.whl: 0 errors, 0 warnings, 1 note"),
        ({"waived": (Waived(finding=find(), reason="r"),)}, False, "a.whl: 0 errors, 0 warnings, 0 notes, 1 waived"),
        ({"known": (find(),)}, True, "a.whl: 0 errors, 0 warnings, 0 notes, 1 in the baseline"),
        (
            {"skipped": (Skipped(check="LB107", subject="x", reason="r"),) * 2},
            False,
            "a.whl: 0 errors, 0 warnings, 0 notes, 1 check skipped for some files",
        ),
        (
            {"skipped": (Skipped(check=PASSED_OVER, subject="x", reason="r"),)},
            False,
            "a.whl: 0 errors, 0 warnings, 0 notes",
        ),
        (
            {"skipped": (Skipped(check="LB107", subject="x", reason="r", unread=("torch",)),)},
            False,
            "a.whl: 0 errors, 0 warnings, 0 notes, 1 undecided",
        ),
        ({"skipped": (UNREAD,)}, False, "a.whl: 0 errors, 0 warnings, 0 notes, 1 undecided (--resolve)"),
        (
            {"skipped": (UNREAD, replace(UNREAD, check="LB111"), replace(UNREAD, library="liby.so"))},
            False,
            "a.whl: 0 errors, 0 warnings, 0 notes, 2 undecided (--resolve)",
        ),
        (
            {"skipped": (UNREAD, replace(UNREAD, subject="a.whl!y")), "is_resolved": True},
            False,
            "a.whl: 0 errors, 0 warnings, 0 notes, 2 undecided (-v)",
        ),
        ({"packages": ("a.whl", "b.whl"), "subjects": 2}, False, "2 packages: 0 errors, 0 warnings, 0 notes"),
        (
            {"choice": "--profile loads: 3 of 9 checks"},
            False,
            "a.whl: 0 errors, 0 warnings, 0 notes; 3 of 9 checks (--profile loads)",
        ),
    ],
)  # fmt: skip
def test_the_line_at_the_end_counts_everything(fields, hidden, line):
    report = AuditReport(**{"subjects": 1, "packages": ("a.whl",), **fields})
    assert count_line(report, notes_hidden=hidden) == line


@pytest.mark.parametrize(
    ("subject", "resolved", "line"),
    [
        ("a.whl!x", False, "libc10.so may come from torch, which was not read (--resolve)"),
        ("a.whl!x", True, "libc10.so may come from torch, which was not read (-v)"),
        ("folder/x", False, "libc10.so may come from torch, which was not read"),
    ],
)
def test_what_was_not_read_is_named_with_what_reads_it(subject, resolved, line):
    row = Skipped(check="LB107", subject=subject, reason="r", library="libc10.so", unread=("torch",))
    assert list(unread_line(AuditReport(subjects=1, skipped=(row,), is_resolved=resolved))) == [line]
    two = Skipped(check="LB107", subject=subject, reason="r", library="libz.so", unread=("numpy",))
    (both,) = unread_line(AuditReport(subjects=1, skipped=(row, row, two)))
    assert both.startswith("2 libraries may come from torch and numpy, which were not read")


def test_packages_with_errors_come_first():
    rows = (("note", "a.whl!x"), ("warning", "b.whl!x"), ("error", "c.whl!x"), ("note", "c.whl!y"))
    findings = tuple(find(severity=severity, subject=subject) for severity, subject in rows)
    report = AuditReport(subjects=3, findings=findings, packages=("a.whl", "b.whl", "c.whl"))
    assert {name: len(group) for name, group in sections(report).items()} == {"c.whl": 2, "b.whl": 1, "a.whl": 1}
    assert list(sections(report)) == ["c.whl", "b.whl", "a.whl"]


@pytest.mark.parametrize(
    ("severity", "hit", "given"),
    [
        ("error", Hit(message="m"), ("error", "Fix it.")),
        ("error", Hit(message="m", fix="Else."), ("error", "Else.")),
        ("error", Hit(message="m", assumption="a"), ("warning", "Fix it.")),
        ("note", Hit(message="m", assumption="a"), ("note", "Fix it.")),
        ("note", Hit(message="m", severity="error"), ("error", "Fix it.")),
    ],
)
def test_a_finding_has_what_its_hit_says_and_else_what_its_check_does(severity, hit, given):
    judge = check("ACME001", "Title", severity, because="It is.", example="x", fix="Fix it.")(lambda: [hit])
    finding = judge._row(hit, "a.whl", ())
    assert (finding.severity, finding.fix) == given
