"""Advice of builds and of kinds of packages: the sources are changed as the message says, and the command succeeds."""

from __future__ import annotations

import os
import re
import shutil

import pytest

from tests.advice.following import list_commands, list_settings, write_setting
from tests.advice.test_commands import Z3
from tests.advice.test_config import take_from
from tests.support.building import ROOT
from tests.support.client import BOUND, CLIENTS, CONFIG, copy_client, edit, rewritten, write_files
from tests.support.needs import require_programs
from tests.support.running import assert_success, run_checked
from tests.test_headers import make_repository

pytestmark = pytest.mark.builds

CMAKE, SOURCE = "native/CMakeLists.txt", "native/tiny.c"
PYPROJECT = "python/tiny/pyproject.toml"


def configure(text):
    return lambda project: (project / "latebind.toml").write_text(text, encoding="utf-8")


def replace(file, old, new):
    return lambda project: edit(project / file, old, new, 1)


def add(**files):
    """Write files; a text that begins with + is added to the file that is there."""

    def change(project):
        for file, text in files.items():
            old = (project / file).read_text("utf-8") if text.startswith("+") else ""
            write_files(project, {file: old + text.removeprefix("+")})

    return change


def move(old, new):
    return lambda project: (project / old).rename(project / new)


def trial(advice, command, faults, steps):
    """A fault in the small project, a command that it stops, and what the message says to do."""
    return pytest.param(command, faults, steps, marks=pytest.mark.advice(advice), id=advice[:40])


OUTSIDE = [add(**{"tiny.h": "\n"}), replace(SOURCE, "__attribute__", '#include "../tiny.h"\n__attribute__')]
TWO = """
[package.two]
component = "tiny"
exports = ["tiny_*"]
wheel = { source = "python/two" }
"""

