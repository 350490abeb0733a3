"""The stub for Visual C++: what its library needs, and programs in Microsoft's ABI that link it, run by wine."""

import os
import re

import pytest

from ci.machines import clang_cl, windows_python, wine, wine_arm64
from ci.machines.emulator import Limits
from latebind.backend.stub import IN_FRONT
from latebind.backend.targets import target
from latebind.backend.toolchain import toolchain
from tests.loader.coff import external_symbols, guarded_symbols, unwound_symbols
from tests.loader.test_functions_stub import build_program
from tests.loader.visual_cpp import KERNEL32, MACHINES, SOURCES, STATIC, UCRT, VCRUNTIME, VisualCpp, needed_zig
from tests.support.building import LOADER_TESTS as HERE
from tests.support.building import ROOT, program
from tests.support.emulated import ORT_VERSIONS, cache, fetch_runtime
from tests.support.needs import available, official_header
from tests.support.running import run_checked

EMULATORS = {"win-x64": wine, "win-arm64": wine_arm64}
VERSIONS = {"good": "1.25.3", "old": "1.10.0", "raising": "1.25.3"}
COMMON = "lb_in_onnxruntime_trampoline_common"
OBJECTS = ("program.obj", "thrower.obj")
PROVIDED = STATIC | VCRUNTIME | UCRT | KERNEL32 | {f"__imp_{name}" for name in KERNEL32}


@pytest.fixture(scope="module")
def stubs(tmp_path_factory, latebind):
    """The folder of the stubs for both processors."""
    folder = tmp_path_factory.mktemp("stubs")
    ended = latebind("stub", "onnxruntime", "--target", ",".join(MACHINES), "--output", folder, timeout=1200)
    assert ended.returncode == 0, ended.stderr
    return folder


@pytest.fixture(scope="module", params=MACHINES)
def linked(request, stubs, tmp_path_factory):
    """The linker for a target, with the test program and the runtimes that it binds."""
    compiler = VisualCpp(request.param, tmp_path_factory.mktemp(request.param))
    compiler.write_libraries()
    for name, version in VERSIONS.items():
        raises = ["-DRAISES"] if name == "raising" else []
        runtime = compiler.compile(SOURCES / "runtime.c", name, f'-DVERSION="{version}"', *raises)
        compiler.link(compiler.folder / name / "onnxruntime.dll", "-dll", runtime)
    for source in (SOURCES / "program.c", SOURCES / "thrower.cpp"):
        compiler.compile(source, source.stem)
    library = stubs / request.param / "lib" / "msvc" / "onnxruntime.lib"
    compiler.link(compiler.folder / "program.exe", "-guard:cf", *OBJECTS, library)
    return compiler


@pytest.fixture(scope="module")
def run(linked):
    """Runs one of the programs with the runtime in a folder, or none; how it ended and what it printed."""
    maker, worker = EMULATORS[linked.rid], os.environ.get("PYTEST_XDIST_WORKER", "alone")
    emulator = available(maker.prepare, cache() / f"{linked.rid}-{worker}", Limits(seconds=120))

    def run(*arguments, runtime="", program="program.exe", **environment):
        if runtime:
            environment["ONNXRUNTIME_LIB_PATH"] = wine.windows_path(linked.folder / runtime)
        done = emulator.run(linked.folder / program, *arguments, env=environment, cwd=None, feed=b"")
        return done.returncode, done.stdout.decode().replace("\r\n", "\n")

    yield run
    emulator.close()


def link_changed(latebind, linked, name, pattern):
    """Link the program with the stub's source after every line of assembly that matches was left out."""
    assert latebind("stub", "onnxruntime", "--source", "--output", linked.folder).returncode == 0
    source = linked.folder / "latebind_onnxruntime.c"
    text, count = re.subn(rf'^ *"(?:{pattern}).*?\\n"', '    ""', source.read_text("utf-8"), flags=re.MULTILINE)
    assert count
    (linked.folder / f"{name}.c").write_text(text, "utf-8")
    changed = linked.compile(linked.folder / f"{name}.c", name, "-Xclang", "-cfguard-no-checks")
    linked.zig("lib", "-nologo", f"-out:{name}.lib", changed)
    return linked.link(linked.folder / f"{name}.exe", "-guard:cf", *OBJECTS, changed).name


