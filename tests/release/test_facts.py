"""What a release states about itself, and what prevents one besides the gate."""

import json
from pathlib import Path

import msgspec
import pytest

from latebind import __version__
from latebind.config.file import load
from latebind.errors import InputError
from latebind.model import Artifact
from latebind.release.facts import EarlierRelease, Origin, manifest, obstacles, read_earlier, read_origin
from latebind.release.packages import ReleasePackage
from latebind.verify.report.data import Provenance
from latebind.verify.report.gate import Blocker
from tests.support.client import BOUND, write_client
from tests.verify.reports import complete, report, row

COMMIT, SOURCES, OTHER = "1" * 40, "2" * 64, "3" * 40
NOTES = "# tiny 1.2.3 - 2026-11-20\n\n- Adds numbers faster.\n"
GOOD, REPORTED = Origin(commit=COMMIT, sources=SOURCES), Provenance(commit=COMMIT, sources=SOURCES)


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    text = BOUND + '\n[verify]\npython = "smoke.py"\nrequired = ["wheel/linux-x64/*/works"]\n'
    return load(write_client(tmp_path_factory.mktemp("tiny"), latebind=text) / "latebind.toml")


def package(kind="wheel", targets=("linux-x64",)):
    artifact = Artifact(path=Path(f"tiny.{kind}"), kind=kind, sha256=SOURCES, size=7)
    return ReleasePackage(artifact=artifact, name="tiny", version="1.2.3", targets=targets)


def find(config, *, origin=GOOD, source=REPORTED, packages=None, notes=NOTES, cases=None):
    """What prevents a release, by what it is about."""
    made = msgspec.structs.replace(report(*(complete(config) if cases is None else cases)), source=source)
    found = obstacles(config, [package()] if packages is None else packages, made, notes, origin)
    return {blocker.subject: blocker.why for blocker in found}


def test_nothing_prevents_a_release_in_which_everything_holds(config):
    assert find(config) == {}


@pytest.mark.parametrize(
    ("origin", "source", "subjects"),
    [
        (GOOD, Provenance(commit=OTHER, sources=SOURCES), ["verify.json"]),
        (GOOD, Provenance(commit="", sources=SOURCES), ["verify.json"]),
        (GOOD, Provenance(commit=COMMIT, sources=OTHER), ["verify.json"]),
        (GOOD, Provenance(commit=COMMIT, sources=""), ["verify.json"]),
        (Origin(sources=SOURCES), Provenance(commit=COMMIT, sources=SOURCES), ["sources"]),
        (Origin(sources=SOURCES), Provenance(sources=SOURCES), ["sources"]),
        (Origin(commit=COMMIT), Provenance(commit=COMMIT, sources=SOURCES), ["packages"]),
        (Origin(commit=COMMIT), Provenance(commit=COMMIT), ["packages"]),
        (Origin(), Provenance(), ["sources", "packages"]),
    ],
)
def test_an_unknown_or_another_origin_prevents_it(config, origin, source, subjects):
    assert list(find(config, origin=origin, source=source)) == subjects


def test_an_untracked_file_and_a_tag_elsewhere_prevent_it(config):
    origin = msgspec.structs.replace(GOOD, untracked=("a b.c", "d.c"), tags={"v1.2.3": OTHER, "old-1.2.3": OTHER})
    assert list(find(config, origin=origin)) == ["a b.c", "d.c", "tag v1.2.3", "tag old-1.2.3"]
    fixes = [blocker.fix for blocker in obstacles(config, [package()], report(), NOTES, origin)]
    assert any("git add --force 'a b.c'" in fix for fix in fixes)
    assert ["If it is a tag of something else" in fix for fix in fixes if fix.startswith("Check out the tag")] == [
        False, True,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("packages", "lacking"),
    [
        ([], True),
        ([package()], False),
        ([package(targets=("win-x64",))], True),
        ([package(targets=("win-x64", "linux-x64"))], False),
        ([package(kind="sdist")], True),
        ([package(kind="symbols")], True),  # debug symbols are no library
        ([package(kind="sdist"), package(kind="nupkg")], False),
    ],
)
def test_a_target_without_a_library_prevents_it(config, packages, lacking):
    why = "is a target of the project, but no package contains a library for it"
    assert find(config, packages=packages) == ({"linux-x64": why} if lacking else {})


