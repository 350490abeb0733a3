"""A thread or a library that leaves leaves nothing behind: no state that other threads or forks meet, and no memory."""

import platform
import shutil
import sys

import pytest

from tests.loader.test_functions_stub import DESCRIBED, SOURCES
from tests.support.building import needed_compiler
from tests.support.running import assert_success, run_checked, run_program

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="not run: the program is for Linux"),
]
LATER = "later call: 0 fine\n" * 2
FORKED = "a fork: at once, the child ended with 0\n"
END = f"{FORKED}{LATER}message: \n"
OPENING = "Many called a function of its own while it was being opened."
SANITIZERS = ["plain", "address", "thread"]


@pytest.fixture(scope="module")
def stub(tmp_path_factory, latebind):
    """The stub as a source file."""
    folder = tmp_path_factory.mktemp("many")
    shutil.copy(SOURCES / "many.h", folder)
    (folder / "many.toml").write_text(DESCRIBED)
    assert_success(latebind("stub", folder / "many.toml", "--source", "--output", folder))
    return folder / "latebind_many.c"


@pytest.fixture(scope="module", params=SANITIZERS)
def leaves(request, tmp_path_factory, stub):
    """Runs the program and gives what it printed."""
    folder = tmp_path_factory.mktemp("leaves")
    flags = ["-O1", "-g", *([] if request.param == "plain" else [f"-fsanitize={request.param}"])]
    compiler, program, library = needed_compiler(), folder / "leaves", folder / "libmany.so"
    run_checked(compiler, *flags, "-shared", "-fPIC", SOURCES / "leaves_library.c", "-o", library, "-ldl")
    sources = [SOURCES / "leaves.c", stub]
    run_checked(compiler, *flags, "-rdynamic", f"-I{stub.parent}", *sources, "-o", program, "-ldl", "-pthread")
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
        pytest.param("jumps-from-the-search", f"after the jump: 0\n{END}", id="left-before-a-library-was-opened"),
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


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="not run: only glibc unloads libraries")
@pytest.mark.parametrize("has_library", [True, False], ids=["bound", "missing"])
def test_unloading_a_library_with_a_stub_frees_its_memory(stub, tmp_path, has_library):
    compiler, many = needed_compiler(), tmp_path / "libmany.so"
    program, library = tmp_path / "reloads", tmp_path / "library.so"
    run_checked(compiler, "-shared", "-fPIC", SOURCES / "many.c", "-o", many)
    sources = [SOURCES / "reloads_library.c", stub]
    run_checked(compiler, "-shared", "-fPIC", f"-I{stub.parent}", *sources, "-o", library, "-ldl", "-pthread")
    run_checked(compiler, SOURCES / "reloads.c", "-o", program, "-ldl")
    path = many if has_library else tmp_path / "missing.so"
    printed = assert_success(run_program(program, library, "300", env={"MANY_LIB_PATH": str(path)}, timeout=120))
    assert printed == f"lost: 0 bytes\nkept: {'fine' if has_library else 'Many is not available:'}\n"
