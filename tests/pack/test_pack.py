"""Packages from one stage: equal native bytes, equal packages from different folders, from tree and from sdist."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from latebind.checks.policy import project_policy
from latebind.config.file import load
from latebind.config.project import read_project
from latebind.ecosystems.wheel.metadata import metadata_fields
from latebind.ecosystems.wheel.pack import build_distribution
from latebind.errors import BuildError
from latebind.native.sources import outside_hash
from latebind.pack.record import RECORD, Ledger, Losses
from latebind.pack.render import describe_losses
from loadcheck.api import audit_paths
from tests.support.client import (
    BOUND,
    CONFIG,
    PYPROJECT,
    SEVERAL,
    by_kind,
    hashes,
    member,
    pack_project,
    write_client,
    write_files,
)
from tests.support.running import CLI, assert_refused, run_checked


@pytest.mark.slow
def test_source_date_epoch_decides_the_times(packed_tiny, monkeypatch):
    before = hashes(pack_project(packed_tiny))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    after = hashes(pack_project(packed_tiny))
    assert all(before[name] != after[name] for name in before)
    with zipfile.ZipFile(packed_tiny / "dist" / "Tiny.1.2.3.nupkg") as archive:
        assert {info.date_time for info in archive.infolist()} == {(2023, 11, 14, 22, 13, 20)}


def list_packages(project):
    return [path for path in (project / "dist").iterdir() if path.name != RECORD]


@pytest.mark.slow
def test_a_changed_source_remakes_only_what_is_made_of_it(packed_tiny):
    pack_project(packed_tiny)
    before = {path.name: path.stat().st_mtime_ns for path in list_packages(packed_tiny)}
    (packed_tiny / "python" / "tiny" / "src" / "tiny" / "more.py").write_text("x = 1\n", encoding="utf-8")
    pack_project(packed_tiny)
    changed = {path.name for path in list_packages(packed_tiny) if path.stat().st_mtime_ns != before[path.name]}
    assert changed == {"tiny-1.2.3.tar.gz", "tiny-1.2.3-py3-none-manylinux_2_28_x86_64.whl"}


@pytest.mark.slow
def test_what_only_an_earlier_run_made_is_removed_and_what_others_made_is_not(packed_tiny):
    pack_project(packed_tiny)
    (packed_tiny / "dist" / "somebody-elses.whl").write_bytes(b"x")
    write_client(packed_tiny, latebind=CONFIG.replace("1.2.3", "1.2.4"))
    pack_project(packed_tiny)
    names = {path.name for path in (packed_tiny / "dist").iterdir()}
    assert "somebody-elses.whl" in names
    assert not [name for name in names if "1.2.3" in name]


def test_where_one_package_cannot_be_made_dist_stays_as_it_was(packed_tiny):
    files = {"node/index.cjs": "", "node/package.json": "{}", "python/tiny/src/tiny/more.py": "x = 1\n"}
    write_files(packed_tiny, files)
    write_client(packed_tiny, latebind=CONFIG + 'npm = { name = "tiny", source = "node" }\n')
    before = {path.name: path.read_bytes() for path in (packed_tiny / "dist").iterdir()}
    with pytest.raises(BuildError, match=r"package\.json is in the folder npm\.source"):
        pack_project(packed_tiny)
    assert {path.name: path.read_bytes() for path in (packed_tiny / "dist").iterdir()} == before

    (packed_tiny / "node" / "package.json").unlink()
    result = pack_project(packed_tiny)

    paths = {artifact.path for artifact in result.artifacts}
    assert paths == set((packed_tiny / "dist").glob("[!.]*"))
    assert {path.name for path in paths} - before.keys() == {"tiny-1.2.3.tgz", "tiny-linux-x64-1.2.3.tgz"}
    wheel = by_kind(result)["wheel"]
    assert wheel.read_bytes() != before[wheel.name]


def test_files_that_a_stopped_run_replaced_are_removed_by_the_next_one(tmp_path, monkeypatch):
    dist = tmp_path / "dist"
    pack_files(tmp_path, {"wheel tiny": ["tiny-1.whl"], "nupkg tiny": ["Tiny.1.nupkg"]})
    for version in ("2", "3"):
        with monkeypatch.context() as patched:
            patched.setattr(Path, "unlink", interrupt)
            with pytest.raises(KeyboardInterrupt):
                pack_files(tmp_path, {"wheel tiny": [f"tiny-{version}.whl"]})
    assert {path.name for path in dist.glob("*.whl")} == {"tiny-1.whl", "tiny-2.whl", "tiny-3.whl"}

    losses = pack_files(tmp_path, {"wheel tiny": ["tiny-3.whl"], "nupkg tiny": ["Tiny.3.nupkg"]}).files

    assert losses == ("Tiny.1.nupkg", "tiny-1.whl", "tiny-2.whl")
    assert {path.name for path in dist.glob("[!.]*")} == {"Tiny.3.nupkg", "tiny-3.whl"}
    assert pack_files(tmp_path, {"wheel tiny": ["tiny-3.whl"], "nupkg tiny": ["Tiny.3.nupkg"]}) == Losses()


def test_only_packages_with_a_library_less_are_reported_as_narrowed(tmp_path):
    pack_files(tmp_path, {"npm tiny": ["tiny.tgz", "tiny-linux-x64.tgz", "tiny-win-x64.tgz"]}, "linux-x64", "win-x64")
    losses = pack_files(tmp_path, {"npm tiny": ["tiny.tgz", "tiny-linux-x64.tgz"]}, "linux-x64")
    lines = ["removed from dist/: tiny-win-x64.tgz", "npm tiny no longer contains win-x64"]
    assert describe_losses(losses, ["linux-x64"]) == lines
    assert describe_losses(losses, ["linux-x64", "win-x64"])[len(lines) :] == [
        "  To pack every target: latebind pack --target all"
    ]


def pack_files(folder, made, *rids):
    """What dist/ loses by a run that makes those files, by the name of their package."""
    ledger = Ledger(folder / "dist")
    for name, files in made.items():
        ledger.make(name, " ".join(files), rids, lambda at=files: [touch(ledger.fresh / file) for file in at])
    return ledger.close({}, "")


def interrupt(*_arguments, **_options):
    raise KeyboardInterrupt


def touch(file):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(file.name, encoding="utf-8")
    return file


@pytest.mark.slow
def test_a_package_that_was_changed_by_hand_is_made_again(packed_tiny):
    result = pack_project(packed_tiny)
    before = hashes(result)
    result.artifacts[0].path.write_bytes(b"broken")
    assert hashes(pack_project(packed_tiny)) == before


@pytest.mark.slow
def test_another_frontend_makes_the_same_wheel_from_tree_and_from_sdist(packed_tiny, tmp_path):
    packages = by_kind(pack_project(packed_tiny))
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LATEBIND")}
    shutil.unpack_archive(packages["sdist"], tmp_path / "unpacked", filter="data")
    for number, source in enumerate([packed_tiny / "python" / "tiny", tmp_path / "unpacked" / "tiny-1.2.3"]):
        out = tmp_path / str(number)
        command = ["uv", "build", "--wheel", "--no-build-isolation", "--out-dir", out, source]
        run_checked(sys.executable, "-m", *command, env={**environment, "LATEBIND_TOOLCHAIN": "zig"})
        (again,) = out.glob("*.whl")
        assert (again.name, again.read_bytes()) == (packages["wheel"].name, packages["wheel"].read_bytes())


def test_metadata_comes_from_the_one_number():
    config = load(SEVERAL)
    fields = metadata_fields(config, "onnxruntime", ("numpy",))
    assert fields["version"] == "0.1.0"
    assert fields["dependencies"] == ["numpy", "several~=0.1.0"]
    assert fields["optional-dependencies"]["cpu"] == ["onnxruntime>=1.19"]
    assert metadata_fields(config, "core")["optional-dependencies"] == {}


DYNAMIC = 'dynamic = ["version", "dependencies", "optional-dependencies"]'
HOOKS = ('package = "tiny"\n\n[tool.hatch.build.h', 'package = "tony"\n\n[tool.hatch.build.h')


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (HOOKS, "'tony' is not a package"),
        ((DYNAMIC, 'version = "1"'), "differ in: version"),
        (('requires = ["hatchling"', 'requires = ["hatchling'), "could not be built"),
    ],
    ids=["package", "dynamic", "syntax"],
)  # fmt: skip
def test_a_wheel_source_that_does_not_fit_is_refused_with_the_reason(tiny, change, message):
    write_client(tiny, pyproject=PYPROJECT.replace(*change))
    with pytest.raises(BuildError, match=message):
        pack_project(tiny)
    assert not list((tiny / "dist").glob("*.whl"))


@pytest.mark.slow
def test_a_wheel_may_have_extras_of_its_own(tiny):
    metadata = 'dynamic = ["version", "dependencies"]\noptional-dependencies = { more = ["numpy>=1.23"] }'
    write_client(tiny, pyproject=PYPROJECT.replace(DYNAMIC, metadata))
    pack_project(tiny)
    (wheel,) = (tiny / "dist").glob("*.whl")
    assert b"Requires-Dist: numpy>=1.23; extra == 'more'" in member(wheel, "tiny-1.2.3.dist-info/METADATA")


def remade(tiny, change):
    """Which packages are made again after a change."""
    pack_project(tiny)
    before = {path.name: path.stat().st_mtime_ns for path in list_packages(tiny)}
    change()
    pack_project(tiny)
    return {path.suffix for path in list_packages(tiny) if path.stat().st_mtime_ns != before[path.name]}


@pytest.mark.slow
def test_files_from_outside_the_wheels_folder_are_hashed_and_refused_since_no_sdist_can_carry_them(tiny):
    forced = PYPROJECT + '\n[tool.hatch.build.targets.wheel.force-include]\n"../../NOTICE" = "tiny/NOTICE"\n'
    write_client(tiny, pyproject=forced)
    hashed = []
    for text in ("one", "two"):
        (tiny / "NOTICE").write_text(text, encoding="utf-8")
        hashed.append(outside_hash(tiny / "python" / "tiny", read_project(tiny / "latebind.toml", tiny).outputs))
    assert hashed[0] != hashed[1]
    with pytest.raises(BuildError, match=r"tiny-1\.2\.3\.tar\.gz cannot be built: .* \.\./\.\./NOTICE"):
        pack_project(tiny)
    assert not list((tiny / "dist").glob("*.tar.gz"))


@pytest.mark.slow
def test_an_executable_bit_is_part_of_the_key(packed_tiny):
    script = packed_tiny / "python" / "tiny" / "src" / "tiny" / "__init__.py"
    assert remade(packed_tiny, lambda: script.chmod(0o755)) == {".whl", ".gz"}


@pytest.mark.slow
@pytest.mark.parametrize("garbage", [b"\xff", b"{", b"[]", b'{"wheel tiny linux-x64": 3}'])
def test_a_damaged_ledger_only_costs_time(packed_tiny, garbage):
    before = hashes(pack_project(packed_tiny))
    (packed_tiny / "dist" / RECORD).write_bytes(garbage)
    assert hashes(pack_project(packed_tiny)) == before


def test_a_source_date_epoch_that_is_none_is_refused_in_one_line(latebind, tiny):
    assert_refused(latebind("-C", tiny, "pack", env={"SOURCE_DATE_EPOCH": "never"}), "SOURCE_DATE_EPOCH is")


@pytest.mark.slow
def test_an_empty_source_date_epoch_counts_as_none(latebind, tiny):
    before = hashes(pack_project(tiny))
    (tiny / "dist" / RECORD).unlink()
    assert latebind("-C", tiny, "pack", env={"SOURCE_DATE_EPOCH": ""}).returncode == 0
    assert hashes(pack_project(tiny)) == before


def test_the_hooks_own_words_come_without_the_frontends_traceback(latebind, tiny):
    write_client(tiny, pyproject=PYPROJECT.replace(*HOOKS))
    result = latebind("-q", "-C", tiny, "pack")
    assert "'tony' is not a package" in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) < 8


@pytest.mark.slow
def test_two_at_once_wait_for_each_other_and_leftovers_are_cleared(tiny):
    for name in ("stage/.linux-x64.1.part", "build/.pack-x", "dist/.x.whl.1.part"):
        (tiny / name).mkdir(parents=True)
    command = [*CLI, "-C", str(tiny), "pack"]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) for _ in range(2)]
    errors = [process.communicate(timeout=120)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], errors
    assert sum("waiting for another latebind process" in text for text in errors) == 1
    left = [path for folder in ("stage", "build", "dist") for path in (tiny / folder).glob(".[!l]*")]
    assert [path.name for path in left] == [RECORD]


MUSL = ("linux-x64", "linux-musl-x64")


@pytest.mark.slow
def test_a_seventh_target_is_only_a_row(tiny):
    result = pack_project(tiny, *MUSL)
    assert result.not_made == ()
    assert "tiny-1.2.3-py3-none-musllinux_1_2_x86_64.whl" in {artifact.path.name for artifact in result.artifacts}
    library = member(by_kind(result)["nupkg"], "linux-musl-x64/native/libtiny.so")
    assert library == (tiny / "stage" / "linux-musl-x64" / "tiny" / "lib" / "libtiny.so").read_bytes()
    report = audit_paths([tiny / "dist"], project_policy(load(tiny / "latebind.toml")))
    assert {finding.code for finding in report.findings} == {"LB509"}  # it has no README


@pytest.mark.slow
def test_a_package_whose_runtime_is_for_glibc_alone_is_not_made_for_musl_and_the_reason_is_told(tiny):
    write_client(tiny, latebind=BOUND)
    result = pack_project(tiny, *MUSL)
    message = "ONNX Runtime exists for glibc only, but linux-musl-x64 uses musl"
    assert [(omission.kind, omission.reason, omission.message) for omission in result.not_made] == [
        ("wheel", "no-runtime", message),
        ("nupkg", "no-runtime", message),
    ]
    assert not list((tiny / "dist").glob("*musl*"))
    names = zipfile.ZipFile(tiny / "dist" / "Tiny.1.2.3.nupkg").namelist()
    for_musl = [name for name in names if "linux-musl" in name]
    assert for_musl == ["runtimes/linux-musl-x64/native/_._"]  # or .NET would take the files for glibc
    source, file = tiny / "python" / "tiny", tiny / "out" / "x.whl"
    with pytest.raises(BuildError, match=message):
        build_distribution(source, file, "wheel", {"LATEBIND_TARGET": "linux-musl-x64"}, workdir=tiny, config_digest="")


@pytest.mark.slow
def test_the_table_of_packages_is_printed_and_written(latebind, tiny):
    printed = latebind("-C", tiny, "pack", "-v", "--target", "linux-x64").stdout
    table = json.loads((tiny / "reports" / "packages.json").read_text("utf-8"))
    assert {package["file"] for package in table["packages"]} == {path.name for path in list_packages(tiny)}
    for package in table["packages"]:
        path = tiny / "dist" / package["file"]
        assert (package["size"], package["sha256"]) == (
            path.stat().st_size,
            hashlib.sha256(path.read_bytes()).hexdigest(),
        )
        assert f"dist/{package['file']} " in printed
        assert package["sha256"] in printed
        assert package["sha256"] in (tiny / "reports" / "packages.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("second", "file"),
    [
        ('nuget = { id = "TINY" }', "TINY.1.2.3.nupkg"),
        ('npm = { name = "tiny" }', "tiny-linux-x64-1.2.3.tgz"),
        ('nuget = { id = "Tiny.More" }', ""),
    ],
)
def test_packages_that_would_write_one_file_are_refused(latebind, tmp_path, second, file):
    twin = f'\n[package.twin]\ncomponent = "tiny"\nexports = ["tiny_*"]\n{second}\n'
    write_client(tmp_path, latebind=CONFIG.replace("[package.tiny]\n", '[package.tiny]\nnpm.name = "tiny"\n', 1) + twin)
    for command in ("plan", "pack") if file else ("plan",):
        ended = latebind("-C", tmp_path, command)
        if file:
            assert_refused(ended, f"packages tiny and twin would both write {file}", "another name")
        else:
            assert ended.returncode == 0, ended.stderr
    assert not (tmp_path / "dist").exists()
