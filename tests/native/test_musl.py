"""The loader and latenn on musl Linux: built by zig, run by musl's own loader, with stand-ins for the runtime.

The real ONNX Runtime exists for glibc alone, and its refusal is one of the tests.
"""

import confine
import debian
import musl
import pytest

from tests.native.building import CannotBuildError
from tests.native.emulated import Emulated, build_cross, cache

pytestmark = [pytest.mark.emulated, pytest.mark.slow]


@pytest.fixture(scope="module")
def alpine(shared):
    # zig links programs for musl statically by default, and those cannot load anything. What its own
    # checks need is newer than the musl that runs them.
    words = ("-DCMAKE_EXE_LINKER_FLAGS=-dynamic", "-DCMAKE_C_FLAGS=-fno-sanitize=all")
    try:
        loader = musl.prepare(cache() / "musl", confine.Limits(seconds=120))
        folder = build_cross(shared, "linux-musl-x64", *words)
    except (debian.NotAvailableError, CannotBuildError) as reason:
        pytest.skip(f"not run: {reason}")
    yield Emulated(folder, loader, "", ".so", str)
    loader.close()


def test_units(alpine):
    assert alpine.run("unit") == b"all well\n"


@pytest.mark.parametrize(
    ("stand_in", "outcome", "says"),
    [
        ("good", "bound", "ONNX Runtime 1.25.3 is bound from"),
        ("old", "too-old", "ONNX Runtime 1.10.0 at {path} is too old; version 1.19 or newer is needed"),
        ("no_entry", "no-entry", "{path} is something else: it has no symbol OrtGetApiBase"),
        (
            "needs_gone",
            "missing-dependency",
            "a library that it needs is missing or broken: Error loading shared library libgone.so",
        ),
    ],
)
def test_explicit_file(alpine, stand_in, outcome, says):
    path = alpine.stand_in(stand_in)
    answer = alpine.probe("--path", path)
    assert [(attempt["source"], attempt["outcome"]) for attempt in answer["report"]["attempts"]] == [
        ("explicit", outcome)
    ]
    assert says.format(path=path) in answer["report"]["sentence"]


def test_the_real_runtime_is_for_glibc_and_the_sentence_says_what_is_missing(alpine, onnxruntime):
    answer = alpine.probe("--path", onnxruntime)
    assert answer["outcome"] == "missing-dependency"
    assert str(onnxruntime) in answer["report"]["sentence"]


def test_threads_and_a_fork(alpine):
    answer = alpine.probe("--threads", "8", "--path", alpine.stand_in("slow"))
    assert (answer["extra"], answer["version_calls"]) == (0, 1)
    assert alpine.probe("--fork", "--path", alpine.stand_in("slow"))["extra"] == 0
