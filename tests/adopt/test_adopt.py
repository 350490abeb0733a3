"""`latebind adopt` says what links the runtime and why, in ten lines, and what a change makes of the wheel."""

import os
import re
import shlex
import shutil
import sys
import zipfile

import pytest

from latebind.adopt.causes import apply_edits, find_causes
from latebind.adopt.ownbuild import Built, first_error
from latebind.adopt.setuppy import add_to_setup, replace_library
from latebind.adopt.trace import Call
from latebind.backend.targets import host_rid
from latebind.tables.presets import library_files, preset
from tests.conftest import ROOT
from tests.support.needs import require_programs
from tests.support.running import assert_refused, assert_success, make_environment, run_checked, run_program
from tests.support.thingclient import MINE, build_mine

ORT = preset("onnxruntime")
LIBRARIES = library_files()["portaudio"].parent
INCLUDE = "include(third_party/latebind/onnxruntime.cmake)\n"
API = "typedef struct { const void* (*GetApi)(unsigned); const char* (*GetVersionString)(void); } OrtApiBase;\n"
RUNTIME = f"""{API}static const char* version(void) {{ return "1.21.0"; }}
static const OrtApiBase base = {{0, version}};
const OrtApiBase* OrtGetApiBase(void) {{ return &base; }}
"""
USE = f"""#define PY_SSIZE_T_CLEAN
#include <Python.h>
{API}extern const OrtApiBase* OrtGetApiBase(void);
static PyObject* version(PyObject* self, PyObject* none) {{
  (void)self; (void)none;
  return PyUnicode_FromString(OrtGetApiBase()->GetVersionString());
}}
static PyMethodDef methods[] = {{{{"version", version, METH_NOARGS, NULL}}, {{NULL, NULL, 0, NULL}}}};
static struct PyModuleDef module = {{PyModuleDef_HEAD_INIT, "engine", NULL, -1, methods, NULL, NULL, NULL, NULL}};
PyMODINIT_FUNC PyInit_engine(void) {{ return PyModule_Create(&module); }}
"""

SOUND = """#include <Python.h>
int Pa_GetVersion(void);
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "sound", NULL, -1, NULL, NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit_sound(void) { return Pa_GetVersion() ? PyModule_Create(&module) : NULL; }
"""


@pytest.fixture(scope="module")
def ort(tmp_path_factory):
    """A folder with a library that calls itself ONNX Runtime, and what CMake and pkg-config know of it."""
    (cc,) = require_programs("cc")
    root = tmp_path_factory.mktemp("ort")
    (root / "runtime.c").write_text(RUNTIME)
    file = root / "libonnxruntime.so.1"
    run_checked(cc, "-shared", "-fPIC", f"-Wl,-soname,{file.name}", root / "runtime.c", "-o", file)
    shutil.copy(file, root / "libonnxruntime.so")
    (root / "onnxruntimeConfig.cmake").write_text(
        "add_library(onnxruntime::onnxruntime SHARED IMPORTED)\n"
        f"set_target_properties(onnxruntime::onnxruntime PROPERTIES IMPORTED_LOCATION {file})\n"
    )
    libs = f"Name: x\nDescription: x\nVersion: 1.21\nLibs: -L{root} -lonnxruntime\n"
    (root / "libonnxruntime.pc").write_text(libs)
    return root


# ---- a package at hand ---------------------------------------------------------------------------------------------


def test_a_wheel_at_hand_is_described_and_nothing_is_planned(latebind, tmp_path, ort):
    (tmp_path / "use.c").write_text("const void* OrtGetApiBase(void); const void* k(void) { return OrtGetApiBase(); }")
    library = tmp_path / "libk.so"
    run_checked("cc", "-shared", "-fPIC", tmp_path / "use.c", ort / "libonnxruntime.so.1", "-o", library)
    wheel = tmp_path / "k-1.0-py3-none-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(library, "k/libk.so")
        archive.write(ort / "libonnxruntime.so.1", "k/libonnxruntime.so.1")
        archive.writestr(
            "k/__init__.py",
            "import ctypes, os\nctypes.CDLL(os.path.join(os.path.dirname(__file__), 'libonnxruntime.so.1'))\n",
        )
        archive.writestr("k-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: k\nVersion: 1.0\n")
    lines = assert_success(latebind("adopt", wheel, "--apply")).splitlines()
    for start in (
        "k/libk.so: links libonnxruntime.so.1",
        "k/libonnxruntime.so.1: bundles a copy of ONNX Runtime",
        "k/__init__.py:2: opens libonnxruntime.so.1",
        "METADATA: requires no distribution of ONNX Runtime",
        'next: eval "$(latebind stub onnxruntime --output stubs --export)"',
        "to keep it in your sources: ",
    ):
        assert any(line.startswith(start) for line in lines), (start, lines)
    assert lines[8:] == ["--apply: nothing to write"]


def test_a_program_on_a_library_that_latebind_describes_gets_the_command_for_its_stub(latebind, tmp_path):
    library, program = tmp_path / "libportaudio.so.2", tmp_path / "user"
    (tmp_path / "p.c").write_text("int Pa_GetVersion(void) { return 0x130700; }")
    (tmp_path / "user.c").write_text("int Pa_GetVersion(void); int main(void) { return Pa_GetVersion() == 0; }")
    run_checked("cc", "-shared", "-fPIC", f"-Wl,-soname,{library.name}", tmp_path / "p.c", "-o", library)
    run_checked("cc", tmp_path / "user.c", library, "-o", program)
    lines = assert_success(latebind("adopt", program)).splitlines()
    assert "user: links libportaudio.so.2, so it works only" in lines[0]
    assert lines[1] == 'next: eval "$(latebind stub portaudio --output stubs --export)"'
    for options in (("--profile", "runtime"), ("--preset", "portaudio"), ("--preset", LIBRARIES / "portaudio.toml")):
        ended = latebind("audit", *options, program)
        assert (ended.returncode, "LB101" in ended.stdout) == (1, True), ended.stdout + ended.stderr


