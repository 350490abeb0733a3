"""A C program that takes header and library out of the nupkgs: built, run, and failing where a package is broken."""

from __future__ import annotations

import zipfile

import msgspec
import pytest

from latebind.ecosystems.nuget.consumer import unpack
from latebind.errors import InputError, ToolError
from latebind.system.run import run
from latebind.verify.cases.machine import Machine
from latebind.verify.run.native import build_for
from tests.dotnet_support import LATENN, RID, spoiled_cases, without

SOURCE = LATENN / "verify" / "c"
pytestmark = pytest.mark.usefixtures("packages")


def build_c(packages, tree):
    return build_for(Machine(rid=RID, title="this one"), "", SOURCE, tree, f"-DPACKAGES={packages}", f"-DRID={RID}")


def run_consumer(feed, cases, work, *arguments):
    """The status, and what the program wrote."""
    packages = unpack(feed, work / "packages")
    program = build_c(packages, work / "build")
    ended = run([program, cases, work / "result.json", packages, *arguments], check=False)
    return ended.returncode, msgspec.json.decode((work / "result.json").read_bytes())


def test_it_computes_with_the_three_packages(tmp_path, packages, runtime, cases):
    status, document = run_consumer([*packages, runtime[1]], cases, tmp_path)

    assert (status, document["failed"]) == (0, [])
    assert document["report"]["version"] == runtime[0]
    assert {"identity_1", "identity_9", "scalar", "special", "empty"} <= set(document["passed"])
    assert document["out_of_scope"] == {"identity_10": "float16", "identity_16": "bfloat16", "text": "string"}
    folders = {path.removeprefix(str(tmp_path / "packages")).split("/")[1] for path in document["libraries"]}
    assert folders == {"latenn", "latenn.onnxruntime", "microsoft.ml.onnxruntime"}


def test_a_sample_is_spread_evenly(tmp_path, packages, runtime, cases):
    status, document = run_consumer([*packages, runtime[1]], cases, tmp_path, "--sample", "3")

    assert status == 0
    assert len(document["passed"]) + len(document["out_of_scope"]) == 3


def test_wrong_expected_numbers_fail_it(tmp_path, packages, runtime, cases):
    spoiled = spoiled_cases(cases, tmp_path / "cases")
    status, document = run_consumer([*packages, runtime[1]], spoiled, tmp_path)

    assert status == 1
    assert [failure["name"] for failure in document["failed"]] == ["identity_1"]
    assert document["failed"][0]["message"].startswith("element 0 is ")


@pytest.mark.parametrize(("part", "says"), [("build/native/include", "LATENN_INCLUDE"), ("runtimes/", "LATENN_CORE")])
def test_a_package_without_header_or_library_does_not_build(tmp_path, packages, runtime, part, says):
    broken = without(packages[0], part, tmp_path / "broken")

    with pytest.raises(ToolError, match=says):
        build_c(unpack([broken, packages[1], runtime[1]], tmp_path / "p"), tmp_path / "build")


def test_a_backend_package_without_its_library_is_told_in_words(tmp_path, packages, runtime, cases):
    broken = without(packages[1], "runtimes/", tmp_path / "broken")

    status, document = run_consumer([packages[0], broken, runtime[1]], cases, tmp_path)

    assert (status, document["passed"]) == (3, [])
    assert "dotnet add package Latenn.OnnxRuntime" in document["error"]["message"]


def test_without_the_runtime_the_sentence_names_the_command(tmp_path, packages, cases):
    status, document = run_consumer(packages, cases, tmp_path)

    assert status == 3
    assert "nuget install Microsoft.ML.OnnxRuntime" in document["error"]["message"]


def test_what_is_no_package_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.nupkg", "w") as archive:
        archive.writestr("a/b.nuspec", "")

    with pytest.raises(InputError, match="no nuspec"):
        unpack([tmp_path / "x.nupkg"], tmp_path / "p")