TRIALS = [
    trial(
        "Add a [[runtime]] table with a preset, or name a runtime in package.<name>.runtime.",
        "pack",
        [configure(CONFIG.replace('"Tiny" }', '"Tiny", runtime = "Microsoft.ML.OnnxRuntime" }'))],
        [configure(BOUND.replace('"Tiny" }', '"Tiny", runtime = "Microsoft.ML.OnnxRuntime" }'))],
    ),
    trial(
        "Copy the files next to pyproject.toml, and name the copies under force-include.",
        "pack",
        [
            add(
                **{
                    PYPROJECT: '+\n[tool.hatch.build.targets.wheel.force-include]\n"../../words" = "tiny/w"\n',
                    "words": "a",
                }
            )
        ],
        [
            move("words", "python/tiny/words"),
            replace(PYPROJECT, "../../words", "words"),
            replace(PYPROJECT, '"LICENSE"]', '"LICENSE", "words"]'),
        ],
    ),
    trial(
        "Correct [tool.hatch.build.targets.sdist] in the wheel's pyproject.toml: the sdist needs all files that the "
        "wheel is built from.",
        "pack",
        [replace(PYPROJECT, '"src", "LICENSE"', '"LICENSE"'), add(**{"python/tiny/LICENSE": "MIT"})],
        [replace(PYPROJECT, 'include = ["LICENSE"', 'include = ["src", "LICENSE"')],
    ),
    trial(
        'Write package = "...", one of: {}.',
        "pack",
        [replace(PYPROJECT, 'package = "tiny"', 'package = "nosuch"')],
        [replace(PYPROJECT, 'package = "nosuch"', 'package = "tiny"')],
    ),
    trial(
        'Write package = "...", the package that has this folder as wheel.source.',
        "pack",
        [
            lambda project: shutil.copytree(project / "python/tiny", project / "python/two"),
            replace("python/two/pyproject.toml", 'name = "tiny"', 'name = "two"'),
            replace("python/two/pyproject.toml", '"src/tiny"', '"src/two"'),
            lambda project: edit(project / "python/two/pyproject.toml", 'package = "tiny"', 'package = "two"'),
            move("python/two/src/tiny", "python/two/src/two"),
            add(**{"latebind.toml": "+" + TWO}),
            lambda project: edit(project / PYPROJECT, 'package = "tiny"', 'package = "two"'),
        ],
        [lambda project: edit(project / PYPROJECT, 'package = "two"', 'package = "tiny"')],
    ),
    trial(
        "Move the files into {}, because the sdist needs them. Or set native.source to a folder that contains all of "
        "them, and native.cmake to its subfolder with CMakeLists.txt.",
        "build",
        OUTSIDE,
        [move("tiny.h", "native/tiny.h"), replace(SOURCE, "../tiny.h", "tiny.h")],
    ),
    trial(
        "Move the files into {}, because the sdist needs them. Or set native.source to a folder that contains all of "
        "them, and native.cmake to its subfolder with CMakeLists.txt.",
        "build",
        [
            lambda project: (project / "code").mkdir(),
            move("native", "code/native"),
            replace("latebind.toml", '"native"', '"code/native"'),
            add(**{"code/tiny.h": "\n"}),
            replace("code/native/tiny.c", "__attribute__", '#include "../tiny.h"\n__attribute__'),
        ],
        [replace("latebind.toml", 'source = "code/native"', 'source = "code"\ncmake = "native"')],
    ),
    trial(
        "Move them out of folders for outputs ({}), caches and packages of this project, or remove them from "
        "native.exclude. In a package's folder, files of C, C++, Cython and CMake count as sources.",
        "build",
        [
            add(**{"native/own.h": "\n"}),
            replace(SOURCE, "__attribute__", '#include "own.h"\n__attribute__'),
            replace("latebind.toml", 'source = "native"', 'source = "native"\nexclude = ["own.h"]'),
        ],
        [replace("latebind.toml", 'exclude = ["own.h"]', "")],
    ),
    trial(
        "Remove the file, and list what it requires in package.{}.npm.dependencies.",
        "pack",
        [
            replace("latebind.toml", 'nuget = { id = "Tiny" }', 'npm = { name = "@acme/tiny", source = "npm" }'),
            add(**{"npm/index.js": "", "npm/package.json": '{"dependencies": {"koffi": "^3"}}'}),
        ],
        [
            lambda project: (project / "npm/package.json").unlink(),
            replace("latebind.toml", 'source = "npm"', 'source = "npm", dependencies = { koffi = "^3" }'),
        ],
    ),
    *(
        trial(
            "The interpreter provides CPython's functions at run time. Make a Python module with "
            "pybind11_add_module(), Python_add_library() or add_library(NAME MODULE ...), or link Python::Module. "
            "LATEBIND_ALLOW_UNDEFINED = true below [native.define] allows undefined symbols in every library for "
            "Linux.",
            "build",
            [replace(SOURCE, "return a + b;", "extern int PyLong_Made(int); return PyLong_Made(a) + b;")],
            [step],
        )
        for step in (
            replace(CMAKE, " SHARED ", " MODULE "),
            add(
                **{
                    CMAKE: "+\nadd_library(Python::Module INTERFACE IMPORTED)\n"
                    "target_link_libraries(tiny PRIVATE Python::Module)\n"
                }
            ),
            add(**{"latebind.toml": "+\n[native.define]\nLATEBIND_ALLOW_UNDEFINED = true\n"}),
        )
    ),
    *(
        trial(
            "Remove the runtime from target_link_libraries(): the loader's header declares its functions, and the "
            "loader finds it at run time. For code that calls the functions directly, write drop_in = true below "
            "[[runtime]]: then a stub takes the runtime's place when the library is linked.",
            "build",
            [configure(BOUND), add(**{CMAKE: "+\ntarget_link_libraries(tiny PRIVATE onnxruntime)\n"})],
            [step],
        )
        for step in (
            replace(CMAKE, "target_link_libraries(tiny PRIVATE onnxruntime)", ""),
            add(**{"latebind.toml": "+drop_in = true\n"}),
        )
    ),
    trial(
        "Builds of projects with [native.sources] download nothing. Put the dependency's archive or folder below {}/, "
        'and name it in that table: {} = "third_party/{}.tar.gz".',
        "build",
        [
            add(
                **{
                    CMAKE: "+\ninclude(FetchContent)\nFetchContent_Declare(three URL https://sources.invalid/three.tar.gz)\n"
                    "FetchContent_MakeAvailable(three)\n",
                    "latebind.toml": '+\n[native.sources]\nother = "other"\n',
                    "native/other/CMakeLists.txt": "",
                }
            )
        ],
        [
            add(**{"three/CMakeLists.txt": "add_library(three INTERFACE)\n"}),
            lambda project: shutil.make_archive(str(project / "native/third_party/three"), "gztar", project, "three"),
            replace("latebind.toml", 'other = "other"', 'other = "other"\nthree = "third_party/three.tar.gz"'),
        ],
    ),
]