def test_another_library_is_named_and_a_description_of_it_can_be(latebind, tmp_path):
    user, stub = build_mine(tmp_path), tmp_path / "latebind_mine.c"
    linked = "libuser.so: links libmine.so.3"
    named, unnamed = ("--preset", tmp_path / "mine.toml"), assert_success(latebind("adopt", user)).splitlines()
    assert unnamed[1] == linked
    assert "describe it, and name the description" in unnamed[2]
    lines = assert_success(latebind("adopt", user, *named)).splitlines()
    assert linked in lines[0]
    assert lines[1] == f'next: eval "$(latebind stub {named[1]} --output stubs --export)"'
    assert f"(latebind stub {named[1]} --output stubs)" in latebind("audit", user, *named).stdout
    (tmp_path / "keys.toml").write_text(
        'name = "mine"\nentry_symbols = ["mine_version"]\n'
        'file_globs = ["libmine.so*"]\nlinked_globs = ["libmine.so*"]\n'
    )
    (tmp_path / "apart.toml").write_text(MINE.replace('functions = ["mine_version", "mine_add"]', ""))
    ended = latebind("adopt", user, "--preset", tmp_path / "keys.toml")
    assert "libuser.so: links libmine.so.3" in assert_success(ended)
    assert "latebind stub" not in ended.stdout
    assert "describe mine for a stub: " in ended.stdout
    assert_refused(latebind("adopt", user, "--preset", tmp_path / "apart.toml"), "has no functions", "--functions")
    assert (
        "link a stub instead, for which you describe"
        in latebind("audit", user, "--preset", tmp_path / "keys.toml").stdout
    )
    assert_refused(
        latebind("stub", tmp_path / "apart.toml", "--output", tmp_path / "o"), "has no functions", "--functions"
    )
    made = latebind("stub", named[1], "--source", "--output", tmp_path)
    assert "1 function would end the process without mine (mine_add); stub.failures can say" in made.stderr
    run_checked("cc", "-shared", "-fPIC", tmp_path / "user.c", stub, "-o", user, "-ldl", "-pthread")
    for options in ((), named):
        assert assert_success(latebind("adopt", user, *options)).startswith(
            "libuser.so: binds mine late, at the first call\nwhere it is missing, "
        )
    (tmp_path / "user.c").write_text("const char* mine_version(void); int mine_sub(void);"
                                     "int use(void) { return *mine_version() + mine_sub(); }")  # fmt: skip
    run_checked("cc", "-shared", "-fPIC", tmp_path / "user.c", stub, "-o", user, "-ldl", "-pthread")
    lines = assert_success(latebind("adopt", user, "--apply", *named)).splitlines()
    assert lines[0] == "libuser.so: binds mine late, but what is named below is missing"
    assert lines[1].endswith("has 1 undefined symbol that the program that opens it has to define: mine_sub")
    assert lines[2].startswith("those that are functions of mine: list the library itself as functions of the stub")
    assert lines[3:] == ["--apply: nothing to write"]


def test_a_library_that_another_linked_one_loads_is_said_to_be_needed_still(latebind, tmp_path):
    """Graphviz's libgvc loads libcgraph: a module that binds that late still needs it."""
    user, stub, named = build_mine(tmp_path), tmp_path / "latebind_mine.c", ("--preset", tmp_path / "mine.toml")
    assert_success(latebind("stub", named[1], "--source", "--output", tmp_path))
    (tmp_path / "outer.c").write_text("const char* mine_version(void); int outer(void) { return *mine_version(); }")
    outer, env = tmp_path / "libouter.so.2", {"LD_LIBRARY_PATH": str(tmp_path)}
    shared = ("cc", "-shared", "-fPIC", "-Wl,--no-as-needed")
    (tmp_path / "libmine.so.3").rename(tmp_path / "libmine.so.3.1")  # as systems have it
    (tmp_path / "libmine.so.3").symlink_to("libmine.so.3.1")
    run_checked(*shared, f"-Wl,-soname,{outer.name}", tmp_path / "outer.c", tmp_path / "libmine.so.3", "-o", outer)
    for libraries, is_brought in (((stub, outer), True), ((stub,), False)):
        run_checked(*shared, tmp_path / "user.c", *libraries, "-o", user, "-ldl", "-pthread")
        lines = assert_success(latebind("adopt", user, *named, env=env)).splitlines()
        said = "left: libouter.so.2 is linked, too, and loads libmine.so.3: to do without mine, bind libouter.so.2 late"
        assert (f"{said} as well" in lines) == is_brought
        assert any(line.startswith("where it is missing, ") for line in lines) == (not is_brought)
    here = "-Wl,-rpath,$ORIGIN"  # beside the program, where no name finds it
    run_checked(
        *shared, f"-Wl,-soname,{outer.name}", here, tmp_path / "outer.c", tmp_path / "libmine.so.3", "-o", outer
    )
    run_checked(*shared, tmp_path / "user.c", stub, outer, here, "-o", user, "-ldl", "-pthread")
    assert f"{said} as well" in assert_success(latebind("adopt", user, *named)).splitlines()


