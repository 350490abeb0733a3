"""The C program that verifies latenn's nupkgs: what it passes, and that wrong numbers and broken packages fail it."""

from __future__ import annotations

import json
import zipfile

import pytest
from small_cases import small_cases, spoiled_cases

from tests.support.building import build, configure, needed_compiler, runtime_library
from tests.support.latenn import LATENN
from tests.support.programs import run_program

IDS = ("Latenn", "Latenn.OnnxRuntime")
NATIVE = "runtimes/linux-x64/native"
pytestmark = pytest.mark.builds


@pytest.fixture
def packages(latenn_here, tmp_path):
    """latenn's nupkgs and the runtime's library, unpacked as NuGet does it."""
    for name in IDS:
        with zipfile.ZipFile(latenn_here / f"{name}.0.1.0.nupkg") as package:
            package.extractall(tmp_path / "packages" / name.lower())
    folder = tmp_path / "packages" / "microsoft.ml.onnxruntime" / NATIVE
    folder.mkdir(parents=True)
    (folder / "libonnxruntime.so").symlink_to(runtime_library() or pytest.skip("not run: there is no onnxruntime here"))
    return tmp_path / "packages"


@pytest.fixture
def compute(packages, tmp_path):
    """Builds the consumer and runs it over the cases: the status, and what it wrote."""

    def run(cases, *arguments):
        tree = tmp_path / "tree"
        configure(LATENN / "verify/c", tree, needed_compiler(), f"-DPACKAGES={packages}", "-DRID=linux-x64")
        build(tree)
        ended = run_program(tree / "consumer", cases, tmp_path / "result.json", packages, *arguments)
        return ended.returncode, json.loads((tmp_path / "result.json").read_text("utf-8"))

    return run


@pytest.fixture
def cases(tmp_path):
    return small_cases(tmp_path / "cases")


def test_it_computes_with_the_three_packages(packages, compute, cases):
    status, document = compute(cases)

    assert (status, document["failed"]) == (0, [])
    assert {"identity_1", "identity_9", "scalar", "special", "empty"} <= set(document["passed"])
    assert document["out_of_scope"] == {"identity_10": "float16", "identity_16": "bfloat16", "text": "string"}


def test_a_sample_is_spread_evenly(compute, cases):
    status, document = compute(cases, "--sample", "3")

    assert (status, len(document["passed"]) + len(document["out_of_scope"])) == (0, 3)


def test_wrong_expected_numbers_fail_it(compute, cases, tmp_path):
    status, document = compute(spoiled_cases(cases, tmp_path / "spoiled"))

    assert (status, [failure["name"] for failure in document["failed"]]) == (1, ["identity_1"])
    assert document["failed"][0]["message"].startswith("element 0 is ")


@pytest.mark.parametrize(
    ("missing", "says"),
    [
        ("latenn.onnxruntime", "dotnet add package Latenn.OnnxRuntime"),
        ("microsoft.ml.onnxruntime", "nuget install Microsoft.ML.OnnxRuntime"),
    ],
)
def test_without_a_library_the_sentence_names_the_command(packages, compute, cases, missing, says):
    for library in (packages / missing / NATIVE).iterdir():
        library.unlink()

    status, document = compute(cases)

    assert (status, document["passed"]) == (3, [])
    assert says in document["error"]["message"]
