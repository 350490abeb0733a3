"""latenn's C library: the core with a synthetic backend, and the whole with the real ONNX Runtime."""

import itertools
import json
import shutil
import sys

import models
import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.support.emulated import FEED, SUM, onnx_sum
from tests.support.programs import run_checked

INVALID_ARGUMENT, BACKEND_MISSING, BACKEND_UNUSABLE, RUNTIME_UNAVAILABLE = 1, 2, 3, 4
MODEL_INVALID, UNSUPPORTED, COMPUTE_FAILED, OUT_OF_MEMORY, IO = 5, 6, 7, 8, 9


def feed_line(name, type_, array):
    shape = " ".join(str(size) for size in array.shape)
    return f"input {name} {type_} {array.ndim} {shape} {array.tobytes().hex() or '-'}\n"


def feed_strings(name, shape, strings):
    offsets = [0]
    for string in strings:
        offsets.append(offsets[-1] + len(string))
    sizes = " ".join(str(size) for size in shape)
    data = b"".join(strings).hex() or "-"
    return f"input {name} {TensorProto.STRING} {len(shape)} {sizes} {data} {' '.join(map(str, offsets))}\n"


def strings_of(output):
    data, offsets = bytes.fromhex(output["hex"]), output["offsets"]
    return [data[start:end] for start, end in itertools.pairwise(offsets)]


def save(path, *parts, **more):
    path.write_bytes(models.model(*parts, **more))
    return path


def identity(path, type_, shape, **versions):
    path.write_bytes(models.identity(type_, shape, **versions))
    return path


# ---- the core alone ----


@pytest.fixture
def echo(programs, tmp_path):
    model = tmp_path / "model.bin"
    model.write_bytes(b"\x08anything")

    def run(feed, *arguments):
        return programs.runner(
            "path", model, "--backend", "echo", "--backend-dir", programs.folder / "backends", *arguments, feed=feed
        )

    return run


NUMBERS_HEX = "0000803f0000004000004040"  # 1, 2, 3
GOOD = f"input numbers 1 2 1 3 {NUMBERS_HEX}\ninput words 8 1 2 6162 0 1 2\ninput nibbles 22 1 3 2103\n"


def test_what_goes_in_comes_out(echo):
    numbers, strings, nibbles = echo(GOOD + "compute\noutputs\n")
    assert numbers["hex"] == NUMBERS_HEX
    assert strings_of(strings) == [b"a", b"b"]
    assert nibbles["shape"] == [3]


def test_ports_tell_open_dimensions_and_open_ranks(echo):
    answers = echo("ports\n")
    assert answers[0] == {"in": "numbers", "type": "float32", "rank": 2, "shape": [-1, 3], "names": ["batch", ""]}
    assert answers[2]["rank"] == -1


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("input numbers 7 2 1 3 -", 'input "numbers" takes float32; it was given int64.'),
        ("input numbers 99 2 1 3 -", 'input "numbers" takes float32; it was given unknown.'),
        ("input numbers 1 1 3 000000000000000000000000", 'input "numbers" takes shape [batch, 3]; it was given [3].'),
        ("input numbers 1 2 1 4 00000000000000000000000000000000", "takes shape [batch, 3]; it was given [1, 4]."),
        ("input numbers 1 2 -1 3 -", "the tensor's shape [-1, 3] has a negative dimension."),
        ("input numbers 1 -1 -", "the tensor has rank -1 but no shape."),
        ("input numbers 1 2 1 3 00000000", "shape [1, 3] of float32 is 12 bytes; 4 were given."),
        (
            "input numbers 1 2 4611686018427387904 3 00",
            "a float32 tensor of shape [4611686018427387904, 3] does not fit",
        ),
        ("input numbers 1 2 9223372036854775807 3 00", "does not fit in memory."),
        ("input words 8 1 2 6162 0 2 1", "offsets fall from 2 to 1 at element 1."),
        ("input words 8 1 2 6162 1 1 2", "offsets run from 1 to 2; they must run from 0 to 2, the bytes given."),
        ("input words 8 1 2 6162 0 1 3", "offsets run from 0 to 3; they must run from 0 to 2, the bytes given."),
        ("input words 8 1 2 6162", "a string tensor needs offsets."),
        ("input nibbles 22 1 3 210302", "shape [3] of int4 is 2 bytes; 3 were given."),
        ("input other 1 1 1 -", 'The model has no input "other"; it has 3: "numbers", "words", "nibbles".'),
    ],
)
def test_a_wrong_tensor_is_refused_in_words(echo, line, says):
    (answer,) = echo(line + "\n")
    assert answer["error"] == INVALID_ARGUMENT
    assert says in answer["message"]