def test_a_described_library_that_is_not_linked_is_named_by_its_files(latebind, tmp_path):
    build_mine(tmp_path)
    lines = assert_success(latebind("adopt", "/bin/true", "--preset", tmp_path / "mine.toml")).splitlines()
    assert lines[0] == "true links none of these, and binds none late: libmine.so.3"


def test_each_library_that_a_program_links_gets_its_stub(latebind, tmp_path):
    presets, program = [], tmp_path / "program"
    for name in ("one", "two"):
        (tmp_path / f"{name}.c").write_text(f"int {name}_entry(void) {{ return 0; }}")
        soname = f"-Wl,-soname,lib{name}.so.1"
        run_checked("cc", "-shared", "-fPIC", soname, tmp_path / f"{name}.c", "-o", tmp_path / f"lib{name}.so")
        described = f'name = "{name}"\nentry = "{name}_entry"\nversion = "none"\nfiles.linux = ["lib{name}.so.1"]\n'
        stub = f'advice = "apt-get install {name}"\n[stub]\nfunctions = ["{name}_entry"]\n'
        (tmp_path / f"{name}.toml").write_text(described + stub)
        presets += ["--preset", tmp_path / f"{name}.toml"]
    (tmp_path / "main.c").write_text(
        "int one_entry(void), two_entry(void); int main(void) { return one_entry() + two_entry(); }"
    )
    run_checked("cc", tmp_path / "main.c", tmp_path / "libone.so", tmp_path / "libtwo.so", "-o", program)

    lines = assert_success(latebind("adopt", *presets, program)).splitlines()

    for line, name in zip(lines, ("one", "two"), strict=False):
        assert f"program: links lib{name}.so.1, " in line
    one, two = (f"latebind stub {tmp_path / name}.toml --output stubs" for name in ("one", "two"))
    assert f'next: {one} && eval "$({two} --export)"' in lines


@pytest.mark.builds
def test_a_function_that_the_stub_lacks_is_no_success_of_the_trial(latebind, tmp_path):
    """A header may leave some out (ldap_init_fd is in openldap.h): the module would not be loaded."""
    project, library = tmp_path / "project", tmp_path / "libmine.so.3"
    project.mkdir()
    code = 'const char* mine_version(void) { return "3.1"; } int mine_add(void) { return 1; }'
    (tmp_path / "mine.c").write_text(f"{code} int mine_sub(void) {{ return 1; }}")
    run_checked("cc", "-shared", "-fPIC", f"-Wl,-soname,{library.name}", tmp_path / "mine.c", "-o", library)
    (tmp_path / "libmine.so").symlink_to(library)
    (tmp_path / "mine.toml").write_text(MINE)
    calls = SOUND.replace("return Pa_GetVersion()", "return mine_add() + mine_sub()")
    (project / "sound.c").write_text(calls.replace("int Pa_GetVersion(void);", "int mine_add(void), mine_sub(void);"))
    setup = (
        "from setuptools import Extension, setup\nsetup(name='sound', version='1.0', ext_modules=[Extension('sound', "
    )
    (project / "setup.py").write_text(f"{setup}['sound.c'], libraries=['mine'], library_dirs=['{tmp_path}'])])\n")
    ended = latebind("adopt", project, "--preset", tmp_path / "mine.toml")
    lines = assert_success(ended).splitlines()
    assert any(line.startswith("left: the stub lacks mine_sub: list the library itself as functions") for line in lines)
    assert not any(line.startswith(("next: ", "tried: ", "where ")) for line in lines)
    (tmp_path / "mine.toml").write_text(MINE.replace('"mine_add"]', '"mine_add", "mine_sub"]'))
    lines = assert_success(latebind("adopt", project, "--preset", tmp_path / "mine.toml")).splitlines()
    assert any(line.startswith("tried: sound-1.0-") for line in lines)


def build_wheel_of_portaudio(folder, setup):
    """The sources of a Python module that links PortAudio, and the library, which they name by `setup`."""
    (folder / "lib").mkdir(parents=True)
    (folder / "p.c").write_text("int Pa_GetVersion(void) { return 0x130700; }")
    file = folder / "lib/libportaudio.so.2"
    run_checked("cc", "-shared", "-fPIC", f"-Wl,-soname,{file.name}", folder / "p.c", "-o", file)
    (folder / "lib/libportaudio.so").symlink_to(file.name)
    project = folder / "project"
    project.mkdir()
    (project / "sound.c").write_text(SOUND)
    (project / "setup.py").write_text(
        f"from setuptools import Extension, setup\nsetup(name='sound', version='1.0', ext_modules=["
        f"Extension('sound', ['sound.c'], {setup})])\n"
    )
    return project


@pytest.mark.builds
@pytest.mark.parametrize("more", ["", ", library_dirs=['{lib}']"], ids=["LIBRARY_PATH", "a folder that setup.py names"])
def test_what_binds_a_described_library_of_a_wheel_late_was_tried(latebind, tmp_path, more):
    """Also where the build names the library's folder with -L, as setuptools does if Python is a shared library."""
    project = build_wheel_of_portaudio(tmp_path, f"libraries=['portaudio']{more.format(lib=tmp_path / 'lib')}")
    env = {"LIBRARY_PATH": str(tmp_path / "lib")}
    lines = assert_success(latebind("-v", "adopt", project, env=env)).splitlines()
    assert any(line.startswith("tried: sound-1.0-") and line.endswith(" binds PortAudio late") for line in lines), lines
    assert any(line.startswith("where the library is missing, the module ends Python at a function ") for line in lines)
    [command] = [line.partition(": ")[2] for line in lines if line.startswith("next: ")]
    wheel = f"{sys.executable} -m pip wheel -q --no-deps --no-build-isolation -w dist ."
    run_checked("bash", "-ec", f"{command}\n{wheel}", cwd=project, env={**os.environ, **env})
    [made] = (project / "dist").glob("*.whl")
    assert f"{made.name}: binds PortAudio late" in assert_success(latebind("adopt", made))


