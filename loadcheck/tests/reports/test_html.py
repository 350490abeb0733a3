"""The HTML page: safe with hostile names, one file, and complete without its script."""

import base64
import hashlib
import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from audit.conftest import make_report
from reports.sample import HOSTILE, lack, need, usual_report

from loadcheck.audit import audit_here
from loadcheck.cli import main
from loadcheck.engine.policy import Policy
from loadcheck.model import AuditReport, Copy, Skipped, Waived
from loadcheck.reports.htmlpage import audit_html


class Reader(HTMLParser):
    """The elements of a page, its attributes, and its text outside of scripts."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text, self.inside = [], [], "", []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        self.text += "" if {"script", "style"} & {*self.inside} else data


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def rows_of(page):
    """Each row of the tables: the files, what they ask for, and who supplies it."""
    rows = re.findall(r'<tr class="\w+"><th scope="row">(.*?)</th><td>(.*?)</td><td>(.*?)</td></tr>', page, re.DOTALL)
    return [tuple(html.unescape(re.sub("<.*?>", " ", cell)).strip() for cell in row) for row in rows]


def hostile():
    """A report in which every text that a package can choose is hostile."""
    missing, finding = lack(f"{HOSTILE}:{HOSTILE}", HOSTILE, "error")
    finding = replace(finding, evidence=(HOSTILE,), fix=HOSTILE, assumption=HOSTILE, message=HOSTILE)
    skipped = Skipped(check="LB107", subject=HOSTILE, reason=HOSTILE, library=HOSTILE, unread=(HOSTILE,))
    return AuditReport(
        subjects=2,
        packages=(HOSTILE, f"{HOSTILE}2"),
        findings=(finding,),
        waived=(Waived(finding=finding, reason=HOSTILE),),
        known=(finding,),
        gone=(HOSTILE,),
        unused=(HOSTILE,),
        skipped=(skipped, replace(skipped, unread=())),
        needs=(
            replace(missing, message=HOSTILE),
            *(
                need(f"{HOSTILE}2:x", HOSTILE, kind, source=HOSTILE, path=HOSTILE)
                for kind in ("package", "requirement")
            ),
            need(f"{HOSTILE}2:x", "a", "unread", source=HOSTILE),
        ),
        copies=tuple(Copy(family=HOSTILE, owner=HOSTILE, file=HOSTILE, name=name) for name in "ab"),
    )


def test_hostile_names_stay_words():
    page = audit_html(hostile())
    reader, usual = Reader(page), Reader(audit_html(usual_report()))

    assert reader.tags.count("script") == usual.tags.count("script") == 3
    assert "img" not in reader.tags
    assert not [name for _, name, _ in reader.attributes if name.startswith("on")]
    assert 'document.title = "taken"' in reader.text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\ud800-\udfff]", page)
    assert HOSTILE[:40] in data_of(page)["nodes"][0]["names"][0]


def test_the_page_asks_for_nothing_and_runs_its_own_scripts_alone():
    page = audit_html(usual_report())
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = {f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'" for each in scripts}

    assert (
        policy
        == f"default-src 'none'; style-src 'unsafe-inline'; script-src {' '.join(sorted(hashes, key=policy.find))}"
    )
    assert len(hashes) == 2
    assert not re.findall(r"\b(?:src|href|action)=\"", page)
    assert not re.findall(r"url\((?!#)|@import|fetch\(|XMLHttpRequest|https?:(?!//www\.w3\.org/2000/svg)", page)


def test_findings_are_grouped_by_cause_with_errors_first_and_a_fix():
    rows = [lack(f"user 1.0:user/{name}.so", "libodd.so.3")[1] for name in "abc"]
    error = replace(rows[0], severity="error", message="needs libworse.so", cause="libworse.so")
    note = replace(rows[0], severity="note", message="needs libsmall.so", cause="libsmall.so")
    page = audit_html(AuditReport(subjects=1, packages=("/venv",), findings=(*rows, note, error)))

    reader = Reader(page)
    at = [reader.text.find(f"needs {name}") for name in ("libworse.so", "libodd.so.3", "libsmall.so")]
    assert -1 < at[0] < at[1] < at[2]
    assert page.count('class="cause"') == 3
    assert "in user/a.so and 2 other files" in reader.text
    assert "error LB120: Needed library that no distribution installs" in reader.text
    assert "Fix: Install it." in reader.text
    assert "Audit failed" in reader.text
    assert "1 error, 3 warnings with 1 cause, 1 note" in reader.text


def test_without_its_script_the_page_says_who_supplies_what():
    page = audit_html(usual_report())
    rows = rows_of(page)
    missing = "missing, warning: needs libodd.so.3, which no distribution installs"
    assert ("user/_core.so", "libodd.so.3", missing) in rows
    assert ("user/_core.so", "libbase.so.1", "base 1.0: base/libbase.so.1") in rows
    assert ("user/_core.so", "libc.so.6", "the system") in rows
    assert ("torch/libtorch.so", "libgomp.so.1", "the package itself: torch/libgomp.so.1") in rows
    [files] = [files for files, library, _ in rows if library == "libgomp-1.so"]
    assert files.split() == ["sklearn/_a.so", "sklearn/_b.so", "sklearn/_c.so"]
    assert ("dull/_x.so", "libc.so.6", "the system") in rows
    assert "OpenMP: 2 copies in 2 distributions" in Reader(page).text
    assert "Not drawn, but in the tables: dull 1.0." in Reader(page).text


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (need("a.whl:x.so", "l", "unread", source="torch"), "perhaps torch, which was not read"),
        (need("a.whl:x.so", "l", "requirement", source="torch 2", path="p"), "torch 2, which is required: p"),
        (need("a.whl:x.so", "l", "unjudged"), "not judged"),
        (
            need("a.whl:x.so", "l", "system", severity="note", message="part of a driver"),
            "the system (part of a driver)",
        ),
        (need("a.whl:x.so", "l"), "the package itself"),
    ],
)
def test_the_table_says_in_words_who_supplies_a_library(row, says):
    assert rows_of(audit_html(AuditReport(subjects=1, needs=(row,)))) == [("x.so", "l", says)]


@pytest.mark.parametrize("way", ["waived", "known"])
def test_an_accepted_lack_is_still_missing_and_says_so(way):
    missing, finding = lack("user 1.0:user/a.so", "libodd.so.3")
    accepted = Waived(finding=finding, reason="optional") if way == "waived" else finding
    page = audit_html(AuditReport(subjects=1, needs=(missing,), **{way: (accepted,)}))
    [(_, _, says)] = rows_of(page)
    assert says.startswith("missing, warning: ")
    assert says.endswith("(waived: optional)" if way == "waived" else "(in the baseline)")


def test_every_other_part_of_a_report_is_there(bench):
    report = make_report(bench)
    undecided = Skipped(check="LB107", subject="a.whl!a.so", reason="perhaps", library="l", unread=("torch",))
    passed_over = Skipped(check="path", subject="readme.txt", reason="is no package")
    report = replace(
        report,
        skipped=(*report.skipped, undecided, passed_over),
        unused=("LB1 *: why",),
        gone=("LB2 x",),
        known=report.findings,
    )
    text = Reader(audit_html(report)).text
    for heading in (
        "Findings", "Undecided", "Waived", "Waivers that accept nothing", "In the baseline",
        "In the baseline, but not found", "Not audited", "Skipped", "Packages",
    ):  # fmt: skip
        assert heading in text, heading
    for words in (
        "a sample",
        "a.whl!a.so: perhaps",
        "readme.txt: is no package",
        "LB1 *: why",
        "LB2 x",
        *report.packages,
    ):
        assert words in text, words


def test_a_clean_report_is_a_page():
    text = Reader(audit_html(AuditReport(subjects=1, packages=("a.whl",)))).text
    assert "Audit passed" in text
    assert "There are none." in text
    assert "What loads what" not in text


def test_the_page_is_the_same_each_time(bench):
    paths = bench.wheel({"latenn/liblatenn.so": bench.linked_library()})
    assert len({audit_html(audit_here(paths, Policy(lists_needs=True))) for _ in range(2)}) == 1


def test_the_command_draws_a_wheel_and_an_environment(bench, environment, library, capsys):
    [path] = bench.wheel({"latenn/liblatenn.so": bench.linked_library()})
    root, install = environment
    source = "#include <unistd.h>\nint f(void) { return getpid(); }\n"
    install("user", {"user/libuser.so": library("libuser.so", source=source)})

    assert main([str(path), "--format", "html"]) == 1
    wheel = capsys.readouterr().out
    assert main(["env", str(root), "--format", "html"]) == 0
    installed = capsys.readouterr().out

    assert wheel.startswith("<!doctype html>")
    assert ("latenn/liblatenn.so", "libonnxruntime.so.1") in {row[:2] for row in rows_of(wheel)}
    assert [row[0] for row in rows_of(installed)] == ["user/libuser.so"]
    assert "<summary>user 1.0: 1 file</summary>" in installed
