"""latenn as it is packed: the wheels of one build, unpacked, with the runtimes of the test environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="session")
def latenn(latenn_site):
    """The package, imported from the wheels."""
    for name in ("ONNXRUNTIME", "OPENVINO", "LITERT"):
        os.environ.pop(f"{name}_LIB_PATH", None)
    sys.path.insert(0, str(latenn_site))
    try:
        import latenn as package  # noqa: PLC0415  # it is in a folder that this fixture made

        assert Path(package.__file__).is_relative_to(latenn_site)
        yield package
    finally:
        sys.path.remove(str(latenn_site))


@pytest.fixture(scope="session")
def ir(tmp_path_factory):
    """An IR of OpenVINO with weights: y = x + [0, 1, 2, 3]."""
    openvino = pytest.importorskip("openvino", reason="not run: openvino is not installed: pip install openvino")
    x = openvino.opset13.parameter(openvino.PartialShape([-1, 4]), np.float32, name="x")
    y = openvino.opset13.add(x, np.arange(4, dtype=np.float32))
    x.output(0).set_names({"x"})
    y.output(0).set_names({"y"})
    path = tmp_path_factory.mktemp("ir") / "ein Modell.xml"
    openvino.save_model(openvino.Model([y], [x]), path, compress_to_fp16=False)
    return path


@pytest.fixture(scope="session")
def customop(latenn):
    import latenn_customop  # noqa: PLC0415  # from the same folder as latenn

    assert latenn_customop.library_path().startswith(str(Path(latenn.__file__).parents[1]))
    return latenn_customop


@pytest.fixture(scope="module", params=["1.19.2", "1.23.2"])
def older(request, tmp_path_factory):
    """A version, and a folder with that onnxruntime and what it needs."""
    from python.wrapping import install_onnxruntime  # noqa: PLC0415  # skips where there is no onnxruntime

    return request.param, install_onnxruntime(request.param, tmp_path_factory.mktemp("runtime"))
