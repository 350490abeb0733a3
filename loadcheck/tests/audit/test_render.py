import json
from dataclasses import replace

import defusedxml.ElementTree
import jsonschema
import pytest
from audit.conftest import make_report

import loadcheck
from loadcheck.engine.catalog import explain, own_checks
from loadcheck.engine.cause import cause_id, fingerprint, stable
from loadcheck.engine.check import Hit
from loadcheck.engine.policy import Policy
from loadcheck.engine.wording import demangle
from loadcheck.errors import UserError
from loadcheck.model import AuditReport, Finding, Skipped
from loadcheck.reports.console import audit_text
from loadcheck.reports.render import RENDERERS, audit_json, audit_schema


def test_json_is_what_the_schema_says(report):
    document = json.loads(audit_json(report))

    jsonschema.Draft202012Validator.check_schema(audit_schema())
    jsonschema.validate(document, audit_schema())
    assert list(document) == [
        "tool", "packages", "subjects", "choice", "findings", "waived", "unused_waivers", "undecided", "skipped",
        "baseline",
    ]  # fmt: skip
    assert document["tool"] == {"name": "loadcheck", "version": loadcheck.__version__}
    assert document["packages"] == ["latenn-1.0-py3-none-manylinux_2_28_x86_64.whl"]
    assert (document["subjects"], document["choice"]) == (1, "--profile all")
    assert [waiver["reason"] for waiver in document["waived"]] == ["a sample"]
    assert document["skipped"]
    finding = next(finding for finding in document["findings"] if finding["code"] == "LB107")
    assert len(finding.pop("cause")) == 12
    assert finding == {
        "code": "LB107",
        "severity": "error",
        "subject": "latenn-1.0-py3-none-manylinux_2_28_x86_64.whl!latenn/liblatenn.so",
        "message": "needs libonnxruntime.so.1, which is not in the package or on every Linux system; "
        "nothing in the package loads without it",
        "evidence": ["NEEDED libonnxruntime.so.1"],
        "fix": "Add the library to the package, where the loader searches (auditwheel, delocate and delvewheel do "
        "both), or link it statically.",
        "assumption": "",
    }


UNREAD = Skipped(check="LB107", subject="a-1.0-x.whl!a.so", reason="r", library="libx.so", unread=("torch", "numpy"))


def test_what_is_undecided_and_waivers_without_use_are_in_the_report_for_programs_and_people():
    other = Skipped(check="LB301", subject="a-1.0-x.whl!a.so", reason="r")
    report = AuditReport(subjects=1, packages=("a-1.0-x.whl",), skipped=(UNREAD, other), unused=("LB611 *: r",))

    document = json.loads(audit_json(report))
    jsonschema.validate(document, audit_schema())
    assert document["undecided"] == [
        {"check": "LB107", "subject": "a-1.0-x.whl!a.so", "library": "libx.so", "requirements": ["torch", "numpy"]}
    ]
    assert len(document["skipped"]) == 2
    assert document["unused_waivers"] == ["LB611 *: r"]
    [run] = json.loads(RENDERERS["sarif"](report))["runs"]
    notifications = run["invocations"][0]["toolExecutionNotifications"]
    assert [notification["level"] for notification in notifications] == ["warning", "note"]
    lines = [line.strip() for line in audit_text(report).splitlines()]
    assert lines[lines.index("waivers that accept nothing") + 1] == "LB611 *: r"
    assert "1 check skipped for some files, 1 undecided (--resolve)" in lines[-1]


@pytest.mark.parametrize(
    ("skipped", "is_strict", "status"),
    [
        ((), False, 0),
        ((), True, 0),
        ((UNREAD,), False, 0),
        ((UNREAD,), True, 1),
        ((replace(UNREAD, unread=()),), True, 0),
    ],
)
@pytest.mark.parametrize("fail_on", ["error", "warning", "never"])
def test_a_strict_audit_fails_for_what_is_undecided(skipped, is_strict, status, fail_on):
    report = AuditReport(subjects=1, skipped=skipped, is_strict=is_strict, fail_on=fail_on)
    assert report.exit_status == status


