"""What contradicts what in a release: each check on its own, with parts that agree and parts that do not."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from latebind.config.file import load
from latebind.model import Artifact
from latebind.native.bill import version_range
from latebind.pack.record import Record
from latebind.release.api import ApiChange, Surface
from latebind.release.contradictions import contradictions, find_stale
from latebind.release.packages import ReleasePackage
from latebind.system.files import sha256
from latebind.verify.report.data import PackageHash, Report
from loadcheck import AuditReport, Finding
from tests.support.client import BOUND, write_client

ONE, OTHER = "1" * 64, "2" * 64


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    return load(write_client(tmp_path_factory.mktemp("tiny"), latebind=BOUND) / "latebind.toml")


def package(file, version="1.2.3", *, kind="wheel", bill=b"", digest=ONE):
    artifact = Artifact(path=Path(file), kind=kind, sha256=digest, size=1)
    return ReleasePackage(artifact=artifact, name="tiny", version=version, targets=(), bill=bill)


def search(config, *packages, version="1.2.3", verified=None, findings=(), old=None, new=None, changes=()):
    """What is wrong with a release of such parts."""
    hashes = {one.artifact.path.name: one.artifact.sha256 for one in packages} if verified is None else verified
    parts = SimpleNamespace(
        config=SimpleNamespace(project=SimpleNamespace(version=version), document=config.document),
        packages=packages,
        report=Report(tuple(PackageHash(file, digest) for file, digest in hashes.items()), (), ()),
        audit=AuditReport(subjects=1, findings=findings),
        old=old,
        new=new or Surface(version, {}, {}),
        changes=changes,
    )
    return list(contradictions(parts))


def find(config, *packages, **parts):
    """The files that are wrong, and why."""
    return [(wrong.file, wrong.why) for wrong in search(config, *packages, **parts)]


@pytest.mark.parametrize(
    ("file", "stated", "released", "agrees"),
    [
        ("tiny-1.2.3-py3-none-any.whl", "1.2.3", "1.2.3", True),
        ("tiny-1.2.3-py3-none-any.whl", "1.2.3", "1.2.3.0", True),
        ("tiny-1.2.2-py3-none-any.whl", "1.2.2", "1.2.3", False),
        ("tiny-1.2.4-py3-none-any.whl", "1.2.4", "1.2.3", False),
        ("tiny-1.2.3rc1.tar.gz", "1.2.3rc1", "1.2.3rc1", True),
        ("tiny-1.2.3rc1.tar.gz", "1.2.3rc1", "1.2.3", False),
        ("Tiny.1.2.3.nupkg", "1.2.3", "1.2.3", True),
        ("Tiny.1.2.2.nupkg", "1.2.2", "1.2.3", False),
        ("Tiny.1.2.4.nupkg", "1.2.4", "1.2.3", False),
        ("Tiny.1.2.3-RC.1.nupkg", "1.2.3-RC.1", "1.2.3rc1", True),
        ("acme-tiny-1.2.3-rc.1.tgz", "1.2.3-rc.1", "1.2.3rc1", True),
        ("acme-tiny-1.2.3-rc.2.tgz", "1.2.3-rc.2", "1.2.3rc1", False),
        ("tiny-1.2.3.jar", "1.2.3", "1.2.3", True),
        ("tiny-1.2.1.jar", "1.2.1", "1.2.3", False),
    ],
)
def test_every_package_has_the_version_of_the_release(config, file, stated, released, agrees):
    why = f"has version {stated}, but the release has {released}"
    wrong = find(config, package(file, stated), version=released)
    assert wrong == ([] if agrees else [(f"packages/{file}", why)])


def test_the_range_of_a_runtime_in_an_sbom_is_that_of_the_configuration(config, monkeypatch):
    monkeypatch.setattr(
        "latebind.release.contradictions.read_sbom",
        lambda bill: SimpleNamespace(ranges=tuple(json.loads(bill).items())),
    )
    stated = version_range(config.document.runtime[0])
    assert find(config, package("x.whl", bill=json.dumps({"onnxruntime": stated}).encode())) == []
    assert find(config, package("x.whl")) == []
    assert find(config, package("x.whl", bill=json.dumps({"onnxruntime": "vers:generic/>=1.10|<2"}).encode())) == [
        ("packages/x.whl", "its SBOM lists onnxruntime vers:generic/>=1.10|<2, but latebind.toml says 1.20")
    ]
    assert find(config, package("x.whl", bill=json.dumps({"thing": stated}).encode())) == [
        ("packages/x.whl", f"its SBOM lists thing {stated}, but latebind.toml says nothing about it")
    ]


@pytest.mark.parametrize(
    ("packages", "verified", "wrong"),
    [
        ([package("a.whl")], {"a.whl": ONE}, []),
        ([package("a.whl")], {}, [("packages/a.whl", "is not among the packages of reports/verify.json")]),
        ([], {"a.whl": ONE}, [("reports/verify.json", "names a.whl, which is not in packages/")]),
        ([package("a.snupkg", kind="snupkg")], {}, []),  # nobody consumes it
        (
            [package("a.tar.gz", kind="sdist")],
            {},
            [("packages/a.tar.gz", "is not among the packages of reports/verify.json")],
        ),
        (
            [package("a.whl")],
            {"a.whl": OTHER},
            [("packages/a.whl", f"has SHA-256 {ONE[:16]}..., but reports/verify.json has {OTHER[:16]}...")],
        ),
        (
            [package("b.whl"), package("a.snupkg", kind="snupkg"), package("c.whl", digest=OTHER)],
            {"b.whl": ONE, "c.whl": ONE},
            [("packages/c.whl", f"has SHA-256 {OTHER[:16]}..., but reports/verify.json has {ONE[:16]}...")],
        ),
    ],
)  # fmt: skip
def test_exactly_these_packages_were_verified(config, packages, verified, wrong):
    assert find(config, *packages, verified=verified) == wrong


@pytest.mark.parametrize(("severity", "blocks"), [("error", True), ("warning", False), ("note", False)])
def test_an_error_of_the_audit_contradicts_a_release(config, severity, blocks):
    finding = Finding(code="LB999", severity=severity, subject="a.whl!x.so", message="is bad", fix="Mend it.")
    assert find(config, findings=(finding,)) == [("packages/a.whl!x.so", "LB999 is bad")] * blocks


BREAKING = ApiChange(what="x: f (linux-x64)", how="removed", breaking=True)
ADDED = ApiChange(what="x: g (linux-x64)", how="added", breaking=False)


@pytest.mark.parametrize(
    ("old", "new", "changes", "least"),
    [
        ("1.2.3", "1.3.0", [BREAKING, ADDED], "2.0.0"),
        ("2.0.0", "2.0.1", [BREAKING], "3.0.0"),
        ("0.1.0", "0.1.1", [BREAKING], "0.2.0"),
        ("0.2.5", "0.2.6", [BREAKING], "0.3.0"),
        ("0.5.0", "0.5.1", [BREAKING], "0.6.0"),
        ("1.2.3", "1.3.0", [ADDED], ""),
        ("1.2.3", "2.0.0", [BREAKING], ""),
        ("0.2.5", "0.3.0", [BREAKING], ""),
        ("", "1.3.0", [BREAKING], ""),
    ],
)
def test_a_break_needs_a_version_that_announces_it(config, old, new, changes, least):
    surface = Surface(old, {}, {}) if old else None
    found = search(config, version=new, old=surface, changes=changes)
    assert [wrong.fix for wrong in found] == [
        f"Undo the change, or give the release version {least} or higher."
    ] * bool(least)
    for wrong in found:
        why = f"removed since {old}, which breaks callers: x: f (linux-x64)"
        assert (wrong.file, wrong.why) == ("api/api.json", why)


@pytest.mark.parametrize(
    ("old", "before", "now", "wrong"),
    [
        ("1.2.3", {"a.whl": ONE}, {"a.whl": ONE}, []),
        ("1.2.3", {"a.whl": ONE}, {"b.whl": OTHER}, []),  # a file that the release lacked may be added
        ("1.2.3", {"a.whl": ONE}, {"a.whl": OTHER}, ["packages/a.whl"]),
        ("1.2.3.0", {"a.whl": ONE}, {"a.whl": OTHER}, ["packages/a.whl"]),
        ("1.2.3", {"b.whl": ONE, "a.whl": ONE}, {"a.whl": OTHER, "b.whl": OTHER}, ["packages/a.whl", "packages/b.whl"]),
        ("1.2.3", {}, {"a.whl": OTHER}, ["latebind.toml"]),
        ("1.2.2", {"a.whl": ONE}, {"a.whl": OTHER}, []),
        ("1.2.4", {}, {"a.whl": OTHER}, []),
    ],
)
def test_a_version_is_released_again_with_the_same_bytes_only(config, old, before, now, wrong):
    surfaces = {"old": Surface(old, {}, {}, before), "new": Surface("1.2.3", {}, {}, now)}
    assert [file for file, _ in find(config, **surfaces)] == wrong


# ---- packages and sources since packing


@pytest.fixture
def packed(tmp_path):
    """A folder of packages and the record of how they were packed."""
    for name in ("a.whl", "b.nupkg"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    files = {name: sha256(tmp_path / name) for name in ("a.whl", "b.nupkg")}
    return tmp_path, SimpleNamespace(files=files)


def test_what_is_as_it_was_packed_is_not_stale(packed):
    dist, record = packed
    (dist / "notes.txt").write_text("no package", encoding="utf-8")
    assert list(find_stale(dist, record, [])) == []


def test_each_change_since_packing_is_named(packed):
    dist, record = packed
    (dist / "a.whl").write_text("other", encoding="utf-8")
    (dist / "b.nupkg").unlink()
    (dist / "c.whl").write_text("new", encoding="utf-8")
    (dist / "symbols").mkdir()
    (dist / "symbols/d-1.0-linux-x64-symbols.zip").write_text("new", encoding="utf-8")
    wrong, now = {problem.file: problem.why for problem in find_stale(dist, record, [])}, sha256(dist / "a.whl")
    assert wrong == {
        "packages/a.whl": f"has SHA-256 {now[:16]}..., but was packed with {record.files['a.whl'][:16]}...",
        "packages/b.nupkg": "is not there",
        "packages/c.whl": "was not packed with the others",
        "packages/symbols/d-1.0-linux-x64-symbols.zip": "was not packed with the others",
    }


def test_without_a_record_no_package_is_called_foreign(packed):
    dist, _ = packed
    assert list(find_stale(dist, Record(), [])) == []


@pytest.mark.parametrize(("changed", "named"), [(0, 0), (1, 1), (3, 3), (4, 3), (9, 3)])
def test_the_first_changes_of_sources_are_named(packed, changed, named):
    dist, record = packed
    wrong = list(find_stale(dist, record, [f"{number}.c was changed" for number in range(changed)]))
    assert [(one.file, one.why) for one in wrong] == [
        ("packages", f"is out of date: {number}.c was changed after packing") for number in range(named)
    ]