def test_an_input_that_was_not_set_is_named_and_the_others_stay_set(echo):
    first, rest = GOOD.split("\n", 1)
    missing, *outputs = echo(f"{first}\ncompute\n{rest}compute\noutputs\n")
    assert missing["message"] == 'Input "words" was not set; the model needs 3 inputs.'
    assert len(outputs) == 3


def test_inputs_must_be_set_again_for_every_computation(echo):
    answer = echo(GOOD + "compute\ncompute\n")[-1]
    assert 'Input "numbers" was not set' in answer["message"]


def test_outputs_before_computing_are_an_error(echo):
    answers = echo("outputs\n")
    assert {answer["error"] for answer in answers} == {INVALID_ARGUMENT}
    assert "latenn_compute() has not succeeded yet" in answers[0]["message"]


def test_a_context_outlives_the_release_of_its_model(echo):
    (numbers,) = echo("release\n" + GOOD + "compute\noutput numbers\n")
    assert numbers["hex"] == NUMBERS_HEX


def test_a_backends_own_status_passes_through_whole(echo):
    (answer,) = echo("", "--device", "moon")
    assert answer == {"error": UNSUPPORTED, "message": "no such device", "report": {"fake": 1}}


# ---- finding a backend ----


@pytest.mark.parametrize(
    ("backend", "code", "says"),
    [
        ("absent", BACKEND_MISSING, "latenn's absent backend was not found in"),
        ("misnamed", BACKEND_UNUSABLE, 'is the backend "somebody_else", not "misnamed": the file is misnamed.'),
        ("no-such.name", INVALID_ARGUMENT, 'the option "backend" is "no-such.name": it must be a backend\'s name'),
        ("/gone/liblatenn_backend_x.so", BACKEND_MISSING, "was not found at /gone/liblatenn_backend_x.so"),
    ],
)
def test_a_backend_that_cannot_be_used(programs, tmp_path, backend, code, says):
    model = tmp_path / "model.onnx"
    model.write_bytes(b"\x08\x08")
    (answer,) = programs.runner("path", model, "--backend", backend, "--backend-dir", programs.folder / "backends")
    assert answer["error"] == code
    assert says in answer["message"]


def test_a_missing_backend_names_the_packages(programs, tmp_path):
    model = tmp_path / "model.bin"
    model.write_bytes(b"\0\0\0\0TFL3\0\0")
    (answer,) = programs.runner("path", model, "--backend", "absent")
    assert answer["error"] == BACKEND_MISSING
    assert "pip install latenn-absent, or dotnet add package Latenn.absent" in answer["message"]
    assert answer["report"]["attempts"]


@pytest.mark.parametrize(
    ("name", "content", "backend"),
    [
        ("m.bin", b"\x08\x08\x12\x04", "onnxruntime"),
        ("m.onnx", b"", "onnxruntime"),
        ("m.ORT", b"\x18\0\0\0ORTM", "onnxruntime"),
        ("m.bin", b"\x1c\0\0\0TFL3\0", "litert"),
        ("m.xml", b"\xef\xbb\xbf\n<?xml version='1.0'?>", "openvino"),
        ("m.bin", b"<net name='x'>", "openvino"),
    ],
)
def test_the_encoding_chooses_the_backend(programs, tmp_path, name, content, backend):
    model = tmp_path / name
    model.write_bytes(content)
    # Next to the core in the build tree lie the real backends: a wrong path for a runtime keeps this to the choice.
    (answer,) = programs.runner("path", model, "--runtime", "/gone")
    assert answer["error"] == RUNTIME_UNAVAILABLE
    assert answer["report"]["runtime"] == backend