@pytest.mark.slow
@pytest.mark.parametrize("rid", MACHINES)
def test_the_library_needs_only_what_windows_and_visual_cpp_supply(stubs, rid):
    defined, undefined = external_symbols(stubs / rid / "lib" / "msvc" / "onnxruntime.lib")
    assert undefined
    assert undefined <= PROVIDED, sorted(undefined - PROVIDED)
    own = {name for name in defined if not name.startswith(("??_C@", "__real@", "__xmm@"))}  # shared constants
    assert all(re.match(r"(lb_(in_)?onnxruntime_|Ort)", name) for name in own), sorted(own)
    # The library for zig and GCC needs what mingw-w64 has alone: the same reading finds that.
    _, of_mingw = external_symbols(stubs / rid / "lib" / "onnxruntime.lib")
    assert "__mingw_snprintf" in of_mingw - PROVIDED
    assert "__stack_chk_fail" not in of_mingw, "which GCC has in a library of its own"


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["lib", "lib/msvc"])
@pytest.mark.parametrize("rid", MACHINES)
def test_the_common_part_of_all_trampolines_has_unwinding_data_in_every_abi(stubs, rid, folder):
    assert COMMON in unwound_symbols(stubs / rid / folder / "onnxruntime.lib")


@pytest.mark.parametrize(
    ("definition", "names"), [("kernel32", KERNEL32), ("vcruntime140-common", VCRUNTIME), ("ucrtbase-common", UCRT)]
)
def test_the_dlls_of_windows_export_what_the_list_says(definition, names):
    """By mingw-w64's lists of their exports, which zig has."""
    zig = needed_zig()
    lists = zig.resolve().parent / "lib" / "libc" / "mingw" / "lib-common"
    exported = set(re.findall(r"^(?:F\w*\()?(\w+)", (lists / f"{definition}.def.in").read_text("utf-8"), re.MULTILINE))
    assert names <= exported, sorted(names - exported)


@pytest.mark.slow
@pytest.mark.parametrize("rid", MACHINES)
def test_the_library_names_no_path_of_this_machine_and_no_library(stubs, rid):
    data = (stubs / rid / "lib" / "msvc" / "onnxruntime.lib").read_bytes()
    for name in (str(stubs), str(ROOT), ".cache", "/DEFAULTLIB", "-defaultlib"):
        assert name.lower().encode() not in data.lower(), name


@pytest.mark.emulated
@pytest.mark.slow
def test_a_program_binds_the_runtime_and_calls_it(run):
    assert run(runtime="good") == (0, "right mine 1.25.3\n")


@pytest.mark.emulated
@pytest.mark.slow
@pytest.mark.parametrize(
    ("runtime", "says"),
    [
        ("", r"ONNX Runtime was not found in Z:\\.*; version 1\.19 or newer is needed\. Get it with: pip install "),
        ("old", r"ONNX Runtime 1\.10\.0 at Z:\\.*onnxruntime\.dll is too old; version 1\.19 or newer is needed\."),
    ],
)
def test_without_a_usable_runtime_its_own_error_says_why(run, runtime, says):
    status, printed = run(runtime=runtime)
    assert status == 1
    assert re.match(says, printed), printed


@pytest.mark.emulated
@pytest.mark.slow
@pytest.mark.parametrize("linked", ["win-x64"], indirect=True)  # the runtime for arm64 never unwinds under qemu
@pytest.mark.parametrize("version", ORT_VERSIONS)
def test_a_program_with_the_official_header_runs_with_the_real_runtime(linked, run, stubs, shared_folder, version):
    include = official_header(shared_folder).parent
    flags = ["-isystem", SOURCES / "sal", "-isystem", include, "-include", SOURCES / "crt.h"]
    user = linked.compile(HERE / "stub" / "user_c.c", "user_c", *flags)
    linked.link(linked.folder / "user_c.exe", user, stubs / linked.rid / "lib" / "msvc" / "onnxruntime.lib")
    environment = {"ONNXRUNTIME_LIB_PATH": wine.windows_path(fetch_runtime(linked.rid, version))}
    assert run(program="user_c.exe", **environment) == (0, f"right with {version}\n")
    status, printed = run(program="user_c.exe")
    assert status == 1
    assert printed.startswith("1: ONNX Runtime was not found in ")
    assert printed.endswith("\n4: mine\n")


EXCEPTIONS = {
    "of the runtime, from the first call": ("good", ["raise"]),
    "of the runtime, from a later call": ("good", ["raise", "again"]),
    "of the runtime, while it is bound": ("raising", ["raise"]),
    "of the program's handler for a missing runtime": ("", ["raise", "on-missing"]),
}
"""Where an exception comes from. In the last two, a trampoline is between the exception and who catches it."""


