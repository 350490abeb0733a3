"""Checking and making a folder, step by step: what follows from its packages is given here, and never made."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from latebind import __version__
from latebind.config.project import read_project
from latebind.errors import InputError
from latebind.pack.record import Record
from latebind.release import check, make
from latebind.release.api import Surface, api_json
from latebind.release.check import check_release
from latebind.release.contradictions import Contradiction
from latebind.release.facts import Origin
from latebind.release.make import GateError, ReleaseInputs, files_of, make_release, sums
from latebind.release.tag import Tag
from latebind.system.files import sha256
from latebind.verify.report.data import Provenance
from latebind.verify.report.gate import Blocker
from latebind.verify.report.render import write_reports
from tests.support.client import BOUND, write_client
from tests.verify.reports import report, row

COMMIT, OTHER = "1" * 40, "2" * 40
SURFACE = {"version": "1.2.3", "exports": {"x": ["f", "g"]}, "n": 1}
DERIVED = {
    "api/api.json": json.dumps(SURFACE).encode(),
    "index.html": b"<p>page",
    "sbom/tiny.whl.cdx.json": b"{}",
    "manifest.json": msgspec.json.encode(Origin(commit=COMMIT)),
}
GIVEN = {"latebind.toml": b"", "CHANGELOG.md": b"", "packages/tiny.whl": b"wheel", "reports/verify.json": b"{}",
         "reports/logs/a.log": b"log", "reports/logs/deep/b.log": b"log"}  # fmt: skip


def write_sums(folder):
    (folder / "SHA256SUMS").write_bytes(sums(folder, files_of(folder)))
    logs = [name.removeprefix("reports/") for name in files_of(folder) if name.startswith("reports/logs/")]
    return "".join(f"{sha256(folder / 'reports' / name)}  {name}\n" for name in logs).encode()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A release in which everything holds."""
    for name, data in {**GIVEN, **DERIVED}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    (tmp_path / "reports/logs.sha256").write_bytes(logs := write_sums(tmp_path))
    write_sums(tmp_path)
    derived = SimpleNamespace(
        files={**DERIVED, "reports/logs.sha256": logs},
        config=SimpleNamespace(project=SimpleNamespace(name="tiny", version="1.2.3")),
        report=SimpleNamespace(source=SimpleNamespace(commit=COMMIT)),
    )
    monkeypatch.setattr(check, "derive", lambda _folder, _origin: derived)
    monkeypatch.setattr(check, "contradictions", lambda _: ())
    return tmp_path


def find(folder, tag=None):
    return {problem.file: problem.why for problem in check_release(folder, tag).problems}


