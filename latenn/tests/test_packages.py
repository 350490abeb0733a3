"""The packages of our first client: nothing linked, nothing bundled, small, equal from folder to folder."""

import hashlib
import json
import re
import shutil
import sys
import zipfile

import lief
import pytest

from tests.support.building import ROOT
from tests.support.latenn import LATENN, copied_latenn, packed_latenn
from tests.support.programs import assert_success, run_checked

LIBC_FAMILY = re.compile(r"^(lib(c|m|dl|pthread|rt)\.so\.\d+|ld-linux-x86-64\.so\.2)$")
LIMIT = 500 * 1024
TRIAL = ("hatchling", "editables", "numpy", "onnxruntime")


@pytest.fixture(scope="module")
def dist(latenn_here):
    return latenn_here


def members(package):
    with zipfile.ZipFile(package) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def hash_files(folder):
    files = [path for path in folder.rglob("[!.]*") if path.is_file()]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def audit(latebind, folder):
    """What `latebind audit` reports of a folder with latenn's packages."""
    return json.loads(assert_success(latebind("-C", LATENN, "audit", folder, "--format", "json")))


def list_differences(left, right):
    """The files of two folders that differ, each with its first other bytes, which say what a linker did otherwise."""
    files = [
        {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()} for folder in (left, right)
    ]
    differences = [f"{path} is in one folder only" for path in sorted(files[0].keys() ^ files[1].keys())]
    for path in sorted(files[0].keys() & files[1].keys()):
        first, second = (table[path].read_bytes() for table in files)
        if first != second:
            places = [place for place, (byte, twin) in enumerate(zip(first, second, strict=False)) if byte != twin]
            start = max(0, (places or [0])[0] - 32)
            shown = f"from {start:#x} {first[start : start + 96]!r} and {second[start : start + 96]!r}"
            differences.append(f"{path}: {len(first)} and {len(second)} bytes, {len(places)} differ, {shown}")
    return differences


def natives(dist):
    packages = [*dist.glob("*.whl"), *dist.glob("*.nupkg")]
    return [
        (package.name, name, data)
        for package in packages
        for name, data in members(package).items()
        if data[:4] == b"\x7fELF"
    ]


@pytest.mark.slow
def test_every_package_holds_one_library(dist):
    libraries = {(package.partition("-0")[0], name.rpartition("/")[2]) for package, name, _ in natives(dist)}
    assert {("latenn", "liblatenn_core.so"), ("latenn_onnxruntime", "liblatenn_backend_onnxruntime.so")} <= libraries


@pytest.mark.slow
def test_nothing_links_or_holds_a_runtime(dist):
    for package, name, data in natives(dist):
        binary = lief.ELF.parse(list(data))
        assert binary.libraries, (package, name)
        assert all(LIBC_FAMILY.match(library) for library in binary.libraries), (package, name, binary.libraries)
        versions = {need.name for need in binary.symbols_version_requirement}
        assert all(LIBC_FAMILY.match(version) for version in versions)
        assert "onnxruntime" not in " ".join(symbol.name for symbol in binary.imported_symbols).lower()
        assert len(data) < LIMIT
    for package in dist.iterdir():
        if package.suffix in (".whl", ".nupkg"):
            assert not [name for name in members(package) if "libonnxruntime" in name]


def test_they_are_stripped(dist):
    for package, name, data in natives(dist):
        binary = lief.ELF.parse(list(data))  # kept: its sections die with it
        sections = {section.name for section in binary.sections}
        assert not {".symtab", ".debug_info"} & sections, (package, name)


def test_wheels_and_nupkgs_hold_equal_native_bytes(dist):
    if not (dist / "Latenn.0.1.0.nupkg").is_file():
        pytest.skip("not run: no .NET SDK, so no Latenn nupkg")
    by_name = {}
    for _, name, data in natives(dist):
        by_name.setdefault(name.rpartition("/")[2], []).append(data)
    assert {name: len(copies) for name, copies in by_name.items()} == dict.fromkeys(by_name, 2)
    assert all(len(set(copies)) == 1 for copies in by_name.values())


