"""latenn for Python on real ONNX Runtime: types, shapes, names, errors, threads."""

import array
import ctypes
import gc
import json
import pickle
import warnings
from importlib import metadata
from pathlib import Path

import ml_dtypes  # noqa: F401  # NumPy then knows bfloat16
import models
import numpy as np
import pytest
from onnx import TensorProto, helper
from python.running import in_process, python

NUMBERS = {
    **models.PLAIN,
    "bfloat16": TensorProto.BFLOAT16,
    "float8_e4m3fn": TensorProto.FLOAT8E4M3FN,
    "float8_e4m3fnuz": TensorProto.FLOAT8E4M3FNUZ,
    "float8_e5m2": TensorProto.FLOAT8E5M2,
    "float8_e5m2fnuz": TensorProto.FLOAT8E5M2FNUZ,
}
BACKENDS = ("litert", "onnxruntime", "openvino")
SHAPES = [(), (0,), (1,), (3,), (2, 0, 3), (2, 3), (1, 2, 1, 2, 1, 2, 1)]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_number_type_and_rank_goes_through_unchanged(latenn, name, shape):
    array = (np.arange(int(np.prod(shape))) % 3).reshape(shape).astype(name)
    versions = {"opset": 21, "ir": 10} if name.startswith("float8") else {}
    with latenn.load(models.identity(NUMBERS[name], [None] * len(shape), **versions)) as model:
        (result,) = model.run({"x": array}).values()
    assert (result.dtype, result.shape) == (array.dtype, array.shape)
    assert result.tobytes() == array.tobytes()
    assert result.flags.owndata
    assert result.flags.writeable


def test_ports_tell_names_types_and_open_dimensions(latenn):
    with latenn.load(models.add()) as model:
        assert [port.name for port in model.inputs] == ["left", "right"]
        assert model.inputs[0] == latenn.Port(name="left", type="float32", shape=(2, "width"))
        assert repr(model) == (
            "<latenn.Model onnxruntime (left: float32[2, 'width'], right: float32[2, 'width'])"
            " -> (twice: float32[2, 'width'], sum: float32[2, 'width'])>"
        )


def test_a_model_without_inputs(latenn):
    value = helper.make_tensor("v", TensorProto.INT64, [2], [4, 5])
    constant = models.model([helper.make_node("Constant", [], ["y"], value=value)], [], [("y", TensorProto.INT64, [2])])
    with latenn.load(constant) as model:
        assert model.run({})["y"].tolist() == [4, 5]


@pytest.mark.parametrize("name", ["model.onnx", "ein Modell mit Leerzeichen.onnx", "模型.onnx"])
def test_models_load_from_paths_in_any_script(latenn, tmp_path, name):
    path = tmp_path / name
    path.write_bytes(models.identity())
    for source in (path, str(path), path.read_bytes(), bytearray(path.read_bytes()), memoryview(path.read_bytes())):
        with latenn.load(source) as model:
            assert model.run({"x": np.ones(3, np.float32)})["y"].tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "input 'left' is missing; input 'right' is missing. The model takes 'left', 'right'."),
        ({"left": 1, "right": 1, "up": 1}, "unknown input 'up'. The model takes"),
        ({"left": np.ones((2, 3)), "right": 1}, "input 'left' is float64, the model takes float32. Convert it"),
        ({"left": np.ones((3, 3), np.float32), "right": np.ones((2, 3), np.float32)}, 'input "left"'),
        ({"left": np.ones(2, np.float32), "right": np.ones(2, np.float32)}, 'input "left"'),
        (
            {"left": 1, "right": 1, 3: 1, None: 1},
            "unknown input 3; unknown input None. The model takes 'left', 'right'.",
        ),
    ],
)
def test_a_wrong_input_is_refused_by_name(latenn, inputs, message):
    with latenn.load(models.add()) as model, pytest.raises(latenn.InvalidArgumentError) as caught:
        model.run(inputs)
    assert message.lower() in str(caught.value).lower()


class Interface:
    """What another library's array looks like: an interface, no dtype."""

    def __init__(self, value):
        self.__array_interface__ = value.__array_interface__
        self.value = value


