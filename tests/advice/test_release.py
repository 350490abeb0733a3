"""Advice of releases: what blocked a release does so no longer after what the message says was done."""

from __future__ import annotations

import shutil

import pytest

from tests.advice.following import list_commands
from tests.client import CONFIG, edit, write_client, write_files
from tests.programs import assert_success, run_checked
from tests.verify.test_unplugged import BEGIN, GOOD

pytestmark = [pytest.mark.slow, pytest.mark.builds]

CONFIGURED = CONFIG.replace('nuget = { id = "Tiny" }\n', "") + '\n[verify]\npython = "smoke.py"\n'
CHANGELOG = "## [1.2.3] - 2026-11-20\n\n- Adds numbers faster.\n"
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
GENERATED = "build/\ndist/\nout/\nreports/\nstage/\n"


def commit(project, *more):
    run_checked(*GIT, "-C", project, "commit", "--quiet", "--all", "-m", "Change", *more)


@pytest.fixture(scope="module")
def releasable(tmp_path_factory):
    """A committed project, packed and verified; tests take copies."""
    from tests.advice.conftest import start  # noqa: PLC0415

    project = write_client(tmp_path_factory.mktemp("releasable") / "tiny", latebind=CONFIGURED)
    write_files(project, {"smoke.py": BEGIN + GOOD, "CHANGELOG.md": CHANGELOG, ".gitignore": GENERATED})
    run_checked(*GIT, "init", "--quiet", project)
    run_checked(*GIT, "-C", project, "add", ".")
    commit(project)
    for command in ("pack", "verify"):
        assert_success(start(command, at=project))
    return project


@pytest.fixture
def project(releasable, tmp_path):
    return shutil.copytree(releasable, tmp_path / "tiny", symlinks=True)


@pytest.fixture
def release(project, start_in):
    """Makes a release that succeeds, or one that is refused."""

    def make(*words, works, **options):
        ended = start_in("release", *words, at=project, **options)
        assert ended.returncode == (0 if works else 1), ended.stdout + ended.stderr
        return ended

    return make


@pytest.fixture
def again(project, start_in):
    """Packs and verifies again, as a message says."""

    def run(advice):
        for command in list_commands(advice):
            if command[0] == "latebind":
                assert_success(start_in(*command[1:], at=project))

    return run


def test_the_project_is_released(release):
    release(works=True)


@pytest.mark.advice(
    "Pack and verify again: latebind pack --target all, latebind verify. Test cases that passed with the same packages "
    "are remembered, so that only what changed runs.",
    "Commit it (git add --force {}), or move it out of the sources. {}",
)
def test_a_file_that_git_does_not_track(project, start_in, release, advised, again):
    (project / "native/my key.h").write_text("", encoding="utf-8")
    (project / ".git/info/exclude").write_text("*.h\n", encoding="utf-8")
    assert_success(start_in("pack", at=project))
    assert_success(start_in("verify", "-k", "wheel", at=project))
    advice = advised(release("--dry-run", works=False))
    [words] = [words for words in list_commands(advice) if words[0] == "git"]
    run_checked(*words, cwd=project)
    commit(project)
    again(advice)
    release(works=True)


@pytest.fixture
def tagged(project, again):
    """The project one commit after a tag of its version."""

    def tag(name):
        run_checked(*GIT, "-C", project, "tag", name)
        commit(project, "--allow-empty")
        again("latebind pack. latebind verify")

    return tag


@pytest.mark.advice("Check out the tag and release that (git checkout {}), or set another version in latebind.toml.")
def test_a_version_that_is_tagged_elsewhere(project, tagged, release, advised, again):
    tagged("tiny/1.2.3")
    [words] = list_commands(advised(release(works=False)))
    run_checked(*words, "--quiet", cwd=project)
    again("latebind pack. latebind verify")
    release(works=True)


@pytest.mark.advice("Check out the tag and release that (git checkout {}), or set another version in latebind.toml.")
def test_another_version_than_that_of_a_tag(project, tagged, release, advised, again):
    tagged("v1.2.3")
    assert "another version in latebind.toml" in advised(release(works=False))
    for file in ("latebind.toml", "CHANGELOG.md"):
        edit(project / file, "1.2.3", "1.2.4")
    commit(project)
    again("latebind pack. latebind verify")
    release(works=True)


@pytest.mark.advice(" If it is a tag of something else, --tag v{} names this one's.")
def test_a_tag_of_something_else(tagged, release, advised):
    tagged("other-v1.2.3")
    words = advised(release(works=False)).split()
    at = words.index("--tag")
    release(*words[at : at + 2], works=True)


@pytest.mark.advice(
    "An sdist has native.source, the wheel's folder and latebind.toml: move what the build reads there."
)
def test_an_sdist_that_pip_cannot_build(project, start_in, advised):
    (project / "banner.txt").write_text("hello", encoding="utf-8")
    cmake = project / "native/CMakeLists.txt"
    cmake.write_text(cmake.read_text("utf-8") + "file(READ ../banner.txt banner)\n", encoding="utf-8")
    assert_success(start_in("pack", at=project))
    assert advised(start_in("verify", at=project))
    (project / "banner.txt").rename(project / "native/banner.txt")
    edit(cmake, "../banner.txt", "banner.txt")
    assert_success(start_in("pack", at=project))
    assert_success(start_in("verify", at=project))
