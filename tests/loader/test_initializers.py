"""A first call in one thread, while another loads a plug-in whose initializer calls the stub or forks: none hangs.

The system's loader holds its own lock while it runs initializers, so a lock of the stub would be taken in both orders.
"""

import os
import sys

import pytest

from tests.loader.test_functions_stub import SOURCES, build_program
from tests.support.building import LOADER_TESTS as HERE
from tests.support.building import ROOT, needed_compiler
from tests.support.running import assert_success, run_checked, run_program

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="not run: the plug-ins are for Unix"),
]
TRIALS = int(os.environ.get("LATEBIND_TRIALS", "60"))
WORDS = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'loader' / 'include'}", "-rdynamic"]


def build_plain(folder, latebind, plain):
    """The archive of `latebind stub`."""
    assert_success(latebind("stub", "onnxruntime", "--output", folder))
    (archive,) = folder.glob("*/lib/libonnxruntime.a")
    return "onnxruntime", [archive], plain.stand_in("brief")


def build_one_file(folder, latebind, plain):
    assert_success(latebind("stub", "onnxruntime", "--source", "--output", folder))
    (source,) = folder.rglob("latebind_onnxruntime.c")
    return "onnxruntime", [source], plain.stand_in("brief")


def build_named(folder, latebind, plain):
    """A stub of functions by name, of a library that takes a while to open."""
    build_program(latebind, folder, "linux-x64")
    slow = folder / "slow.c"
    slow.write_text("#include <unistd.h>\n__attribute__((constructor)) static void start(void) { usleep(4000); }\n")
    library = folder / "slow" / "libmany.so"
    library.parent.mkdir()
    run_checked(needed_compiler(), "-shared", "-fPIC", "-D_GNU_SOURCE", SOURCES / "many.c", slow, "-o", library)
    (archive,) = folder.glob("*/lib/libmany.a")
    return "many", [archive], library


@pytest.mark.parametrize("build", [build_plain, build_one_file, build_named], ids=lambda value: value.__name__)
def test_no_first_call_hangs(build, tmp_path, latebind, plain):
    runtime, sources, library = build(tmp_path, latebind, plain)
    compiler, program = needed_compiler(), tmp_path / "initializer"
    run_checked(
        compiler, *WORDS, f"-DRUNTIME={runtime}", HERE / "initializer.c", *sources, "-o", program, "-ldl", "-pthread"
    )
    for flags, trials in ((["-DCALLS"], TRIALS), (["-DFORKS"], TRIALS // 3)):
        plugin = tmp_path / f"plugin{flags[0]}.so"
        run_checked(compiler, "-shared", "-fPIC", *flags, HERE / "plugin.c", "-o", plugin)
        done = run_program(
            program, plugin, str(trials), env={f"{runtime.upper()}_LIB_PATH": str(library)}, timeout=1800
        )
        assert done.stdout == "0 hung\n", flags


def test_the_trials_would_see_a_hang(tmp_path):
    """With a lock that is held while the library is opened, as a control."""
    compiler, program = needed_compiler(), tmp_path / "initializer"
    stub = tmp_path / "locked.c"
    stub.write_text(
        "#include <dlfcn.h>\n#include <pthread.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
        "static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;\n"
        "int lb_locked_available(const char* name) {\n  (void)name;\n  pthread_mutex_lock(&mutex);\n  usleep(3000);\n"
        '  void* handle = dlopen(getenv("LOCKED_LIB_PATH"), RTLD_NOW);\n  pthread_mutex_unlock(&mutex);\n'
        "  return handle != NULL;\n}\n"
    )
    arguments = [*WORDS, "-DSECONDS=1", "-DRUNTIME=locked", HERE / "initializer.c", stub]
    run_checked(compiler, *arguments, "-o", program, "-ldl", "-pthread")
    library, plugin = tmp_path / "library.so", tmp_path / "plugin.so"
    (tmp_path / "empty.c").write_text("int nothing;\n")
    run_checked(compiler, "-shared", "-fPIC", tmp_path / "empty.c", "-o", library)
    run_checked(compiler, "-shared", "-fPIC", HERE / "plugin.c", "-o", plugin)
    done = run_program(program, plugin, "4", env={"LOCKED_LIB_PATH": str(library)}, timeout=60)
    assert done.stdout != "0 hung\n"