LOSSLESS = {
    "an int": (TensorProto.INT64, 5, [], "5"),
    "the limits": (TensorProto.INT8, [-128, 127], [2], "[-128, 127]"),
    "the largest": (TensorProto.UINT64, [2**64 - 1], [1], "[18446744073709551615]"),
    "ints to floats": (TensorProto.FLOAT, [1, 2.5], [2], "[1.0, 2.5]"),
    "a rounded float": (TensorProto.FLOAT, 0.1, [], "0.10000000149011612"),
    "what is not finite": (TensorProto.FLOAT16, [float("inf"), float("nan")], [2], "[inf, nan]"),
    "bools": (TensorProto.BOOL, ((True, False),), [1, 2], "[[True, False]]"),
    "an empty list": (TensorProto.INT32, [], [0], "[]"),
    "empty lists": (TensorProto.INT32, [[], []], [2, 0], "[[], []]"),
    "a range": (TensorProto.INT32, range(3), [3], "[0, 1, 2]"),
    "rows": (TensorProto.INT32, [[1, 2], (3, 4)], [2, 2], "[[1, 2], [3, 4]]"),
    "arrays": (TensorProto.FLOAT, [np.ones(2, "f4"), [2, 3]], [2, 2], "[[1.0, 1.0], [2.0, 3.0]]"),
    "scalars": (TensorProto.FLOAT, [np.float32(1.5), 2], [2], "[1.5, 2.0]"),
    "an array.array": (TensorProto.DOUBLE, array.array("d", [1.7]), [1], "[1.7]"),
    "a memoryview": (TensorProto.DOUBLE, memoryview(array.array("d", [1.7])), [1], "[1.7]"),
    "a bytearray": (TensorProto.UINT8, bytearray(b"ab"), [2], "[97, 98]"),
    "bytes": (TensorProto.UINT8, b"ab", [2], "[97, 98]"),
    "ctypes": (TensorProto.FLOAT, (ctypes.c_float * 2)(1, 2), [2], "[1.0, 2.0]"),
    "an interface": (TensorProto.FLOAT, Interface(np.ones(2, "f4")), [2], "[1.0, 1.0]"),
    "bfloat16": (TensorProto.BFLOAT16, [1, 2.5], [2], "[1.0, 2.5]"),
}


@pytest.mark.parametrize(("kind", "value", "shape", "expected"), LOSSLESS.values(), ids=LOSSLESS)
def test_values_without_a_dtype_become_the_models_where_nothing_is_lost(latenn, kind, value, shape, expected):
    with latenn.load(models.identity(kind, shape)) as model:
        assert str(model.run({"x": value})["y"].tolist()) == expected


