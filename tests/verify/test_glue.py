"""Test cases of the level glue: each library in a program in C, on this system in the place of an emulated one."""

import io
import json
import shutil
import sys
import tarfile
import zipfile
from types import SimpleNamespace

import pytest

from ci.machines import table
from tests.support.client import write_portable
from tests.support.emulated import cache
from tests.support.needs import require_programs
from tests.support.running import CLI, run_checked, run_program

pytestmark = [
    pytest.mark.builds,
    pytest.mark.skipif(sys.platform != "linux", reason="not run: the machine is this Linux"),
]
MACHINE = 'rid = "linux-x64"\ntitle = "this Linux"\nlevel = "glue"\n'
FAULTS = {
    "prints": (
        '__attribute__((constructor)) static void start(void) { puts("hello"); }',
        "prints when it is loaded: hello",
    ),
    "exits": (
        "#include <stdlib.h>\n__attribute__((constructor)) static void start(void) { _Exit(7); }",
        "ended with status 7",
    ),
    "crashes": ("#include <stdlib.h>\n__attribute__((destructor)) static void end(void) { abort(); }", "SIGABRT"),
}


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    root = write_portable(tmp_path_factory.mktemp("packed") / "tiny", ["linux-x64"], npm="tiny")
    run_checked(*CLI, "-C", root, "pack", timeout=300)
    return root


@pytest.fixture
def project(packed, tmp_path):
    """A packed project, and a function that verifies it on a machine that `command` runs programs of."""
    root = shutil.copytree(packed, tmp_path / "tiny", ignore=shutil.ignore_patterns("build"))

    def verify(command, *arguments, more="", text=MACHINE, consumer="c-loader"):
        folder = tmp_path / "machines"
        folder.mkdir(exist_ok=True)
        (folder / "linux-x64.toml").write_text(f"{text}command = {json.dumps(command)}\n{more}", encoding="utf-8")
        ended = run_program(*CLI, "-C", root, "verify", "--machines", folder, *arguments, timeout=300)
        assert "Traceback" not in ended.stderr
        cases = json.loads((root / "reports" / "verify.json").read_text("utf-8"))["cases"]
        return SimpleNamespace(ended=ended, case=next(case for case in cases if case["consumer"] == consumer))

    return SimpleNamespace(root=root, verify=verify)


def test_a_library_loads_and_has_its_exports(project):
    run = project.verify(["/usr/bin/env"])
    assert run.case["outcome"] == "glue passed"
    assert run.case["summary"] == "1 library loads and has its 1 export (by this Linux)"
    assert "glue passed, 0 failed" in run.ended.stdout
    assert run.ended.returncode == 1  # nothing ran with a runtime, so nothing is verified


@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_library_does_when_it_is_loaded_fails(project, fault):
    code, message = FAULTS[fault]
    source = project.root / "native" / "tiny.c"
    source.write_text(f"#include <stdio.h>\n{source.read_text('utf-8')}\n{code}\n", encoding="utf-8")
    run = project.verify(["/usr/bin/env"])
    assert run.case["outcome"] == "failed"
    assert message in run.case["reason"]


def test_a_wheel_that_the_installer_refuses_fails(project, tmp_path):
    (wheel,) = (project.root / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as packed, zipfile.ZipFile(tmp_path / wheel.name, "w") as changed:
        for name in packed.namelist():
            if not name.endswith("/RECORD"):
                changed.writestr(name, packed.read(name))
    run = project.verify(["/usr/bin/env"], "--dist", tmp_path)
    assert (run.case["outcome"], run.case["facts"]["phase"]) == ("failed", "install")
    assert "RECORD" in run.case["reason"]


@pytest.mark.parametrize(("system", "outcome"), [("linux", "glue passed"), ("darwin", "failed")])
def test_npm_lays_out_what_it_takes_for_the_target(project, tmp_path, system, outcome):
    require_programs("npm")
    for path in (project.root / "dist").iterdir():
        if path.suffix != ".tgz":
            continue
        with tarfile.open(path) as packed, tarfile.open(tmp_path / path.name, "w:gz") as changed:
            for member in packed.getmembers():
                data = packed.extractfile(member).read().replace(b'"linux"', f'"{system}"'.encode())
                member.size = len(data)
                changed.addfile(member, io.BytesIO(data))
    run = project.verify(["/usr/bin/env"], "--dist", tmp_path, consumer="c-loader-npm")
    assert run.case["outcome"] == outcome
    assert outcome != "failed" or "npm installed no package of a target for linux on x64" in run.case["reason"]


def test_a_program_that_the_machine_cannot_run_is_not_run(project):
    run = project.verify(["/bin/sh", "-c", "echo no such function; exit 125"])
    assert (run.case["outcome"], run.case["reason"]) == ("not run", "not-emulated")
    assert "this Linux cannot load" in run.case["summary"]
    assert "no such function" in run.case["summary"]


@pytest.mark.slow
@pytest.mark.emulated
@pytest.mark.parametrize("rid", ["osx-arm64", "osx-x64", "win-arm64", "linux-musl-x64", "linux-musl-arm64"])
def test_libraries_for_systems_that_no_one_lends_us_load(tmp_path, rid):
    made = table.make(cache() / "glue", rid)[rid]
    if made.startswith("not available"):
        pytest.skip(f"not run: {made}")
    root = write_portable(tmp_path / "tiny", [rid])
    run_program(*CLI, "-C", root, "verify", "--machines", cache() / "glue", "--target", rid, timeout=600)
    cases = json.loads((root / "reports" / "verify.json").read_text("utf-8"))["cases"]
    assert [case["outcome"] for case in cases if case["consumer"] == "c-loader"] == ["glue passed"]