@pytest.mark.parametrize("content", [b"", b"hello, world", b"\0" * 100])
def test_an_encoding_that_nobody_knows(programs, tmp_path, content):
    model = tmp_path / "model.bin"
    model.write_bytes(content)
    (answer,) = programs.runner("path", model)
    assert answer["error"] == MODEL_INVALID
    assert f"{model} is in no encoding that latenn knows" in answer["message"]


def test_a_model_that_is_not_there(programs, tmp_path):
    (answer,) = programs.runner("path", tmp_path / "gone.onnx")
    assert (answer["error"], "there is no such file" in answer["message"]) == (IO, True)
    (answer,) = programs.runner("path", tmp_path)
    assert (answer["error"], "it is a folder" in answer["message"]) == (IO, True)


# ---- with the real runtime ----


@pytest.fixture
def run(programs, onnxruntime):
    def runner(model, feed="", *arguments, how="path", **options):
        folders = ("--runtime-dir", onnxruntime.parent, "--backend-dir", programs.folder / "latenn")
        return programs.runner(how, model, *folders, *arguments, feed=feed, **options)

    return runner


def test_a_context_computes_after_its_model_was_released(run, tmp_path):
    model = identity(tmp_path / "m.onnx", TensorProto.FLOAT, ("N", 3))
    x = np.array([[1, 2, 3]], np.float32)
    (answer,) = run(model, "release\n" + feed_line("x", TensorProto.FLOAT, x) + "compute\noutput y\n")
    assert bytes.fromhex(answer["hex"]) == x.tobytes()


@pytest.mark.parametrize("how", ["path", "bytes"])
def test_a_model_computes(run, tmp_path, how):
    answer, _, again, _ = run(onnx_sum(tmp_path / "m.onnx"), FEED * 2, how=how)
    assert (answer["hex"], answer["shape"]) == (SUM, [1, 3])
    assert again["hex"] == SUM


@pytest.mark.parametrize(("type_", "packed"), [(TensorProto.UINT4, "2103"), (TensorProto.INT4, "2103")])
def test_four_bit_types_go_in_and_out_two_to_a_byte(run, tmp_path, type_, packed):
    model = tmp_path / "m.onnx"
    model.write_bytes(models.halves(type_, 3))
    # Unoptimized: ORT would turn the pair into an Identity of a type for which it has none.
    option = ("--option", "graph_optimization_level=disable")
    numbers, nibbles = run(model, f"input x {type_} 1 3 {packed}\ncompute\noutputs\n", *option)
    assert np.frombuffer(bytes.fromhex(numbers["hex"]), np.float32).tolist() == [1, 2, 3]
    assert (nibbles["hex"], nibbles["shape"]) == (packed, [3])


@pytest.mark.parametrize("type_", [TensorProto.COMPLEX64, TensorProto.COMPLEX128])
def test_a_type_that_the_runtime_does_not_take_is_refused_in_words(run, tmp_path, type_):
    model = identity(tmp_path / "m.onnx", type_, [1])
    answers = run(model, f"input x {type_} 1 1 {'00' * (8 if type_ == TensorProto.COMPLEX64 else 16)}\ncompute\n")
    assert answers[0]["error"] in {UNSUPPORTED, MODEL_INVALID, INVALID_ARGUMENT}
    assert "ONNX Runtime" in answers[0]["message"]


@pytest.mark.parametrize(
    ("shape", "strings"),
    [
        ((3,), [b"a", b"", "ünïcödé 日本".encode()]),
        ((2, 2), [b"nul\0inside", b"\0", b"x" * 2000, b""]),
        ((), [b"scalar"]),
        ((0,), []),
        ((2,), [b"", b""]),
    ],
)
def test_strings_pass_through_with_every_byte(run, tmp_path, shape, strings):
    model = identity(tmp_path / "m.onnx", TensorProto.STRING, list(shape))
    (answer,) = run(model, feed_strings("x", shape, strings) + "compute\noutputs\n")
    assert answer["shape"] == list(shape)
    assert strings_of(answer) == strings