endless = []
endless.append(endless)
LOSSY = {
    "a float to int": (TensorProto.INT64, [1.5], "holds 1.5 (float), the model takes int64. Give int, or an array"),
    "a whole float to int": (TensorProto.INT64, [1, 2.0], "holds 2.0 (float), the model takes int64"),
    "None": (TensorProto.FLOAT, None, "holds None, the model takes float32. Give int or float, or an array"),
    "None in a list": (TensorProto.FLOAT, [1.0, None], "holds None, the model takes float32"),
    "a bool to int": (TensorProto.INT64, [True], "holds True (bool), the model takes int64"),
    "a bool to float": (TensorProto.FLOAT, True, "holds True (bool), the model takes float32"),
    "an int to bool": (TensorProto.BOOL, [1], "holds 1 (int), the model takes bool. Give bool"),
    "out of range": (TensorProto.UINT8, 300, "holds 300 (int), which uint8 cannot hold. Give numbers from 0 to 255"),
    "below zero": (TensorProto.UINT64, [1, -1], "holds -1 (int), which uint64 cannot hold. Give numbers from 0 to"),
    "too long": (TensorProto.INT64, 10**5000, "holds an int of 16610 bits, which int64 cannot hold"),
    "too long for a float": (TensorProto.DOUBLE, [1, 10**5000], "an int of 16610 bits, which float64 cannot hold"),
    "too large for a float": (TensorProto.FLOAT, [1e300], "holds 1e+300 (float), which float32 cannot hold"),
    "an int past float16": (TensorProto.FLOAT16, [70_000], "holds 70000 (int), which float16 cannot hold"),
    "a complex to float": (TensorProto.FLOAT, [1j], "holds 1j (complex), the model takes float32"),
    "a str": (TensorProto.FLOAT, "abc", "holds 'abc' (str), the model takes float32"),
    "digits": (TensorProto.INT64, ["12"], "holds '12' (str), the model takes int64"),
    "bytes to float": (TensorProto.FLOAT, b"12", "is uint8, the model takes float32. Convert it"),
    "a memoryview": (TensorProto.INT64, memoryview(array.array("d", [1.7])), "is float64, the model takes int64"),
    "an array.array": (TensorProto.FLOAT, array.array("d", [1e300]), "is float64, the model takes float32"),
    "ctypes": (TensorProto.INT64, (ctypes.c_float * 1)(1.5), "is float32, the model takes int64"),
    "an interface": (TensorProto.INT64, Interface(np.ones(2)), "is float64, the model takes int64"),
    "an array in a list": (TensorProto.INT64, [np.ones(2)], "is float64, the model takes int64"),
    "a scalar in a list": (TensorProto.FLOAT, [np.float64(1)], "is float64, the model takes float32"),
    "objects": (TensorProto.INT64, np.array([1], dtype=object), "is object, the model takes int64"),
    "a masked array": (TensorProto.FLOAT, np.ma.array(np.ones(2, "f4"), mask=[0, 1]), "is a masked array"),
    "a masked item": (TensorProto.FLOAT, [1.0, np.ma.masked], "is a masked array, and a model knows no masks"),
    "masked strings": (TensorProto.STRING, np.ma.array(["a"], mask=[1]), "is a masked array"),
    "a set": (TensorProto.INT64, {1}, "holds {1} (set), the model takes int64"),
    "a ragged list": (TensorProto.INT64, [[1], [1, 2]], "is ragged: it has items of shape [1] and of shape [2]"),
    "an endless list": (TensorProto.INT64, endless, "has more than 32 lists inside each other"),
    "an endless list of texts": (TensorProto.STRING, endless, "has more than 32 lists inside each other"),
    "a number among texts": (TensorProto.STRING, ["a", 1], "holds 1 (int), the model takes strings. Give str or bytes"),
    "a number in an array": (TensorProto.STRING, np.array(["a", 1], object), "holds 1 (int), the model takes strings"),
    "None among texts": (TensorProto.STRING, ["a", None], "holds None, the model takes strings"),
    "half a surrogate pair": (TensorProto.STRING, ["\ud800"], "which is not Unicode text: surrogates not allowed"),
    "a buffer for texts": (TensorProto.STRING, bytearray(b"ab"), "is uint8, the model takes strings"),
    "no numbers for texts": (TensorProto.STRING, np.ones(0), "is float64, the model takes strings"),
}


@pytest.mark.parametrize(("kind", "value", "message"), LOSSY.values(), ids=LOSSY)
def test_a_value_that_would_lose_something_is_refused_in_words(latenn, kind, value, message):
    with latenn.load(models.identity(kind)) as model, pytest.raises(latenn.InvalidArgumentError) as caught:
        model.run({"x": value})
    assert str(caught.value).startswith("input 'x' ")
    assert message in str(caught.value)


class Broken:
    """An array of another library that cannot be read from here, as one on another device."""

    dtype = "float32"

    def __array__(self, *_arguments, **_options):
        raise RuntimeError("it lies on a moon")


def test_an_array_that_cannot_be_read_is_named(latenn):
    with (
        latenn.load(models.identity()) as model,
        pytest.raises(latenn.InvalidArgumentError, match=r"input 'x' is a Broken .* it lies on a moon. Give a NumPy"),
    ):
        model.run({"x": Broken()})


KEPT = {
    "a list": (["a\0b\0", ""], ["a\0b\0", ""]),
    "bytes": (b"abc\0", "abc\0"),
    "a str": ("abc\0", "abc\0"),
    "rows": ([["a\0"], (b"b\0",)], [["a\0"], ["b\0"]]),
    "arrays in a list": ([np.array(["a\0"], object), ["b"]], [["a\0"], ["b"]]),
    "scalars": ([np.str_("a\0"), np.bytes_(b"b")], ["a\0", "b"]),
    "fixed width": (np.array([b"ab", b"c"]), ["ab", "c"]),
    "fixed width, rows": (np.array([["x", "yy"], ["zzz", ""]]), [["x", "yy"], ["zzz", ""]]),
    "no texts": (np.array([], object), []),
    "empty texts": (np.array(["", "b", ""], object), ["", "b", ""]),
    "any script": (["ü".encode(), "日本".encode(), "🚀"], ["ü", "日本", "🚀"]),
    "long": (["with\0zero", "x" * 10_000], ["with\0zero", "x" * 10_000]),
    "what is no UTF-8": ([b"\xff"], ["\udcff"]),
}


