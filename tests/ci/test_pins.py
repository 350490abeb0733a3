"""What is pinned is held against real repositories, made here."""

import shutil
import subprocess

import pins
import pytest
from gen_workflows import Action, actions
from latebind.tables.targets import targets

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs git")
IDENTITY = [
    "-c",
    "user.name=x",
    "-c",
    "user.email=x@example.org",
    "-c",
    "commit.gpgsign=false",
    "-c",
    "tag.gpgsign=false",
]


def git(folder, *words):
    command = [shutil.which("git"), *IDENTITY, "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def host(tmp_path):
    """A host on which every action has v1.2.0, v1.10.0 (annotated) and a preview, and the images their README."""
    for name in [row.uses for row in actions().values()]:
        folder = tmp_path / name
        folder.mkdir(parents=True)
        git(folder, "init", "--quiet")
        git(folder, "commit", "--quiet", "--allow-empty", "-m", "1")
        git(folder, "tag", "v1.2.0")
        git(folder, "commit", "--quiet", "--allow-empty", "-m", "2")
        git(folder, "tag", "-a", "v1.10.0", "-m", "ten")
        git(folder, "tag", "v2.0.0-rc1")
    images = tmp_path / pins.IMAGES
    images.mkdir(parents=True)
    git(images, "init", "--quiet")
    rows = "".join(f"| x | `{row.runner}` |\n" for row in targets().values())
    (images / "README.md").write_text(rows, encoding="utf-8")
    git(images, "add", "README.md")
    git(images, "commit", "--quiet", "-m", "1")
    return tmp_path


def test_the_newest_release_is_told_by_the_commit_that_its_tag_points_to(host):
    old = next(iter(actions().values()))
    new = pins.newest(old, host.as_uri())
    assert new == Action(uses=old.uses, version="v1.10.0", commit=git(host / old.uses, "rev-parse", "HEAD"))


def test_what_is_pinned_to_something_else_is_told_and_fails(host, capsys):
    assert pins.main([], host.as_uri()) == 1
    told = capsys.readouterr().out
    assert "actions/checkout: " in told
    assert "v1.10.0 is the newest" in told
    assert "GitHub has no runner" not in told


def test_a_label_that_is_gone_is_told(host, capsys):
    git(host / pins.IMAGES, "commit", "--quiet", "--amend", "--allow-empty", "-m", "1")
    (host / pins.IMAGES / "README.md").write_text("`ubuntu-99.04`\n", encoding="utf-8")
    git(host / pins.IMAGES, "commit", "--quiet", "-a", "-m", "2")
    pins.main([], host.as_uri())
    assert "GitHub has no runner windows-2025 any more" in capsys.readouterr().out


def test_a_renewed_table_is_still_one():
    old = next(iter(actions().values()))
    new = Action(uses=old.uses, version="v9.9.9", commit="a" * 40)
    text = (pins.ROOT / "ci/actions.toml").read_text("utf-8")
    assert pins.updated(text, old, new).count("v9.9.9") == 1
    assert pins.updated(text, old, new).count("a" * 40) == 1
