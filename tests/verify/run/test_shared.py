"""What test cases share: references that a project's script computes, and byte-code."""

import compileall
import sys
from pathlib import Path

import pytest

from latebind.errors import ToolError
from latebind.verify.run.machine import Machine, host_machine
from latebind.verify.run.shared import Environment

RUNTIME = "packaging==24.2"  # any distribution that is small: the script decides what it does with it
COMPUTING = """
import json, os, pathlib, sys
left_out, only = (
    json.loads(pathlib.Path(os.environ[name]).read_text()) if name in os.environ else []
    for name in ("LATEBIND_PASSED", "LATEBIND_ONLY")
)
passed = set(only) & {"a", "b", "c"} if only else {"a", "b", "c"} - set(left_out)
pathlib.Path(sys.argv[-1]).write_text(json.dumps({"passed": sorted(passed)}))
with open(pathlib.Path(__file__).parent / "data" / "runs", "a") as runs:
    print(*left_out, *(f"only-{name}" for name in only), file=runs)
"""
SILENT = "print('Unhandled illegal instruction, starting debugger')\n"
WRITING = 'import pathlib, sys\npathlib.Path(sys.argv[-1]).write_text(\'{"passed": ["a"]}\')\n'


def compute(shared, script, **known):
    (shared.root / "reference.py").write_text(script)
    data = shared.root / "data"
    data.mkdir(exist_ok=True)
    return shared.reference(host_machine(Path(sys.executable)), RUNTIME, data, **known)


def test_a_reference_without_a_result_is_an_error_each_time_and_nothing_is_kept(shared):
    """Wine ends a program that crashes with status 0."""
    for _ in range(2):
        with pytest.raises(ToolError, match="wrote no result: Unhandled illegal instruction") as caught:
            compute(shared, SILENT)
        assert "reference.py" in str(caught.value)
    assert compute(shared, WRITING) == {"a"}


def test_a_reference_is_computed_once(shared):
    assert compute(shared, WRITING) == {"a"}
    (script,) = shared.root.glob("reference.py")
    before = (shared.folder / "reference").stat().st_mtime_ns
    assert compute(shared, script.read_text()) == {"a"}
    assert (shared.folder / "reference").stat().st_mtime_ns == before


def test_a_reference_leaves_out_what_passed_and_serves_whoever_does_not_ask_for_it(shared):
    runs = shared.root / "data" / "runs"

    def ask(*passed, failed=()):
        return compute(shared, COMPUTING, passed=passed, is_settled=lambda case: case not in failed)

    assert ask("a", "b") == {"c"}
    assert ask("a") == ask("c") == {"c"}  # nobody asks about a and b
    assert runs.read_text().splitlines() == ["a b"]
    assert ask("b", failed=("a",)) == {"a", "c"}, "a was left out, and now it matters"
    assert ask("c", failed=("b",)) == {"a", "b"}, "b was left out both times"
    assert runs.read_text().splitlines() == ["a b", "b", "c"]


def test_a_reference_of_a_sample_is_asked_about_what_failed_alone_and_never_stands_for_other_cases(shared):
    runs = shared.root / "data" / "runs"

    def ask(*failed):
        return compute(shared, COMPUTING, only=failed, is_settled=lambda case: case not in failed)

    assert ask("a", "b", "odd") == {"a", "b"}
    assert ask("a") == {"a", "b"}, "it was asked about before"
    assert ask("c") == {"c"}
    assert compute(shared, COMPUTING) == {"a", "b", "c"}, "all cases are another question"
    assert ask("c", "odd") == {"a", "b", "c"}, "which answers this one, too"
    assert runs.read_text().splitlines() == ["only-a only-b only-odd", "only-c", ""]


def test_what_test_cases_share_is_made_once_and_each_log_has_what_it_printed(shared, tmp_path):
    def make(folder, log):
        (folder / "file").touch()
        log.write_text("made\n")

    def fail(_, log):
        log.write_text("cannot be made\n")
        raise ToolError("no")

    folders = {shared.fill("key", tmp_path / "logs" / name, make) for name in ("first", "second")}
    assert [path.name for folder in folders for path in folder.iterdir()] == ["file"]
    with pytest.raises(ToolError, match="no"):
        shared.fill("other", tmp_path / "logs" / "third", fail)
    logs = {path.name: path.read_text() for path in (tmp_path / "logs").iterdir()}
    assert logs == {"first": "made\n", "second": "made\n", "third": "cannot be made\n"}
    assert {path.name for path in (shared.folder / "shared").iterdir()} == {"key", "key.log", "other.log"}


# ---- byte-code of one environment for the others of an emulated machine, with environments that this Python compiles

VERSION = ".".join(map(str, sys.version_info[:3]))
COMMAND = ("emulator",)


def make_environment(root, command=COMMAND, versions=(("numpy", "2.0"), ("our_own", "0.1"))):
    machine = Machine(rid="linux-arm64", title="x", command=command, python=Path("/python"), python_version=VERSION)
    for name, version in versions:
        package, metadata = root / name, root / f"{name}-{version}.dist-info"
        for folder in (package, metadata):
            folder.mkdir(parents=True)
        (package / "__init__.py").write_text(f"version = '{version}'\n")
        (metadata / "RECORD").write_text(f"{name}/__init__.py,,\n../../bin/{name}.py,,\n{metadata.name}/RECORD,,\n")
    return Environment(installer=None, machine=machine, root=root, packages=root)


def list_compiled(environment):
    return sorted(path.relative_to(environment.site).parts[0] for path in environment.site.rglob("*.pyc"))


@pytest.fixture
def keeping(tmp_path, shared):
    """What test cases share, with the byte-code of an environment."""
    environment = make_environment(tmp_path / "first")
    compileall.compile_dir(environment.site, quiet=1)
    shared.keep_byte_code(environment, ours=["our-own"])
    return shared


def test_the_next_environment_has_byte_code_of_all_but_the_projects_own_packages(tmp_path, keeping):
    environment = make_environment(tmp_path / "second")
    keeping.give_byte_code(environment, ours=["our-own"])
    assert list_compiled(environment) == ["numpy"]


@pytest.mark.parametrize(
    "other", [{"versions": (("numpy", "2.1"),)}, {"command": ()}], ids=["another version", "this machine"]
)
def test_other_environments_stay_as_they_are(tmp_path, keeping, other):
    environment = make_environment(tmp_path / "second", **other)
    keeping.give_byte_code(environment)
    assert list_compiled(environment) == []


def test_byte_code_that_an_environment_lacks_is_not_kept(tmp_path, shared):
    shared.keep_byte_code(make_environment(tmp_path / "first"))
    assert not (shared.folder / "shared").exists()