@pytest.mark.parametrize("key", ["tool", "packages", "unused_waivers", "undecided"])
def test_a_document_without_one_of_its_parts_is_not_what_the_schema_says(report, key):
    document = json.loads(audit_json(report))
    del document[key]
    with pytest.raises(jsonschema.ValidationError, match=key):
        jsonschema.validate(document, audit_schema())


def test_json_is_the_same_each_time(report, bench):
    assert audit_json(report) == audit_json(make_report(bench))


def test_text_says_what_where_why_and_what_next(report):
    text = audit_text(report)

    lines = text.splitlines()
    at = next(number for number, line in enumerate(lines) if "error   LB107 needs libonnxruntime.so.1" in line)
    assert lines[at + 1].strip() == "in latenn/liblatenn.so"
    assert lines[at + 2].strip().startswith("fix: Add the library to the package")
    assert "LB611 latenn-1.0-py3-none-manylinux_2_28_x86_64.whl!latenn/.env: a sample" in text
    assert lines[-1].startswith("latenn-1.0-py3-none-manylinux_2_28_x86_64.whl: ")
    assert "1 waived" in lines[-1]
    assert "the file cannot be read" not in text
    assert "latenn/a b.dylib: the file cannot be read" in audit_text(report, verbose=True)


def test_text_of_a_clean_report_is_one_line():
    assert audit_text(AuditReport(subjects=2)) == "2 packages: 0 errors, 0 warnings, 0 notes\n"


def missing(file, library, severity="error"):
    """What the audit reports about a file of a package that needs a library which is nowhere."""
    text = f"needs {library}, which is not in the package"
    return Finding(
        code="LB107", severity=severity, subject=f"a-1.0-x.whl!{file}", cause=library, message=text, fix="Add it."
    )


def render_lines(*findings, **more):
    return audit_text(AuditReport(subjects=1, findings=findings, packages=("a-1.0-x.whl",)), **more).splitlines()


def test_text_shows_errors_first_one_cause_once_and_each_fix_once():
    note = Finding(code="LB612", severity="note", subject="a-1.0-x.whl!a.so", message="has symbols", fix="Strip.")
    warning = Finding(code="LB101", severity="warning", subject="a-1.0-x.whl!a.so", message="links it", fix="Don't.")
    errors = [missing(file, "libx.so.1") for file in ("a.so", "b.so", "c.so")]
    other = replace(missing("a.so", "libother.so.1"), fix="Remove it.")
    lines = render_lines(note, warning, *errors, other, other, missing("a.so", "liby.so.1"))
    assert lines == [
        "  error   LB107 needs libx.so.1, which is not in the package",
        "          in a.so and 2 other files",
        "  error   LB107 needs liby.so.1, which is not in the package",
        "          in a.so",
        "          fix: Add it.",
        "  error   LB107 needs libother.so.1, which is not in the package",
        "          in a.so",
        "          fix: Remove it.",
        "  warning LB101 links it",
        "          in a.so",
        "          fix: Don't.",
        "a-1.0-x.whl: 6 errors with 3 causes, 1 warning, 1 note not shown (-v)",
    ]
    verbose = render_lines(note, *errors, verbose=True)
    assert [line.strip() for line in verbose if line.startswith("          in ")] == [
        "in a.so", "in b.so", "in c.so", "in a.so",
    ]  # fmt: skip
    assert verbose[-1] == "a-1.0-x.whl: 3 errors with 1 cause, 0 warnings, 1 note"


@pytest.mark.parametrize(("severity", "statuses"), [("error", [1, 1, 0]), ("warning", [0, 1, 0]), ("note", [0, 0, 0])])
def test_fail_on_is_the_least_severity_that_fails(severity, statuses):
    reports = [
        AuditReport(subjects=1, findings=(missing("a.so", "libx.so", severity),), fail_on=level)
        for level in ("error", "warning", "never")
    ]
    assert [report.exit_status for report in reports] == statuses
    failures = [defusedxml.ElementTree.fromstring(RENDERERS["junit"](report)).get("failures") for report in reports]
    assert failures == [str(status) for status in statuses]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("_ZN5arrow7compute4SortERKi", "arrow::compute::Sort"),
        ("_ZTVN12QtConcurrent16ThreadEngineBaseE", "QtConcurrent::ThreadEngineBase"),
        ("_Z14print_scheduleRKSt6vectorIiE", "print_schedule"),
        ("_ZSt21ios_base_library_initv", "std::ios_base_library_init"),
        ("_ZdlPv", "_ZdlPv"),
        pytest.param("_ZN" + "9" * 5000, "9" * 4996, id="hostile"),
        ("_ZN0E", "_ZN0E"),
        ("gnutls_free", "gnutls_free"),
    ],
)
def test_names_of_cxx_are_readable(name, shown):
    assert demangle(name) == shown