def test_an_input_without_a_shape_takes_any_rank_and_a_scalar_takes_its_own(run, tmp_path, onnxruntime):
    open_ports = [[(name, TensorProto.FLOAT, None)] for name in "xy"]
    model = save(tmp_path / "open.onnx", [helper.make_node("Relu", ["x"], ["y"])], *open_ports)
    for shape in [(), (2,), (1, 2, 3)]:
        array = np.ones(shape, np.float32)
        port, *_, answer = run(model, "ports\n" + feed_line("x", TensorProto.FLOAT, array) + "compute\noutputs\n")
        assert port["rank"] == -1
        assert answer["shape"] == list(shape)
    scalar = identity(tmp_path / "scalar.onnx", TensorProto.FLOAT, [])
    minor = int(onnxruntime.name.split(".")[3])
    assert run(scalar, "ports\n")[0]["rank"] == (0 if minor >= 24 else -1)


@pytest.mark.parametrize(
    ("content", "kind"), [(models.sequence(), "a sequence"), (models.optional(), "an optional value")]
)
def test_values_that_are_no_tensors_are_refused_at_load_by_name_and_kind(run, tmp_path, content, kind):
    (tmp_path / "m.onnx").write_bytes(content)
    (answer,) = run(tmp_path / "m.onnx")
    assert answer["error"] == UNSUPPORTED
    assert f'output "s" is {kind}' in answer["message"]


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"\x08\x08\x12\x04oops", MODEL_INVALID), (b"\x08\x08", MODEL_INVALID), (b"\x08\xff\xff\xff\xff", MODEL_INVALID)],
)
@pytest.mark.parametrize("how", ["path", "bytes"])
def test_a_broken_model_is_refused_with_the_runtimes_words(run, tmp_path, content, code, how):
    model = tmp_path / "m.onnx"
    model.write_bytes(content)
    (answer,) = run(model, how=how)
    assert answer["error"] == code
    assert "refuses the model:" in answer["message"]


@pytest.mark.parametrize(
    ("option", "code", "says"),
    [
        ("intra_op_num_threads=2", None, None),
        ("inter_op_num_threads=1", None, None),
        ("graph_optimization_level=basic", None, None),
        ("session.intra_op.allow_spinning=0", None, None),
        ("log_severity_level=4", None, None),
        ("intra_op_num_threads=two", INVALID_ARGUMENT, 'intra_op_num_threads is "two"; it takes a number'),
        ("intra_op_num_threads=99999999999", INVALID_ARGUMENT, "it takes a number"),
        ("graph_optimization_level=most", INVALID_ARGUMENT, "disable, basic, extended or all"),
        ("threads=2", INVALID_ARGUMENT, 'The option "threads" is not known. Known: intra_op_num_threads'),
    ],
)
def test_options(run, tmp_path, option, code, says):
    model = identity(tmp_path / "m.onnx", TensorProto.FLOAT, [1])
    answers = run(model, "ports\n", "--option", option)
    if code is None:
        assert len(answers) == 2
    else:
        assert answers[0]["error"] == code
        assert says in answers[0]["message"]


@pytest.mark.parametrize("device", ["npu", "cuda:", "cuda:x", "cuda:99999", "CUDA"])
def test_a_device_that_there_is_not(run, tmp_path, device):
    (answer,) = run(identity(tmp_path / "m.onnx", TensorProto.FLOAT, [1]), "", "--device", device)
    assert answer["error"] == UNSUPPORTED
    assert f'The device "{device}" is not supported; this backend computes on "cpu", "cuda"' in answer["message"]


