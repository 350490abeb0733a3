"""latenn's options of ONNX Runtime in C: execution providers, runs, and what else a session takes."""

import json
import re
from pathlib import Path

import models
import numpy as np
import plugin_ep
import pytest
from c.test_latenn import (
    COMPUTE_FAILED,
    INVALID_ARGUMENT,
    IO,
    MODEL_INVALID,
    UNSUPPORTED,
    feed_line,
    run,
)
from onnx import TensorProto

from tests.support.building import ROOT
from tests.support.needs import official_header

__all__ = ["run"]

CANCELLED = 10
ENTRIES = ROOT / "latenn" / "native" / "src" / "onnxruntime" / "entries.c"
X = np.array([-1, 2, 3], np.float32)
FEED = feed_line("x", TensorProto.FLOAT, X)


def save(path, content):
    path.write_bytes(content)
    return path


def options(**settings):
    return [
        argument for key, value in settings.items() for argument in ("--option", f"{key.replace('__', '.')}={value}")
    ]


def floats(answer):
    return np.frombuffer(bytes.fromhex(answer["hex"]), np.float32).tolist()


# ---- execution providers ----


@pytest.fixture(scope="session")
def plugin(shared_folder):
    return plugin_ep.tiny_ep(shared_folder)


def plug_in(plugin, **more):
    # No CPU provider in its place: then the plugin is what computes.
    settings = {"plugin_ep.tiny": plugin, "ep": plugin_ep.NAME, "session.disable_cpu_ep_fallback": 1, **more}
    return options(**settings)


def test_a_plugin_computes(run, plugin, tmp_path):
    model = save(tmp_path / "m.onnx", models.relu_of_three())
    again = f"again -\n{FEED}compute\noutputs\n"
    (_, answer) = run(model, again, *plug_in(plugin))
    assert floats(answer) == [0, 2, 3]


def test_without_its_plugin_a_provider_is_refused_and_those_that_are_there_are_named(run, tmp_path):
    (answer,) = run(save(tmp_path / "m.onnx", models.relu_of_three()), "", *options(ep=plugin_ep.NAME))
    assert answer["error"] == UNSUPPORTED
    assert f'The execution provider "{plugin_ep.NAME}" cannot be had: ONNX Runtime' in answer["message"]
    assert "Devices are of: CPUExecutionProvider. Register its library with plugin_ep.NAME" in answer["message"]


def test_a_device_that_a_plugin_does_not_have_is_refused(run, plugin, tmp_path):
    arguments = plug_in(plugin, **{f"ep_device.{plugin_ep.NAME}": 1})
    (answer,) = run(save(tmp_path / "m.onnx", models.relu_of_three()), "", *arguments)
    assert answer["error"] == UNSUPPORTED


@pytest.mark.parametrize(
    ("settings", "code", "says"),
    [
        ({"ep": "CPUExecutionProvider"}, None, ""),
        ({"ep": "XNNPACK", "ep.XNNPACK.intra_op_num_threads": 1}, UNSUPPORTED, "XNNPACK"),
        ({"ep.Other.key": 1}, INVALID_ARGUMENT, 'of the execution provider "Other", which is not asked for'),
        ({"ep_device.Other": 0}, INVALID_ARGUMENT, 'of the execution provider "Other", which is not asked for'),
        ({"ep_device.X": "first", "ep": "X"}, INVALID_ARGUMENT, "it takes a number, counted from 0"),
        ({"ep.context_enable": 0}, None, ""),
        ({"plugin_ep.x": "libx.so"}, INVALID_ARGUMENT, 'plugin_ep.x is "libx.so"; it takes an absolute path'),
        ({"plugin_ep.x": "/gone/libx.so"}, COMPUTE_FAILED, "cannot register an execution provider"),
        ({"custom_op_library": "libx.so"}, INVALID_ARGUMENT, "it takes an absolute path"),
        ({"custom_op_library": "/gone/libx.so"}, COMPUTE_FAILED, "refuses the option custom_op_library"),
        ({"free_dimension.n": "many"}, INVALID_ARGUMENT, "it takes a number from 1"),
        ({"free_dimension.n": 0}, INVALID_ARGUMENT, "it takes a number from 1"),
        ({"profile": ""}, INVALID_ARGUMENT, "it takes the beginning of a path"),
        ({"log_severity_level": 5}, INVALID_ARGUMENT, "it takes a number from 0 (verbose) to 4"),
        (
            {"session.intra_op.alow_spining": 0},
            INVALID_ARGUMENT,
            'The option "session.intra_op.alow_spining" is not known. Did you mean "session.intra_op.allow_spinning"?',
        ),
        (
            {"vendor.speed": 1},
            INVALID_ARGUMENT,
            'is not known. If a newer ONNX Runtime reads it as a config entry, write "config_entry.vendor.speed".',
        ),
        ({f"session.{'x' * 300}": 1}, INVALID_ARGUMENT, "is not known. If a newer"),
        ({"config_entry.vendor.speed": 1}, None, ""),
        ({"custom_op.Model.directory": "/x"}, None, ""),
        ({"custom_op.Model": 1}, INVALID_ARGUMENT, "is not known"),
        ({"config_entry.ep.cuda.use_arena": 1}, None, ""),
        ({"config_entry.": 1}, INVALID_ARGUMENT, "is not known"),
        ({"session.use_ort_model_bytes_directly": 1}, INVALID_ARGUMENT, "keeps no bytes of a model after loading"),
        ({"config_entry.session.use_ort_model_bytes_for_initializers": 1}, INVALID_ARGUMENT, "cannot be used"),
        ({"session.use_ort_model_bytes_directly": 0}, None, ""),
    ],
    ids=str,
)
def test_options_of_a_session(run, tmp_path, settings, code, says):
    answers = run(save(tmp_path / "m.onnx", models.identity()), "ports\n", *options(**settings))
    if code is None:
        assert "error" not in answers[0]
    else:
        assert (answers[0]["error"], says in answers[0]["message"]) == (code, True), answers[0]


