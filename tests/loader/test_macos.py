"""The loader on macOS, arm64 and x64: built by zig, run by an emulated processor, with stand-ins.

dyld and libSystem are ours (ci/machines/macos), so this tries our machine code and not Apple's rules.
"""

import pytest

from ci.machines.macos.machine import KINDS
from tests.loader.situations import ENVIRONMENT, EXPLICIT, SITUATIONS, check_explicit, check_situation, place
from tests.support.emulated import build_cross, emulate_macos

pytestmark = [pytest.mark.emulated, pytest.mark.slow]
NAME = "libonnxruntime.dylib"


@pytest.fixture(scope="module", params=KINDS)
def macos(request, shared_folder):
    with emulate_macos(shared_folder, request.param) as system:
        yield system


def test_units(macos):
    assert macos.run("unit") == b"all well\n"


@pytest.mark.parametrize("stand_in", EXPLICIT)
def test_explicit_file(macos, stand_in):
    check_explicit(macos, stand_in, "libgone.dylib")


@pytest.mark.parametrize("name", SITUATIONS)
def test_situation(macos, name, tmp_path):
    check_situation(macos, name, tmp_path)


def test_a_fork_in_the_middle_of_binding_leaves_the_child_able_to_bind(macos):
    assert macos.probe("--fork", "--path", macos.stand_in("slow"))["extra"] == 0


def test_another_processors_library(macos, shared_folder, request):
    own = request.node.callspec.params["macos"]
    (other,) = set(KINDS) - {own}
    answer = macos.probe("--path", build_cross(shared_folder, other) / "stand-ins" / "good.dylib")
    assert answer["outcome"] == "wrong-architecture"


def test_text_and_nothing(macos, tmp_path):
    (tmp_path / NAME).write_text("no\n")
    assert "a text file, not a library" in macos.probe("--path", tmp_path / NAME)["report"]["message"]
    assert macos.probe(environment={ENVIRONMENT: "/gone"})["outcome"] == "not-found"


@pytest.mark.parametrize(("stand_in", "bound"), [("good", True), ("old", False), ("needs_gone", False)])
def test_memory_that_runs_out_at_any_point_ends_in_an_answer(macos, stand_in, bound):
    answer = macos.probe("--path", macos.stand_in(stand_in), "--exhaust", program="probe_memory")
    assert answer["failed_allocations"] > 10
    assert (answer["bound"] > 0) == bound


@pytest.mark.parametrize("folder", ["with space", "mit Umlaut äöü", "日本語"])
def test_paths_in_any_script(macos, tmp_path, folder):
    path = place(macos, "good", tmp_path / folder)
    for arguments, environment in [
        (["--dir", path.parent], {}),
        (["--path", path], {}),
        ([], {ENVIRONMENT: str(path)}),
    ]:
        answer = macos.probe(*arguments, environment=environment)
        assert answer["outcome"] == "bound", answer["report"]["message"]
        assert answer["report"]["path"] == str(path)