@pytest.mark.emulated
@pytest.mark.slow
@pytest.mark.parametrize(("runtime", "arguments"), EXCEPTIONS.values(), ids=EXCEPTIONS)
def test_exceptions_reach_the_caller(run, runtime, arguments):
    assert run(*arguments, runtime=runtime) == (0, "caught\n")


@pytest.mark.emulated
@pytest.mark.slow
def test_an_exception_of_cpp_passes_a_trampoline(run):
    assert run("throw") == (0, "caught 7\n")


@pytest.mark.emulated
@pytest.mark.slow
@pytest.mark.parametrize("linked", ["win-x64"], indirect=True)  # the wheel with VCRUNTIME140.dll is for x64
def test_exceptions_pass_by_microsofts_own_handlers(linked, run):
    """VCRUNTIME140.dll has the functions that search for a handler, of C and of C++; wine has others of that name."""
    library = available(windows_python.copy_vcruntime, linked.folder)
    try:
        for argument, answer in (("throw", "caught 7\n"), ("on-missing", "caught\n")):
            assert run(argument, WINEDLLOVERRIDES="vcruntime140=n") == (0, answer)
        library.write_bytes(b"")  # it is this file that is used
        assert "caught" not in run("throw", WINEDLLOVERRIDES="vcruntime140=n")[1]
    finally:
        library.unlink()


@pytest.mark.emulated
@pytest.mark.slow
def test_exceptions_do_not_pass_a_trampoline_without_unwinding_data(latebind, linked, run):
    program = link_changed(latebind, linked, "bare", r"\.seh_")
    assert COMMON not in unwound_symbols(linked.folder / "bare.lib")
    assert run(runtime="good", program=program) == (0, "right mine 1.25.3\n")
    # How such a program ends depends on wine's debugger, which may be quicker than the exception.
    for runtime, arguments in (*list(EXCEPTIONS.values())[2:], ("", ["throw"])):
        _, printed = run(*arguments, runtime=runtime, program=program)
        assert "caught" not in printed


@pytest.mark.emulated
@pytest.mark.slow
def test_control_flow_guard_lets_programs_call_each_function(latebind, linked, run):
    assert run("guarded") == (0, "400 of 400\n")
    program = link_changed(latebind, linked, "unlisted", r"\.symidx ")
    assert run("guarded", program=program) == (0, "0 of 400\n")


@pytest.fixture(scope="module")
def many(latebind, linked):
    """The compiler with a program that calls named functions, and their library in two versions."""
    build_program(latebind, linked.folder, linked.rid)
    linked.compile(linked.folder / "many_user.c", "many_user", "-include", str(SOURCES / "crt.h"))
    linked.link(linked.folder / "many.exe", "-guard:cf", "many_user.obj", many_library(linked))
    return linked


def many_library(linked):
    return linked.folder / linked.rid / "lib" / "msvc" / "many.lib"


@pytest.mark.slow
def test_the_library_of_named_functions_needs_only_what_windows_and_visual_cpp_supply(many):
    defined, undefined = external_symbols(many_library(many))
    assert undefined <= PROVIDED, sorted(undefined - PROVIDED)
    assert {"many_status", "__imp_many_status", "many_new"} <= defined
    assert {name for name in defined if name.startswith("many_")} <= guarded_symbols(many_library(many))


@pytest.mark.emulated
@pytest.mark.slow
def test_named_functions_reach_the_library_or_give_what_was_declared(many, run):
    def answer(*arguments, folder=""):
        return run(
            *arguments, program="many.exe", MANY_LIB_PATH=wine.windows_path(many.folder / folder) if folder else ""
        )

    assert answer("stops", folder="2") == (0, "status 0: fine\nwrong 0\nnew 0\navailable 1 1\n\n")
    status, text = answer("stops")
    assert status
    assert text.startswith("status 7: Many is not available: LATEBIND_ON_MISSING=print\n")
    assert "\nnew -1\navailable 0 0\nMany was not found in" in text
    assert "many_newer is not in this copy of Many; 1.0.1 is bound" in answer(folder="1")[1]


