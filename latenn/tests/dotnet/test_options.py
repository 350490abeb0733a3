"""latenn's options of ONNX Runtime in .NET: execution providers, runs, and what else a session takes."""

from __future__ import annotations

import shutil
import sys

import pytest

from latebind.compilers import dotnet
from latebind.ecosystems.nuget.dotnet_project import build_consumer
from latebind.system.run import run
from tests import models, plugin_ep
from tests.dotnet_support import ROOT, consumer, dotnet_environment

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


def test_every_option_reaches_the_runtime(tmp_path_factory, packages, runtime, folder):
    work = tmp_path_factory.mktemp("options")
    built = build_consumer(consumer(packages, runtime, project=ROOT / "latenn" / "tests" / "dotnet" / "options"), work)

    ended = run([*built.argv, folder], env=dotnet.private(dotnet_environment(), work / "home"), check=False)

    assert ended.returncode == 0, ended.output
    assert ended.output.count("passed ") == 13