@pytest.mark.builds
def test_a_described_library_is_tried_from_any_folder_and_built_anew(latebind, tmp_path):
    """A description is named from where the user is; what an earlier build left in build/ would not be linked again."""
    project = build_wheel_of_portaudio(tmp_path, f"libraries=['portaudio'], library_dirs=['{tmp_path / 'lib'}']")
    shutil.copy(LIBRARIES / "portaudio.toml", tmp_path / "sound.toml")
    wheel = (sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", tmp_path / "w", ".")
    run_checked(*wheel, cwd=project)
    assert list((project / "build").glob("lib.*"))
    command = (sys.executable, "-m", "latebind", "-q", "adopt", "--preset", "sound.toml", "project")
    lines = run_checked(*command, cwd=tmp_path).splitlines()
    assert any(line.startswith("tried: sound-1.0-") for line in lines), lines
    [command] = [line.partition(": ")[2] for line in lines if line.startswith("next: ")]
    assert command.startswith(
        f'cd project && eval "$(latebind stub {tmp_path / "sound.toml"} --output stubs --export)"'
    )
    run_checked("bash", "-ec", f"{command}\nrm -rf build\n{shlex.join(map(str, wheel))}", cwd=tmp_path)
    assert " late, at the first call" in assert_success(latebind("adopt", *(tmp_path / "w").glob("*.whl")))


@pytest.mark.builds
def test_a_wheel_whose_build_takes_no_stub_says_what_is_left(latebind, tmp_path):
    file = tmp_path / "lib/libportaudio.so.2"
    project = build_wheel_of_portaudio(tmp_path, f"extra_objects=['{file}']")
    lines = assert_success(latebind("-v", "adopt", project)).splitlines()
    assert any(line.startswith("left: sound.") and "links libportaudio.so.2" in line for line in lines)
    assert not any(line.startswith("next: ") for line in lines)


def test_a_folder_of_built_files_is_read_whatever_else_it_has(latebind, tmp_path):
    """A build folder of CMake or autotools has a Makefile."""
    built = tmp_path / "build"
    built.mkdir()
    (built / "Makefile").touch()
    for probe in (built / "CMakeFiles/3.31.0/CompilerIdC/a.out", built / "meson-private/sanitycheckc.exe"):
        probe.parent.mkdir(parents=True)
        shutil.copy("/bin/true", probe)  # what a configured and unbuilt folder has
    assert "makes no wheel itself: build it" in latebind("adopt", built).stdout
    (tmp_path / "p.c").write_text("int Pa_GetVersion(void) { return 0x130700; }")
    (tmp_path / "user.c").write_text("int Pa_GetVersion(void); int main(void) { return Pa_GetVersion() == 0; }")
    library = tmp_path / "elsewhere" / "libportaudio.so.2"
    library.parent.mkdir()
    run_checked("cc", "-shared", "-fPIC", f"-Wl,-soname,{library.name}", tmp_path / "p.c", "-o", library)
    run_checked("cc", tmp_path / "user.c", library, "-o", built / "linked")
    assert_success(latebind("stub", "portaudio", "--output", tmp_path / "stubs"))
    stub = tmp_path / "stubs" / host_rid() / "lib/libportaudio.a"
    for name in ("late", "later"):
        run_checked("cc", tmp_path / "user.c", stub, "-ldl", "-lpthread", "-o", built / name)

    lines = assert_success(latebind("-v", "adopt", built)).splitlines()

    assert "linked: links libportaudio.so.2" in lines[0]
    assert lines[1:3] == [f"{name}: binds PortAudio late, at the first call" for name in ("late", "later")]


def test_a_library_of_the_same_build_is_the_next_to_look_at(latebind, tmp_path):
    (tmp_path / "own.c").write_text("int own(void) { return 0; }")
    (tmp_path / "user.c").write_text("int own(void); int main(void) { return own(); }")
    library = tmp_path / "b/libown.so.1"
    library.parent.mkdir()
    run_checked("cc", "-shared", "-fPIC", f"-Wl,-soname,{library.name}", tmp_path / "own.c", "-o", library)
    run_checked("cc", tmp_path / "user.c", library, f"-Wl,-rpath,{library.parent}", "-o", tmp_path / "user")
    lines = assert_success(latebind("adopt", tmp_path / "user")).splitlines()
    assert lines[1:] == ["user: links libown.so.1", f"next: latebind adopt {library}"]
    (tmp_path / "mine.toml").write_text(MINE)
    named = ("--preset", tmp_path / "mine.toml")
    lines = assert_success(latebind("adopt", *named, tmp_path / "user")).splitlines()
    assert lines[-1] == f"next: latebind adopt --preset {named[1]} {library}", "with what was named"
    run_checked("cc", tmp_path / "user.c", library, "-Wl,-rpath,$ORIGIN/b", "-o", tmp_path / "user")
    assert assert_success(latebind("adopt", *named, tmp_path / "user")).splitlines()[-1] == lines[-1]


def test_variables_that_a_file_uses_are_named_before_it_is_built_again(latebind, tmp_path):
    (tmp_path / "one.c").write_text("int one_entry(void) { return 0; }\nint one_level = 1, one_other = 2;\n")
    library = tmp_path / "libone.so"
    run_checked("cc", "-shared", "-fPIC", "-Wl,-soname,libone.so.1", tmp_path / "one.c", "-o", library)
    described = 'name = "one"\nentry = "one_entry"\nversion = "none"\nfiles.linux = ["libone.so.1"]\n'
    (tmp_path / "one.toml").write_text(f'{described}advice = "make"\n[stub]\nfunctions = ["libone.so"]\n')
    (tmp_path / "user.c").write_text("extern int one_level; int one_entry(void);\n"
                                     "int main(void) { return one_entry() + one_level; }\n")  # fmt: skip
    for name, flags in (("program", ()), ("library.so", ("-shared", "-fPIC"))):
        run_checked("cc", *flags, tmp_path / "user.c", library, "-o", tmp_path / name)
        lines = assert_success(latebind("adopt", "--preset", tmp_path / "one.toml", tmp_path / name)).splitlines()
        assert "first include latebind/one_variables.h after the library's header where one_level is used, " in lines[2]


def test_a_library_that_is_audited_alone_is_itself(latebind, tmp_path):
    """By its SONAME; a file of a version is named otherwise."""
    build_mine(tmp_path)
    (tmp_path / "mine.c").write_text('const char* mine_version(void) { return "3.1.0"; }')
    library = tmp_path / "libmine.so.3.1.0"
    run_checked("cc", "-shared", "-fPIC", "-Wl,-soname,libmine.so.3", tmp_path / "mine.c", "-o", library)
    printed = latebind("audit", library, "--preset", tmp_path / "mine.toml").stdout
    assert "LB104 is mine itself, or a copy: SONAME libmine.so.3" in printed


def test_a_description_of_which_no_stub_can_be_made_is_refused(latebind, tmp_path):
    """What `latebind stub` says of it, before a plan that needs the stub."""
    (tmp_path / "one.c").write_text("int one_entry(void) { return 0; }\n")
    library = tmp_path / "libone.so"
    run_checked("cc", "-shared", "-fPIC", "-Wl,-soname,libone.so.1", tmp_path / "one.c", "-o", library)
    (tmp_path / "user.c").write_text("int one_entry(void);\nint main(void) { return one_entry(); }\n")
    run_checked("cc", tmp_path / "user.c", library, "-o", tmp_path / "program")
    described = 'name = "one"\nentry = "another_entry"\nversion = "none"\nfiles.linux = ["libone.so.1"]\n'
    (tmp_path / "one.toml").write_text(f'{described}advice = "make"\n[stub]\nfunctions = ["libone.so"]\n')
    ended = latebind("adopt", "--preset", tmp_path / "one.toml", tmp_path / "program")
    assert_refused(ended, "another_entry is exported by no library in libone.so")


@pytest.mark.builds
def test_a_weak_reference_gets_the_option_that_links_its_stub(latebind, tmp_path):
    """A linker takes no member of an archive for a weak reference, and a bound program would do without it."""
    (tmp_path / "one.c").write_text("int one_entry(void) { return 0; }\nint one_more(void) { return 7; }\n")
    library = tmp_path / "lib/libone.so.1"
    library.parent.mkdir()
    run_checked("cc", "-shared", "-fPIC", "-Wl,-soname,libone.so.1", tmp_path / "one.c", "-o", library)
    described = f'name = "one"\nentry = "one_entry"\nversion = "none"\nfiles.linux = ["{library.name}"]\n'
    (tmp_path / "one.toml").write_text(
        f'{described}advice = "make"\n[stub]\nfunctions = ["one_entry", "one_more"]\nlibrary = "one"\n'
    )
    (tmp_path / "user.c").write_text("int one_entry(void); int one_more(void) __attribute__((weak));\n"
                                     "int main(void) { return one_more ? one_more() : one_entry(); }\n")  # fmt: skip
    run_checked("cc", "user.c", library, "-o", "user", cwd=tmp_path)
    lines = assert_success(latebind("adopt", "--preset", tmp_path / "one.toml", tmp_path / "user")).splitlines()
    commands = [line.partition(": ")[2] for line in lines if line.startswith(("next: ", "then: "))]
    assert 'CGO_LDFLAGS="$CGO_LDFLAGS -Wl,-u,one_more"' in commands[1]
    build = "cc user.c $LDFLAGS -lone -ldl -lpthread -o bound"
    run_checked("bash", "-ec", "\n".join([*commands, build]), cwd=tmp_path)
    assert "libone" not in run_checked("readelf", "-d", tmp_path / "bound")
    ended = run_program(tmp_path / "bound", env={**os.environ, "ONE_LIB_PATH": str(library)})
    assert ended.returncode == 7, ended.stderr


def test_sources_that_latebind_cannot_build_are_no_package(latebind, tmp_path):
    (tmp_path / "SConstruct").touch()
    lines = assert_success(latebind("adopt", tmp_path)).splitlines()
    assert "has no native file, and no build system that latebind asks: build it" in lines[0]
    assert lines[1].endswith("howto/other-builds.md")


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("meson.build", "#without-changing-a-line"),
        ("Cargo.toml", "#cargo-and-maturin"),
        ("go.mod", "#cgo"),
        ("configure.ac", "#without-changing-a-line"),
    ],
)
def test_a_build_that_makes_no_package_gets_the_section_of_its_recipe(latebind, tmp_path, file, says):
    (tmp_path / file).touch()
    lines = assert_success(latebind("adopt", tmp_path)).splitlines()
    assert lines[-1].endswith(f"howto/other-builds.md{says}")
    headings = re.findall(r"^## (.*)$", (ROOT / "docs/howto/other-builds.md").read_text("utf-8"), re.MULTILINE)
    assert says[1:] in {heading.lower().replace(" ", "-") for heading in headings}
    assert len(lines) == 2