def test_their_own_audit_is_clean(dist, latebind):
    report = audit(latebind, dist)
    assert report["findings"] == []
    assert report["subjects"] >= 4


@pytest.mark.slow
def test_two_builds_in_different_folders_give_equal_packages(dist, latenn_packages, tmp_path, latebind):
    """Packages for this machine, and libraries by the other two linkers."""
    copy = copied_latenn(tmp_path / "another place" / "checkout", symbols=True)
    other = packed_latenn(copy, tmp_path / "another work")
    assert hash_files(other) == hash_files(dist)
    targets = ("osx-arm64", "win-x64")
    assert_success(latebind("-C", copy / "latenn", "--workdir", other.parent, "build", "--target", ",".join(targets)))
    for rid in targets:
        assert list_differences(other.parent / "stage" / rid, latenn_packages.parent / "stage" / rid) == []


@pytest.mark.slow
def test_all_targets_come_from_this_machine_small_and_clean(latenn_packages, latebind):
    wheels = sorted(path.name for path in latenn_packages.glob("latenn-0.1.0-*.whl"))
    tags = {name.rpartition("-")[2].removesuffix(".whl") for name in wheels}
    assert tags == {
        *("manylinux_2_28_x86_64", "manylinux_2_28_aarch64", "macosx_11_0_x86_64", "macosx_11_0_arm64"),
        *("musllinux_1_2_x86_64", "musllinux_1_2_aarch64", "win_amd64", "win_arm64"),
    }
    assert all(path.stat().st_size < 600_000 for path in latenn_packages.glob("*.whl"))
    assert all(path.stat().st_size < 3_000_000 for path in latenn_packages.glob("*.nupkg"))
    report = audit(latebind, latenn_packages)
    twin_less = [skip for skip in report["skipped"] if skip["check"] != "LB407"]
    assert (report["findings"], twin_less) == ([], [])
    assert report["subjects"] >= 13
    backend = members(latenn_packages / "Latenn.OnnxRuntime.0.1.0.nupkg")
    folders = {name.split("/")[1]: name.split("/")[-1] for name in backend if name.startswith("runtimes/")}
    assert {folder for folder, file in folders.items() if file == "_._"} == {"linux-bionic-x64", "linux-bionic-arm64"}
    assert {folder for folder, file in folders.items() if file != "_._"} == {
        *("linux-x64", "linux-arm64", "linux-musl-x64", "linux-musl-arm64"),
        *("osx-x64", "osx-arm64", "win-x64", "win-arm64"),
    }


@pytest.mark.slow
def test_an_editable_installation_finds_its_libraries(tmp_path):
    """Of a copy, since the native build is in the tree, and in an environment that sees this one's tools."""
    shutil.copytree(ROOT, tmp_path / "copy", ignore=shutil.ignore_patterns(".*", "build", "dist", "stage", "tests"))
    latenn = tmp_path / "copy" / "latenn"
    environment = tmp_path / "environment"
    python = environment / "bin" / "python"
    options = [
        option for name in ("latenn", "latenn_onnxruntime") for option in ("--editable", latenn / "python" / name)
    ]
    install = [sys.executable, "-m", "uv", "pip", "install", "--python", python]
    commands = [
        [sys.executable, "-m", "uv", "venv", environment],
        [
            sys.executable,
            "-m",
            "uv",
            "pip",
            "install",
            "--python",
            python,
            ROOT / "loadcheck",
            f"{ROOT}[native]",
            *TRIAL,
        ],
        [*install, "--no-build-isolation", *options],
        [python, latenn / "verify" / "wheel.py"],
    ]
    for command in commands:
        printed = run_checked(*command)
    assert "[2. 4. 6.]" in printed
    assert not list((latenn / "python").rglob("*.so"))
