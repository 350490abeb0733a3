"""Models wrapped as one node of an ONNX graph, and the sessions of plain onnxruntime that run them."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import onnx
import pytest
from onnx import helper
from python.running import python

from tests.support.building import ROOT
from tests.support.programs import run_program

pytest.importorskip("ai_edge_litert", reason="not run: ai-edge-litert is not installed: pip install ai-edge-litert")
sys.path.insert(0, str(ROOT / "latenn" / "verify"))
import tflite_cases as tflite  # noqa: F401  # is next to the consumers

onnxruntime = pytest.importorskip(
    "onnxruntime", reason="not run: onnxruntime is not installed: pip install onnxruntime"
)

OLDER = ("1.19.2", "1.23.2")
"""Releases that are run outside of this process."""


def session(customop, model, **choices):
    """A session of a graph (or of its bytes) with the operator."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    customop.register(options, **choices)
    return made_session(model, options)


def made_session(model, options):
    data = model if isinstance(model, bytes) else model.SerializeToString()
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def attribute(graph, name, value):
    """The same graph with another attribute of its one node; None takes it away."""
    copy = onnx.ModelProto()
    copy.CopyFrom(graph)
    node = copy.graph.node[0]
    attributes = [entry for entry in node.attribute if entry.name != name]
    del node.attribute[:]
    node.attribute.extend(attributes if value is None else [*attributes, helper.make_attribute(name, value)])
    return copy


def refusal(customop, model, **choices):
    """What a session that cannot be made says, from the node's name on."""
    with pytest.raises(Exception, match="latenn") as caught:
        session(customop, model, **choices)
    return str(caught.value)


SCRIPT = """
import sys
import numpy as np
import onnxruntime
import latenn_customop
assert onnxruntime.__version__ == sys.argv[1]
options = onnxruntime.SessionOptions()
latenn_customop.register(options)
for graph in sys.argv[2:]:
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    x = np.arange(-4, 4, dtype=np.float32).reshape(2, 4)
    print(session.run(None, {"x": x})[0].tolist(), session.get_outputs()[0].shape)
"""


def install_onnxruntime(version, folder):
    """The folder, with an older onnxruntime in it."""
    uv = shutil.which("uv") or Path(sys.executable).with_name("uv")
    command = [uv, "pip", "install", "--quiet", "--python", sys.executable, "--target", folder, "numpy<2.3"]
    done = run_program(*command, f"onnxruntime=={version}")
    if done.returncode:
        pytest.skip(f"not run: onnxruntime {version} cannot be installed: {done.stderr.strip()[-200:]}")
    return folder


def older_session(older, site, *graphs, flags=()):
    version, folder = older
    return python(os.pathsep.join(map(str, (folder, site))), *flags, "-c", SCRIPT, version, *graphs)