def test_a_path_that_is_not_there_is_refused(latebind, tmp_path):
    assert_refused(latebind("adopt", tmp_path / "none"), "no such file or folder", "Name a project's folder")


# ---- what takes a command's place ----------------------------------------------------------------------------------


def change_cmake(root, text, *calls):
    """CMakeLists.txt after the change, and what is said of the lines that stay."""
    file = root / "CMakeLists.txt"
    file.write_text(text)
    calls = tuple(Call(file=str(file), line=line, cmd=cmd, args=args) for line, cmd, args in calls)
    built = Built(root=root, wheel=root, calls=calls)
    causes = find_causes(built, None, ORT)
    changed = apply_edits(root, [cause.edit for cause in causes if cause.edit], ORT)
    return changed.get(file.name, text), [cause.what for cause in causes if cause.edit is None]


@pytest.mark.parametrize(
    ("text", "call", "after"),
    [
        ("find_package(onnxruntime 1.20)\n", ("find_package", ("onnxruntime", "1.20")), INCLUDE),
        (
            "target_link_libraries(k PRIVATE ${ort})\n",
            ("target_link_libraries", ("k", "PRIVATE", "/o/libonnxruntime.so")),
            f"{INCLUDE}target_link_libraries(k PRIVATE latebind::onnxruntime)\n",
        ),
        (
            "  find_library(LIB onnxruntime)\n",
            ("find_library", ("LIB", "onnxruntime")),
            f"  {INCLUDE}  set(LIB latebind::onnxruntime)\n",
        ),
        (
            "install(FILES a.so)\nx()\n",
            ("install", ("FILES", "/o/libonnxruntime.so;/o/libonnxruntime.so.1", "TYPE", "BIN")),
            "x()\n",
        ),
    ],
)
def test_a_command_of_the_runtime_alone_is_replaced(tmp_path, text, call, after):
    assert change_cmake(tmp_path, text, (1, *call)) == (after, [])


