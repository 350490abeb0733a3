"""A thread that is cancelled, ends or jumps away in its first call leaves nothing that other threads or forks meet."""

import shutil
import sys

import pytest

from tests.native.building import needed_compiler
from tests.native.test_functions_stub import DESCRIBED, SOURCES
from tests.programs import assert_success, run_checked, run_program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="not run: the program is for Linux")
LATER = "later call: 0 fine\n" * 2
FORKED = "a fork: at once, the child ended with 0\n"
END = f"{FORKED}{LATER}message: \n"
OPENING = "Many called a function of its own while it was being opened."
SANITIZERS = ["plain", "address", "thread"]


@pytest.fixture(scope="module", params=SANITIZERS)
def leaves(request, tmp_path_factory, latebind):
    """Runs the program and gives what it printed."""
    folder = tmp_path_factory.mktemp("leaves")
    shutil.copy(SOURCES / "many.h", folder)
    (folder / "many.toml").write_text(DESCRIBED)
    assert_success(latebind("stub", folder / "many.toml", "--source", "--output", folder))
    flags = ["-O1", "-g", *([] if request.param == "plain" else [f"-fsanitize={request.param}"])]
    compiler, program, library = needed_compiler(), folder / "leaves", folder / "libmany.so"
    run_checked(compiler, *flags, "-shared", "-fPIC", SOURCES / "leaves_library.c", "-o", library, "-ldl")
    sources = [SOURCES / "leaves.c", folder / "latebind_many.c"]
    run_checked(compiler, *flags, "-rdynamic", f"-I{folder}", *sources, "-o", program, "-ldl", "-pthread")
    env = {"MANY_LIB_PATH": str(library), "ASAN_OPTIONS": "detect_leaks=0"}
    return lambda how: assert_success(run_program(program, how, env=env, timeout=120))


@pytest.mark.parametrize(
    ("how", "printed"),
    [
        pytest.param("cancelled", f"first call: 0\n{END}", id="cancelled"),
        pytest.param("allows", END, id="cancelled-where-the-library-allows-it"),
        pytest.param("exits", END, id="ended-by-the-library"),
        pytest.param("jumps", f"after the jump: 0\n{END}", id="left-by-a-signal-handler"),
        pytest.param("jumps-deeper", f"after the jump: 0\n{END}", id="left-and-called-from-another-function"),
    ],
)
def test_whoever_leaves_the_first_call_leaves_nothing_behind(leaves, how, printed):
    assert leaves(how) == printed


def test_only_one_fork_waits_for_a_thread_that_left_and_lives(leaves):
    first, second, *rest = leaves("jumps-and-waits").splitlines(keepends=True)
    assert first == "a fork: waited, the child ended with 0\n"
    assert second == "the next fork: at once, the child ended with 0\n"
    assert "".join(rest) == END


def test_a_library_that_calls_back_while_it_is_opened_gets_a_message(leaves):
    end = f"{FORKED}{LATER}message: {OPENING}\n"
    assert leaves("calls-back") == f"while opened: 7 {OPENING}\nmessage: {OPENING}\nfirst call: 0\n{end}"