@pytest.mark.parametrize(("command", "faults", "steps"), TRIALS)
def test_the_sources_are_changed_as_the_message_says(tiny, start_in, advised, command, faults, steps):
    for fault in faults:
        fault(tiny)
    refused = start_in(command, at=tiny)
    assert refused.returncode == 2, refused.stdout
    assert advised(refused)
    for step in steps:
        step(tiny)
    assert_success(start_in(command, at=tiny))


@pytest.mark.advice(
    'The stub has no headers. Run `latebind headers {} {} --output {}`. Then write headers = "{}" below the '
    "[[runtime]] of {}. This path is relative to native.source."
)
def test_a_stub_without_headers(tmp_path, start_in, advised):
    project = copy_client("drop-in", tmp_path / "tiny", latebind=BOUND + "drop_in = true\n")
    edit(project / SOURCE, "const void*", "#include <onnxruntime_c_api.h>\nconst void*", 1)
    edit(
        project / CMAKE,
        "find_package(latebind CONFIG",
        "find_package(onnxruntime REQUIRED)\nfind_package(latebind CONFIG",
    )
    edit(project / CMAKE, "latebind::onnxruntime", "onnxruntime::onnxruntime")
    advice = advised(start_in("build", at=project))
    [[_, *words]] = list_commands(advice)
    repository = make_repository(tmp_path / "repository", "v1.20.0")
    environment = {**os.environ, **take_from(repository), "LATEBIND_CACHE": str(tmp_path / "cache")}
    assert_success(start_in(*words, at=project, env=environment))
    write_setting(project / "latebind.toml", "[runtime]", "headers", list_settings(advice)["headers"])
    assert_success(start_in("build", at=project))


@pytest.fixture
def extension(tmp_path):
    """A project with an extension of SQLite."""
    project = shutil.copytree(CLIENTS / "plugins", tmp_path / "plugins")
    text = (project / "latebind.toml").read_text("utf-8")
    alone = text.partition("[package.hello]")[0] + text[text.index("[package.vec]") :]
    (project / "latebind.toml").write_text(alone, encoding="utf-8")
    edit(project / CMAKE, "foreach(name hello world vec)", "foreach(name vec)")
    return project


@pytest.mark.advice(
    "Name the file after package.{}.plugin.name: set_target_properties(TARGET PROPERTIES OUTPUT_NAME {})."
)
def test_the_name_of_an_extension(extension, start_in, advised):
    edit(extension / CMAKE, "OUTPUT_NAME vec0", "OUTPUT_NAME vector")
    name = advised(start_in("pack", at=extension)).rpartition(" ")[2].rstrip(").")
    edit(extension / CMAKE, "OUTPUT_NAME vector", f"OUTPUT_NAME {name}")
    assert_success(start_in("pack", at=extension))


@pytest.mark.advice('Add it to package.{}.{}.companions: ["{}"].')
def test_a_library_next_to_an_extension(extension, start_in, advised):
    with (extension / CMAKE).open("a", encoding="utf-8") as file:
        file.write("add_library(more SHARED more.c)\ninstall(TARGETS more COMPONENT vec)\n")
    write_files(extension, {"native/more.c": "int more;\n"})
    value = advised(start_in("pack", at=extension)).partition("[")[2].partition("]")[0]
    edit(extension / "latebind.toml", '["*.bin"]', f'["*.bin", {value}]')
    assert_success(start_in("pack", at=extension))


# ---- files of other builds ----


@pytest.fixture
def external(packed_tiny):
    """The project, whose native files another build made: in built/."""
    shutil.copytree(packed_tiny / "stage/linux-x64/tiny", packed_tiny / "built/tiny")
    for folder in ("stage", "dist"):
        shutil.rmtree(packed_tiny / folder)
    edit(packed_tiny / "latebind.toml", 'source = "native"', 'source = "native"\nbuild = "external"')
    return packed_tiny


@pytest.mark.parametrize("choice", ["import", "write"])
@pytest.mark.advice("Build and import them again, or write that version below [targets] in {}.")
def test_native_files_for_an_earlier_floor(external, start_in, advised, choice):
    assert_success(start_in("stage", "--import", "built", "--target", "linux-x64", at=external))
    edit(external / "latebind.toml", '"2.28"', '"2.34"')
    assert advised(start_in("pack", at=external))
    if choice == "import":
        assert_success(start_in("stage", "--import", "built", "--target", "linux-x64", at=external))
    else:
        edit(external / "latebind.toml", '"2.34"', '"2.28"')
    assert_success(start_in("pack", at=external))


