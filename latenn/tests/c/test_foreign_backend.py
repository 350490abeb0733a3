"""Backends built outside the tree with the header alone: they work, and what is wrong with one is reported."""

import json
import shutil

import pytest
from c.building import HERE
from c.test_latenn import GOOD, NUMBERS_HEX

from tests.support.building import ROOT, needed_compiler
from tests.support.programs import run_checked

BACKEND_UNUSABLE = 3
FEED = f"{GOOD}compute\noutput numbers\n"


@pytest.fixture(scope="module")
def make(shared_folder, tmp_path_factory):
    compiler = needed_compiler()
    work = tmp_path_factory.mktemp("foreign")
    for name in ("latenn.h", "latenn_backend.h"):
        shutil.copy(ROOT / "latenn" / "native" / "include" / name, work)
    shutil.copy(HERE / "backend.c", work)

    def build(*definitions):
        folder = work / ("_".join(definitions) or "plain").replace("=", "-").replace("/", "-")
        folder.mkdir(exist_ok=True)
        library = folder / "liblatenn_backend_foreign.so"
        command = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden"]
        command += [f"-D{definition}" for definition in ('NAME="foreign"', *definitions)]
        run_checked(*command, "backend.c", "-o", library, cwd=work)
        return library

    return build


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"\x08\x08anything")
    return path


@pytest.mark.parametrize("way", ["path", "environment", "folder", "list"])
def test_a_backend_of_somebody_else_computes(programs, make, model, way):
    library = make()
    arguments, environment = {
        "path": (["--backend", library], {}),
        "environment": ([], {"LATENN_BACKEND": str(library)}),
        "folder": (["--backend", "foreign", "--backend-dir", library.parent], {}),
        "list": (["--backend", "absent,foreign", "--backend-dir", library.parent], {}),
    }[way]
    (answer,) = programs.runner("path", model, *arguments, feed=FEED, environment=environment)
    assert answer["hex"] == NUMBERS_HEX


def test_where_no_backend_of_several_reads_the_model_the_usual_one_is_asked(programs, make, tmp_path):
    model = tmp_path / "model.tflite"
    model.write_bytes(b"\0\0\0\0TFL3\0\0")
    arguments = ["--backend", "foreign,", "--backend-dir", make().parent, "--runtime", "/gone"]
    (answer,) = programs.runner("path", model, *arguments)
    assert "LiteRT was not found at /gone" in answer["message"]


@pytest.mark.parametrize(
    ("advice", "says"),
    [
        ("onnxruntime: get ort\nlitert: get it here\n", "Get it with: get it here"),
        ("onnxruntime: get ort\n", 'Get it with: pip install "ai-edge-litert>='),
        ("get whatever", "Get it with: get whatever"),
    ],
)
def test_each_backend_gives_its_own_advice(programs, tmp_path, advice, says):
    model = tmp_path / "model.tflite"
    model.write_bytes(b"\0\0\0\0TFL3\0\0")
    (answer,) = programs.runner("path", model, "--runtime", "/gone", "--advice", advice)
    assert says in answer["message"]


def test_a_newer_backend_whose_table_has_grown_is_used(programs, make, model):
    library = make("SIZE=(sizeof(latenn_backend)+64)")
    (answer,) = programs.runner("path", model, "--backend", library, feed=FEED)
    assert answer["hex"] == NUMBERS_HEX


REQUIRED = (
    "load", "release_model", "input_count", "output_count", "input", "output", "model_report", "create_context",
    "release_context", "set_input", "compute", "get_output", "report", "free_text",
)  # fmt: skip


@pytest.mark.parametrize(
    ("definition", "says"),
    [
        ("ABI=2", "it does not speak version 1 of the backend interface, as latenn 9.8.7 does"),
        ("ABI=0", "it does not speak version 1 of the backend interface, as latenn 9.8.7 does"),
        ("SIZE=offsetof(latenn_backend,compute)", "it does not speak version 1 of the backend interface"),
        ("SIZE=0", "it does not speak version 1 of the backend interface"),
        *((f"LACKS={name}", f"its table has no {name}") for name in (*REQUIRED, "name", "version", "encodings")),
    ],
)
def test_a_backend_that_lacks_something_is_refused_in_words(programs, make, model, definition, says):
    library = make(definition)
    for arguments in (["--backend", library], ["--backend", "foreign", "--backend-dir", library.parent]):
        (answer,) = programs.runner("path", model, *arguments, feed=FEED)
        assert answer["error"] == BACKEND_UNUSABLE
        assert says in answer["message"]
        assert str(library) in json.dumps(answer["report"])


def test_a_core_older_than_the_backend_says_which_to_update(programs, make, model):
    (answer,) = programs.runner("path", model, "--backend", make("ABI=2"))
    assert "update the older" in answer["message"]