@pytest.mark.parametrize(("texts", "expected"), KEPT.values(), ids=KEPT)
def test_strings_keep_every_character(latenn, texts, expected):
    with latenn.load(models.identity(TensorProto.STRING, [None] * np.ndim(expected))) as model:
        assert model.run({"x": texts})["y"].tolist() == expected


@pytest.mark.skipif(
    not hasattr(getattr(np, "dtypes", None), "StringDType"), reason="not run: NumPy 1 has no StringDType"
)
def test_arrays_of_numpys_own_strings_are_taken(latenn):
    array = np.array([["a\0", "ü"], ["", "x" * 100]], dtype=np.dtypes.StringDType())
    with latenn.load(models.identity(TensorProto.STRING, [2, 2])) as model:
        assert model.run({"x": array})["y"].tolist() == array.tolist()


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("float8_e4m3fn", [1e6]),
        ("float8_e4m3fn", [float("inf")]),
        ("float8_e5m2", [1e6]),
        ("bfloat16", [1e300]),
        ("complex64", [1, 1e300j]),
    ],
)
def test_types_refuse_what_would_become_infinite_or_nan(latenn, kind, value):
    from latenn import _tensors  # noqa: PLC0415  # after the fixture has made it importable

    number = next(number for number, name in _tensors.NAMES.items() if name == kind)
    with pytest.raises(latenn.InvalidArgumentError, match="cannot hold"):
        _tensors.to_tensor("x", number, value)


def test_four_bit_integers_are_held_to_their_range(latenn):
    from latenn import _tensors  # noqa: PLC0415  # after the fixture has made it importable

    (_, (data,)) = _tensors.to_tensor("x", 22, [-8, 7, 1])
    assert data.tobytes() == b"\x78\x01"
    for number, value in ((22, 8), (22, -9), (21, 16), (21, -1)):
        with pytest.raises(latenn.InvalidArgumentError, match="cannot hold"):
            _tensors.to_tensor("x", number, [value])


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        (b"", "ModelError|InvalidArgumentError|BackendMissingError", ""),
        (b"not a model", "ModelError|BackendMissingError", ""),
        (models.identity()[:-5], "ModelError", "refuses the model"),
        (models.sequence(), "UnsupportedError", '"s"'),
        ("/no/such/model.onnx", "LatennOSError|ModelError", "/no/such/model.onnx"),
    ],
    ids=["empty", "garbage", "truncated", "sequence", "absent"],
)
def test_a_model_that_cannot_be_loaded_says_why(latenn, source, kind, message):
    with pytest.raises(latenn.LatennError) as caught:
        latenn.load(source)
    assert type(caught.value).__name__ in kind.split("|")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("choice", "kind", "message"),
    [
        ({"device": "tpu"}, "UnsupportedError", "tpu"),
        ({"options": {"treads": 1}}, "InvalidArgumentError", "treads"),
        ({"options": {"intra_op_num_threads": "many"}}, "InvalidArgumentError", "intra_op_num_threads"),
        ({"backend": "tvm"}, "BackendMissingError", "tvm"),
        ({"backend": "/no/such/backend.so"}, "BackendMissingError", "/no/such/backend.so"),
        ({"runtime_minimum": "one"}, "InvalidArgumentError", "one"),
    ],
)
def test_a_choice_that_cannot_be_had_says_so(latenn, choice, kind, message):
    with pytest.raises(latenn.LatennError) as caught:
        latenn.load(models.identity(), **choice)
    assert type(caught.value).__name__ == kind
    assert message in str(caught.value)


NO_C_TEXT = [
    ({"backend": "onnx\0runtime"}, "backend is"),
    ({"device": "cpu\0"}, "device is"),
    ({"options": {"intra_op_num_threads\0x": 1}}, "a key of options is"),
    ({"options": {"intra_op_num_threads": "1\0x"}}, "options['intra_op_num_threads'] is"),
    ({"options": {3: 1}}, "a key of options is 3, which is not text"),
    ({"runtime_path": Path("/some\0where")}, "runtime_path is"),
    ({"runtime_minimum": "1.20\0"}, "runtime_minimum is"),
    ({"device": "\ud800"}, "device is"),
    ({"runtime_path": ""}, "runtime_path is empty"),
    ({"backend": ""}, "backend is empty"),
    ({"device": ""}, "device is empty"),
    ({"runtime_minimum": ""}, "runtime_minimum is empty"),
]


