"""A release folder is checked offline; whatever was changed in it is named, also when its checksums were made anew."""

import hashlib
import json
import os
import shutil
import sys
import zipfile

import pytest

from latebind.release.check import check_release
from latebind.release.make import make_release
from tests.support.client import edit, member, rewritten
from tests.support.running import assert_refused, run_checked

WHEEL = "packages/tiny-1.2.3-py3-none-manylinux_2_28_x86_64.whl"
NPM_ARM = "packages/acme-tiny-linux-arm64-1.2.3.tgz"
ARM = "packages/tiny-1.2.3-py3-none-manylinux_2_28_aarch64.whl"
NUPKG, NEWER = "packages/Tiny.1.2.3.nupkg", "packages/Tiny.1.2.4.nupkg"
EVIL = "packages/evil-1.2.3-py3-none-any.whl"
BILL = f"sbom/{WHEEL[9:]}.cdx.json"


@pytest.fixture(scope="session")
def pristine_release(release_inputs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("check") / "release"
    make_release(release_inputs, folder, dry_run=False)
    return folder


@pytest.fixture
def release(pristine_release, tmp_path):
    return shutil.copytree(pristine_release, tmp_path / "release")


def rewrite_checksums(folder):
    """Make the checksums anew, as an attacker would."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "SHA256SUMS")
    logs = [path for path in files if path.parent == folder / "reports/logs"]
    write_sums(folder / "reports/logs.sha256", {f"logs/{path.name}": path for path in logs})
    write_sums(folder / "SHA256SUMS", {path.name: path for path in files if path not in logs})


def write_sums(file, paths):
    lines = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}\n" for name, path in paths.items())
    file.write_text("".join(lines), encoding="utf-8")


def repack(file, change):
    rewritten(file, file.parent, change)


def flip(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def lose_case(folder):
    file = folder / "reports/verify.json"
    report = json.loads(file.read_bytes())
    report["cases"] = [case for case in report["cases"] if case["scenario"] != "absent"]
    file.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def other_hash(folder):
    file = folder / "reports/verify.json"
    report = json.loads(file.read_bytes())
    report["packages"][0]["sha256"] = "0" * 64
    file.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def swap(folder):
    other = member(folder / ARM, "libtiny.so")
    repack(folder / WHEEL, lambda name, data: (name, other if name == "tiny/libtiny.so" else data))


def rename_export(folder):
    repack(folder / NUPKG, lambda name, data: (name, data.replace(b"tiny_add", b"tiny_odd")))


def lower(folder):
    repack(folder / WHEEL, lambda name, data: (name, data.replace(b">=1.20", b">=1.10")))


def other_version(folder):
    (folder / NUPKG).rename(folder / NEWER)


def edit_file(file, old, new):
    return lambda folder: edit(folder / file, old, new, count=1)


def write_file(file, text):
    return lambda folder: (folder / file).write_text(text, encoding="utf-8")


def remove_file(file):
    return lambda folder: (folder / file).unlink()


def add_package(folder):
    shutil.copy(folder / WHEEL, folder / EVIL)


def flip_wheel(folder):
    """In the data of the largest member: not every byte of an archive has a checksum of its own."""
    file = folder / WHEEL
    with zipfile.ZipFile(file) as archive:
        member = max(archive.infolist(), key=lambda info: info.compress_size)
    data = bytearray(file.read_bytes())
    data[member.header_offset + 30 + len(member.filename) + member.compress_size // 2] ^= 1
    file.write_bytes(data)


def link(folder):
    (folder / "link").symlink_to(folder)


def link_device(folder):
    (folder / "manifest.json").unlink()
    (folder / "manifest.json").symlink_to("/dev/zero")


def nest_sbom(folder):
    """Put an SBOM that no parser reads into the wheel."""
    with zipfile.ZipFile(folder / WHEEL) as archive:
        members = {info: archive.read(info) for info in archive.infolist()}
    with zipfile.ZipFile(folder / WHEEL, "w") as archive:
        for info, data in members.items():
            archive.writestr(info, NESTED if "/sboms/" in info.filename else data)


NESTED = "[" * 100_000 + "]" * 100_000
UNSUMMED = "differs from its checksum in SHA256SUMS"
TAMPERED = {
    "a flipped byte": (flip_wheel, WHEEL, UNSUMMED),
    "a sum": (edit_file("SHA256SUMS", "  index.html", "0  index.html"), "SHA256SUMS", "is not a checksum and a name"),
    "a name": (edit_file("SHA256SUMS", "  index.html", "  page.html"), "index.html", "is not in SHA256SUMS"),
    "an extra file": (write_file("evil.sh", "rm"), "evil.sh", "is not part of this release"),
    "a missing file": (
        remove_file("reports/audit.json"),
        "audit.json",
        "is in SHA256SUMS, but not in the folder",
    ),
    "a link": (link, "link", "is a link"),
    "a link to a device": (link_device, "manifest.json", "is a link"),
}
UNLIKE = "differs from what latebind makes from the packages and reports"
HIDDEN = {
    "a flipped byte": (flip_wheel, WHEEL, "damaged member"),
    "an SBOM": (edit_file(BILL, "zig", "gcc"), BILL, "differs from the SBOM inside its package"),
    "a report on other packages": (other_hash, NUPKG, "reports/verify.json has 0000000000000000"),
    "a missing case": (lose_case, "manifest.json", "cases.passed is"),
    "an extra file": (write_file("evil.sh", "rm"), "evil.sh", "is not part of a release"),
    "an extra package": (add_package, EVIL, "is not among the packages"),
    "a lower minimum": (edit_file("latebind.toml", "1.20", "1.19"), WHEEL, "but latebind.toml says 1.19"),
    "a lower minimum inside": (lower, WHEEL, "its SBOM lists onnxruntime vers:generic/>=1.10|<2"),
    "a removed export": (edit_file("api/api.json", "tiny_add", "tiny_bad"), "api/api.json", '"tiny_bad" instead of'),
    "an export renamed inside": (rename_export, NPM_ARM, "exports different functions in different packages"),
    "a swapped twin": (swap, WHEEL, "LB"),
    "another version": (other_version, NEWER, "has version 1.2.4, but the release has 1.2.3"),
    "the page": (edit_file("index.html", "Made by", "Made  by"), "index.html", UNLIKE),
    "the audit": (
        edit_file("reports/audit.json", '": 9', '": 19'),
        "reports/audit.json",
        "subjects is 19 instead of 9",
    ),
    "the changelog": (edit_file("CHANGELOG.md", "faster", "slower"), "index.html", UNLIKE),
    "an unreadable report": (
        write_file("reports/verify.json", "{"),
        "reports/verify.json",
        "not a verification report",
    ),
    "an unreadable configuration": (write_file("latebind.toml", "= ="), "latebind.toml", "TOML"),
    "a nested report": (write_file("reports/verify.json", NESTED), "reports/verify.json", "not a verification report"),
    "a nested manifest": (write_file("manifest.json", '{"a":' + NESTED + "}"), "manifest.json", "is not the manifest"),
    "a nested API": (write_file("api/api.json", NESTED), "api/api.json", "is not JSON"),
    "a nested SBOM": (nest_sbom, WHEEL, "is not an SBOM that latebind writes"),
    "no manifest": (remove_file("manifest.json"), "manifest.json", "No such file"),
}


@pytest.mark.slow
def test_an_untouched_release_is_sound(release):
    checked = check_release(release)
    assert checked.problems == ()
    assert checked.release.blockers == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "name"), [*(("by the sums", name) for name in TAMPERED), *(("with new sums", name) for name in HIDDEN)]
)
def test_what_was_changed_is_named(release, table, name):
    change, file, why = (TAMPERED if table == "by the sums" else HIDDEN)[name]
    change(release)
    if table == "with new sums":
        rewrite_checksums(release)
    problems = [(problem.file, problem.why) for problem in check_release(release).problems]
    assert [message for path, message in problems if path.startswith(file) and why in message], problems


@pytest.mark.builds
@pytest.mark.parametrize(
    ("change", "why"), [("remove", "but not in the folder"), ("edit", "differs from its checksum")]
)
def test_a_log_is_checked_by_its_own_checksums(release, change, why):
    log = min((release / "reports/logs").iterdir())
    log.unlink() if change == "remove" else log.write_text("another log", encoding="utf-8")
    problems = {problem.why: problem.file for problem in check_release(release).problems}
    assert any("reports/logs.sha256" in text and why in text and log.name in file for text, file in problems.items())


@pytest.mark.skipif(os.name == "nt", reason="not run: Windows has no named pipes in folders")
@pytest.mark.parametrize("name", ["SHA256SUMS", "manifest.json", "latebind.toml", "reports/verify.json"])
def test_a_pipe_is_named_and_not_waited_for(release, name):
    (release / name).unlink()
    os.mkfifo(release / name)
    problems = [(problem.file, problem.why) for problem in check_release(release).problems]
    assert problems == [(name, "is not a file")]


@pytest.mark.parametrize(("data", "why"), [(None, "No such file"), (b"\xff", "invalid start byte")])
def test_a_changelog_that_cannot_be_read_is_named(release, data, why):
    file = release / "CHANGELOG.md"
    file.unlink() if data is None else file.write_bytes(data)
    (found,) = (problem.why for problem in check_release(release).problems if "cannot be read" in problem.why)
    assert why in found


@pytest.mark.builds
def test_the_command_line_tells_and_fails(release, latebind):
    assert latebind("release", "--check", release, "--publishable").returncode == 0
    flip(release / WHEEL)
    ended = latebind("release", "--check", release)
    assert ended.returncode == 1
    assert f"{WHEEL}: differs from its checksum in SHA256SUMS" in ended.stdout


def test_a_folder_that_is_no_release_is_unusable_input(tmp_path, latebind):
    ended = latebind("release", "--check", tmp_path)
    assert_refused(ended, "has neither SHA256SUMS nor manifest.json, so it is not a release")


@pytest.mark.builds
def test_it_needs_no_network_and_changes_nothing(release):
    before = {path: path.stat().st_mtime_ns for path in release.rglob("*")}
    code = (
        "import socket, sys\n"
        "def refuse(*a, **k): raise OSError('network')\n"
        "socket.socket.connect = refuse\n"
        "from latebind.cli import main\n"
        "sys.exit(main(['release', '--check', sys.argv[1]]))\n"
    )
    run_checked(sys.executable, "-c", code, release)
    assert {path: path.stat().st_mtime_ns for path in release.rglob("*")} == before