def test_a_config_entry_with_the_prefix_reaches_the_runtime(run, tmp_path):
    """The runtime refuses the model, which is not in ORT's own format: it has read the entry."""
    model = save(tmp_path / "m.onnx", models.relu_of_three())
    (answer,) = run(model, "", *options(**{"config_entry.session.load_model_format": "ORT"}))
    assert answer["error"] == MODEL_INVALID


@pytest.mark.parametrize("version", ["1.19", "1.21", "newest"])
@pytest.mark.parametrize("kind", ["session", "run"])
def test_each_config_entry_of_the_official_headers_is_known(shared_folder, version, kind):
    header = official_header(shared_folder, version).with_name(f"onnxruntime_{kind}_options_config_keys.h")
    declared = set(re.findall(r'kOrt\w+\s*=\s*"([^"]+)"', header.read_text("utf-8")))
    listed = set(re.findall(r'"([^"]+)"', ENTRIES.read_text("utf-8")))
    of_a_provider = {key for key in declared if re.match(r"ep\.\w+\.", key)}  # ep.NAME.KEY
    assert len(declared) > 3
    assert declared - of_a_provider - listed == set()


def test_one_name_is_one_library(run, plugin, tmp_path):
    other = save(tmp_path / "other.so", plugin.read_bytes())
    arguments = [*plug_in(plugin), "--option", f"plugin_ep.tiny={other}"]
    (answer,) = run(save(tmp_path / "m.onnx", models.relu_of_three()), "", *arguments)
    assert answer["error"] == INVALID_ARGUMENT
    assert f"plugin_ep.tiny is {plugin} in this process already; {other} was asked for" in answer["message"]


# ---- sessions ----


def test_an_open_dimension_is_fixed(run, tmp_path):
    model = save(tmp_path / "m.onnx", models.identity(shape=("n", 3)))
    ports = run(model, "ports\n", *options(free_dimension__n=2))
    assert [port["shape"] for port in ports] == [[2, 3]] * 2


def test_a_profile_is_written_where_it_is_asked_for(run, tmp_path):
    model = save(tmp_path / "m.onnx", models.identity(shape=[3]))
    written, again = run(model, FEED + "compute\nprofile\nprofile\n", *options(profile=tmp_path / "profile"))
    assert [Path(written)] == list(tmp_path.glob("profile*.json"))
    assert any(event.get("name", "").endswith("model_run") for event in json.loads(Path(written).read_text()))
    assert again["message"] == "The model has no profile, or it was ended. Load it with the option profile."


@pytest.mark.parametrize("how", ["bytes", "path"])
def test_what_a_model_keeps_outside_of_itself_may_come_from_memory(run, tmp_path, how):
    model = save(tmp_path / "m.onnx", models.outside())
    weights = save(tmp_path / "elsewhere", np.array([10, 20, 30], np.float32).tobytes())
    (answer,) = run(model, FEED + "compute\noutputs\n", "--file", f"weights.bin={weights}", how=how)
    assert floats(answer) == [9, 22, 33]
    (answer,) = run(model, "", "--file", f"other.bin={weights}", how=how)
    assert answer["error"] in {MODEL_INVALID, IO}


def test_a_library_of_custom_operators_is_registered(run, programs, tmp_path):
    model = save(tmp_path / "m.onnx", models.omit_attributes())
    (unknown,) = run(model)
    (answer,) = run(model, "", *options(custom_op_library__own=programs.folder / "latenn" / "liblatenn_customop.so"))
    assert "is not a registered function/op" in unknown["message"]
    assert "lacks the attribute version" in answer["message"]