@pytest.mark.slow
@pytest.mark.parametrize("runtime", ["openvino", "litert"])
def test_the_stubs_of_other_runtimes_need_only_what_windows_and_visual_cpp_supply(latebind, tmp_path, runtime):
    ended = latebind("stub", runtime, "--target", ",".join(MACHINES), "--output", tmp_path, timeout=1200)
    assert ended.returncode == 0, ended.stderr
    for rid in MACHINES:
        (library,) = (tmp_path / rid / "lib" / "msvc").glob("*.lib")
        _, undefined = external_symbols(library)
        assert undefined <= PROVIDED, sorted(undefined - PROVIDED)


def configure(folder, prefix, *arguments):
    """What a project's CMake reports of the library that it links, and of the one that find_library() finds."""
    cmake, ninja = program("cmake"), program("ninja")
    command = [cmake, "-S", SOURCES / "project", "-B", folder, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    printed = run_checked(*command, f"-DCMAKE_PREFIX_PATH={prefix}", *arguments)
    return [line.removeprefix("-- ") for line in printed.splitlines() if " links " in line or " finds " in line]


@pytest.mark.slow
@pytest.mark.parametrize("rid", MACHINES)
def test_cmake_links_the_library_that_fits_the_compiler(stubs, tmp_path, rid):
    prefix, properties = stubs / rid, target(rid)
    triple, zig = f"{properties.arch}-windows-msvc", needed_zig()
    compilers = [
        f"-DCMAKE_{name}_COMPILER={zig};{tool};-target;{triple}" for name, tool in (("C", "cc"), ("CXX", "c++"))
    ]
    static = "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY"
    report, _ = configure(tmp_path / "msvc", prefix, "-DCMAKE_SYSTEM_NAME=Windows", *compilers, static)
    assert report == f"Clang MSVC= simulates MSVC links {prefix}/lib/msvc/onnxruntime.lib"
    of_mingw = toolchain("zig", properties).configure(properties, properties.floor, tmp_path)
    report, _ = configure(tmp_path / "mingw", prefix, *of_mingw, static)
    assert report == f"Clang MSVC= simulates  links {prefix}/lib/onnxruntime.lib"


@pytest.fixture(scope="module")
def built_by_cmake(linked, stubs):
    """The same program as a project of CMake, compiled by clang-cl; what CMake reported of it."""
    tools = available(clang_cl.prepare, cache() / "clang-cl")
    folder = linked.folder / "tree"
    libraries = ";".join(str(linked.folder / f"{name}.lib") for name in linked.libraries)
    headers = f"{ROOT / 'loader/stub/msvc'};{clang_cl.headers(tools)}"
    definitions = [
        f"-DSOURCES={SOURCES}",
        f"-DHEADERS={headers}",
        f"-DLIBRARIES={libraries}",
        "-DCMAKE_CXX_STANDARD_LIBRARIES=",
    ]
    arch = target(linked.rid).arch
    report, _ = configure(folder, stubs / linked.rid, *clang_cl.cmake_definitions(tools, arch), *definitions)
    run_checked(program("cmake"), "--build", folder)
    return report


@pytest.mark.emulated
@pytest.mark.slow
def test_a_project_of_cmake_for_visual_cpp_links_the_stub_with_clang_cl(built_by_cmake, stubs, linked, run):
    assert built_by_cmake == f"Clang MSVC=1 simulates MSVC links {stubs}/{linked.rid}/lib/msvc/onnxruntime.lib"
    assert run(runtime="good", program="tree/program.exe") == (0, "right mine 1.25.3\n")
    assert run("raise", runtime="raising", program="tree/program.exe") == (0, "caught\n")


@pytest.mark.slow
def test_every_search_of_a_project_for_visual_cpp_leads_to_its_library(stubs, tmp_path):
    tools, prefix = available(clang_cl.prepare, cache() / "clang-cl"), stubs / "win-x64"
    in_front = f"-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES={prefix / IN_FRONT}"
    linked, found = configure(tmp_path / "cl", tmp_path, in_front, *clang_cl.cmake_definitions(tools, "x86_64"))
    assert linked.endswith(f" links {prefix}/lib/msvc/onnxruntime.lib")
    assert found == f"finds {prefix}/lib/msvc/onnxruntime.lib, and gives the linker -LIBPATH:{prefix}/lib/msvc"
    properties = target("win-x64")
    of_mingw = toolchain("zig", properties).configure(properties, properties.floor, tmp_path)
    linked, found = configure(tmp_path / "mingw", tmp_path, in_front, *of_mingw)
    assert linked.endswith(f" links {prefix}/lib/onnxruntime.lib")
    assert found == f"finds {prefix}/lib/onnxruntime.lib, and gives the linker -L{prefix}/lib"