@pytest.mark.parametrize(("choice", "message"), NO_C_TEXT, ids=[message for _, message in NO_C_TEXT])
def test_a_choice_that_c_would_read_as_another_is_refused(latenn, choice, message):
    with pytest.raises(latenn.InvalidArgumentError) as caught:
        latenn.load(models.identity(), **choice)
    assert str(caught.value).startswith(message)
    if not {"device", "options"} & set(choice):
        with pytest.raises(latenn.InvalidArgumentError):
            latenn.runtime_report(**choice)


def test_a_path_is_not_cut_at_a_nul(latenn, tmp_path):
    (tmp_path / "model.onnx").write_bytes(models.identity())
    with pytest.raises(latenn.InvalidArgumentError, match=r"model is .* NUL"):
        latenn.load(f"{tmp_path}/model.onnx\0evil")
    with pytest.raises(latenn.InvalidArgumentError, match="model is empty"):
        latenn.load("")


def test_options_reach_the_runtime(latenn):
    options = {"intra_op_num_threads": 1, "graph_optimization_level": "basic", "session.disable_prepacking": True}
    with latenn.load(models.identity(), options=options) as model:
        assert model.run({"x": np.ones(1, np.float32)})["y"].tolist() == [1]


class ClosesOnUse(dict):
    """Inputs that close the model in the midst of the run that reads them."""

    def __getitem__(self, name):
        self.model.close()
        return super().__getitem__(name)


def test_a_model_closed_in_the_midst_of_a_run_ends_after_it(latenn, monkeypatch):
    model = latenn.load(models.identity())
    released = []
    release = model._handle._release
    monkeypatch.setattr(model._handle, "_release", lambda pointer: (released.append(pointer), release(pointer)))
    inputs = ClosesOnUse(x=np.ones(2, np.float32))
    inputs.model = model

    assert model.run(inputs)["y"].tolist() == [1, 1]

    assert len(released) == 1
    model.close()
    for call in (lambda: model.run({}), lambda: model.report):
        with pytest.raises(latenn.InvalidArgumentError, match="the model is closed"):
            call()
    assert len(released) == 1


CLOSING = f"""
import latenn, numpy, threading
given = {{"x": numpy.ones(1000, "f4")}}
wrong = []
def work(model, begun):
    try:
        while True:
            if model.run(given)["y"].sum() != 1000: wrong.append("a number")
            begun.set()
    except latenn.InvalidArgumentError as error:
        if str(error) != "the model is closed": wrong.append(str(error))
for _ in range(100):
    model = latenn.load({models.identity()!r})
    begun = threading.Event()
    threads = [threading.Thread(target=work, args=(model, begun)) for _ in range(4)]
    for thread in threads: thread.start()
    begun.wait()
    model.close()
    for thread in threads: thread.join()
print("done", wrong)
"""


def test_closing_while_others_run_ends_in_results_or_refusals(latenn_site):
    done = in_process(latenn_site, CLOSING)
    assert (done.returncode, done.stdout.strip()) == (0, "done []"), done.stderr


def test_a_model_that_is_forgotten_is_released(latenn, monkeypatch):
    model = latenn.load(models.identity())
    released = []
    monkeypatch.setattr(model._handle, "_release", released.append)
    del model
    gc.collect()
    assert len(released) == 1


def test_errors_pickle_and_are_of_the_familiar_kinds_too(latenn):
    error = latenn.RuntimeUnavailableError("no runtime", {"bound": False})
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  # ours
    assert (str(again), again.report, again.code) == ("no runtime", {"bound": False}, 4)
    assert isinstance(again, ImportError)
    assert issubclass(latenn.InvalidArgumentError, ValueError)


def test_the_report_names_the_very_file_of_the_installed_distribution(latenn):
    installed = {str(file.locate()) for file in metadata.files("onnxruntime") if "libonnxruntime.so" in file.name}
    with latenn.load(models.identity()) as model:
        report = model.report
    assert report["version"] == metadata.version("onnxruntime")
    assert str(Path(report["path"]).resolve()) in {str(Path(path).resolve()) for path in installed}
    assert latenn.runtime_report()["path"] == report["path"]