def test_a_model_says_what_it_is(run, tmp_path):
    assert run(save(tmp_path / "m.onnx", models.describe_identity()), "metadata\n") == [models.DESCRIBED]


# ---- runs ----


def test_the_outputs_that_a_run_names_are_there_and_no_others(run, tmp_path):
    model = save(tmp_path / "m.onnx", models.add((3,)))
    both = "".join(feed_line(name, TensorProto.FLOAT, X) for name in ("left", "right"))
    feed = f"run output=sum output=sum\n{both}compute\noutputs\nrun output=twice\n{both}compute\noutputs\n"
    lost, total, twice, none = run(model, feed)
    assert (floats(total), floats(twice)) == ([-2, 4, 6], [-4, 8, 12])
    assert 'Output "twice" is not here: it was not among the outputs that the run names.' in lost["message"]
    assert 'Output "sum" is not here' in none["message"]


@pytest.mark.parametrize("after", [0, 300])
def test_another_thread_ends_a_run_and_no_other_begins_with_it(run, tmp_path, after):
    model = save(tmp_path / "m.onnx", models.endless())
    x = "input x 1 0 00000000\n"
    answers = run(model, f"run tag=me\n{x}cancel {after}\n{x}compute\noutputs\n")
    assert [answer["error"] for answer in answers] == [CANCELLED, CANCELLED, INVALID_ARGUMENT]
    assert answers[0]["message"] == "The run was cancelled."


def test_an_adapter_changes_what_a_run_computes(run, tmp_path):
    model = save(tmp_path / "m.onnx", models.add_delta())
    path = models.adapter(tmp_path / "a.onnx_adapter", 100, 200, 300)
    feed = f"{FEED}compute\noutputs\nrun lora_adapter.a={path}\n{FEED}compute\noutputs\n"
    plain, adapted = run(model, feed)
    assert (floats(plain), floats(adapted)) == ([-1, 2, 3], [99, 202, 303])


@pytest.mark.parametrize(
    ("settings", "code", "says"),
    [
        ("tag=a log_severity_level=4 memory.enable_memory_arena_shrinkage=cpu:0", None, ""),
        ("output=z", INVALID_ARGUMENT, 'The model has no output "z"; it has 1: "y".'),
        ("log_severity_level=loud", INVALID_ARGUMENT, "it takes a number from 0 (verbose) to 4 (fatal)"),
        ("memory.enable_arena_shrinkage=cpu:0", INVALID_ARGUMENT, 'mean "memory.enable_memory_arena_shrinkage"?'),
        ("config_entry.gpu_graph_id=1", None, ""),
        ("speed=1", INVALID_ARGUMENT, 'The option "speed" of a run is not known. Known: output, tag'),
        ("lora_adapter=/gone", IO, "The LoRA adapter /gone cannot be loaded: there is no such file."),
    ],
)
def test_options_of_a_run(run, tmp_path, settings, code, says):
    answers = run(save(tmp_path / "m.onnx", models.identity(shape=[3])), f"run {settings}\n{FEED}compute\noutputs\n")
    if code is None:
        assert floats(answers[0]) == X.tolist()
    else:
        assert (answers[0]["error"], says in answers[0]["message"]) == (code, True), answers[0]


# ---- other backends ----

ECHO = "input numbers 1 2 1 3 0000803f0000004000004040\ninput words 8 1 2 6162 0 1 2\ninput nibbles 22 1 3 2103\n"


@pytest.mark.parametrize(
    ("feed", "arguments", "says"),
    [
        ("run tag=a\n", (), 'The echo backend has no option "tag" of a run; it knows "output" alone.'),
        ("profile\n", (), "The echo backend writes no profiles."),
        ("metadata\n", (), "The echo backend does not give the metadata of models."),
        (f"run output=words\n{ECHO}cancel 0\n", (), "The echo backend cannot end a computation that has begun."),
        ("", ("--file", "x={model}"), "The echo backend takes no files from memory."),
    ],
)
def test_a_backend_that_lacks_something_says_so(programs, tmp_path, feed, arguments, says):
    model = save(tmp_path / "m.bin", b"\x08anything")
    formatted = [argument.format(model=model) for argument in arguments]
    answers = programs.runner(
        "path", model, "--backend", "echo", "--backend-dir", programs.folder / "backends", *formatted, feed=feed
    )
    assert (answers[-1]["error"], says in answers[-1]["message"]) == (UNSUPPORTED, True)


def test_every_backend_gives_the_outputs_that_a_run_names(programs, tmp_path):
    model = save(tmp_path / "m.bin", b"\x08anything")
    feed = f"run output=words\n{ECHO}compute\noutputs\n"
    arguments = ("--backend", "echo", "--backend-dir", programs.folder / "backends")
    answers = programs.runner("path", model, *arguments, feed=feed)
    assert [answer.get("output") for answer in answers] == [None, "words", None]