@pytest.mark.advice("Also import its files: latebind stage --import FOLDER --target {}")
def test_a_component_that_was_not_imported(external, start_in, follow):
    table = '\n[package.two]\ncomponent = "two"\nexports = ["tiny_*"]\nnuget = { id = "Two" }\n'
    with (external / "latebind.toml").open("a", encoding="utf-8") as file:
        file.write(table)
    assert_success(start_in("stage", "--import", "built", "--target", "linux-x64", at=external))
    refused = start_in("pack", at=external)
    shutil.copytree(external / "built/tiny", external / "more/two")
    (external / "more/two/lib/libtiny.so").rename(external / "more/two/lib/libtwo.so")
    assert_success(follow(refused, at=external, FOLDER="more"))
    assert_success(start_in("pack", at=external))


@pytest.mark.advice('Build it for {} {} ({}), or write {} = "{}" below [targets].')
def test_native_files_for_a_newer_system(external, start_in, advised):
    library = external / "built/tiny/lib/libtiny.so"
    text = (
        "#include <pthread.h>\nint tiny_add(int a, int b) { pthread_t t; return pthread_create(&t, 0, 0, 0) + a + b; }"
    )
    (external / "new.c").write_text(text, encoding="utf-8")
    run_checked("cc", "-shared", "-fPIC", "-w", external / "new.c", "-o", library)
    words = ("stage", "--import", "built", "--target", "linux-x64")
    refused = start_in(*words, at=external)
    if refused.returncode == 0:
        refused = start_in("pack", at=external)
    change = list_settings(advised(refused))
    write_setting(external / "latebind.toml", "targets", "glibc", change["glibc"])
    assert_success(start_in(*words, at=external))
    assert_success(start_in("pack", at=external))


@pytest.mark.advice("If a repair tool changed it, exclude the file there (auditwheel repair --exclude).")
def test_a_wheel_that_a_repair_tool_changed(tiny, packed_once, tmp_path, start_in, advised):
    [wheel] = (packed_once / "dist").glob("*.whl")
    changed = rewritten(wheel, tmp_path / "changed", lambda name, data: (name, data + b"\0" * name.endswith(".so")))
    assert "--exclude" in advised(start_in("stage", "--import", changed, at=tiny))
    assert_success(start_in("stage", "--import", wheel, at=tiny))


@pytest.mark.slow
@pytest.mark.parametrize("key", ["library", "packages", "pkg_config", ""])
@pytest.mark.advice("Write another stub.library, stub.packages or stub.pkg_config, or choose another folder.")
def test_two_stubs_of_one_name(tmp_path, start_in, advised, key):
    def make(name, folder="out", **changed):
        own = {"library": f'"{name}"', "packages": f'["{name}"]', "pkg_config": f'"{name}"'}
        keys = "".join(f"{key} = {value}\n" for key, value in {**own, **changed}.items())
        text = Z3.replace('name = "z3"', f'name = "{name}"').replace("libz3", "libthing")
        (tmp_path / f"{name}.toml").write_text(text + keys, encoding="utf-8")
        return start_in("stub", f"{name}.toml", "--target", "linux-x64", "--output", folder, at=tmp_path)

    named = key or "library"
    assert_success(make("one"))
    clash = {named: '["one"]' if named == "packages" else '"one"'}
    assert f"stub.{named}" in advised(make("two", **clash))
    assert_success(make("two") if key else make("two", "other", **clash))


@pytest.mark.builds
def test_what_configure_defines_in_place_of_the_library_is_what_autoheader_takes(tmp_path):
    require_programs("autoreconf", "automake")
    (defines,) = re.findall(
        r"`(AC_DEFINE\(.*?\]\))`", (ROOT / "docs/howto/other-builds.md").read_text("utf-8"), re.DOTALL
    )
    begins = "AC_INIT([mini], [1])\nAM_INIT_AUTOMAKE([foreign])\nAC_CONFIG_HEADERS([config.h])\nAC_PROG_CC\n"
    made = {
        "configure.ac": f"{begins}{defines}\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
        "Makefile.am": "bin_PROGRAMS = mini\nmini_SOURCES = mini.c\n",
        "mini.c": "#include <config.h>\nint main(void) { return HAVE_LIBMAGIC - 1; }\n",
    }
    write_files(tmp_path, made)
    run_checked("bash", "-ec", "autoreconf -i && ./configure && make && ./mini", cwd=tmp_path)