def test_an_imported_target_keeps_its_name_and_links_the_stub(tmp_path):
    text = "add_library(rt SHARED IMPORTED)\nset_target_properties(rt PROPERTIES IMPORTED_LOCATION x)\n"
    location = ("rt", "PROPERTIES", "IMPORTED_LOCATION", "/o/libonnxruntime.so")
    calls = ((1, "add_library", ("rt", "SHARED", "IMPORTED")), (2, "set_target_properties", location))
    changed, left = change_cmake(tmp_path, text, *calls)
    assert changed.startswith(
        f"{INCLUDE}add_library(rt INTERFACE IMPORTED)\ntarget_link_libraries(rt INTERFACE latebind::"
    )
    assert not left


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("find_package(${kind}) # any\n", [("onnxruntime",)]),
        ("find_package(onnxruntime) find_package(fmt)\n", [("onnxruntime",)]),
        ("find_package(${each})\n", [("onnxruntime",), ("fmt",)]),
    ],
    ids=["comment", "two on a line", "loop"],
)
def test_a_line_that_does_more_is_named_and_stays(tmp_path, text, calls):
    changed, left = change_cmake(tmp_path, text, *((1, "find_package", call) for call in calls))
    assert (changed, left) == (text, ["finds {title}"])


SETUP = 'setup(\n  name="k",\n  ext_modules=[Extension("k", ["k.c"], libraries=["m", "onnxruntime"])],\n)\n'


def test_setup_py_loses_the_library_and_compiles_the_stub():
    changed = replace_library(SETUP, 3, "onnxruntime", "third_party/stub.c")
    assert 'libraries=[("stub", {"sources": ["third_party/stub.c"]})],\n  name="k"' in changed
    assert 'libraries=["m"])]' in changed


@pytest.mark.parametrize("old", ['["m", "onnxruntime"]', "setup("])
def test_a_setup_py_with_names_in_place_of_lists_is_not_changed(old):
    text = SETUP.replace(old, "LIBRARIES" if old.startswith("[") else "setup(**more, ")
    assert replace_library(text, 3, "onnxruntime", "third_party/stub.c") == ""


def test_a_requirement_is_added_to_setup_py():
    assert add_to_setup(SETUP, "a>=1").startswith('setup(\n  install_requires=["a>=1"],\n  name="k"')
    assert 'install_requires=["a>=1", "b"]' in add_to_setup('setup(install_requires=["b"])', "a>=1")
    assert add_to_setup("setup(install_requires=LIST)", "a>=1") == ""


def test_the_line_that_says_why_a_build_failed_is_found():
    assert (
        first_error("compiling\nk.c:1:2: error: no such thing\nmake: *** [all] Error 1\n")
        == "k.c:1:2: error: no such thing"
    )
    assert first_error("Traceback (most recent call last):\n  File x\nValueError: no\n") == "ValueError: no"
    gyp = 'gyp ERR! stack Error: Python executable "python" is v3.11.7, which is not supported by gyp.'
    ends = "npm error code 1\nnpm error A complete log of this run can be found in: npm.log\n"
    assert first_error(f"gyp ERR! configure error \n{gyp}\ngyp ERR! not ok \n{ends}") == gyp
    assert first_error(ends) == "npm error code 1"


# ---- whole projects ------------------------------------------------------------------------------------------------

