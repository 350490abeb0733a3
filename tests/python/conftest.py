"""latenn as it is packed: the wheels of one build, unpacked, with the runtimes of the test environment."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from latebind.build.native import stage_target
from latebind.build.pack import pack
from latebind.config.file import load
from latebind.tables.targets import host_rid, target

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """A folder with all wheels unpacked into it, as `pip install --target` leaves it."""
    work = tmp_path_factory.mktemp("latenn")
    config = load(ROOT / "latenn" / "latebind.toml")
    stage = stage_target(config, target(host_rid()), work)
    made = pack(config, [stage], work, work / "dist")
    folder = work / "site"
    for artifact in made.artifacts:
        if artifact.kind == "wheel":
            with zipfile.ZipFile(artifact.path) as archive:
                archive.extractall(folder)
    return folder


@pytest.fixture(scope="session")
def latenn(site):
    """The package, imported from the wheels."""
    for name in ("ONNXRUNTIME", "OPENVINO", "LITERT"):
        os.environ.pop(f"{name}_LIB_PATH", None)
    sys.path.insert(0, str(site))
    try:
        import latenn as package  # noqa: PLC0415  # it is in a folder that this fixture made

        assert Path(package.__file__).is_relative_to(site)
        yield package
    finally:
        sys.path.remove(str(site))


@pytest.fixture(scope="session")
def ir(tmp_path_factory):
    """An IR of OpenVINO with weights: y = x + [0, 1, 2, 3]."""
    openvino = pytest.importorskip("openvino", reason="not run: openvino is not installed")
    x = openvino.opset13.parameter(openvino.PartialShape([-1, 4]), np.float32, name="x")
    y = openvino.opset13.add(x, np.arange(4, dtype=np.float32))
    x.output(0).set_names({"x"})
    y.output(0).set_names({"y"})
    path = tmp_path_factory.mktemp("ir") / "ein Modell.xml"
    openvino.save_model(openvino.Model([y], [x]), path, compress_to_fp16=False)
    return path
