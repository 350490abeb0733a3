"""A release holds only packages whose own bytes and sources were verified, whatever became of build/."""

import json
import shutil
from dataclasses import replace

import msgspec
import pytest

from latebind.config.project import read_project
from latebind.pack.record import RECORD, read_record
from latebind.release.make import GateError, make_release
from latebind.verify.report.data import read_report, report_json
from tests.release.conftest import COMMIT
from tests.support.client import edit


@pytest.fixture
def inputs(release_inputs, tmp_path):
    """A copy of the small project and its inputs, without build/."""
    root = shutil.copytree(
        release_inputs.project.config.root, tmp_path / "tiny", ignore=shutil.ignore_patterns("build")
    )
    return replace(
        release_inputs, project=read_project(root / "latebind.toml", root),
        dist=root / "dist", report=root / "reports/verify.json", changelog=root / "CHANGELOG.md",
    )  # fmt: skip


def assert_not_released(inputs, match, **changed):
    config = inputs.project.config
    with pytest.raises(GateError, match=match):
        make_release(replace(inputs, **changed), config.root.parent / "out", dry_run=False)
    assert not (config.root.parent / "out").exists()


def test_what_was_packed_and_verified_is_released(inputs):
    config = inputs.project.config
    make_release(inputs, config.root.parent / "out", dry_run=False)
    manifest = json.loads((config.root.parent / "out/manifest.json").read_bytes())
    assert manifest["sources"] == read_report(inputs.report).source.sources != ""


@pytest.mark.parametrize("file", ["native/tiny.c", "python/tiny/pyproject.toml", "latebind.toml"])
def test_a_source_that_changed_after_packing_is_named(inputs, file):
    config = inputs.project.config
    edit(config.root / file, "\n", "\n\n", 1)
    changed = read_project(config.file, inputs.project.workdir)
    assert_not_released(replace(inputs, project=changed), f"packages: is out of date: {file} was changed after packing")


def test_a_byte_that_changed_after_packing_is_found_even_if_it_was_verified(inputs):
    package = inputs.dist / "Tiny.1.2.3.nupkg"
    package.write_bytes(package.read_bytes() + b"\0")
    assert_not_released(inputs, r"packages/Tiny\.1\.2\.3\.nupkg: has SHA-256 \w+\.\.\., but was packed with")


def test_packages_without_a_record_of_their_sources_are_not_released(inputs):
    (inputs.dist / RECORD).unlink()
    assert_not_released(inputs, "packages: have no record of what they were made from")


def test_an_added_package_is_refused(inputs):
    dist = inputs.dist
    shutil.copy(dist / "tiny-1.2.3.tar.gz", dist / "tiny-extra-1.2.3.tar.gz")
    assert_not_released(inputs, r"packages/tiny-extra-1\.2\.3\.tar\.gz: was not packed with the others")


def test_an_unknown_commit_is_no_evidence(inputs):
    assert_not_released(inputs, "sources: have no commit", commit="")


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("commit", "", "records no commit, but the sources are at 111"),
        ("commit", "2" * 40, "records the commit 222"),
        ("sources", "", "was made from other sources"),
        ("sources", "3" * 64, "were made from other sources"),
    ],
)
def test_a_report_on_other_sources_is_no_evidence(inputs, field, value, why):
    report = read_report(inputs.report)
    other = msgspec.structs.replace(report, source=msgspec.structs.replace(report.source, **{field: value}))
    inputs.report.write_text(report_json(other), encoding="utf-8")
    assert_not_released(inputs, why.replace("was made", "were made"))


def test_a_dry_run_has_a_folder_of_its_own_and_says_whether_it_would_be_a_release(latebind, inputs):
    root = inputs.project.config.root  # a folder that git does not know: the sources have no commit
    done = latebind("-q", "-C", root, "release", "--dry-run")
    assert (done.returncode, "not publishable" in done.stdout) == (1, True), done.stderr
    assert (root / "out/dry-run/manifest.json").is_file()
    refused = latebind("-q", "-C", root, "release")
    assert (refused.returncode, "sources: have no commit" in refused.stderr) == (1, True), refused.stderr
    assert not (root / "out/1.2.3").exists()


def test_a_release_without_a_named_folder_is_in_that_of_its_version(latebind, inputs):
    root = inputs.project.config.root
    done = latebind("-C", root, "release", env={"LATEBIND_COMMIT": COMMIT})
    assert (done.returncode, "1.2.3" in done.stderr) == (0, True), done.stderr
    assert (root / "out/1.2.3/manifest.json").is_file()


@pytest.mark.parametrize("name", ["native/my_key.h", "python/tiny/src/tiny/local settings.py", "dotnet/Local.cs"])
def test_a_file_that_git_does_not_track_is_not_released(inputs, name):
    record = read_record(inputs.dist)
    text = msgspec.json.encode(msgspec.structs.replace(record, untracked=(name,)))
    (inputs.dist / RECORD).write_bytes(text)
    assert_not_released(inputs, f"{name}: git does not track it")


@pytest.mark.parametrize("tag", ["v1.2.3", "1.2.3", "release-1.2.3", "cpp/v1.2.3"])
def test_a_version_that_is_tagged_on_another_commit_is_not_released(inputs, tag):
    assert_not_released(inputs, f"tag {tag}: is a tag of 1.2.3 on the commit 222", tags={tag: "2" * 40})
    root = inputs.project.config.root
    assert not make_release(replace(inputs, tags={tag: COMMIT}), root.parent / "out", dry_run=False).blockers


def test_the_commands_refuse_a_stale_dist_without_build(latebind, inputs):
    root = inputs.project.config.root
    edit(root / "native/tiny.c", "\n", "\n/* changed */\n", 1)
    done = latebind("-q", "-C", root, "release", "--output", root.parent / "out", "--dry-run")
    assert done.returncode == 1
    assert "native/tiny.c was changed after packing" in done.stderr