PROJECT = '[project]\nname = "engine"\nversion = "1.0"\n'
CMAKE = """cmake_minimum_required(VERSION 3.20)
project(engine LANGUAGES C)
find_package(Python REQUIRED COMPONENTS Development.Module)
{find}
Python_add_library(engine MODULE WITH_SOABI engine.c)
target_link_libraries(engine PRIVATE {item})
install(TARGETS engine DESTINATION .)
"""
SKBUILD = f'[build-system]\nrequires = ["scikit-build-core"]\nbuild-backend = "scikit_build_core.build"\n{PROJECT}'
MESON = """project('engine', 'c')
python = import('python').find_installation()
runtime = {find}
python.extension_module('engine', 'engine.c', dependencies: [python.dependency(), runtime], install: true)
"""
MESONPY = f'[build-system]\nrequires = ["meson-python"]\nbuild-backend = "mesonpy"\n{PROJECT}'
EXTENSION = 'Extension("engine", ["engine.c"], library_dirs=["{ort}"], libraries=["onnxruntime"])'
COPIED = "link_directories({ort})\ninstall(FILES {ort}/libonnxruntime.so.1 DESTINATION .)"
STARTS_CMAKE = """import subprocess, sysconfig
from pathlib import Path
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class Build(build_ext):
    def run(self):
        to, include = Path(self.build_lib).absolute(), sysconfig.get_path("include")
        options = [f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY={to}", f"-DCMAKE_C_FLAGS=-I{include}"]
        subprocess.check_call(["cmake", "-S", "native", "-B", "build/cmake", *options])
        subprocess.check_call(["cmake", "--build", "build/cmake"])


setup(name="engine", version="1.0", ext_modules=[Extension("engine", [])], cmdclass={"build_ext": Build})
"""
PROJECTS = {
    "setuptools, which starts CMake": {
        "pyproject.toml": '[build-system]\nrequires = ["setuptools", "cmake"]\n',
        "setup.py": STARTS_CMAKE,
        "native/CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(engine LANGUAGES C)\n"
        'add_library(engine MODULE ../engine.c)\nset_target_properties(engine PROPERTIES PREFIX "")\n'
        "target_link_libraries(engine PRIVATE {ort}/libonnxruntime.so)\n",
    },
    "scikit-build-core": {
        "pyproject.toml": SKBUILD,
        "CMakeLists.txt": CMAKE.format(find="find_package(onnxruntime REQUIRED)", item="onnxruntime::onnxruntime"),
    },
    "scikit-build-core, by name and bundled": {
        "pyproject.toml": SKBUILD,
        "CMakeLists.txt": CMAKE.format(find=COPIED, item="onnxruntime"),
    },
    "meson-python": {"pyproject.toml": MESONPY, "meson.build": MESON.format(find="dependency('libonnxruntime')")},
    "meson-python, by name": {
        "pyproject.toml": MESONPY,
        "meson.build": MESON.format(find="meson.get_compiler('c').find_library('onnxruntime', dirs: '{ort}')"),
    },
    "setuptools": {
        "setup.py": f"from setuptools import Extension, setup\n\nsetup(\n    name='engine',\n    version='1.0',\n"
        f"    ext_modules=[{EXTENSION}],\n)\n"
    },
}


def write_project(root, files, ort):
    root.mkdir()
    (root / "engine.c").write_text(USE)
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text.replace("{ort}", str(ort)))
    return {"onnxruntime_DIR": str(ort), "PKG_CONFIG_PATH": str(ort)}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="not run: the recipes are tried on Linux")
@pytest.mark.parametrize("name", PROJECTS)
def test_a_project_is_adopted_by_the_printed_commands_alone(latebind, tmp_path, ort, name):
    project = tmp_path / "project"
    env = write_project(project, PROJECTS[name], ort)
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    lines = assert_success(latebind("adopt", project, env=env)).splitlines()
    assert any(": links libonnxruntime.so.1" in line for line in lines)
    assert "tried: the new wheel links no ONNX Runtime, requires onnxruntime>=1.19, exports what it did" in lines
    assert lines[-1] == f"next: latebind adopt {project} --apply"
    assert len(lines) <= 10
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before
    applied = assert_success(latebind("adopt", project, "--apply", env=env)).splitlines()
    assert len(applied) <= 10
    wheel = "engine-1.0-"
    (done,) = assert_success(latebind("adopt", project)).splitlines()  # the runtime is nowhere now
    assert done.startswith(f"done: {wheel}")
    assert done.endswith(" binds ONNX Runtime late, and requires onnxruntime>=1.19")
    builder = make_environment(tmp_path / "builder", "build", "pip")
    run_checked(builder, "-m", "build", "--wheel", "--outdir", tmp_path / "dist", project, env=dict(os.environ))
    (built,) = (tmp_path / "dist").iterdir()
    audited = assert_success(latebind("audit", "--profile", "runtime", built))
    assert " 0 errors" in audited
    for runtime, version in (("onnxruntime==1.19.2", "1.19.2"), ("onnxruntime", "1.")):
        python = make_environment(tmp_path / runtime, built, runtime)
        assert run_checked(python, "-c", "import engine; print(engine.version())").startswith(version)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="not run: libraries are loaded as on Linux")
