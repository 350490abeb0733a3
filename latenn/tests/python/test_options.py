"""latenn's options of ONNX Runtime in Python: execution providers, runs, and what else a session takes."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from pathlib import Path
from types import ModuleType

import models
import numpy as np
import plugin_ep
import pytest
from python.running import in_process
from python.wrapping import install_onnxruntime

X = np.array([-1, 2, 3], np.float32)


@pytest.fixture(scope="session")
def plugin(tmp_path_factory):
    return plugin_ep.tiny_ep(tmp_path_factory.getbasetemp().parent)


@pytest.fixture
def package(plugin, monkeypatch):
    """The plugin as an installed package."""
    module = ModuleType("onnxruntime_ep_tiny")
    module.get_library_path = lambda: str(plugin)
    monkeypatch.setitem(sys.modules, module.__name__, module)


# ---- sessions ----


def test_an_installed_plugin_computes(latenn, package):
    options = {
        "plugin_ep.tiny": latenn.plugin_ep("tiny"),
        "ep": plugin_ep.NAME,
        "session.disable_cpu_ep_fallback": True,
    }
    for _ in range(2):
        with latenn.load(models.relu_of_three(), options=options) as model:
            assert model.run({"x": X})["y"].tolist() == [0, 2, 3]


def test_a_plugin_that_is_not_installed_is_named(latenn):
    with pytest.raises(latenn.RuntimeUnavailableError, match=r"pip install onnxruntime-ep-no-such$"):
        latenn.plugin_ep("no-such")


def test_a_provider_that_the_runtime_lacks_is_refused(latenn):
    with pytest.raises(latenn.UnsupportedError, match='The execution provider "XNNPACK" cannot be had'):
        latenn.load(models.identity(), options={"ep": "XNNPACK", "ep.XNNPACK.intra_op_num_threads": 2})


OLD = """
import sys, latenn
from pathlib import Path
model = bytes.fromhex(sys.argv[1])
try:
    latenn.load(model, options={"plugin_ep.tiny": "/any.so", "ep": "TinyExecutionProvider"})
except latenn.UnsupportedError as error:
    print(error)
with latenn.load(model, options={"free_dimension.n": 3}) as loaded:
    print(loaded.inputs[0].shape, loaded.metadata["graph_name"])
    print(loaded.run({"x": [1, 2, 3]}, loaded.run_options(outputs=["y"]))["y"].tolist())
    try:
        loaded.run_options(options={"lora_adapter": sys.executable})
    except latenn.UnsupportedError as error:
        print(error)
"""


def test_what_the_oldest_runtime_lacks_is_refused_with_the_version_that_has_it(latenn_site, tmp_path):
    done = in_process(f"{install_onnxruntime('1.19.2', tmp_path)}:{latenn_site}", OLD, models.identity().hex())
    plugin, shape, outputs, adapter = done.stdout.splitlines()
    assert "RegisterExecutionProviderLibrary needs ONNX Runtime 1.22; this is 1.19.2" in plugin
    assert (shape, outputs) == ("(3,) test", "[1.0, 2.0, 3.0]")
    assert "CreateLoraAdapter needs ONNX Runtime 1.20; this is 1.19.2" in adapter


PLUGGED = """
import sys, latenn
options = {"plugin_ep.tiny": sys.argv[2], "ep": "TinyExecutionProvider", "session.disable_cpu_ep_fallback": 1}
with latenn.load(bytes.fromhex(sys.argv[1]), options=options) as loaded:
    print(loaded.report["version"], loaded.run({"x": [-1, 2, 3]})["y"].tolist())
"""


def test_the_first_runtime_with_plugins_computes_by_one(latenn_site, plugin, tmp_path):
    done = in_process(
        f"{install_onnxruntime('1.23.2', tmp_path)}:{latenn_site}", PLUGGED, models.relu_of_three().hex(), plugin
    )
    assert done.stdout == "1.23.2 [0.0, 2.0, 3.0]\n", done.stderr


def test_an_open_dimension_is_fixed(latenn):
    with latenn.load(models.identity(), options={"free_dimension.n": 3}) as model:
        assert model.inputs[0].shape == (3,)


def test_a_profile_is_written_where_it_is_asked_for(latenn, tmp_path):
    with latenn.load(models.identity(), options={"profile": tmp_path / "profile"}) as model:
        model.run({"x": X})
        written = Path(model.end_profile())
        with pytest.raises(latenn.InvalidArgumentError, match="has no profile, or it was ended"):
            model.end_profile()
    assert [written] == list(tmp_path.glob("profile*.json"))
    assert any(event.get("name", "").endswith("model_run") for event in json.loads(written.read_text()))


def test_what_a_model_keeps_outside_of_itself_may_come_from_memory(latenn):
    with latenn.load(models.outside(), files={"weights.bin": np.array([10, 20, 30], np.float32).tobytes()}) as model:
        assert model.run({"x": X})["y"].tolist() == [9, 22, 33]


def test_a_model_says_what_it_is(latenn):
    with latenn.load(models.describe_identity()) as model:
        assert model.metadata == models.DESCRIBED


class Recorded(dict):
    """What `latenn_customop.register` does to a session's options, as options of latenn."""

    def add_session_config_entry(self, key, value):
        self[key] = value

    def register_custom_ops_library(self, path):
        self["custom_op_library"] = path


