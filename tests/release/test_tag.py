"""A release is made and published only under the tag of its version and commit."""

import json
import os
import shutil
from dataclasses import replace

import pytest

from latebind.errors import InputError
from latebind.release.check import check_release
from latebind.release.make import GateError, make_release
from latebind.release.tag import Tag, check_tag, list_tags, read_tag
from tests.support.running import run_checked

COMMIT, OTHER = "1" * 40, "2" * 40
WRONG = [
    {"GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": "v1.3.0"},
    {"GITHUB_REF": "refs/tags/v1.3.0"},
]


@pytest.fixture(scope="module")
def made(release_inputs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tagged") / "release"
    make_release(release_inputs, folder, dry_run=False)
    return folder


@pytest.mark.parametrize(
    ("tag", "is_accepted"),
    [
        ("v1.2.3", True), ("1.2.3", True), ("tiny-v1.2.3", True), ("tiny/1.2.3", True), ("v1.2.3.0", True),
        ("v1.3.0", False), ("v1.2.3-rc.1", False), ("other-v1.2.3", False), ("latest", False), ("v1.2.3.evil", False),
    ],
)  # fmt: skip
def test_a_tag_must_be_the_version(tag, is_accepted):
    wrong = list(check_tag(Tag(name=tag), "tiny", "1.2.3", {}))
    assert (not wrong) == is_accepted


@pytest.mark.parametrize("environment", [*WRONG, {"GITHUB_REF_TYPE": "branch", "GITHUB_REF_NAME": "main"}, {}])
def test_the_tag_is_that_of_the_run(environment):
    tag = read_tag(None, environment)
    assert tag == (Tag(name="v1.3.0") if environment in WRONG else None)


@pytest.mark.parametrize(("option", "why"), [("v1.2.3", "but this run is for the tag v1.3.0"), ("", "--tag is empty")])
def test_an_option_that_names_no_tag_or_another_one_is_refused(option, why):
    with pytest.raises(InputError, match=why):
        read_tag(option, WRONG[0])


@pytest.mark.builds
def test_the_tags_of_a_version_are_found_whatever_their_prefix(tmp_path):
    git = ["git", "-C", tmp_path, "-c", "user.name=a", "-c", "user.email=a@b"]
    run_checked(*git, "init", "-q")
    run_checked(*git, "commit", "-q", "--allow-empty", "-m", "One")
    commit = run_checked(*git, "rev-parse", "HEAD").strip()
    ours = ["1.2.3", "V1.2.3", "tiny-1.2.3", "tiny/v1.2.3.0"]
    any_prefix = [*ours, "release-1.2.3", "releases/v1.2.3", "cpp11-1.2.3", "other-v1.2.3"]
    for tag in [*any_prefix, "v1.2.4", "v11.2.3", "v1.2.3-rc.1", "latest", "0.1.2.3", "v1.2.3-1"]:
        run_checked(*git, "tag", tag)
    run_checked(*git, "tag", "-m", "annotated", "v1.2.3")
    assert list_tags(tmp_path, "tiny", "1.2.3") == dict.fromkeys(sorted([*any_prefix, "v1.2.3"]), commit)
    assert list_tags(tmp_path, "tiny", "1.2.3", "v1.2.3").keys() == {*ours, "v1.2.3"}
    assert list_tags(tmp_path / "none", "tiny", "1.2.3") == {}


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize(
    ("tag", "why"),
    [
        (Tag(name="v1.3.0"), r"tag v1\.3\.0: does not match the version 1\.2\.3 of tiny"),
        (Tag(name="v1.2.3", commit=OTHER), f"records the commit {COMMIT}, but the tag v1.2.3 is at {OTHER}"),
    ],
    ids=["version", "commit"],
)
def test_a_release_under_the_wrong_tag_is_not_made(release_inputs, tmp_path, tag, why, dry_run):
    with pytest.raises(GateError, match=why):
        make_release(replace(release_inputs, tag=tag, commit=COMMIT), tmp_path / "out", dry_run=dry_run)
    assert not list(tmp_path.iterdir())


def test_a_tag_needs_its_section_in_the_changelog_even_in_a_dry_run(release_inputs, tmp_path):
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text("# Changelog\n\n## [1.2.4]\n\n- Later.\n", encoding="utf-8")
    tagged = replace(release_inputs, tag=Tag(name="v1.2.3"), changelog=changelog)
    with pytest.raises(GateError, match=r"has no section \[1.2.3\] for the tag v1.2.3"):
        make_release(tagged, tmp_path / "out", dry_run=True)
    assert not (tmp_path / "out").exists()


@pytest.mark.builds
def test_a_release_is_checked_against_the_tag_and_its_commit(made):
    assert not check_release(made, Tag(name="v1.2.3")).problems
    wrong = check_release(made, Tag(name="v1.3.0", commit=OTHER)).problems
    assert {problem.file for problem in wrong} == {"tag v1.3.0", "manifest.json", "reports/verify.json"}


@pytest.mark.builds
@pytest.mark.parametrize("environment", WRONG)
def test_a_check_before_publishing_fails_in_a_run_for_another_tag(latebind, made, environment):
    done = latebind("release", "--check", made, "--publishable", env=environment)
    assert done.returncode == 1
    assert "tag v1.3.0: does not match the version 1.2.3 of tiny" in done.stdout
    assert "not publishable" in done.stdout
    assert latebind("release", "--check", made, env=environment).returncode == 0
    assert latebind("release", "--check", made, "--tag", "v1.3.0").returncode == 1


@pytest.mark.builds
def test_the_command_refuses_another_tag_before_anything_is_made(latebind, release_inputs, tmp_path):
    config = release_inputs.project.config
    for extra, environment in ((["--tag", "v1.3.0"], {}), ([], WRONG[0])):
        done = latebind("-C", config.root, "release", "--output", tmp_path / "out", *extra, env=environment)
        assert done.returncode == 1
        assert "tag v1.3.0: does not match the version 1.2.3" in done.stderr
        assert not (tmp_path / "out").exists()


def test_the_commit_is_that_of_the_tag_in_the_repository(latebind, release_inputs, tmp_path):
    config = release_inputs.project.config
    root = shutil.copytree(config.root, tmp_path / "tiny", ignore=shutil.ignore_patterns("build"))
    (root / ".gitignore").write_text("/dist/\n/reports/\n/build/\n/out/\n", encoding="utf-8")
    git = ["git", "-C", root, "-c", "user.name=a", "-c", "user.email=a@b"]
    run_checked(*git, "init", "-q")
    run_checked(*git, "add", "-A")
    run_checked(*git, "commit", "-qm", "One")
    run_checked(*git, "tag", "v1.2.3")
    first = run_checked(*git, "rev-parse", "HEAD").strip()
    run_checked(*git, "commit", "-q", "--allow-empty", "-m", "Two")
    second = run_checked(*git, "rev-parse", "HEAD").strip()
    report = json.loads((root / "reports/verify.json").read_bytes())
    report["source"]["commit"] = second
    (root / "reports/verify.json").write_text(json.dumps(report), encoding="utf-8")

    clean = {name: "" for name in os.environ if name.startswith("GITHUB_")}
    done = latebind("-C", root, "release", "--output", root / "out", "--tag", "v1.2.3", env=clean)

    assert done.returncode == 1
    assert f"records the commit {second}, but the tag v1.2.3 is at {first}" in done.stderr
