"""latenn's options of ONNX Runtime in .NET: execution providers, runs, and what else a session takes."""

from __future__ import annotations

import shutil
import sys

import models
import plugin_ep
import pytest

from tests.support.latenn import LATENN
from tests.support.programs import run_checked

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="not run: the runtime's library is taken from a Linux wheel"),
]


@pytest.fixture
def folder(tmp_path_factory, tmp_path, latenn_here):
    """The models that the program loads, and what they need."""
    files = {
        "rectified": models.relu_of_three(),
        "identity": models.identity(),
        "outside": models.outside(),
        "described": models.describe_identity(),
        "add": models.add((3,)),
        "endless": models.endless(),
        "adapted": models.add_delta(),
        "unwrapped": models.omit_attributes(),
    }
    for name, content in files.items():
        (tmp_path / f"{name}.onnx").write_bytes(content)
    models.adapter(tmp_path / "a.onnx_adapter", 100, 200, 300)
    shutil.copy(plugin_ep.tiny_ep(tmp_path_factory.getbasetemp().parent), tmp_path / "libtiny_ep.so")
    operator = min(latenn_here.parent.rglob("liblatenn_customop.so"))
    shutil.copy(operator, tmp_path)
    return tmp_path


def test_every_option_reaches_the_runtime(build_program, latenn_here, onnxruntime, folder):
    packages = [latenn_here / f"{name}.0.1.0.nupkg" for name in ("Latenn", "Latenn.OnnxRuntime")]
    argv, environment = build_program(LATENN / "tests" / "dotnet" / "options", packages)

    printed = run_checked(*argv, folder, env={**environment, "ONNXRUNTIME_LIB_PATH": str(onnxruntime)})

    assert printed.count("passed ") == 13
