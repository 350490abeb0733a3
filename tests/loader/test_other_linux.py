"""The loader on arm64 Linux, by qemu, and on musl, by its own loader: built by zig, with stand-ins.

The real ONNX Runtime exists for glibc alone, and its refusal on musl is one of the tests.
"""

import pytest

from ci.machines import musl, qemu
from tests.loader.situations import ENVIRONMENT, EXPLICIT, SITUATIONS, check_explicit, check_situation
from tests.support.emulated import emulate_linux

pytestmark = [pytest.mark.emulated, pytest.mark.slow]
NAME = "libonnxruntime.so.1"
# zig links programs for musl statically by default, and those cannot load anything. What its own checks need is newer
# than the musl that runs them.
MUSL_WORDS = ("-DCMAKE_EXE_LINKER_FLAGS=-dynamic", "-DCMAKE_C_FLAGS=-fno-sanitize=all")


@pytest.fixture(scope="module")
def arm64(shared_folder):
    with emulate_linux(shared_folder, "linux-arm64", qemu) as system:
        yield system


@pytest.fixture(scope="module")
def alpine(shared_folder):
    with emulate_linux(shared_folder, "linux-musl-x64", musl, *MUSL_WORDS) as system:
        yield system


@pytest.fixture(params=["arm64", "alpine"])
def system(request):
    return request.getfixturevalue(request.param)


def test_units(system):
    assert system.run("unit") == b"all well\n"


@pytest.mark.parametrize("stand_in", EXPLICIT)
def test_explicit_file(system, stand_in):
    check_explicit(system, stand_in)


@pytest.mark.parametrize("name", SITUATIONS)
def test_situation(system, name, tmp_path):
    check_situation(system, name, tmp_path)


def test_a_fork_in_the_middle_of_binding_leaves_the_child_able_to_bind(system):
    assert system.probe("--fork", "--path", system.stand_in("slow"))["extra"] == 0


def test_the_real_runtime_is_for_glibc_and_the_sentence_says_what_is_missing(alpine, onnxruntime):
    answer = alpine.probe("--path", onnxruntime)
    assert answer["outcome"] == "missing-dependency"
    assert str(onnxruntime) in answer["report"]["message"]


def test_the_hosts_own_library_is_for_another_processor(arm64, plain):
    answer = arm64.probe("--path", plain.stand_in("good"))
    assert answer["outcome"] == "wrong-architecture"
    assert "built for x86_64, this process is aarch64" in answer["report"]["message"]


def test_text_and_nothing(arm64, tmp_path):
    (tmp_path / NAME).write_text("no\n")
    assert "a text file, not a library" in arm64.probe("--path", tmp_path / NAME)["report"]["message"]
    assert arm64.probe(environment={ENVIRONMENT: "/gone"})["outcome"] == "not-found"
