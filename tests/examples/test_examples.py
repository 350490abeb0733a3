"""Every example is built, packed, audited and verified with latebind from its wheel."""

import difflib
import importlib.metadata
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.examples.conftest import ROOT, packed_audited_verified, run

EXAMPLES = ROOT / "examples"
LATE = EXAMPLES / "linked-to-late"


def lines_of(folder):
    names = run("git", "ls-files", folder, where=ROOT).stdout.split()
    return sum(len((ROOT / name).read_text("utf-8").splitlines()) for name in names if not name.endswith("LICENSE"))


@pytest.mark.parametrize(
    "path", [*EXAMPLES.glob("*/latebind.toml"), *EXAMPLES.glob("*/*/latebind.toml")], ids=lambda path: path.parent.name
)
def test_an_example_has_fewer_than_200_lines(path):
    assert 0 < lines_of(path.parent) < 200


def test_the_change_from_linked_to_late_is_under_25_lines():
    changed = 0
    for name in ("CMakeLists.txt", "tinyrun.c"):
        before, after = (
            (LATE / side / "native" / name).read_text("utf-8").splitlines() for side in ("before", "after")
        )
        changed += sum(line[0] in "+-" for line in difflib.ndiff(before, after))
    assert 0 < changed < 25


def test_linked_to_late(installed, example, ort_header):
    project = example("linked-to-late/after")
    (project / "native/include").mkdir()
    shutil.copy(ort_header, project / "native/include")

    packed_audited_verified(installed, project)


def test_what_was_linked_builds_and_the_audit_names_it(installed, example, ort_header, tmp_path):
    compiler = shutil.which("cc")
    capi = Path(str(importlib.metadata.distribution("onnxruntime").locate_file("onnxruntime/capi")))
    libraries = list(capi.glob("libonnxruntime.so.*"))
    if not compiler or not libraries:
        pytest.skip("not run: there is no C compiler, or the runtime has no shared library")
    folder = example("linked-to-late/before") / "native"
    made = tmp_path / "libtinyrun.so"
    sources = [folder / "tinyrun.c", f"-I{ort_header.parent}", libraries[0]]
    subprocess.run([compiler, "-shared", "-fPIC", "-o", made, *sources], check=True)

    audited = run(installed, "audit", made, allowed=(1,))

    assert "LB101" in audited.stdout
    assert "libonnxruntime.so.1" in audited.stdout


@pytest.mark.slow
def test_custom_op(installed, example, ort_header):
    project = example("custom-op")
    (project / "native/include").mkdir()
    shutil.copy(ort_header, project / "native/include")

    packed_audited_verified(installed, project, "onnxruntime")


@pytest.mark.slow
def test_openvino_late(installed, example):
    packed_audited_verified(installed, example("openvino-late"), "openvino or absent")
