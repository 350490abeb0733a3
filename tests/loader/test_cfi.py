"""Programs that clang compiles with control-flow integrity call a stub by name, through pointers and through tables."""

import re
import shutil
import sys

import pytest

from latebind.backend.targets import host_rid
from tests.loader.test_functions_stub import DESCRIBED, SOURCES
from tests.support.building import ROOT, runtime_library
from tests.support.needs import official_header
from tests.support.running import assert_success, run_checked, run_program

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="not run: the tests are for clang and lld on Linux"),
]
CFI = ["-O2", "-fsanitize=cfi", "-flto", "-fvisibility=hidden", "-fuse-ld=lld"]
LINKED = ["-ldl", "-pthread"]


@pytest.fixture(scope="module")
def clang(tmp_path_factory):
    """A clang with control-flow integrity. It ends a program that fails the check by a signal."""
    folder = tmp_path_factory.mktemp("clang")
    (folder / "empty.c").write_text("int main(void) { return 0; }\n")
    command = [shutil.which("clang") or "clang", *CFI]
    if not shutil.which("clang") or run_program(*command, folder / "empty.c", "-o", folder / "empty").returncode:
        pytest.skip("not run: apt-get install --no-install-recommends clang lld libclang-rt-dev")
    return command


@pytest.mark.parametrize("is_source", [True, False], ids=["source", "archive"])
def test_functions_by_name_may_be_called_through_pointers_and_tables(clang, latebind, tmp_path, is_source):
    shutil.copy(SOURCES / "many.h", tmp_path)
    (tmp_path / "many.toml").write_text(DESCRIBED)
    assert_success(latebind("stub", tmp_path / "many.toml", *(["--source"] * is_source), "--output", tmp_path))
    stub = tmp_path / "latebind_many.c" if is_source else tmp_path / host_rid() / "lib" / "libmany.a"
    program, library = tmp_path / "user", tmp_path / "libmany.so"
    run_checked(clang[0], "-shared", "-fPIC", SOURCES / "many.c", "-o", library)
    run_checked(*clang, f"-I{tmp_path}", SOURCES / "cfi_user.c", stub, "-o", program, *LINKED)
    printed = assert_success(run_program(program, "1", env={"MANY_LIB_PATH": str(library)}))
    assert printed == "0 0 fine 1.0.1\n"


@pytest.fixture(scope="module")
def stub(clang, latebind, tmp_path_factory):
    """The stub of ONNX Runtime, compiled in the same way."""
    folder = tmp_path_factory.mktemp("stub")
    assert_success(latebind("stub", "onnxruntime", "--source", "--output", folder))
    compiled = folder / "stub.o"
    run_checked(*(word for word in clang if "lld" not in word), "-c", folder / "latebind_onnxruntime.c", "-o", compiled)
    return compiled


def exempt_list_of_the_page():
    page = (ROOT / "docs" / "howto" / "drop-in.md").read_text("utf-8")
    return re.search(r"```text\n(\[cfi-icall\]\n.*?)```", page, re.DOTALL)[1]


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_code_that_is_exempt_calls_through_the_tables_of_onnx_runtime(clang, stub, shared_folder, tmp_path, language):
    library = runtime_library() or pytest.skip("not run: ONNX Runtime is not installed: pip install onnxruntime")
    include, program = official_header(shared_folder).parent, tmp_path / "user"
    (tmp_path / "exempt.txt").write_text(exempt_list_of_the_page() + "src:*/cfi_user_ort.c\n")
    exempt = f"-fsanitize-ignorelist={tmp_path / 'exempt.txt'}"
    compiler, source = {
        "c": (clang, SOURCES / "cfi_user_ort.c"),
        "cpp": ([f"{clang[0]}++", *clang[1:], "-std=c++17"], SOURCES / "cfi_user.cpp"),
    }[language]
    run_checked(*compiler, exempt, "-isystem", include, source, stub, "-o", program, *LINKED)
    printed = assert_success(run_program(program, env={"ONNXRUNTIME_LIB_PATH": str(library)}))
    assert printed == f"{library.name.partition('.so.')[2]} fine\n"
