"""A release that was sabotaged stops at the right step, with the right message."""

import re
import shutil
from dataclasses import replace

import pytest

from latebind.config.project import read_project
from latebind.ecosystems.publishing import FolderFeed
from latebind.errors import InputError, ToolError
from latebind.rehearse.steps import publish
from latebind.release.make import make_release
from tests.rehearse.conftest import GIT
from tests.release.conftest import write_passed_report
from tests.support.client import edit, pack_project, write_files
from tests.support.running import run_checked

pytestmark = pytest.mark.builds


def commit(root):
    run_checked(*GIT, "commit", "-qam", "Two", cwd=root)


def drop_changelog(root):
    edit(root / "CHANGELOG.md", "## [1.2.3]", "## [1.2.1]")
    commit(root)


def append_byte(file):
    file.write_bytes(file.read_bytes() + b"\n")


def add_package(release):
    shutil.copy(release / "packages/tiny-1.2.3.tar.gz", release / "packages/tiny_extra-1.2.3.tar.gz")


@pytest.mark.parametrize(
    ("sabotage", "options", "message"),
    [
        (lambda _: None, ["--tag", "v9.9.9"], "tag v9.9.9: does not match the version 1.2.3 of tiny"),
        (
            lambda root: edit(root / "native/tiny.c", "\n", "\n\n", 1),
            [],
            "has uncommitted changes, which the tag v1.2.3 would not have: native/tiny.c",
        ),
        (drop_changelog, [], "has no section [1.2.3] for the tag v1.2.3"),
    ],
    ids=["wrong-tag", "dirty-tree", "no-changelog"],
)
def test_what_cannot_be_tagged_stops_before_anything_is_built(latebind, project, sabotage, options, message):
    sabotage(project)
    write_files(project, {"build/rehearse/workflow.txt": "of the earlier rehearsal"})
    done = latebind("-C", project, "rehearse", *options)
    assert done.returncode == 1
    assert re.match(r"FAILED   tag v[\d.]+  [\d.]+ s\n$", done.stdout)
    assert "the rehearsal failed in the step tag" in done.stderr
    assert message in done.stderr
    assert "help:" in done.stderr
    assert not (project / "build/rehearse/clone").exists()
    assert (project / "build/rehearse/workflow.txt").is_file(), "a rehearsal that is refused must leave the earlier one"


@pytest.mark.parametrize(
    ("sabotage", "message"),
    [
        (
            lambda release: append_byte(release / "packages/Tiny.1.2.3.nupkg"),
            "Tiny.1.2.3.nupkg: the rehearsal failed in the step check (folder), so nothing would be published: differs",
        ),
        (lambda release: append_byte(release / "reports/verify.json"), "differs from its checksum in SHA256SUMS"),
        (add_package, "packages/tiny_extra-1.2.3.tar.gz: the rehearsal failed in the step check"),
    ],
    ids=["package", "report", "added"],
)
def test_a_changed_release_folder_is_not_published(latebind, project, release, sabotage, message):
    sabotage(release)
    done = latebind("-C", project, "rehearse", "--release", release)
    assert done.returncode == 1
    assert done.stdout.startswith("FAILED   check folder")
    assert message in done.stderr
    assert "publish" not in done.stdout


def test_a_kind_that_nobody_ran_is_not_published(latebind, project, release_inputs, tmp_path):
    root = release_inputs.project.config.root
    text = (root / "latebind.toml").read_text("utf-8").replace(', sdk = "no consumer"', "")
    folder = tmp_path / "silent"
    shutil.copytree(root, folder)
    (folder / "latebind.toml").write_text(text, encoding="utf-8")
    silent = read_project(folder / "latebind.toml", folder)
    pack_project(folder)
    write_passed_report(silent.config, folder)
    moved = replace(release_inputs, project=silent, dist=folder / "dist", report=folder / "reports/verify.json")
    make_release(moved, tmp_path / "release", dry_run=True)
    done = latebind("-C", project, "rehearse", "--release", tmp_path / "release")
    assert done.returncode == 1
    assert done.stdout.startswith("FAILED   check folder")
    assert "not verified: no test case of sdk/linux-arm64 passed" in done.stderr


class Stopping(FolderFeed):
    """A feed that takes one file, and then fails."""

    def upload(self, file):
        if any(self.place.iterdir()):
            raise ToolError("the registry answers 500")
        super().upload(file)


def test_half_a_publication_is_completed_with_the_same_bytes_and_no_others(release, tmp_path):
    feed, files = tmp_path / "feed", sorted((release / "packages").glob("*.tgz"))
    feed.mkdir()
    with pytest.raises(ToolError, match="500"):
        publish(Stopping(feed), files)
    assert len(list(feed.iterdir())) == 1
    assert publish(FolderFeed(feed), files) == f"{len(files) - 1} files published, 1 already there"
    assert {path.name: path.read_bytes() for path in feed.iterdir()} == {path.name: path.read_bytes() for path in files}
    append_byte(files[0])
    with pytest.raises(InputError, match=f"has {re.escape(files[0].name)} with other bytes"):
        publish(FolderFeed(feed), files)