@pytest.mark.parametrize(
    ("use", "says"),
    [
        (
            "__attribute__((constructor)) void f(void) { if (*OrtGetApiBase()->GetVersionString() == '0') abort(); }",
            "a static object calls",
        ),
        ("extern void* _ZN3Ort5thingEv(void); void* keep(void) { return _ZN3Ort5thingEv(); }", "needs _ZN3Ort5thingEv"),
    ],
    ids=["static object", "C++"],
)
def test_what_cannot_be_bound_late_is_said_first_and_nothing_is_planned(latebind, tmp_path, ort, use, says):
    project, files = tmp_path / "project", PROJECTS["setuptools"]
    env = write_project(project, files, tmp_path)
    (project / "engine.c").write_text(f"{USE}{use}\n")
    more = RUNTIME.replace("1.21.0", "1.22.0") + "void* _ZN3Ort5thingEv(void) { return 0; }\n"
    (tmp_path / "runtime.c").write_text(more)
    file = tmp_path / "libonnxruntime.so"
    run_checked("cc", "-shared", "-fPIC", "-Wl,-soname,libonnxruntime.so.1", tmp_path / "runtime.c", "-o", file)
    first, second, _ = assert_success(latebind("adopt", project, "--apply", env=env)).splitlines()
    assert first == "cannot bind late as it is:"
    assert says in second
    assert not (project / "third_party").exists()


@pytest.mark.slow
def test_a_project_that_does_not_build_ends_with_its_compilers_own_words(latebind, tmp_path, ort):
    env = write_project(tmp_path / "project", PROJECTS["setuptools"], ort)
    (tmp_path / "project/engine.c").write_text("int engine(void) { return absent; }\n")
    ended = latebind("adopt", tmp_path / "project", env=env)
    assert_refused(ended, f"{tmp_path}/project: setuptools.build_meta", "cannot build the project", "engine.c:1:")


def test_a_bound_library_that_lacks_a_variable_is_told_that_it_does_not_load(latebind, tmp_path):
    """Another library that it links might define one; the stub's description knows whose the variable is."""
    (tmp_path / "mine.c").write_text("int mine_count = 42;\nint mine_entry(void) { return mine_count; }\n")
    (tmp_path / "user.c").write_text(
        "extern int mine_count;\nint mine_entry(void);\nint use(void) { return mine_count + mine_entry(); }\n"
    )
    (tmp_path / "other.c").write_text("int other;\n")
    for name, source in (("libmine.so.1", "mine.c"), ("libother.so.1", "other.c")):
        run_checked("cc", "-shared", "-fPIC", f"-Wl,-soname,{name}", source, "-o", name, cwd=tmp_path)
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\nentry = "mine_entry"\nversion = "none"\nfiles.linux = ["libmine.so.1"]\n'
        'advice = "make install"\n[stub]\nfunctions = ["libmine.so.1"]\n'
    )
    assert_success(latebind("stub", tmp_path / "mine.toml", "--output", tmp_path / "stubs"))
    stub = tmp_path / "stubs" / host_rid() / "lib/libmine.a"
    others = ("-Wl,--no-as-needed", tmp_path / "libother.so.1", "-ldl")
    run_checked("cc", "-shared", "-fPIC", "user.c", stub, *others, "-o", "user.so", cwd=tmp_path)
    lines = assert_success(latebind("adopt", "--preset", tmp_path / "mine.toml", tmp_path / "user.so")).splitlines()
    assert "user.so: binds mine late, but what is named below is missing" in lines
    assert "user.so: does not load, because nothing defines mine_count" in lines
    assert any("include the header of variables in the files that use them" in line for line in lines)


@pytest.mark.builds
def test_a_program_that_uses_a_librarys_variable_is_built_as_printed(latebind, tmp_path):
    """`first include …` names the header, which the stub's folder has."""
    (tmp_path / "mine.h").write_text("extern int mine_count;\nint mine_entry(void);\n")
    (tmp_path / "mine.c").write_text("int mine_count = 42;\nint mine_entry(void) { return mine_count; }\n")
    library, program = tmp_path / "libmine.so.1", tmp_path / "program"
    run_checked("cc", "-shared", "-fPIC", f"-Wl,-soname,{library.name}", tmp_path / "mine.c", "-o", library)
    (tmp_path / "libmine.so").symlink_to(library)
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\nentry = "mine_entry"\nversion = "none"\nfiles.linux = ["libmine.so.1"]\n'
        f'advice = "make install"\n[stub]\nfunctions = ["{library}"]\n'
    )
    source = '#include "mine.h"\n{more}int main(void) {{ return mine_count - mine_entry(); }}\n'
    (tmp_path / "main.c").write_text(source.format(more=""))
    build = ("cc", "main.c", f"-L{tmp_path}", "-lmine", "-o", program)
    run_checked(*build, cwd=tmp_path)
    lines = assert_success(latebind("adopt", program, "--preset", tmp_path / "mine.toml")).splitlines()
    command = lines[1].removeprefix("next: ")
    header = (
        lines[2].removeprefix("first include ").partition(" after the library's header where mine_count is used, ")[0]
    )
    assert "; it doesn't serve that header's inline functions and static initializers: " in lines[2]
    (tmp_path / "static.c").write_text(f'#include "mine.h"\n#include <{header}>\nstatic int* kept = &mine_count;\n')
    failed = run_program("bash", "-ec", f"{command}\ncc -c static.c", cwd=tmp_path)
    assert "initializer element is not" in failed.stderr
    (tmp_path / "main.c").write_text(source.format(more=f"#include <{header}>\n"))
    run_checked("bash", "-ec", f"{command}\ncc main.c $LDFLAGS -L{tmp_path} -lmine -o {program}", cwd=tmp_path)
    made = assert_success(latebind("adopt", program, "--preset", tmp_path / "mine.toml"))
    assert made.startswith("program: binds mine late")
    run_checked(program, env={**os.environ, "MINE_LIB_PATH": str(library)})