def test_a_changelog_without_the_version_prevents_it(config):
    assert list(find(config, notes="# tiny 1.2.3, unreleased\n\n- More.\n")) == ["changelog"]


@pytest.mark.parametrize(
    ("left_out", "subject"),
    [
        (["fork"], "linux-x64: wheel fork"),
        (["fork", "threads"], "linux-x64: wheel threads, wheel fork"),
        (["extra", "fork", "frozen", "spawn", "threads", "upgraded", "path"], "and 1 more"),
    ],
)
def test_test_cases_that_are_not_even_reported_as_not_run_prevent_it(config, left_out, subject):
    cases = [case for case in complete(config) if case.scenario not in left_out]
    lost = [case for case in complete(config) if case.scenario in left_out]
    (found,) = obstacles(
        config,
        [package()],
        msgspec.structs.replace(report(*cases), source=REPORTED),
        NOTES,
        GOOD,
    )
    number = f"{len(lost)} test case{'s' * (len(lost) != 1)}"
    assert (found.why, found.fix) == (
        f"the report lacks {number} of the configuration",
        "Run latebind verify --target linux-x64, and merge its report.",
    )
    assert subject in found.subject
    idle = [row("not run", scenario=case.scenario, version=case.version, runtime=case.runtime, entries=case.entries)
            for case in lost]  # fmt: skip
    assert find(config, cases=[*cases, *idle]) == {}


def test_a_required_test_case_is_named_by_the_gate_and_not_twice(config):
    assert find(config, cases=[case for case in complete(config) if case.scenario != "works"]) == {}


def test_the_manifest_says_what_was_made_and_what_blocks_it(config):
    cases = [row(), row("failed", scenario="fork"), row("not run", scenario="spawn"), row("not run", scenario="path")]
    blocker = Blocker(subject="x", why="y", fix="z")
    origin = msgspec.structs.replace(GOOD, source_date_epoch=5, untracked=("u",), tags={"t": OTHER})
    document = json.loads(manifest(config, [package()], report(*cases), origin, [blocker], "1.2.2"))
    expected = {
        "project": "tiny",
        "version": "1.2.3",
        "previous": "1.2.2",
        "commit": COMMIT,
        "sources": SOURCES,
        "source_date_epoch": 5,
        "untracked": ["u"],
        "tags": {"t": OTHER},
        "latebind": __version__,
        "toolchains": [],
        "targets": ["linux-x64"],
        "runtimes": [{"name": "onnxruntime", "minimum": "1.20"}],
        "packages": [
            {
                "file": "tiny.wheel",
                "kind": "wheel",
                "name": "tiny",
                "version": "1.2.3",
                "targets": ["linux-x64"],
                "size": 7,
                "sha256": SOURCES,
            }
        ],
        "cases": {"passed": 1, "passed, emulated": 0, "glue passed": 0, "failed": 1, "not run": 2},
        "publishable": False,
        "blocked": [{"subject": "x", "why": "y", "fix": "z"}],
    }
    assert document == expected
    assert json.loads(manifest(config, [], report(), origin, (), ""))["publishable"] is True


def test_an_origin_is_read_back_and_nothing_is_made_up(tmp_path):
    file = tmp_path / "manifest.json"
    origin = Origin(commit=COMMIT, sources=SOURCES, source_date_epoch=9, untracked=("a",), tags={"t": OTHER})
    file.write_bytes(msgspec.json.encode(origin))
    assert read_origin(file) == origin
    assert read_earlier(file) == EarlierRelease()
    file.write_bytes(b'{"project": "tiny", "version": "1.2.3", "publishable": true}')
    assert read_earlier(file) == EarlierRelease(project="tiny", version="1.2.3", publishable=True)
    nothing = {"commit": "", "sources": "", "source_date_epoch": 0, "untracked": (), "tags": {}}
    assert msgspec.to_builtins(read_origin(file)) == {**nothing, "latebind": __version__}


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"{", "is not the manifest of a release"),
        (b'{"commit": 1, "project": 1}', "is not the manifest"),
        (None, "No such file"),
    ],
)
def test_what_is_no_manifest_is_refused_by_its_name(tmp_path, raw, why):
    if raw is not None:
        (tmp_path / "manifest.json").write_bytes(raw)
    for read in (read_origin, read_earlier):
        with pytest.raises(InputError, match=why) as caught:
            read(tmp_path / "manifest.json")
        assert caught.value.where == "manifest.json"