@pytest.mark.parametrize(
    ("text", "package", "same"),
    [
        ("a-1.0-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl!a/b.cpython-311-x86_64-linux-gnu.so", "",
         "a-*-manylinux_x86_64.whl!a/b.cpython-*-x86_64-linux-gnu.so"),
        ("a-1.0-1-cp313-cp313t-win_amd64.whl!a/b.cp313t-win_amd64.pyd", "", "a-*-win_amd64.whl!a/b.cp*-win_amd64.pyd"),
        ("a-1.0-cp39-abi3-macosx_11_0_arm64.whl!a-1.0.dist-info/x", "", "a-*-macosx_arm64.whl!a-*.dist-info/x"),
        ("a-1.0-py3-none-any.whl!a.libs/libz-1234abcd.so.1.0", "", "a-*-any.whl!a.libs/libz-*"),
        ("A.B.1.0.2-rc.1.nupkg!build/A.B.targets", "", "A.B.*.nupkg!build/A.B.targets"),
        ("requires 1.0, 1.0.5 and 11.0", "a-1.0.tar.gz", "requires *, 1.0.5 and 11.0"),
        ("dist/a-1.0/libz.so.1", "dist", "dist/a-1.0/libz.so.1"),
    ],
)  # fmt: skip
def test_a_baseline_knows_what_differs_between_releases(text, package, same):
    assert stable(text, package or text.partition("!")[0]) == same


def test_text_has_a_section_for_each_package_with_a_cause_of_its_own():
    packages = ("a-1.0-x.whl", "a-1.0-y.whl", "b-1.0-x.whl", "folder", "folder/c.so")
    findings = [missing("a.so", "libx.so.1"), missing("a.so", "liby.so.1")]
    findings += [replace(findings[0], subject=name) for name in ("a-1.0-y.whl!b.so", "b-1.0-x.whl!b.so")]
    findings += [replace(missing("", name), subject=f"folder/{name}") for name in ("c.so", "d.so")]
    report = AuditReport(subjects=4, findings=tuple(findings), packages=packages)
    assert [line for line in audit_text(report).splitlines() if "error " not in line] == [
        "a-1.0-x.whl",
        "          in a.so and 1 other file in 2 packages",
        "          in a.so",
        "          fix: Add it.",
        "b-1.0-x.whl",
        "          in b.so",
        "          fix: Add it.",
        "folder",
        "          in d.so",
        "          fix: Add it.",
        "folder/c.so",
        "          fix: Add it.",
        "4 packages: 6 errors with 4 causes, 0 warnings, 0 notes",
    ]
    assert "in a-1.0-y.whl!b.so" in audit_text(report, verbose=True)


def test_text_names_the_first_of_many_causes_and_says_what_differs_in_the_rest():
    findings = [missing("a.so", f"lib{number}.so") for number in range(70)]
    lines = render_lines(*findings)
    assert len(lines) == 13
    assert lines[-3].strip().startswith("and 65 more of LB107 (-v): lib13.so, lib14.so, lib15.so, lib16.so, ")
    assert len(render_lines(*findings, verbose=True)) == 142


@pytest.mark.parametrize("checks", [1, 4, 9, 60])
def test_the_report_of_a_package_has_less_than_40_lines_and_names_what_it_leaves_out(checks):
    findings = [
        replace(missing("a.so", f"lib{n}.so"), code=f"LB{m}", fix=f"{m}")
        for m in range(100, 100 + checks)
        for n in range(9)
    ]
    lines = render_lines(*findings)
    assert len(lines) < 40
    assert "LB100" in lines[0]
    named = {line.split()[1] for line in lines if line.startswith("  error")}
    left_out = [line for line in lines if line.startswith("  … ")]
    assert left_out == ([] if len(named) == checks else [left_out[0]])
    assert not left_out or left_out[0].startswith(
        f"  … {9 * (checks - len(named))} more causes of LB{100 + len(named)}, "
    )
    assert len(render_lines(*findings, verbose=True)) > 40 or checks == 1