@pytest.mark.parametrize("device", ["cuda", "cuda:1"])
def test_a_runtime_without_cuda_says_what_to_install(run, onnxruntime, tmp_path, device):
    if list(onnxruntime.parent.glob("*providers_cuda*")):
        pytest.skip("not run: this runtime has CUDA")
    (answer,) = run(identity(tmp_path / "m.onnx", TensorProto.FLOAT, [1]), "", "--device", device)
    assert answer["error"] == UNSUPPORTED
    assert "CUDA execution provider is not enabled in this build" in answer["message"]
    assert "pip install onnxruntime-gpu" in answer["message"]


def test_a_floor_raised_above_what_is_installed(run, tmp_path):
    model = identity(tmp_path / "m.onnx", TensorProto.FLOAT, [1])
    # The runtime is opened, found too old and closed; ORT 1.19 itself leaks 80 bytes when it is closed.
    quiet = {"ASAN_OPTIONS": "detect_leaks=0"}
    (answer,) = run(model, "", "--minimum", "1.998", "--advice", "type this", environment=quiet)
    assert answer["error"] == RUNTIME_UNAVAILABLE
    assert "is too old; version 1.998 or newer is needed. Get it with: type this" in answer["message"]
    assert answer["report"]["attempts"][0]["outcome"] == "too-old"
    (answer,) = run(model, "", "--minimum", "new")
    assert (answer["error"], "it must look like 1.20" in answer["message"]) == (INVALID_ARGUMENT, True)


def test_a_missing_runtime_is_told_with_the_loaders_account(programs, tmp_path):
    model = identity(tmp_path / "m.onnx", TensorProto.FLOAT, [1])
    (answer,) = programs.runner(
        "path", model, "--backend-dir", programs.folder / "latenn", "--runtime", tmp_path / "gone"
    )
    assert answer["error"] == RUNTIME_UNAVAILABLE
    assert f"ONNX Runtime was not found at {tmp_path}/gone" in answer["message"]
    assert answer["report"]["message"] == answer["message"]


def test_another_runtime_than_the_one_in_use_is_refused_and_the_same_one_is_not(run, onnxruntime, tmp_path):
    model = identity(tmp_path / "m.onnx", TensorProto.FLOAT, [1])
    link = tmp_path / "link"
    link.symlink_to(onnxruntime)
    other = tmp_path / "other"
    other.write_text("another")
    paths = [onnxruntime, onnxruntime.parent, link, "-", other, tmp_path, tmp_path / "gone"]
    answers = run(model, "".join(f"again {path}\n" for path in paths))
    assert answers[:4] == [{"again": True}] * 4
    for path, answer in zip(paths[4:], answers[4:], strict=True):
        assert answer["error"] == RUNTIME_UNAVAILABLE
        assert f"from {onnxruntime} is in use in this process already; {path} was asked for" in answer["message"]


def test_a_higher_minimum_than_the_version_in_use_is_refused_and_names_both(run, onnxruntime, tmp_path):
    model = identity(tmp_path / "m.onnx", TensorProto.FLOAT, [1])
    met, unmet = run(model, "again-minimum 1.19\nagain-minimum 1.998\n", "--advice", "type this")
    assert met == {"again": True}
    assert unmet["error"] == RUNTIME_UNAVAILABLE
    version = onnxruntime.name.removeprefix("libonnxruntime.so.")
    assert f"ONNX Runtime {version} at {onnxruntime} is in use in this process already" in unmet["message"]
    assert "version 1.998 or newer is needed" in unmet["message"]
    assert unmet["message"].endswith("Get it with: type this")
    assert [attempt["outcome"] for attempt in unmet["report"]["attempts"]] == ["bound-older"]


@pytest.mark.parametrize("size", [0, 4, 95])
def test_options_without_their_size_are_refused_in_words(run, tmp_path, size):
    (answer,) = run(identity(tmp_path / "m.onnx", TensorProto.FLOAT, [1]), "", "--options-size", str(size))
    says = f"options.size is {size}: set it to sizeof(latenn_load_options)."
    assert (answer["error"], answer["message"]) == (INVALID_ARGUMENT, says)