LOAD = f"""
import latenn, numpy
model = latenn.load({models.identity()!r})
print(model.run({{'x': numpy.ones(2, 'f4')}})['y'].tolist(), model.report['version'])
"""


def test_the_host_may_import_onnxruntime_before_or_after(latenn_site):
    for code in (f"import onnxruntime\n{LOAD}", f"{LOAD}\nimport onnxruntime"):
        done = in_process(latenn_site, code)
        assert done.stdout.strip() == f"[1.0, 1.0] {metadata.version('onnxruntime')}", done.stderr


def test_nothing_is_printed_when_a_model_is_refused(latenn_site):
    code = "import latenn\ntry: latenn.load(b'\\x08\\x08 nonsense')\nexcept latenn.LatennError: print('refused')"
    done = in_process(latenn_site, code)
    assert (done.stdout.strip(), done.stderr) == ("refused", "")


def test_the_environment_variable_is_final(latenn_site, tmp_path):
    done = in_process(latenn_site, LOAD, ONNXRUNTIME_LIB_PATH=str(tmp_path / "nowhere"))
    assert done.returncode == 1
    assert "RuntimeUnavailableError" in done.stderr
    assert "ONNXRUNTIME_LIB_PATH" in done.stderr


def test_importing_latenn_loads_no_runtime(latenn_site):
    code = "import latenn; print('libonnxruntime' in open('/proc/self/maps').read(), latenn.__version__)"
    assert in_process(latenn_site, code).stdout.split() == ["False", "0.1.0"]


def test_doctor_and_run_work_from_the_shell(latenn_site, tmp_path):
    def shell(*arguments):
        return python(latenn_site, "-m", "latenn", *arguments)

    doctor = shell("doctor")
    assert doctor.returncode == 0
    assert f"ONNX Runtime {metadata.version('onnxruntime')} is bound from" in doctor.stdout
    assert json.loads(shell("doctor", "--json", "--backend", "onnxruntime").stdout)["bound"]
    assert {report["runtime"] for report in json.loads(shell("doctor", "--json").stdout)} == set(BACKENDS)
    (tmp_path / "m.onnx").write_bytes(models.identity())
    np.save(tmp_path / "x.npy", np.ones(2, np.float32))
    assert "y float32[2]\n[1. 1.]" in shell("run", tmp_path / "m.onnx", "--input", f"x=@{tmp_path / 'x.npy'}").stdout
    refused = shell("run", tmp_path / "m.onnx")
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert shell("run", tmp_path / "m.onnx", "--input", "x").returncode == 2
    argument, saved = f"x=@{tmp_path / 'x.npy'}", tmp_path / "y.npy"
    assert shell("run", tmp_path / "m.onnx", "--input", argument, "--output", f"y=@{saved}").returncode == 0
    assert np.load(saved).tolist() == [1, 1]
    assert shell("run", tmp_path / "m.onnx", "--input", argument, "--output", f"z=@{saved}").returncode == 2
    assert (
        shell("run", tmp_path / "m.onnx", "--input", argument, "--output", f"y=@{tmp_path / 'no' / 'y'}").returncode
        == 1
    )
    assert "accelerator: in use" in doctor.stdout


def test_bench_times_runs_of_several_threads(latenn_site, tmp_path):
    def bench(*arguments):
        return python(latenn_site, "-m", "latenn", "bench", tmp_path / "m.onnx", "--seconds", "0.1", *arguments)

    (tmp_path / "m.onnx").write_bytes(models.add())
    result = json.loads(bench("--threads", "2", "--json").stdout)
    assert result["threads"] == 2
    assert result["runs"] > 2
    assert 0 < result["median_us"] <= result["p90_us"]
    assert "runs_per_second" in bench().stdout
    assert bench("--threads", "0").returncode == 2
    (tmp_path / "m.onnx").write_bytes(models.identity(TensorProto.STRING))
    refused = bench()
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)


def test_a_warning_of_the_loader_is_passed_on_once(latenn, monkeypatch):
    from latenn import _model  # noqa: PLC0415  # after the fixture has made it importable

    monkeypatch.setattr(_model, "_warned", set())
    with pytest.warns(latenn.LatennWarning, match="two images"):
        _model._warn({"warning": "two images"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _model._warn({"warning": "two images"})
        _model._warn({"warning": ""})
