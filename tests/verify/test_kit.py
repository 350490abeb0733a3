"""A kit: what is in it, and that it verifies with Python alone, on other systems as well."""

import json
import os
import shutil
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from ci.machines import chroot, windows_python, wine
from ci.machines.emulator import Limits
from latebind.pack.record import RECORD
from tests.support.client import CONFIG, copy_client, edit
from tests.support.emulated import cache
from tests.support.needs import available
from tests.support.running import CLI, assert_refused, assert_success, run_checked, run_program

pytestmark = pytest.mark.builds

SMOKE = """\
import argparse, ctypes, json
from pathlib import Path
import tiny
parser = argparse.ArgumentParser()
parser.add_argument("--cases")
parser.add_argument("--out", type=Path)
arguments = parser.parse_args()
files = Path(tiny.__file__).parent.iterdir()
library = ctypes.CDLL(str(next(path for path in files if path.suffix in {".so", ".dll"})))
expected = json.loads(Path(__file__).with_name("expected.json").read_text())
arguments.out.write_text(json.dumps({"passed": ["adds"] if library.tiny_add(2, 3) == expected else []}))
"""
CERTIFICATES = ("SSL_CERT_FILE", "PIP_CERT")
"""A network may have certificates of its own; nothing else of this computer's environment reaches the kit."""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project for Linux and Windows with a consumer of two files, and its kit."""
    root = tmp_path_factory.mktemp("kit") / "tiny"
    config = CONFIG.replace('["linux-x64"]', '["linux-x64", "win-x64"]')
    copy_client("portable", root, latebind=config + '\n[verify]\npython = "verify/smoke.py"\n')
    (root / "verify").mkdir()
    (root / "verify/smoke.py").write_text(SMOKE, encoding="utf-8")
    (root / "verify/expected.json").write_text("5", encoding="utf-8")
    printed = run_checked(*CLI, "-C", root, "verify", "--kit", root.parent / "made", timeout=300)
    assert "4 packages" in printed, printed
    return SimpleNamespace(root=root, kit=root.parent / "made", dist=root / "dist")


def copy_kit(project, to):
    return shutil.copytree(project.kit, to)


def read_all(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def merge(project, results, to):
    """The merged report of what a kit wrote."""
    ended = run_program(*CLI, "-C", project.root, "verify", "--merge", results, "--output", to)
    return ended, json.loads((to / "verify.json").read_text("utf-8"))


def test_it_has_the_packages_the_consumers_and_this_latebind(project):
    files = read_all(project.kit)
    packages = {f"packages/{path.name}" for path in project.dist.iterdir() if path.suffix in {".whl", ".nupkg", ".gz"}}
    assert {name for name in files if name.startswith("packages/")} == packages
    assert {"project/verify/smoke.py", "project/verify/expected.json", "project/latebind.toml"} <= files.keys()
    assert "project/native/tiny.c" not in files
    kit = json.loads(files["kit.json"])
    assert {*kit["wheels"], kit["pip"]} <= files.keys()
    assert [wheel.partition("-")[0] for wheel in kit["wheels"]] == ["latebind/latebind", "latebind/loadcheck"]
    pins = files["latebind/constraints.txt"].decode().split()
    assert {"msgspec", "uv"} <= {pin.partition("==")[0] for pin in pins}
    assert b"tiny-1.2.3-py3-none-win_amd64.whl" in files["README.txt"]


def test_a_link_takes_no_other_file_of_this_computer_into_a_kit(project, tmp_path):
    root = shutil.copytree(project.root, tmp_path / "tiny")
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    (root / "verify/secret.json").symlink_to(tmp_path / "secret")
    ended = run_program(*CLI, "-C", root, "verify", "--kit", tmp_path / "kit", "--dist", project.dist)
    assert_refused(ended, "verify/secret.json: leads through a link to")
    assert not (tmp_path / "kit").exists()


def test_the_same_packages_give_the_same_kit_and_replace_it(project, tmp_path):
    for _ in range(2):
        run_checked(*CLI, "-C", project.root, "verify", "--kit", tmp_path / "again", "--dist", project.dist)
    assert read_all(tmp_path / "again") == read_all(project.kit)


def test_a_folder_that_is_no_kit_stays(project, tmp_path, latebind):
    (tmp_path / "mine").write_text("dear", encoding="utf-8")
    assert_refused(latebind("-C", project.root, "verify", "--kit", tmp_path, "--dist", project.dist), "is not a kit")
    assert read_all(tmp_path) == {"mine": b"dear"}


@pytest.mark.parametrize(
    ("name", "data", "lost", "messages"),
    [
        ("other.json", b"{}", 0, ["no such member"]),
        ("verify.json", b"{}", 0, ["is not a verification report"]),
        ("verify.json", b"{" + b" " * (65 << 20), 0, ["exceed the limit"]),
        ("verify.json", b"{}", 30, ["{}: not a readable zip archive", "Copy the file again"]),
    ],
    ids=["another member", "no report", "too large", "arrived in part"],
)
def test_what_is_no_result_of_a_kit_is_refused(project, tmp_path, latebind, name, data, lost, messages):
    results = tmp_path / "results.zip"
    with zipfile.ZipFile(results, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    results.write_bytes(results.read_bytes()[: results.stat().st_size - lost])
    refused = latebind("-C", project.root, "verify", "--merge", results)
    assert_refused(refused, *(message.format(results) for message in messages))


def test_a_project_with_another_build_has_a_kit(project, tmp_path):
    root = shutil.copytree(project.root, tmp_path / "tiny")
    edit(root / "latebind.toml", "[native]", '[native]\nbuild = "external"')
    (root / "native" / "CMakeLists.txt").unlink()
    dist = shutil.copytree(project.dist, tmp_path / "dist", ignore=shutil.ignore_patterns(RECORD))  # made elsewhere
    run_checked(*CLI, "-C", root, "verify", "--kit", tmp_path / "made", "--dist", dist, timeout=300)
    assert not list((tmp_path / "made" / "project" / "native").iterdir())


def test_without_python_the_script_says_what_to_install(project, tmp_path):
    ended = run_program("/bin/sh", project.kit / "verify.sh", env={"PATH": str(tmp_path)})
    assert ended.returncode == 2
    assert "there is no Python on PATH\nhelp: Install Python 3.10 or newer" in ended.stderr


@pytest.mark.slow
def test_it_verifies_with_python_alone_and_its_result_is_merged(project, tmp_path):
    kit = copy_kit(project, tmp_path / "kit")
    environment = {name: os.environ[name] for name in CERTIFICATES if name in os.environ}
    environment |= {"PATH": "/usr/bin:/bin", "PYTHON": sys.executable, "HOME": str(tmp_path)}
    printed = assert_success(run_program("/bin/sh", kit / "verify.sh", env=environment, timeout=300))
    (results,) = kit.glob("results-*.zip")
    assert f"Send back this file: {results}" in printed
    ended, report = merge(project, results, tmp_path / "merged")
    assert ended.returncode == 0, ended.stdout
    assert {case["outcome"] for case in report["cases"]} == {"passed"}
    assert all((tmp_path / "merged" / case["log"]).is_file() for case in report["cases"])


@pytest.mark.slow
def test_its_result_is_merged_with_a_report_of_this_computer(project, tmp_path):
    run_checked(*CLI, "-C", project.root, "verify", "--output", tmp_path / "here", timeout=300)
    kit = copy_kit(project, tmp_path / "kit")
    run_checked(sys.executable, kit / "run.py", "--fresh", timeout=300)
    (results,) = kit.glob("results-*.zip")
    run_checked(*CLI, "-C", project.root, "verify", "--merge", tmp_path / "here/verify.json", results)


@pytest.mark.slow
def test_it_verifies_on_a_bare_debian(project, tmp_path):
    """Python without pip, venv and ensurepip, and no compiler."""
    kit = copy_kit(project, tmp_path / "kit")
    system = available(chroot.prepare, cache() / "debian12", Limits(seconds=400), "debian12")
    environment = dict.fromkeys(CERTIFICATES, "/etc/ssl/certs/ca-certificates.crt") | {"HOME": "/tmp"}  # noqa: S108
    try:
        done = system.run(Path("/bin/sh"), kit / "verify.sh", env=environment)
    finally:
        system.close()
    assert done.returncode == 0, done.stdout + done.stderr
    (results,) = kit.glob("results-linux-x86_64-*.zip")
    ended, report = merge(project, results, tmp_path / "merged")
    assert ended.returncode == 0, ended.stdout
    assert {case["outcome"] for case in report["cases"]} == {"passed"}


@pytest.mark.slow
@pytest.mark.emulated
def test_it_verifies_under_wine_as_emulated(project, tmp_path):
    kit = copy_kit(project, tmp_path / "kit")
    python = available(windows_python.prepare, cache() / "kit-win-x64")
    environment = {name: wine.windows_path(Path(os.environ[name])) for name in CERTIFICATES if name in os.environ}
    with wine.open_free(cache() / "kit-win-x64", Limits(seconds=600)) as emulator:
        shutil.copy(python.parent / "bcryptprimitives.dll", emulator.system_folder())  # uv.exe needs it
        done = emulator.run(python, wine.windows_path(kit / "run.py"), env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    (results,) = kit.glob("results-windows-amd64-*.zip")
    ended, report = merge(project, results, tmp_path / "merged")
    assert ended.returncode == 0, ended.stdout
    outcomes = {case["scenario"]: case["outcome"] for case in report["cases"]}
    assert outcomes.pop("from-sdist") in ("passed, emulated", "not run")  # an index may have no zig for Windows
    assert set(outcomes.values()) == {"passed, emulated"}
    assert "wine" in report["machines"][0]["system"]
