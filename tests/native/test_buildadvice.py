"""What a failed build shows first: the compiler's own line, with a path that the reader can open."""

from pathlib import Path

import pytest

from latebind.backend.diagnostics import first_errors, without_commands
from latebind.errors import BuildError
from latebind.native.buildadvice import module_advice
from latebind.system.log import LOG
from tests.support.client import CMAKE, CONFIG, stage_project, write_client

ROOT = Path("/project")
CALLER = "void b(void);\nint main(void) { b(); }\n"
OUTPUTS = {
    "clang": ("/project/native/a.c:3:5: error: no b\n    3 | b\n", ["native/a.c:3:5: error: no b"]),
    "a missing header": (
        "/usr/a.c:1:10: fatal error: 'b.h' file not found",
        ["/usr/a.c:1:10: error: 'b.h' file not found"],
    ),
    "MSVC": (
        r"C:\p\a.c(12,5): error C2065: 'b': undeclared identifier",
        [r"C:\p\a.c:12: error: 'b': undeclared identifier"],
    ),
    "CMake": (
        "CMake Error at CMakeLists.txt:12 (find_package):\n  Could not find\n  Nope.\n\n  Try again.\n",
        ["native/CMakeLists.txt:12: error: Could not find Nope."],
    ),
    "CMake that names a file in the next paragraph": (
        "CMake Error at CMakeLists.txt:1 (add_library):\n  Cannot find source file:\n\n    b.h\n\n  Tried extensions\n",
        ["native/CMakeLists.txt:1: error: Cannot find source file: b.h"],
    ),
    "the same line twice": ("a.c:3:5: error: b\na.c:3:5: error: b\n", ["a.c:3:5: error: b"]),
    "in the order of the output": (
        "CMake Error at CMakeLists.txt:2 (message):\n  one\n\na.c:1: error: two\n",
        ["native/CMakeLists.txt:2: error: one", "a.c:1: error: two"],
    ),
    "lld": ("ld.lld: error: undefined symbol: foo\n>>> referenced by a.c\n", ["error: undefined symbol: foo"]),
    "GNU ld": ("/bin/ld: a.o: undefined reference to `b'\n", ["a.o: undefined reference to `b'"]),
    "a linker after a compiler": ("a.c:1:1: error: b\nerror: undefined symbol: c\n", ["a.c:1:1: error: b"]),
    "no error": ("ninja: build stopped: subcommand failed.\na warning: no error here\n", []),
    "more than a few": (
        "".join(f"a.c:{n}:1: error: b\n" for n in range(9)),
        [f"a.c:{n}:1: error: b" for n in range(5)],
    ),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_errors_are_found_in_the_output_of(name):
    output, errors = OUTPUTS[name]
    assert first_errors(output, ROOT, ROOT / "native") == errors


@pytest.mark.parametrize(
    ("output", "is_python"),
    [
        ("ld.lld: error: undefined symbol: PyList_New\n", True),
        ("ld.lld: error: undefined symbol: _Py_Dealloc\n", True),
        ("/bin/ld: a.o: undefined reference to `PyErr_SetString'\n", True),
        ("ld.lld: error: undefined symbol: Pyramid\n", False),
        ("ld.lld: error: undefined symbol: foo\n>>> referenced by PyThing.c\n", False),
        ("a.c:1: warning: PyList_New\n", False),
    ],
)
def test_functions_of_the_interpreter_have_advice_of_their_own(output, is_python):
    assert ("Python::Module" in module_advice(output)) is is_python


def test_command_lines_and_progress_of_ninja_are_left_out():
    output = (
        "[1/2] Building a\nFAILED: [code=1] a.o \n/usr/bin/zig cc -c a.c\na.c:1: error: b\nninja: build stopped: x\n"
    )
    assert without_commands(output) == "a.c:1: error: b"


@pytest.mark.parametrize(
    ("changed", "first"),
    [
        ({"tiny": "int f(void) {\n  return b;\n}\n"}, "native/tiny.c:2:10: error: use of undeclared identifier 'b'"),
        ({"tiny": '#include "nope.h"\n'}, "native/tiny.c:1:10: error: 'nope.h' file not found"),
        ({"cmakelists": CMAKE + "find_package(Nope REQUIRED)\n"}, "native/CMakeLists.txt:8: error: By not"),
        ({"tiny": CALLER, "cmakelists": CMAKE + "add_executable(x tiny.c)\n"}, "error: undefined symbol: b"),
    ],
    ids=["a broken C file", "a missing header", "an error of CMake", "a symbol that no library has"],
)  # fmt: skip
def test_a_failed_build_shows_first(tmp_path, monkeypatch, changed, first):
    write_client(tmp_path, **changed)
    with pytest.raises(BuildError) as caught:
        stage_project(tmp_path)
    shown = str(caught.value).splitlines()
    assert shown[0].startswith(first)
    assert "the native build for linux-x64 failed with status 1" in shown
    assert "ziglang" not in str(caught.value)
    assert shown[-1].endswith(f"The whole log is {tmp_path / 'build' / 'linux-x64.log'}.")

    monkeypatch.setattr(LOG, "level", "verbose")
    with pytest.raises(BuildError, match=r"failed with status 1: .*cmake "):
        stage_project(tmp_path)


DROP_IN = '[[runtime]]\npreset = "onnxruntime"\nminimum = "1.19"\ndrop_in = true\n\n[targets]'
FIND = "find_path(ORT_INCLUDE_DIR onnxruntime_c_api.h)\ntarget_include_directories(tiny PRIVATE ${ORT_INCLUDE_DIR})\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "changed",
    [{"tiny": '#include "onnxruntime_cxx_api.h"\n'}, {"cmakelists": CMAKE + FIND}],
    ids=["a compiler", "find_path()"],
)
def test_a_build_without_the_official_headers_says_how_to_get_them(tmp_path, changed):
    text = CONFIG.replace("[targets]", DROP_IN).replace('"tiny"\nexports', '"tiny"\nruntime = "onnxruntime"\nexports')
    write_client(tmp_path, latebind=text, **changed)
    with pytest.raises(BuildError) as caught:
        stage_project(tmp_path)
    assert caught.value.advice.startswith("The stub has no headers. Run `latebind headers onnxruntime 1.19 --output ")
