"""Advice of releases: what blocked a release does so no longer after what the message says was done."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from latebind.pack.record import RECORD
from tests.advice.following import find_advice, list_commands, list_options, list_settings, write_setting
from tests.advice.test_commands import is_gone
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


@pytest.mark.advice("Pack both from one stage: latebind pack.")
def test_packages_of_two_builds(project, start_in, advised, follow):
    settings = (project / "latebind.toml").read_text("utf-8")
    (project / "latebind.toml").write_text(settings.replace("wheel = ", 'nuget = { id = "Tiny" }\nwheel = '), "utf-8")
    assert_success(start_in("pack", at=project))
    (earlier,) = (project / "dist").glob("*.nupkg")
    old = earlier.read_bytes()
    more = '__attribute__((visibility("default"))) int tiny_more(void) { return 1; }\n'
    source = project / "native/tiny.c"
    source.write_text(source.read_text("utf-8") + more, encoding="utf-8")
    assert_success(start_in("pack", at=project))
    earlier.write_bytes(old)
    (project / "dist" / RECORD).unlink()  # another program put the packages there
    refused = start_in("release", "--dry-run", at=project)
    assert "exports different functions in different packages: tiny_more" in refused.stderr
    assert_success(follow(refused, at=project))
    assert "different functions" not in start_in("release", "--dry-run", at=project).stderr


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


@pytest.mark.advice(
    "pip builds an sdist with this machine's own compiler. To do the same without pip, write "
    'toolchain = "host" below [targets.{}] of latebind.toml, and run: latebind build'
)
def test_an_sdist_that_only_zig_links(project, start_in, advised, follow):
    """zig finds the math library by itself."""
    source, cmake = project / "native/tiny.c", project / "native/CMakeLists.txt"
    source.write_text("#include <math.h>\n" + source.read_text("utf-8") + MATH, encoding="utf-8")
    assert_success(start_in("pack", at=project))
    refused = start_in("verify", at=project)
    assert "Name the library that has expf in target_link_libraries(): m for" in refused.stdout
    assert "move what the build reads there" not in refused.stdout
    log = Path(refused.stdout.partition("The whole log is ")[2].split()[0].rstrip("."))
    assert "expf" in log.read_text("utf-8")
    log.unlink()
    settings = (project / "latebind.toml").read_text("utf-8")
    value = list_settings(advised(refused))["toolchain"]
    write_setting(project / "latebind.toml", "targets.linux-x64", "toolchain", value)
    assert "has expf in target_link_libraries()" in follow(refused, at=project).stderr
    (project / "latebind.toml").write_text(settings, encoding="utf-8")
    cmake.write_text(cmake.read_text("utf-8") + "target_link_libraries(tiny PRIVATE m)\n", encoding="utf-8")
    assert_success(start_in("pack", at=project))
    assert_success(start_in("verify", at=project))


MATH = """
float tiny_power(float x);
__attribute__((visibility("default"))) float tiny_power(float x) { return expf(x); }
"""


# ---- tags ----


@pytest.mark.parametrize("which", ["write", "leave out"])
@pytest.mark.advice("Leave out --tag, or write: --tag {}")
def test_another_tag_than_that_of_the_run(project, start_in, release, advised, which):
    environment = {**os.environ, "GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": "v1.2.3"}
    refused = start_in("release", "--tag", "v1.2.2", at=project, env=environment)
    named = advised(refused).partition(": ")[2].split()
    run_checked(*GIT, "-C", project, "tag", "v1.2.3")
    release(*(named if which == "write" else ()), works=True, env=environment)


@pytest.mark.parametrize("which", [slice(2), slice(0)])
@pytest.mark.advice("Name the tag, such as --tag v1.2.3, or leave the option out.")
def test_a_tag_without_a_name(project, start_in, release, advised, which):
    refused = start_in("release", "--tag", "", at=project)
    named = advised(refused).partition("such as ")[2].partition(",")[0].split()
    release(*named[which], works=True)


@pytest.mark.advice("Set version in latebind.toml to that of the tag, commit, and move the tag; or tag {}.")
def test_the_tag_of_another_version(project, release, advised):
    name = advised(release("--tag", "v1.2.4", works=False)).rpartition(" ")[2].rstrip(".")
    run_checked(*GIT, "-C", project, "tag", name)
    release("--tag", name, works=True)


@pytest.mark.advice("Check out the tag without changes, then run latebind pack, latebind verify and latebind release.")
def test_the_tag_of_another_commit(project, tagged, release, advised, again):
    tagged("v1.2.3")
    advice = advised(release("--tag", "v1.2.3", works=False))
    run_checked(*GIT, "-C", project, "checkout", "--quiet", "v1.2.3")
    again(advice)
    release("--tag", "v1.2.3", works=True)


# ---- packages, reports and other files ----


@pytest.mark.advice("Pack and verify again: latebind pack --target all, latebind verify.")
def test_a_package_that_was_changed(project, release, advised, again):
    wheel = next((project / "dist").glob("*.whl"))
    wheel.write_bytes(wheel.read_bytes() + b"\0")
    again(advised(release(works=False)))
    release(works=True)


@pytest.mark.advice("Pack and verify again: latebind pack, latebind verify. Then make the release again.")
def test_packages_of_another_version(project, release, advised, again):
    (project / "dist" / RECORD).unlink()
    for file in ("latebind.toml", "CHANGELOG.md"):
        edit(project / file, "1.2.3", "1.2.4")
    commit(project)
    refused = release(works=False)
    for line in refused.stderr.splitlines():
        if "has version" in line:
            (project / "dist" / line.split("/")[1].partition(":")[0]).unlink()
    again(advised(refused))
    release(works=True)


@pytest.mark.advice(
    "Make them with latebind pack, and keep {} with them; actions/upload-artifact needs include-hidden-files: true for "
    "it."
)
def test_packages_without_their_record(project, release, advised, again):
    (project / "dist" / RECORD).unlink()
    advice = advised(release(works=False))
    again(advice)
    assert (project / "dist" / advice.partition("keep ")[2].split()[0]).is_file()
    release(works=True)


@pytest.mark.advice("Make the packages first: latebind pack.")
def test_no_packages(project, start_in, advised, again, release):
    shutil.rmtree(project / "dist")
    refused = start_in("release", at=project)
    again(advised(refused))
    release(works=True)


@pytest.mark.advice("Verify these packages: latebind verify --dist DIR --all, and make the release from that report.")
def test_packages_that_were_not_verified(project, start_in, release, advised):
    edit(project / "native/tiny.c", "return", "return 0 +", 1)
    commit(project)
    assert_success(start_in("pack", at=project))
    [[_, *words]] = list_commands(advised(release(works=False)))
    assert_success(start_in(*("dist" if word == "DIR" else word for word in words), at=project))
    release(works=True)


@pytest.mark.advice("Run latebind verify --target {}, and merge its report.")
def test_test_cases_that_the_report_lacks(project, start_in, release, advised, again):
    write_setting(project / "latebind.toml", "verify", "required", '["sdist/*"]')
    write_setting(project / "latebind.toml", "release", "unverified", '{ wheel = "no Python there" }')
    commit(project)
    assert_success(start_in("pack", at=project))
    start_in("verify", "-k", "sdist", at=project)
    again(advised(release(works=False)))
    release(works=True)


@pytest.mark.advice(
    "The release workflow verifies each target on a machine of its own and merges the reports (latebind verify "
    "--merge). For what this machine can do: latebind rehearse. To make the folder nevertheless: --dry-run."
)
@pytest.mark.advice("Run latebind pack --target all.")
def test_a_target_without_packages(project, start_in, release, advised, again):
    edit(project / "latebind.toml", '"linux-x64"', '"linux-x64", "linux-arm64"')
    assert_success(start_in("verify", "--target", "linux-x64", at=project))
    refused = release(works=False)
    assert "--dry-run" in list_options(advised(refused.stderr.partition("help: ")[2]))
    advised(refused.stderr.partition("help: ")[0])
    unpacked = release("--dry-run", works=False)
    assert (project / "out/dry-run/manifest.json").is_file()
    again(find_advice("Run latebind pack --target all.", unpacked.stdout))
    assert "no package contains a library" not in start_in("release", "--dry-run", at=project).stdout


@pytest.mark.parametrize("given", ["nosuch.json", "latebind.toml", "native"])
@pytest.mark.advice("Give the api/api.json of an earlier release, or its folder.")
def test_no_earlier_release(project, start_in, release, advised, given):
    refused = start_in("release", "--previous", given, at=project)
    named = advised(refused).partition("Give the ")[2].split()[0]
    release("--output", "earlier", works=True)
    release("--previous", f"earlier/{named}", works=True)
    release("--previous", "earlier", works=True)


@pytest.mark.advice("Name the folder that latebind release made.")
def test_no_release_to_check(project, start_in, release, advised):
    assert advised(start_in("release", "--check", "dist", at=project))
    release(works=True)
    release("--check", "out/1.2.3", works=True)


@pytest.mark.parametrize("place", ["CHANGELOG.md", "docs/changes.md"])
@pytest.mark.advice("Write a changelog with a section ## [{}] - DATE, or name another file: --changelog FILE.")
def test_no_changelog(project, start_in, release, advised, again, place):
    (project / "CHANGELOG.md").unlink()
    advice = advised(start_in("release", at=project))
    heading = advice.partition("section ")[2].partition(",")[0].replace("DATE", "2026-11-28")
    write_files(project, {place: f"{heading}\n\n- Adds numbers.\n"})
    run_checked(*GIT, "-C", project, "add", ".")
    commit(project)
    again("latebind pack. latebind verify")
    release(*(() if place == "CHANGELOG.md" else (*list_options(advice), place)), works=True)


@pytest.mark.parametrize("choice", ["commit", "stash"])
@pytest.mark.advice("Commit them, or put them aside: git stash.")
def test_a_rehearsal_of_changes(project, start_in, advised, choice):
    write_files(project, {".github/workflows/latebind.yml": "jobs: [\n"})  # so that the rehearsal ends here
    run_checked(*GIT, "-C", project, "add", ".")
    commit(project)
    edit(project / "native/tiny.c", "return", "return 0 +", 1)
    refused = start_in("rehearse", at=project)
    [[_, stash]] = list_commands(advised(refused))
    if choice == "commit":
        commit(project)
    else:
        run_checked(*GIT, stash, cwd=project)
    assert is_gone(refused, start_in("rehearse", at=project))
