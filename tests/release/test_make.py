"""A release is one folder, made whole or not at all; what must not be released is not."""

import json
import re
import shutil
from dataclasses import replace
from urllib.parse import unquote

import msgspec
import pytest

from latebind.config.file import load
from latebind.errors import BuildError, InputError
from latebind.release.check import check_release
from latebind.release.facts import Origin, obstacles
from latebind.release.make import GateError, files_of, make_release, sums
from latebind.verify.report.data import read_report, report_json
from tests.support.client import BOUND, write_client
from tests.support.running import run_checked
from tests.verify.reports import report


def tree(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_it_holds_all_that_was_promised_and_its_sums_are_right(release_inputs, tmp_path):
    release = make_release(release_inputs, tmp_path / "out", dry_run=False)
    files = tree(tmp_path / "out")
    assert {name.partition("/")[0] for name in files} == {
        "packages", "sbom", "reports", "api", "latebind.toml", "CHANGELOG.md", "manifest.json", "index.html",
        "SHA256SUMS", "VERIFY.md",
    }  # fmt: skip
    assert sum(name.startswith("sbom/") for name in files) == 8  # two wheels, a nupkg, three npm packages, two SDKs
    assert files["CHANGELOG.md"] == b"# tiny 1.2.3 - 2026-11-20\n\n- Adds numbers faster.\n"
    manifest = json.loads(files["manifest.json"])
    assert manifest["publishable"]
    assert manifest["runtimes"] == [{"name": "onnxruntime", "minimum": "1.20"}]
    assert json.loads(files["api/api.json"])["exports"] == {
        "tiny": {"linux-arm64": ["tiny_add"], "linux-x64": ["tiny_add"]}
    }
    assert not release.blockers


@pytest.mark.builds
def test_a_download_without_folders_is_verified_by_its_checksums(release_inputs, tmp_path):
    make_release(release_inputs, tmp_path / "out", dry_run=False)
    (tmp_path / "flat").mkdir()
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file() and path.parent.name != "logs":
            assert not (tmp_path / "flat" / path.name).exists()
            shutil.copy(path, tmp_path / "flat")
    run_checked(shutil.which("sha256sum"), "--check", "--quiet", "--strict", "SHA256SUMS", cwd=tmp_path / "flat")
    run_checked(shutil.which("sha256sum"), "--check", "--quiet", "logs.sha256", cwd=tmp_path / "out/reports")
    guide = (tmp_path / "flat/VERIFY.md").read_text("utf-8")
    assert "sha256sum --check --ignore-missing SHA256SUMS" in guide
    assert "gh attestation verify SHA256SUMS --repo" in guide
    assert not check_release(tmp_path / "out").problems


@pytest.mark.builds
def test_the_page_links_every_package_sbom_and_report(release_inputs, tmp_path):
    make_release(release_inputs, tmp_path / "out", dry_run=False)
    links = re.findall(r'href="([^"]*)"', (tmp_path / "out/index.html").read_text("utf-8"))
    named = {unquote(link) for link in links}
    assert {name for name in named if not (tmp_path / "out" / name).is_file()} == set()
    files = {name for name in tree(tmp_path / "out") if not name.startswith("reports/logs")}  # logs, their checksums
    assert files - named == {"index.html", "latebind.toml", "reports/verify.md", "reports/verify.xml"}


def test_files_that_share_a_name_are_refused(tmp_path):
    for name in ("packages/a.whl", "packages/symbols/a.whl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match=r"has the same name as packages/a\.whl"):
        sums(tmp_path, files_of(tmp_path))


@pytest.mark.builds
def test_it_is_the_same_every_time_and_replaces_an_earlier_one(release_inputs, tmp_path):
    make_release(release_inputs, tmp_path / "out", dry_run=False)
    first = tree(tmp_path / "out")
    make_release(release_inputs, tmp_path / "out", dry_run=False)
    assert tree(tmp_path / "out") == first
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_release_of_another_version_is_left_alone(release_inputs, tmp_path):
    config = release_inputs.project.config
    make_release(release_inputs, tmp_path / "out", dry_run=False)
    first = tree(tmp_path / "out")
    project = msgspec.structs.replace(config.project, version="1.2.4")
    config = replace(config, document=msgspec.structs.replace(config.document, project=project))
    later = replace(release_inputs, project=replace(release_inputs.project, config=config))
    with pytest.raises(InputError, match=r"is the release of tiny 1.2.3, not of tiny 1.2.4"):
        make_release(later, tmp_path / "out", dry_run=True)
    assert tree(tmp_path / "out") == first


def test_a_folder_of_something_else_is_left_alone(release_inputs, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("mine")
    with pytest.raises(InputError, match="exists and is not a release"):
        make_release(release_inputs, tmp_path / "out", dry_run=False)
    assert tree(tmp_path) == {"out/mine.txt": b"mine"}


def test_a_release_does_not_lie_inside_another(release_inputs, tmp_path):
    make_release(release_inputs, tmp_path / "out", dry_run=False)
    first = tree(tmp_path / "out")
    with pytest.raises(InputError, match="is inside the release"):
        make_release(release_inputs, tmp_path / "out" / "docs" / "next", dry_run=False)
    assert tree(tmp_path / "out") == first


def failing(sources, tmp_path, change):
    """The sources with another report."""
    file = tmp_path / "reports" / "verify.json"
    file.parent.mkdir()
    file.write_text(report_json(change(read_report(sources.report))), encoding="utf-8")
    return replace(sources, report=file)


def without(scenario):
    return lambda report: msgspec.structs.replace(
        report, cases=tuple(case for case in report.cases if case.scenario != scenario)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "subject"),
    [("absent", "wheel/{}/python3.11/no-runtime/absent"), ("odd-folder", "{}: wheel odd-folder")],
    ids=["required", "not-required"],
)
def test_a_report_that_lacks_cells_makes_no_release_but_a_dry_one(release_inputs, tmp_path, scenario, subject):
    sources = failing(release_inputs, tmp_path, without(scenario))
    expected = [subject.format(rid) for rid in ("linux-x64", "linux-arm64")]
    with pytest.raises(GateError, match=re.escape(expected[0])):
        make_release(sources, tmp_path / "out", dry_run=False)
    assert not (tmp_path / "out").exists()
    make_release(release_inputs, tmp_path / "published", dry_run=False)
    with pytest.raises(InputError, match="contains a publishable release"):
        make_release(sources, tmp_path / "published", dry_run=True)
    assert json.loads((tmp_path / "published/manifest.json").read_bytes())["publishable"]
    make_release(sources, tmp_path / "out", dry_run=True)
    manifest = json.loads((tmp_path / "out/manifest.json").read_bytes())
    assert not manifest["publishable"]
    assert [blocker["subject"] for blocker in manifest["blocked"]] == expected
    assert "Not publishable" in (tmp_path / "out/index.html").read_text("utf-8")


def test_each_scenario_that_the_report_lacks_is_named_once(tmp_path):
    text = BOUND + '\n[verify]\ndotnet = "smoke"\n'
    config = load(write_client(tmp_path, latebind=text) / "latebind.toml")

    subjects = [blocker.subject for blocker in obstacles(config, [], report(), "## [1.2.3]", Origin())]

    (lacking,) = (subject for subject in subjects if "nupkg consumed" in subject)
    assert lacking.startswith("linux-x64: nupkg consumed, nupkg files, ")
    assert lacking.count("nupkg consumed") == 1


def test_a_report_on_other_packages_makes_no_release_not_even_a_dry_one(release_inputs, tmp_path):

    def other(report):
        first, *rest = report.packages
        return msgspec.structs.replace(report, packages=(msgspec.structs.replace(first, sha256="0" * 64), *rest))

    sources = failing(release_inputs, tmp_path, other)
    with pytest.raises(GateError, match=r"packages/.* has SHA-256 .*, but reports/verify.json has 0000000000000000"):
        make_release(sources, tmp_path / "out/1.2.3", dry_run=True)
    assert not (tmp_path / "out").exists(), "a release that is refused must leave no folder"


def test_a_missing_changelog_is_told_with_what_to_write(release_inputs, tmp_path):
    sources = replace(release_inputs, changelog=tmp_path / "CHANGELOG.md")
    with pytest.raises(InputError, match="the changelog cannot be read: No such file") as refused:
        make_release(sources, tmp_path / "out", dry_run=True)
    assert "## [1.2.3] - DATE" in refused.value.advice
    assert not (tmp_path / "out").exists()


def test_a_changelog_is_no_link_to_another_file_of_the_machine(release_inputs, tmp_path):
    (tmp_path / "secret").write_text("## [1.2.3] - 2026-01-01\n\n- A key.\n", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    changelog = tmp_path / "folder" / "CHANGELOG.md"
    changelog.symlink_to(tmp_path / "secret")
    with pytest.raises(BuildError, match=r"CHANGELOG.md: leads through a link to"):
        make_release(replace(release_inputs, changelog=changelog), tmp_path / "out", dry_run=True)


@pytest.mark.builds
def test_a_changelog_without_the_version_is_told(release_inputs, tmp_path):
    (tmp_path / "CHANGELOG.md").write_text("## [Unreleased]\n\n- More.\n", encoding="utf-8")
    sources = replace(release_inputs, changelog=tmp_path / "CHANGELOG.md")
    with pytest.raises(GateError, match=r"has no section \[1.2.3\]"):
        make_release(sources, tmp_path / "out", dry_run=False)
    release_inputs = make_release(sources, tmp_path / "out", dry_run=True)
    assert (tmp_path / "out/CHANGELOG.md").read_text("utf-8") == "# tiny 1.2.3, unreleased\n\n- More.\n"
    checked = check_release(tmp_path / "out")
    assert checked.problems == ()
    assert (
        [blocker.subject for blocker in checked.release.blockers]
        == [blocker.subject for blocker in release_inputs.blockers]
        == ["changelog"]
    )


@pytest.mark.builds
@pytest.mark.parametrize(
    ("section", "why"),
    [
        ("## [1.2.3]\n\n### Added\n", r"has no entry in the section \[1\.2\.3\]"),
        ("## [1.2.3] - 2026-02-30\n\n- More.\n", r"says 2026-02-30 in the heading"),
    ],
    ids=["empty", "no-such-day"],
)
def test_a_section_that_says_nothing_or_has_no_real_date_is_not_released(release_inputs, tmp_path, section, why):
    (tmp_path / "CHANGELOG.md").write_text(section, encoding="utf-8")
    sources = replace(release_inputs, changelog=tmp_path / "CHANGELOG.md")
    with pytest.raises(GateError, match=why):
        make_release(sources, tmp_path / "out", dry_run=False)
    make_release(sources, tmp_path / "out", dry_run=True)
    checked = check_release(tmp_path / "out")
    assert (checked.problems, [row.subject for row in checked.release.blockers]) == ((), ["changelog"])


def previous(inputs, tmp_path, version, *exports):
    make_release(inputs, tmp_path / "last", dry_run=False)
    surface = json.loads((tmp_path / "last/api/api.json").read_bytes())
    surface["version"] = version
    surface["exports"]["tiny"]["linux-x64"] += exports
    (tmp_path / "last/api/api.json").write_text(json.dumps(surface), encoding="utf-8")
    return replace(inputs, previous=tmp_path / "last")


@pytest.mark.builds
def test_a_break_without_a_major_version_is_refused(release_inputs, tmp_path):
    sources = previous(release_inputs, tmp_path, "1.2.2", "tiny_gone")
    with pytest.raises(GateError, match=r"breaks callers: tiny: tiny_gone \(linux-x64\)\n.*2\.0\.0 or higher"):
        make_release(sources, tmp_path / "out", dry_run=True)


@pytest.mark.builds
def test_a_break_with_a_major_version_is_shown(release_inputs, tmp_path):
    sources = previous(release_inputs, tmp_path, "0.9.0", "tiny_gone")
    make_release(sources, tmp_path / "out", dry_run=False)
    assert "tiny_gone" in (tmp_path / "out/api/changes.md").read_text("utf-8")
    assert "tiny_gone" in (tmp_path / "out/index.html").read_text("utf-8")


@pytest.mark.builds
@pytest.mark.parametrize("suffix", [".whl", ".nupkg", ".tgz", ".tar.gz", "-sdk.tar.gz"])
def test_a_version_that_was_released_before_has_the_same_bytes(release_inputs, tmp_path, suffix):
    sources = previous(release_inputs, tmp_path, "1.2.3")
    make_release(sources, tmp_path / "out", dry_run=False)
    file = tmp_path / "last/api/api.json"
    surface = json.loads(file.read_bytes())
    name = next(name for name in surface["packages"] if name.endswith(suffix))
    surface["packages"][name] = "0" * 64
    file.write_text(json.dumps(surface), encoding="utf-8")
    why = rf"packages/{re.escape(name)}: 1\.2\.3 was released before with another file of this name"
    for earlier in (tmp_path / "last", file):
        with pytest.raises(GateError, match=why):
            make_release(replace(sources, previous=earlier), tmp_path / "again", dry_run=True)
    file.write_text(json.dumps({**surface, "version": "1.2.2"}), encoding="utf-8")
    make_release(sources, tmp_path / "again", dry_run=False)


@pytest.mark.builds
def test_a_version_whose_earlier_bytes_are_unknown_is_not_released_again(release_inputs, tmp_path):
    sources = previous(release_inputs, tmp_path, "1.2.3.0")
    file = tmp_path / "last/api/api.json"
    surface = json.loads(file.read_bytes())
    file.write_text(json.dumps({**surface, "packages": {}}), encoding="utf-8")
    with pytest.raises(GateError, match=r"has the version 1\.2\.3, which was released before"):
        make_release(sources, tmp_path / "out", dry_run=False)


def test_a_last_release_that_cannot_be_read_is_named(release_inputs, tmp_path):
    (tmp_path / "api.json").write_text('{"project": "tiny"}', encoding="utf-8")
    for file, why in (("api.json", "is not an API file"), ("none", "No such file")):
        with pytest.raises(InputError, match=why) as refused:
            make_release(replace(release_inputs, previous=tmp_path / file), tmp_path / "out", dry_run=True)
        assert refused.value.where == str(tmp_path / file)


def test_a_file_that_is_no_package_is_named_where_it_is(release_inputs, tmp_path):
    shutil.copytree(release_inputs.dist, tmp_path / "dist")
    (tmp_path / "dist/notes.txt").write_text("notes", encoding="utf-8")
    with pytest.raises(InputError, match="is not a package of a release") as refused:
        make_release(replace(release_inputs, dist=tmp_path / "dist"), tmp_path / "out", dry_run=True)
    assert refused.value.where == str(tmp_path / "dist" / "notes.txt")


def test_there_must_be_packages(release_inputs, tmp_path):
    with pytest.raises(InputError, match="is not a folder"):
        make_release(replace(release_inputs, dist=tmp_path / "none"), tmp_path / "out", dry_run=True)
    assert list(tmp_path.iterdir()) == []