def test_a_cause_is_the_same_in_all_files_builds_and_versions_and_another_for_another_reason():
    def find(cause, names=(), file="a.so", version="1.0"):
        subject = f"pack-{version}-cp311-abi3-win_amd64.whl!pack/{file}"
        return Finding(code="LB202", severity="error", subject=subject, cause=cause, names=names, message="m", fix="f")

    first = find("libz-1234abcd.so.1", ("a", "b"))
    assert cause_id(first) == cause_id(find("libz-ffff0000-99990000.so.2", file="b.so", version="1.1.post1"))
    assert fingerprint(first) == fingerprint(find("libz-1234abcd.so.1", ("b", "a"), version="2.0"))
    assert fingerprint(first) != fingerprint(find("libz-1234abcd.so.1", ("a", "b", "c")))
    assert fingerprint(first) != fingerprint(find("libz-1234abcd.so.1", ("a", "b"), file="b.so"))
    assert cause_id(find("pack 1.0")) == cause_id(find("pack 2.0", version="2.0"))
    assert cause_id(find("libz.so.1")) != cause_id(find("libz.so.2"))


def test_a_name_with_a_line_feed_begins_no_line_of_the_report():
    finding = Finding(code="LB602", severity="error", subject="x.zip!a\n  error   LB101 b", message="m\nn", fix="f")
    lines = audit_text(AuditReport(subjects=1, findings=(finding,))).splitlines()
    assert lines[:3] == ["  error   LB602 m\\nn", "          in a\\n  error   LB101 b", "          fix: f"]


def test_no_control_character_of_a_hostile_name_reaches_the_terminal():
    finding = Finding(code="LB602", severity="error", subject="x.zip!\x1b[2J\x07", message="\x9b31m", fix="f")
    text = audit_text(AuditReport(subjects=1, findings=(finding,)))
    assert not [char for char in text if not char.isprintable() and char != "\n"]
    assert "\\x1b" in text


def test_json_of_a_name_that_is_no_text_is_json():
    finding = Finding(code="LB602", severity="error", subject="x.tar.gz!\udcff", message="m", fix="f")
    document = json.loads(audit_json(AuditReport(subjects=1, findings=(finding,))).encode())
    assert document["findings"][0]["subject"] == "x.tar.gz!\udcff"


def test_explain_knows_codes_in_any_case_and_names_them_otherwise():
    assert explain("lb107").code == "LB107"
    with pytest.raises(UserError, match="LB999 is not a check") as caught:
        explain("LB999")
    assert "checks/index.md" in caught.value.advice


def test_annotations_are_escaped_and_counted():
    finding = Finding(code="LB101", severity="error", subject="a,b:c.whl", message="50% of\nit", fix="Fix.")
    many = (replace(finding, subject=f"{name}.whl", cause=name, message=name) for name in "abcdefghijk")
    report = AuditReport(subjects=1, findings=(finding, finding, *many))
    lines = RENDERERS["github"](report).splitlines()
    assert lines[0] == "::error title=LB101 a%2Cb%3Ac.whl::50%25 of%0Ait%0AFix."
    assert lines[10] == "2 more causes of severity error: see the report"
    assert lines[-1].startswith("1 package: 13 errors with 12 causes")


@pytest.mark.parametrize("render", RENDERERS.values(), ids=RENDERERS)
def test_a_finding_that_assumes_something_says_so_and_is_no_error(render):
    """What a check only infers can't fail a build, whatever severity it asks for."""
    hit = Hit(message="needs libx.so", severity="error", assumption="x-runtime installs it")
    check = replace(own_checks()["LB602"], run=lambda **_: [hit], parameters=("package",))
    findings = tuple(check.judge(lambda inner: f"a.whl!{inner}", "libx.so", Policy(runtimes=()), package=object()))

    assert [finding.severity for finding in findings] == ["warning"]
    assert "x-runtime installs it" in render(AuditReport(subjects=1, findings=findings, packages=("a.whl",)))