def test_a_library_of_custom_operators_is_registered(latenn, tmp_path):
    import latenn_customop  # noqa: PLC0415  # from the same folder as latenn

    wrapped = tmp_path / "wrapped.onnx"
    wrapped.write_bytes(latenn_customop.wrap(models.identity()).SerializeToString())
    latenn_customop.register(options := Recorded())
    with latenn.load(wrapped, options=options) as model:
        assert model.run({"x": X})["y"].tolist() == X.tolist()
    with pytest.raises(latenn.ModelError):
        latenn.load(wrapped)


# ---- runs ----


def test_a_run_gives_the_outputs_that_are_named(latenn):
    with latenn.load(models.add((3,))) as model:
        some = model.run_options(outputs=["sum"])
        inputs = {"left": X, "right": X}
        assert {name: array.tolist() for name, array in model.run(inputs, some).items()} == {"sum": [-2, 4, 6]}
        assert list(model.run(inputs, options=model.run_options(outputs="twice"))) == ["twice"]
        assert list(model.run(inputs)) == ["twice", "sum"]
        with pytest.raises(latenn.InvalidArgumentError, match='no output "other"'):
            model.run_options(outputs=["other"])


def test_a_binding_gives_the_outputs_that_are_named(latenn):
    with latenn.load(models.add((3,))) as model:
        binding = model.bind()
        binding.inputs["left"] = binding.inputs["right"] = X
        binding.outputs["sum"] = target = np.zeros(3, np.float32)
        binding.outputs["twice"] = other = np.zeros(3, np.float32)
        for _ in range(4):
            binding.run()
        target[:] = other[:] = 0
        assert list(binding.run(model.run_options(outputs=["sum"]))) == ["sum"]
        assert (target.tolist(), other.tolist()) == ([-2, 4, 6], [0, 0, 0])
        assert list(binding.run()) == ["twice", "sum"]
        assert other.tolist() == [-4, 8, 12]


ZERO = np.array(0, np.float32)


async def await_future(future):
    return await future


def run_bound(model, options):
    binding = model.bind()
    binding.inputs["x"] = ZERO
    binding.run(options)


WAYS = {
    "run": lambda model, options: model.run({"x": ZERO}, options),
    "run_async": lambda model, options: asyncio.run(await_future(model.run_async({"x": ZERO}, options))),
    "bind": run_bound,
}


@pytest.mark.parametrize("way", WAYS)
def test_another_thread_ends_a_run(latenn, way):
    with latenn.load(models.endless()) as model:
        options = model.run_options(options={"tag": "mine"})
        timer = threading.Timer(0.3, options.cancel)
        timer.start()
        begun = time.monotonic()
        with pytest.raises(latenn.CancelledError, match="The run was cancelled"):
            WAYS[way](model, options)
        assert time.monotonic() - begun < 30
        timer.join()
        with pytest.raises(latenn.CancelledError):
            model.run({"x": ZERO}, options)


def test_an_adapter_changes_what_a_run_computes(latenn, tmp_path):
    path = models.adapter(tmp_path / "a.onnx_adapter", 100, 200, 300)
    with latenn.load(models.add_delta()) as model:
        options = model.run_options(options={"lora_adapter": path})
        assert model.run({"x": X}, options)["y"].tolist() == [99, 202, 303]
        assert model.run({"x": X})["y"].tolist() == X.tolist()
        binding = model.bind()
        binding.inputs["x"] = X
        assert np.asarray(binding.run(options)["y"]).tolist() == [99, 202, 303]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"speed": 1}, 'The option "speed" of a run is not known'),
        ({"log_severity_level": "loud"}, "it takes a number from 0"),
        ({"lora_adapter": "/gone"}, "The LoRA adapter /gone cannot be loaded: there is no such file"),
    ],
)
def test_a_wrong_option_of_a_run_is_refused(latenn, options, message):
    with latenn.load(models.identity()) as model, pytest.raises(latenn.LatennError, match=message):
        model.run_options(options=options)


def test_options_are_of_one_model_and_outlive_it(latenn):
    with latenn.load(models.identity()) as model, latenn.load(models.identity()) as other:
        options = model.run_options()
        with pytest.raises(latenn.InvalidArgumentError, match="for another model"):
            other.run({"x": X}, options)
        with pytest.raises(latenn.InvalidArgumentError, match=r"make them with model\.run_options"):
            model.run({"x": X}, {"tag": "a"})
    options.cancel()
    with pytest.raises(latenn.InvalidArgumentError, match="closed"):
        model.run_options()


# ---- other backends ----


def test_every_backend_gives_the_outputs_that_are_named_and_refuses_what_it_lacks(latenn):
    pytest.importorskip("openvino", reason="not run: openvino is not installed: pip install openvino")
    with latenn.load(models.add((3,)), backend="openvino") as model:
        assert list(model.run({"left": X, "right": X}, model.run_options(outputs=["sum"]))) == ["sum"]
        with pytest.raises(latenn.UnsupportedError, match='no option "tag" of a run'):
            model.run_options(options={"tag": "a"})
        with pytest.raises(latenn.UnsupportedError, match="metadata"):
            _ = model.metadata
        with pytest.raises(latenn.UnsupportedError, match="cannot end a computation"):
            model.run_options().cancel()
    with pytest.raises(latenn.UnsupportedError, match="takes no files from memory"):
        latenn.load(models.outside(), backend="openvino", files={"weights.bin": b""})