def test_the_report_without_a_model(programs, onnxruntime, tmp_path):
    folder = ("--backend-dir", programs.folder / "latenn")
    (answer,) = programs.runner("report", "-", *folder, "--runtime-dir", onnxruntime.parent)
    assert answer["runtime_report"]["path"] == str(onnxruntime)
    error, answer = programs.runner("report", "-", *folder, "--runtime", tmp_path / "gone")
    assert error["error"] == RUNTIME_UNAVAILABLE
    assert answer["runtime_report"]["bound"] is False


def test_a_computation_that_fails_leaves_the_context_usable(run, tmp_path):
    node = helper.make_node("Reshape", ["x", "s"], ["y"])
    model = save(
        tmp_path / "m.onnx",
        [node],
        [("x", TensorProto.FLOAT, ["N"]), ("s", TensorProto.INT64, ["M"])],
        [("y", TensorProto.FLOAT, None)],
    )
    x = feed_line("x", TensorProto.FLOAT, np.arange(6, dtype=np.float32))
    wrong = x + feed_line("s", TensorProto.INT64, np.array([4, 4])) + "compute\noutputs\n"
    right = x + feed_line("s", TensorProto.INT64, np.array([2, 3])) + "compute\noutputs\n"
    failed, no_output, good = run(model, wrong + right)
    assert failed["error"] in {COMPUTE_FAILED, INVALID_ARGUMENT}
    assert no_output["error"] == INVALID_ARGUMENT
    assert good["shape"] == [2, 3]


def test_many_threads_load_and_share_a_model_from_the_first_call_on(programs, onnxruntime, tmp_path):
    model = onnx_sum(tmp_path / "m.onnx")
    done = programs.run("crowd", model, onnxruntime.parent, programs.folder / "latenn")
    assert done.stdout == b"all well\n"


IMPORTED_FIRST = """
import ctypes, json, pathlib, sys
import onnxruntime
core = ctypes.CDLL(sys.argv[1] + "/liblatenn_core.so")
core.latenn_runtime_report.restype = ctypes.c_void_p
folder = (ctypes.c_char_p * 1)(str(pathlib.Path(onnxruntime.__file__).parent / "capi").encode())
class Options(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("skip", ctypes.c_void_p * 5),
        ("folders", ctypes.c_void_p),
        ("count", ctypes.c_size_t),
        ("rest", ctypes.c_void_p * 4),
    ]
options = Options(ctypes.sizeof(Options))
options.folders, options.count = ctypes.cast(folder, ctypes.c_void_p), 1
report = ctypes.c_char_p()
assert not core.latenn_runtime_report(ctypes.byref(options), ctypes.byref(report))
print(report.value.decode())
"""


def test_the_static_runtime_inside_the_python_module_is_no_candidate(plain, onnxruntime):
    report = json.loads(run_checked(sys.executable, "-c", IMPORTED_FIRST, plain.folder / "latenn"))
    assert [attempt["source"] for attempt in report["attempts"]] == ["host"]
    assert report["images"] == 1
    assert report["path"] == str(onnxruntime)


RELATIVE = """
import ctypes, os, sys
os.chdir(sys.argv[1])
core = ctypes.CDLL("./liblatenn_core.so")
os.chdir(sys.argv[2])
core.latenn_runtime_report.restype = core.latenn_status_report.restype = ctypes.c_void_p
core.latenn_status_report.argtypes = [ctypes.c_void_p]
text = ctypes.c_char_p()
status = core.latenn_runtime_report(None, ctypes.byref(text))
print(ctypes.string_at(core.latenn_status_report(status)).decode())
"""


def test_beside_is_where_the_library_was_opened_and_not_the_current_folder(plain, tmp_path):
    for name in ("theirs", "ours"):
        (tmp_path / name).mkdir()
        shutil.copy(plain.folder / "latenn" / "liblatenn_core.so", tmp_path / name)
    printed = run_checked(sys.executable, "-c", RELATIVE, tmp_path / "ours", tmp_path / "theirs")
    assert f'"source": "beside", "outcome": "not-found", "path": "{tmp_path}/ours"' in printed
    assert "theirs" not in printed