def change(folder, **files):
    """Change files whose paths have no suffix here, and make the checksums anew, as an attacker would."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    (folder / "reports/logs.sha256").write_bytes(write_sums(folder))
    write_sums(folder)


def test_a_release_in_which_everything_holds_has_no_problem_and_no_note(folder):
    checked = check_release(folder)
    assert (checked.problems, checked.notes) == ((), ())
    assert checked.release is not None


@pytest.mark.parametrize("kept", ["SHA256SUMS", "manifest.json", ""])
def test_a_folder_is_a_release_if_it_has_checksums_or_a_manifest(folder, kept):
    for name in {"SHA256SUMS", "manifest.json"} - {kept}:
        (folder / name).unlink()
    if kept:
        assert find(folder)
    else:
        with pytest.raises(InputError, match=r"has neither SHA256SUMS nor manifest\.json"):
            check_release(folder)
    with pytest.raises(InputError, match="is not a folder"):
        check_release(folder / "index.html")


DIFFERS = "differs from the packages and reports:"
UNLIKE = "differs from what latebind makes from the packages and reports"


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("index.html", b"<p>a page", UNLIKE),
        ("index.html", b"<p>zzzz", UNLIKE),
        ("index.html", b"", UNLIKE),
        ("sbom/tiny.whl.cdx.json", b"{ }", "differs from the SBOM inside its package"),
        ("sbom/tiny.whl.cdx.json", b"zzz", "differs from the SBOM inside its package"),
        ("api/api.json", b"{", "is not JSON"),
        ("api/api.json", b"[" * 100_000, "is not JSON"),
        ("api/api.json", json.dumps(SURFACE, indent=1).encode(), UNLIKE),
        (
            "api/api.json",
            json.dumps({**SURFACE, "n": 2}).encode(),
            f"{DIFFERS} n is 2 instead of 1",
        ),
        (
            "api/api.json",
            json.dumps({**SURFACE, "exports": {"x": ["f", "h"]}, "more": True}).encode(),
            f'{DIFFERS} exports.x[1] is "h" instead of "g"; more is true instead of null',
        ),
        (
            "api/api.json",
            json.dumps({**SURFACE, "exports": {"x": ["f"]}}).encode(),
            f"{DIFFERS} exports.x is a list of 1 instead of a list of 2",
        ),
        (
            "api/api.json",
            json.dumps({**SURFACE, "n": 7, "p": 1, "q": 2, "r": 3}).encode(),
            f"{DIFFERS} n is 7 instead of 1; p is 1 instead of null; q is 2 instead of null",
        ),
        (
            "api/api.json",
            json.dumps({**SURFACE, "n": "x" * 80}).encode(),
            f'{DIFFERS} n is "{"x" * 79}... instead of 1',
        ),
        (
            "api/api.json",
            json.dumps({**SURFACE, "n": "x" * 78}).encode(),
            f'{DIFFERS} n is "{"x" * 78}" instead of 1',
        ),
        ("evil.sh", b"rm", "is not part of a release"),
        ("reports/evil.html", b"", "is not part of a release"),
        ("sbom/other.cdx.json", b"{}", "is not part of a release"),
    ],
)  # fmt: skip
def test_what_does_not_follow_from_the_packages_is_named_whatever_the_checksums_say(folder, name, data, why):
    change(folder, **{name: data})
    assert find(folder) == {name: why}


@pytest.mark.parametrize("name", ["packages/tiny.whl", "CHANGELOG.md", "latebind.toml", "reports/verify.json"])
def test_what_is_given_may_be_anything(folder, name):
    """What follows from it tells."""
    change(folder, **{name: b"other"})
    assert find(folder) == {}


@pytest.mark.parametrize("name", sorted(set(DERIVED) - {"manifest.json"}))
def test_a_file_that_is_missing_is_named(folder, name):
    (folder / name).unlink()
    change(folder)
    assert find(folder) == {name: "is missing"}


def test_a_file_with_a_contradiction_is_named_once(folder, monkeypatch):
    wrong = Contradiction(file="index.html", why="contradicts")
    monkeypatch.setattr(check, "contradictions", lambda _: (wrong,))
    change(folder, **{"index.html": b"other", "evil.sh": b""})
    assert [(one.file, one.why) for one in check_release(folder).problems] == [
        ("index.html", "contradicts"), ("evil.sh", "is not part of a release"),
    ]  # fmt: skip


def test_of_another_latebind_only_what_every_version_makes_is_compared(folder):
    other = msgspec.json.encode(Origin(commit=COMMIT, latebind="0.0.1"))
    bad = {"index.html": b"other", "api/api.json": b"{", "sbom/tiny.whl.cdx.json": b""}
    change(folder, **bad, **{"manifest.json": other})
    assert set(find(folder)) == {"api/api.json", "sbom/tiny.whl.cdx.json"}
    (note,) = check_release(folder).notes
    assert f"made by latebind 0.0.1, checked by {__version__}" in note


@pytest.mark.parametrize(
    ("tag", "wrong"),
    [
        (None, set()),
        (Tag(name="v1.2.3"), set()),
        (Tag(name="v1.2.3", commit=COMMIT), set()),
        (Tag(name="v1.2.4", commit=COMMIT), {"tag v1.2.4"}),
        (Tag(name="v1.2.3", commit=OTHER), {"manifest.json", "reports/verify.json"}),
        (Tag(name="v1.2.3", commit="0" * 40), {"manifest.json", "reports/verify.json"}),
    ],
)
def test_a_release_is_that_of_its_tag(folder, tag, wrong):
    assert set(find(folder, tag)) == wrong


# ---- checksums

SUM = "0" * 64


@pytest.mark.parametrize(
    ("alter", "file", "why"),
    [
        (lambda lines: [line for line in lines if "index" not in line], "index.html", "is not in SHA256SUMS: it is"),
        (lambda lines: [*lines, f"{SUM}  gone.txt"], "gone.txt", "is in SHA256SUMS, but not in the folder"),
        (lambda lines: [*lines, lines[0]], "SHA256SUMS", "line {last} is there twice"),
        (lambda lines: [*lines, "x  y"], "SHA256SUMS", "line {last} is not a checksum and a name"),
        (lambda lines: [*lines, f"{SUM[1:]}  y"], "SHA256SUMS", "line {last} is not a checksum and a name"),
        (lambda lines: [f"{SUM}  {line[66:]}" for line in lines if "index" in line]
         + [line for line in lines if "index" not in line], "index.html", "differs from its checksum in SHA256SUMS"),
    ],
)  # fmt: skip
def test_each_line_of_the_checksums_counts(folder, alter, file, why):
    lines = alter((folder / "SHA256SUMS").read_text("utf-8").splitlines())
    (folder / "SHA256SUMS").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (problem,) = check_release(folder).problems
    assert (problem.file, why.replace("{last}", str(len(lines))) in problem.why) == (file, True)


def test_checksums_that_cannot_be_read_are_a_problem(folder):
    (folder / "SHA256SUMS").write_bytes(b"\xff")
    assert "cannot be read" in find(folder)["SHA256SUMS"]
    (folder / "SHA256SUMS").unlink()
    assert "cannot be read" in find(folder)["SHA256SUMS"]


def test_logs_have_checksums_of_their_own(folder):
    (folder / "reports/logs/deep/b.log").write_bytes(b"other")
    assert find(folder)["reports/logs/deep/b.log"] == "differs from its checksum in reports/logs.sha256"
    (folder / "reports/logs/a.log").unlink()
    assert find(folder)["logs/a.log"] == "is in reports/logs.sha256, but not in the folder"
    (folder / "reports/logs.sha256").unlink()
    assert "cannot be read" in find(folder)["reports/logs.sha256"]


def test_two_files_that_a_download_would_have_one_name_for_are_a_problem(folder):
    (folder / "packages/symbols").mkdir()
    (folder / "packages/symbols/tiny.whl").write_bytes(b"wheel")
    assert find(folder) == {
        "packages/tiny.whl": "has the same name as packages/symbols/tiny.whl: it is not part of this release"
    }


def test_links_and_folders_in_place_of_files_end_the_check(folder):
    (folder / "link").symlink_to(folder / "index.html")
    (folder / "api/link").symlink_to(folder / "nowhere")
    assert find(folder) == {"link": "is a link", "api/link": "is a link"}


@pytest.mark.parametrize(
    ("where", "file"),
    [
        ("{0}/reports/verify.json", "reports/verify.json"),
        ("tiny.whl!inner/x.so", "packages/tiny.whl!inner/x.so"),
        ("manifest.json", "manifest.json"),
        ("none.whl", "none.whl"),
        ("", "latebind.toml"),
    ],
)
def test_what_cannot_be_read_is_named_as_it_lies_in_the_folder(folder, monkeypatch, where, file):
    def fail(_folder, _origin):
        raise InputError("is odd", where=where.replace("{0}", folder.as_posix()), advice="")

    monkeypatch.setattr(check, "derive", fail)
    checked = check_release(folder)
    assert ([(one.file, one.why) for one in checked.problems], checked.release) == ([(file, "is odd")], None)
    assert checked.problems[0].fix.startswith("Download the file from the release again")


# ---- making one


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    """The inputs of a release whose packages are not looked into."""
    root = write_client(tmp_path / "tiny", latebind=BOUND)
    (root / "CHANGELOG.md").write_text("## [1.2.3] - 2026-11-20\n\n- New.\n", encoding="utf-8")
    (root / "dist").mkdir()
    (root / "dist/tiny.whl").write_bytes(b"wheel")
    (root / "dist/.hidden").write_bytes(b"")
    cases = (row(log="logs/a.log"), row("failed", scenario="fork", log="logs/deep/b.log"))
    made = msgspec.structs.replace(report(*cases), source=Provenance(commit=COMMIT))
    write_reports(made, root / "reports", lambda _: "")
    for name in ("a.log", "deep/b.log", "of-another-run.log"):
        (root / "reports/logs" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "reports/logs" / name).write_text(name, encoding="utf-8")
    monkeypatch.setattr(make, "read_record", lambda _: Record())
    monkeypatch.setattr(make, "hash_inputs", lambda _: {})
    derive_as(monkeypatch)
    return ReleaseInputs(
        project=read_project(root / "latebind.toml", root), dist=root / "dist", report=root / "reports/verify.json",
        changelog=root / "CHANGELOG.md", commit=COMMIT,
    )  # fmt: skip


def derive_as(monkeypatch, *, blockers=(), wrong=(), origins=None):
    """What follows from a release: the manifest and one more file."""

    def derive(_folder, origin):
        if origins is not None:
            origins.append(origin)
        state = {"project": "tiny", "version": "1.2.3", "publishable": not blockers}
        return SimpleNamespace(blockers=blockers, files={"manifest.json": json.dumps(state).encode(), "a/b.txt": b"b"})

    monkeypatch.setattr(make, "derive", derive)
    monkeypatch.setattr(make, "contradictions", lambda _: iter(wrong))


def test_a_release_holds_what_is_given_and_what_follows(inputs, tmp_path):
    make_release(inputs, out := tmp_path / "out", dry_run=False)
    assert files_of(out) == sorted([
        "CHANGELOG.md", "a/b.txt", "latebind.toml", "manifest.json", "packages/tiny.whl",
        "reports/logs/a.log", "reports/logs/deep/b.log", "reports/verify.json",
    ])  # fmt: skip
    assert (out / "CHANGELOG.md").read_text("utf-8") == "# tiny 1.2.3 - 2026-11-20\n\n- New.\n"
    lines = dict(reversed(line.split("  ")) for line in (out / "SHA256SUMS").read_text("utf-8").splitlines())
    assert lines == {Path(name).name: sha256(out / name) for name in files_of(out) if "/logs/" not in name}


@pytest.mark.parametrize("form", ["folder", "file"])
def test_the_surface_of_the_last_release_is_kept(inputs, tmp_path, form):
    surface = api_json(Surface("1.2.2", {}, {}))
    file = tmp_path / "last/api/api.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(surface)
    previous = tmp_path / "last" if form == "folder" else file
    make_release(replace(inputs, previous=previous), tmp_path / "out", dry_run=False)
    assert (tmp_path / "out/api/previous.json").read_bytes() == surface
    file.write_bytes(b"{}")
    with pytest.raises(InputError, match="is not an API file") as caught:
        make_release(replace(inputs, previous=previous), tmp_path / "out", dry_run=False)
    assert caught.value.where == str(file)


def test_logs_outside_of_the_reports_are_not_taken(inputs, tmp_path):
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    (inputs.report.parent / "logs/a.log").unlink()
    (inputs.report.parent / "logs/a.log").symlink_to(tmp_path / "secret")
    make_release(inputs, tmp_path / "out", dry_run=False)
    assert [name for name in files_of(tmp_path / "out") if "/logs/" in name] == ["reports/logs/deep/b.log"]


def test_an_error_about_a_copy_names_the_file_itself(inputs, tmp_path, monkeypatch):
    def fail(folder, _origin):
        raise InputError("is odd", where=f"{folder}/packages/tiny.whl!x")

    monkeypatch.setattr(make, "derive", fail)
    with pytest.raises(InputError, match="is odd") as caught:
        make_release(inputs, tmp_path / "out", dry_run=False)
    assert caught.value.where == f"{inputs.dist}/tiny.whl!x"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("number", "shown", "more"), [(1, 1, ""), (20, 20, ""), (21, 20, "1"), (25, 20, "5")])
def test_twenty_reasons_are_shown_and_the_others_counted(inputs, tmp_path, monkeypatch, number, shown, more):
    derive_as(monkeypatch, blockers=[Blocker(subject=f"s{one}", why=f"why {one}", fix="Fix.") for one in range(number)])
    with pytest.raises(GateError, match="the gate failed:") as caught:
        make_release(inputs, tmp_path / "out", dry_run=False)
    assert caught.value.exit_status == 1
    lines = caught.value.message.splitlines()
    assert lines[1:] == [
        text for one in range(shown) for text in (f"s{one}: why {one}", "  Fix.")
    ] + [f"... and {more} more"] * bool(more)  # fmt: skip
    assert not (tmp_path / "out").exists()
    make_release(inputs, tmp_path / "out", dry_run=True)
    assert json.loads((tmp_path / "out/manifest.json").read_bytes())["publishable"] is False


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize("number", [1, 20, 21])
def test_no_run_makes_a_folder_whose_parts_contradict_each_other(inputs, tmp_path, monkeypatch, dry_run, number):
    wrong = [Contradiction(file=f"f{one}", why="contradicts", fix="Fix.") for one in range(number)]
    derive_as(monkeypatch, wrong=wrong)
    with pytest.raises(GateError, match="this cannot be released:") as caught:
        make_release(inputs, tmp_path / "out", dry_run=dry_run)
    assert caught.value.message.count("contradicts") == min(number, 20)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("publishable_before", "has_blockers", "replaced"),
    [(True, False, True), (False, False, True), (False, True, True), (True, True, False)],
)
def test_a_dry_run_that_fails_does_not_replace_a_release(
    inputs, tmp_path, monkeypatch, publishable_before, has_blockers, replaced
):
    bad = [Blocker(subject="s", why="w", fix="f")]
    derive_as(monkeypatch, blockers=[] if publishable_before else bad)
    make_release(inputs, out := tmp_path / "out", dry_run=True)
    (inputs.dist / "new.whl").write_bytes(b"")
    derive_as(monkeypatch, blockers=bad if has_blockers else [])
    if replaced:
        make_release(inputs, out, dry_run=True)
    else:
        with pytest.raises(InputError, match="contains a publishable release"):
            make_release(inputs, out, dry_run=True)
    assert (out / "packages/new.whl").exists() is replaced


@pytest.mark.parametrize(
    ("project", "version", "replaced"), [("tiny", "1.2.3", True), ("tiny", "1.2.2", False), ("other", "1.2.3", False)]
)
def test_only_the_release_of_this_version_is_replaced(inputs, tmp_path, project, version, replaced):
    make_release(inputs, out := tmp_path / "out", dry_run=False)
    (out / "manifest.json").write_text(json.dumps({"project": project, "version": version}), encoding="utf-8")
    if replaced:
        make_release(inputs, out, dry_run=False)
    else:
        with pytest.raises(InputError, match=f"is the release of {project} {version}, not of tiny 1.2.3"):
            make_release(inputs, out, dry_run=False)


@pytest.mark.parametrize("marks", [("SHA256SUMS",), ("manifest.json",), ("SHA256SUMS", "manifest.json")])
def test_a_release_has_both_marks_and_none_is_made_inside_it(inputs, tmp_path, marks):
    (tmp_path / "outer").mkdir()
    for name in marks:
        (tmp_path / "outer" / name).write_text("{}", encoding="utf-8")
    if len(marks) == 1:
        make_release(inputs, tmp_path / "outer/in", dry_run=False)
    else:
        with pytest.raises(InputError, match="is inside the release"):
            make_release(inputs, tmp_path / "outer/in", dry_run=False)


@pytest.mark.parametrize(
    ("tag", "why"),
    [
        (None, ""),
        (Tag(name="v1.2.3", commit=COMMIT), ""),
        (Tag(name="v1.2.4", commit=COMMIT), "does not match the version"),
        (Tag(name="v1.2.3", commit=OTHER), f"records the commit {COMMIT}"),
    ],
)
def test_a_release_is_made_for_its_tag_alone(inputs, tmp_path, tag, why):
    if why:
        with pytest.raises(GateError, match=why):
            make_release(replace(inputs, tag=tag), tmp_path / "out", dry_run=True)
    else:
        make_release(replace(inputs, tag=tag), tmp_path / "out", dry_run=True)
    inputs.changelog.write_text("## [Unreleased]\n\n- New.\n", encoding="utf-8")
    if tag is not None:
        with pytest.raises(GateError, match=rf"has no section \[1\.2\.3\] for the tag {tag.name}"):
            make_release(replace(inputs, tag=tag), tmp_path / "out", dry_run=True)


@pytest.mark.parametrize(
    ("commit", "tags"),
    [(COMMIT, {"on-another": OTHER}), ("", {})],
)
def test_the_origin_states_the_tags_that_are_elsewhere(inputs, tmp_path, monkeypatch, commit, tags):
    derive_as(monkeypatch, origins=(origins := []))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    given = replace(inputs, commit=commit, tags={"here": COMMIT, "on-another": OTHER})
    make_release(given, tmp_path / "out", dry_run=True)
    assert origins == [Origin(commit=commit, sources=Record().digest, source_date_epoch=1700000000, tags=tags)]


def test_a_report_without_logs_makes_no_folder_of_them(inputs, tmp_path):
    write_reports(report(), inputs.report.parent, lambda _: "")
    make_release(inputs, tmp_path / "out", dry_run=True)
    assert not (tmp_path / "out/reports/logs").exists()
