"""A stub of any C library: how versions are read and compared, several stubs in one program, C++, and variables."""

import re
import shutil

import pytest

from tests.support.building import needed_compiler
from tests.support.running import assert_refused, assert_success, run_checked, run_program

DESCRIBED = """\
name = "{name}"
title = "Thing"
entry = "{name}_version"
minimum = "3.1"
built = "3.2"
files.linux = ["lib{name}.so"]
files.macos = ["lib{name}.dylib"]
advice = "apt-get install {name}"
{version}

[stub]
functions = ["{name}_version", "{name}_f"]
failures = {{ "*" = -1 }}
"""
USER = """\
#include <stdio.h>
#include "latebind_thing.h"
int thing_f(void);
int main(void) {
  int number = thing_f();
  printf("%d %s\\n%s\\n", number, lb_thing_version(), lb_thing_message());
  return 0;
}
"""
THREE = "unsigned thing_version(void) { return MAJOR * 0x10000 + MINOR * 0x100 + PATCH; }"
FORMS = {
    "libpq": ("integer", "scale = [10000, 1]", "int thing_version(void) { return MAJOR * 10000 + MINOR; }", "3.2"),
    "FFmpeg and PortAudio": ("integer", "scale = [0x10000, 0x100, 1]", THREE, "3.2.1"),
    "CUDA": (
        "integer-out",
        "scale = [1000, 10]",
        "int thing_version(int* to) { *to = MAJOR * 1000 + MINOR * 10; return 0; }",
        "3.2",
    ),
    "libusb": (
        "structure",
        "bits = 16",
        (
            "static const struct { unsigned short a, b, c, d; const char* e; } numbers = {MAJOR, MINOR, PATCH, 9, 0};\n"
            "const void* thing_version(void) { return &numbers; }"
        ),
        "3.2.1",
    ),
    "OpenSSL": (
        "integer",
        "scale = [0x10000000, 0x100000, 0x10]",
        "unsigned long thing_version(void) { return MAJOR * 0x10000000ul + MINOR * 0x100000 + PATCH * 0x10; }",
        "3.2.1",
    ),
    "PyTorch": (
        "integer",
        "bits = 64\nscale = [0x0100000000000000, 0x0001000000000000, 0x0000010000000000]",
        (
            "#include <stdint.h>\n"
            "uint64_t thing_version(void) {"
            " return (uint64_t)MAJOR << 56 | (uint64_t)MINOR << 48 | (uint64_t)PATCH << 40; }"
        ),
        "3.2.1",
    ),
    "OpenSSL's text": (
        "text",
        "",
        (
            "#define TEXT_(x) #x\n#define TEXT(x) TEXT_(x)\n"
            'const char* thing_version(int kind) { return kind ? "" : "Thing " TEXT(MAJOR) "." TEXT(MINOR) " of May"; }'
        ),
        "3.2",
    ),
    "bzip2": (
        "text",
        "",
        (
            "#define TEXT_(x) #x\n#define TEXT(x) TEXT_(x)\n"
            'const char* thing_version(void) { return TEXT(MAJOR) "." TEXT(MINOR) ", 13-Jul-2019"; }'
        ),
        "3.2",
    ),
    "GMP": (
        "variable",
        "",
        '#define TEXT_(x) #x\n#define TEXT(x) TEXT_(x)\nconst char* const thing_version = TEXT(MAJOR) "." TEXT(MINOR);',
        "3.2",
    ),
    "libxml2": (
        "variable",
        "scale = [10000, 100, 1]",
        (
            "#define TEXT_(x) #x\n#define TEXT(x) TEXT_(x)\n"
            'const char* const thing_version = TEXT(MAJOR) "0" TEXT(MINOR) "0" TEXT(PATCH) "-GIT";'
        ),
        "3.2.1",
    ),
    "a number as text": (
        "text",
        "scale = [100, 1]",
        (
            "#define TEXT_(x) #x\n#define TEXT(x) TEXT_(x)\n"
            'const char* thing_version(void) { return TEXT(MAJOR) "0" TEXT(MINOR); }'
        ),
        "3.2",
    ),
    "MPI": ("two-numbers", "", "int thing_version(int* a, int* b) { *a = MAJOR; *b = MINOR; return 0; }", "3.2"),
    "none": ("none", "", "int thing_version(void) { return 77; }", ""),
}


def describe(version, extra="", name="thing"):
    """A description whose version has that form. A variable is no function of the stub."""
    text = DESCRIBED.format(name=name, version=f'version = "{version}"\n{extra}')
    if version == "variable":
        text = text.replace(f'["{name}_version", ', "[")
    return text.replace('minimum = "3.1"\nbuilt = "3.2"\n', "") if version == "none" else text


def write_stub(latebind, folder, text, name="thing"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.toml").write_text(text)
    return latebind("stub", folder / f"{name}.toml", "--source", "--output", folder)


def compile_c(*arguments):
    run_checked(needed_compiler(), "-std=c99", "-Wall", "-Wextra", "-Werror", *arguments)


def build_library(folder, code, version, name="thing"):
    """The library in a version, in a folder of its own, which is returned."""
    folder = folder / ".".join(map(str, version))
    folder.mkdir(parents=True)
    (folder / "library.c").write_text(f"{code}\nint {name}_f(void) {{ return MAJOR; }}\n")
    numbers = [f"-D{key}={number}" for key, number in zip(("MAJOR", "MINOR", "PATCH"), version, strict=True)]
    compile_c("-shared", "-fPIC", *numbers, folder / "library.c", "-o", folder / f"lib{name}.so")
    return folder


def build_program(latebind, folder, text):
    assert_success(write_stub(latebind, folder, text))
    (folder / "user.c").write_text(USER)
    compile_c(folder / "user.c", folder / "latebind_thing.c", "-ldl", "-pthread", "-o", folder / "user")
    return folder / "user"


def run_with(program, library):
    """What the function gives, the version, and the message, with a library's folder."""
    done = run_program(program, env={"THING_LIB_PATH": str(library)})
    first, message = assert_success(done).splitlines()
    number, _, version = first.partition(" ")
    return int(number), version, message


@pytest.mark.builds
def test_a_systems_package_whose_file_is_damaged_is_installed_again(latebind, tmp_path):
    """apt-get leaves a package alone that it has."""
    program, folder = build_program(latebind, tmp_path, describe("none", "")), tmp_path / "damaged"
    for command in ("apt-get install thing", "apt-get install --reinstall thing"):
        ended = run_program(program, env={"LD_LIBRARY_PATH": str(folder)})
        assert f"Get it with: {command}" in assert_success(ended).splitlines()[1]
        folder.mkdir(exist_ok=True)
        (folder / "libthing.so").touch()


@pytest.mark.builds
def test_a_library_that_lacks_another_works_once_that_is_there(latebind, tmp_path):
    program = build_program(latebind, tmp_path, describe("none", ""))
    (tmp_path / "needed.c").write_text("int needed(void) { return 4; }")
    compile_c("-shared", "-fPIC", "-Wl,-soname,libneeded.so", tmp_path / "needed.c", "-o", tmp_path / "libneeded.so")
    code = "int needed(void), thing_f(void);\nint thing_version(void) { return needed(); }\n"
    links = ("-Wl,-rpath,$ORIGIN", tmp_path / "libneeded.so")
    (tmp_path / "thing.c").write_text(f"{code}int thing_f(void) {{ return 3; }}\n")
    compile_c("-shared", "-fPIC", tmp_path / "thing.c", *links, "-o", tmp_path / "libthing.so")
    (tmp_path / "libneeded.so").rename(tmp_path / "away.so")
    number, _, message = run_with(program, tmp_path / "libthing.so")
    assert number == -1
    assert "Install what it needs, or correct the environment variable THING_LIB_PATH or unset it" in message
    (tmp_path / "away.so").rename(tmp_path / "libneeded.so")
    assert run_with(program, tmp_path / "libthing.so")[0] == 3


@pytest.mark.builds
@pytest.mark.parametrize("library", FORMS)
def test_a_version_is_read_in_the_form_that_the_description_names(latebind, tmp_path, library):
    form, extra, code, version = FORMS[library]
    program = build_program(latebind, tmp_path, describe(form, extra))

    good = run_with(program, build_library(tmp_path, code, (3, 2, 1)))
    old = run_with(program, build_library(tmp_path, code, (3, 0, 9)))
    absent = run_with(program, tmp_path / "gone")

    assert b'"feature":"thing"' in program.read_bytes(), "package managers read which library it opens"
    assert good == (3, version, "")
    assert absent[:2] == (-1, "")
    assert "Thing was not found" in absent[2]
    assert "Get it with: apt-get install thing" in absent[2]
    if form == "none":
        assert old == (3, "", "")
        assert "or newer is needed" not in absent[2]
    else:
        assert old[:2] == (-1, "")
        assert "is too old; version 3.1 or newer is needed" in old[2]


@pytest.mark.builds
@pytest.mark.parametrize(
    ("compatible", "later", "refusal"),
    [
        ("major", (3, 9, 0), ""),
        ("major", (4, 0, 0), "is of another major version; version 3.1 or newer is needed, below 4"),
        ("minor", (3, 1, 9), ""),
        ("minor", (3, 2, 0), "is of another minor version; version 3.1 or newer is needed, below 3.2"),
        ("minor", (4, 1, 0), "is of another major version; version 3.1 or newer is needed, below 3.2"),
        ("always", (4, 0, 0), ""),
    ],
)
def test_compatible_says_which_later_versions_are_bound(latebind, tmp_path, compatible, later, refusal):
    extra = f'scale = [0x10000, 0x100, 1]\ncompatible = "{compatible}"'
    program = build_program(latebind, tmp_path, describe("integer", extra))

    number, _, message = run_with(program, build_library(tmp_path, THREE, later))

    assert number == (-1 if refusal else later[0])
    assert refusal in message


@pytest.mark.parametrize(
    ("form", "code", "says"),
    [
        ("text", "int thing_version(void) { return 123456; }", "it does not report its version as text"),
        ("text", "const char* thing_version(void) { return 0; }", "it does not report its version as text"),
        ("text", 'const char* thing_version(void) { return "none"; }', "the text that it reports has no version"),
        ("variable", "long thing_version = 7;", "it does not report its version as text"),
        ("structure", "long thing_version(void) { return 77; }", "it does not report its version at an address"),
    ],
)
def test_an_entry_of_another_kind_is_an_error_and_no_crash(latebind, tmp_path, form, code, says):
    program = build_program(latebind, tmp_path, describe(form))

    number, _, message = run_with(program, build_library(tmp_path, code, (3, 2, 1)))

    assert number == -1
    assert f"cannot be used: {says}; version 3.1 or newer" in message


OWN = "int {name}_version(void) {{ return 1; }}"
READER = """
int lb_{name}_read_version(void* entry, char* text, size_t size) {{
  return size < 4 || !lb_{name}_image_symbol(entry, "{name}_f") ? 1 : lb_{name}_read_text("3.2", text, size);
}}
"""


@pytest.mark.builds
def test_two_stubs_that_read_versions_themselves_are_linked_into_one_program(latebind, tmp_path):
    lines, names = [], ("one", "two")
    for name in names:
        made = write_stub(latebind, tmp_path, describe("own", name=name), name)
        assert_success(made)
        assert f"every program that links the stub needs int lb_{name}_read_version(" in made.stderr
        build_library(tmp_path / name, OWN.format(name=name), (7, 0, 0), name)
        lines += [f'#include "latebind_{name}.h"', f"int {name}_f(void);", READER.format(name=name)]
    main = "int main(void) { return one_f() + two_f() == 14 ? 0 : 1; }\n"
    (tmp_path / "main.c").write_text("\n".join([*lines, main]))
    sources = [tmp_path / "main.c", *(tmp_path / f"latebind_{name}.c" for name in names)]
    compile_c(*sources, "-ldl", "-pthread", "-o", tmp_path / "main")

    variables = {f"{name.upper()}_LIB_PATH": str(tmp_path / name / "7.0.0") for name in names}
    assert_success(run_program(tmp_path / "main", env=variables))
    assert all(f'"feature":"{name}"'.encode() in (tmp_path / "main").read_bytes() for name in names)


@pytest.mark.slow
def test_one_folder_has_several_stubs_and_replaces_only_the_one_that_is_made_again(latebind, tmp_path):
    def make(name, described):
        (tmp_path / f"{name}.toml").write_text(described)
        return latebind("stub", tmp_path / f"{name}.toml", "--target", "linux-x64", "--output", tmp_path)

    prefix = tmp_path / "linux-x64"
    for name in ("one", "two"):
        assert_success(make(name, describe("text", name=name)))
    first = (prefix / "lib/libtwo.a").read_bytes()
    assert_success(make("one", describe("text", name="one").replace('"Thing"', '"Another"')))

    assert {path.name for path in prefix.glob("lib/*.a")} == {"libone.a", "libtwo.a"}
    assert (prefix / "lib/libtwo.a").read_bytes() == first
    assert b"Another" in (prefix / "lib/libone.a").read_bytes()
    assert {path.name for path in prefix.glob("lib/cmake/latebind/inFrontOf-*")} == {
        "inFrontOf-one.cmake",
        "inFrontOf-two.cmake",
    }
    clash = describe("text", name="three").replace("failures", 'library = "two"\nfailures')
    assert_refused(make("three", clash), "the stubs of two and three both install lib/")
    assert (prefix / "lib/libtwo.a").read_bytes() == first


def test_a_stub_can_have_only_what_a_program_calls(latebind, tmp_path):
    code = 'const char* thing_version(void) { return "3.2"; }'
    code += "\nint thing_number, thing_other; int thing_unused(void) { return 2; }"
    library = build_library(tmp_path, code, (3, 2, 1)) / "libthing.so"
    (tmp_path / "user.c").write_text(
        "int thing_f(void); extern int thing_number; int main(void) { return thing_f() + thing_number; }"
    )
    compile_c(tmp_path / "user.c", library, "-o", tmp_path / "user")
    compile_c("-xc", "-shared", "-fPIC", "/dev/null", "-o", tmp_path / "other.so")
    described = describe("text").replace('["thing_version", "thing_f"]', f'["{library}"]').replace('"*" = -1', "")
    (tmp_path / "thing.toml").write_text(described)

    def make(user):
        return latebind("stub", tmp_path / "thing.toml", "--called-by", user, "--source", "--output", tmp_path / "made")

    made = make(tmp_path / "user")
    assert_success(made)
    assert "not in the stub: 1 variable (thing_number); include" in made.stderr
    assert "1 function would end the process without Thing (thing_f)" in made.stderr
    assert "thing_unused" not in (tmp_path / "made/latebind_thing.c").read_text()
    assert_refused(make(tmp_path / "other.so"), "what --called-by names takes no function of", "is linked with")
    (tmp_path / ".libs").mkdir()
    (tmp_path / "user").rename(tmp_path / ".libs/user")
    (tmp_path / "user").write_text("#! /bin/sh\n# user - temporary wrapper script for .libs/user\n")  # libtool's
    refused = make(tmp_path / "user")
    assert_refused(refused, "is not a program or library")
    folder = re.search(r"name the program in the folder (\S+) beside it", refused.stderr)[1]
    assert_success(make(tmp_path / folder / "user"))


def test_a_project_with_gnulibs_headers_compiles_it(latebind, tmp_path):
    """They refuse to be included before config.h, which autotools promise by a macro."""
    assert_success(write_stub(latebind, tmp_path, describe("text")))
    (tmp_path / "lib").mkdir()
    refuse = "#ifndef FROM_CONFIGURE\n#error config.h is to be first\n#endif\n#include_next <unistd.h>\n"
    (tmp_path / "lib/unistd.h").write_text(refuse)
    (tmp_path / "config.h").write_text("#define FROM_CONFIGURE 1\n")
    flags = ["-DHAVE_CONFIG_H", f"-I{tmp_path}", f"-I{tmp_path}/lib"]

    run_checked(needed_compiler(), *flags, "-c", tmp_path / "latebind_thing.c", "-o", tmp_path / "thing.o")
    without = (needed_compiler(), "-DHAVE_CONFIG_H", "-pedantic", "-Werror")  # a project may call its header otherwise
    run_checked(*without, "-c", tmp_path / "latebind_thing.c", "-o", tmp_path / "other.o")


def test_a_cxx_compiler_gets_one_error_that_says_what_to_use(latebind, tmp_path):
    if not (compiler := shutil.which("g++") or shutil.which("clang++")):
        pytest.skip("not run: there is no C++ compiler here: apt-get install g++")
    assert_success(write_stub(latebind, tmp_path, describe("text")))

    done = run_program(compiler, "-x", "c++", "-c", tmp_path / "latebind_thing.c", "-o", tmp_path / "thing.o")

    assert done.returncode != 0
    assert done.stderr.count("error:") == 1
    assert "latebind_thing.c is C, not C++: compile it with the C compiler" in done.stderr


CXX_LIBRARY = """\
#include <stdexcept>
#include <string>
extern "C" {
const char* thing_version(void) { return "3.2"; }
double thing_real(void) { return 1.5; }
float thing_float(void) { return 2.5f; }
void thing_nothing(void) {}
int thing_number = 42, thing_mode = 1;
int* thing_mode_address(void) { return &thing_mode; }
struct thing_world { int x; } thing_world = {7};
int thing_ask(const struct thing_world* world) { return world->x; }
}
namespace thing {
struct Shape { virtual ~Shape(); };
Shape::~Shape() {}
inline int helper(int x) { return x; }
int fails(const std::string& why) {
  if (why.empty()) return helper(1);
  throw std::runtime_error(why);
}
}
"""
CXX_HEADER = """\
#ifdef __cplusplus
#include <string>
namespace thing { int fails(const std::string& why); }
extern "C" {
#endif
double thing_real(void); float thing_float(void); void thing_nothing(void);
extern int thing_number;
int* thing_mode_address(void);
#define thing_mode (*thing_mode_address())
extern struct thing_world thing_world;
int thing_ask(const struct thing_world* world);
#ifdef __cplusplus
}
#endif
"""
CXX_USER = """\
#include "thing.h"
#include "latebind_thing_variables.h"
#include <cmath>
#include <cstdio>
#include <stdexcept>
int main(int count, char**) {
  thing_nothing();
  std::printf("%d %d\\n", std::isnan(thing_real()), std::isnan(thing_float()));
  if (count > 1) std::fflush(stdout), thing_number++;
  try { thing::fails("why"); } catch (const std::runtime_error& error) { std::puts(error.what()); }
  thing_number++;
  std::printf("%d %d\\n", thing_number, thing_ask(&thing_world));
}
"""
C_USER = """\
#include "thing.h"
#include "latebind_thing_variables.h"
int main(void) { return thing_mode + thing_number == 43 && &thing_number && thing_ask(&thing_world) == 7 ? 0 : 1; }
"""


@pytest.fixture(scope="module")
def cxx(tmp_path_factory, latebind):
    """The folder with a library of C++ and programs on its stub, and what latebind printed."""
    if not (compiler := shutil.which("g++")):
        pytest.skip("not run: there is no C++ compiler here: apt-get install g++")
    folder = tmp_path_factory.mktemp("cxx")
    files = {"library.cpp": CXX_LIBRARY, "thing.h": CXX_HEADER, "user.cpp": CXX_USER, "user.c": C_USER}
    for name, text in files.items():
        (folder / name).write_text(text)
    run_checked(compiler, "-shared", "-fPIC", folder / "library.cpp", "-o", folder / "libthing.so")
    failures = 'thing_real = "nan", thing_float = "nan", thing_nothing = "nothing"'
    stub = f'functions = ["libthing.so"]\nfailures = {{ {failures} }}'
    made = write_stub(latebind, folder, describe("text").partition("[stub]")[0] + f"[stub]\n{stub}\n")
    assert made.returncode == 0, made.stderr
    compile_c("-c", folder / "latebind_thing.c", "-o", folder / "stub.o")
    run_checked(compiler, "-Wall", folder / "user.cpp", folder / "stub.o", "-ldl", "-pthread", "-o", folder / "user")
    compile_c(folder / "user.c", folder / "stub.o", "-ldl", "-pthread", "-o", folder / "plain")
    return folder, made.stderr


def test_functions_of_cxx_are_taken_from_a_library_and_throw_to_the_program(cxx):
    folder, printed = cxx
    done = run_program(folder / "user", env={"THING_LIB_PATH": str(folder)})
    assert assert_success(done) == "0 0\nwhy\n43 7\n"
    assert "3 class symbols (_ZTIN5thing5ShapeE, _ZTSN5thing5ShapeE, _ZTVN5thing5ShapeE)" in printed
    assert "1 inline function (_ZN5thing6helperEi)" in printed


def test_variables_are_looked_up_in_the_library_where_the_program_uses_them(cxx):
    folder, printed = cxx
    assert "3 variables (thing_mode, thing_number, thing_world); include the header of variables" in printed
    assert_success(run_program(folder / "plain", env={"THING_LIB_PATH": str(folder)}))


def test_without_the_library_calls_give_what_was_declared_and_a_variable_ends_the_program(cxx):
    done = run_program(cxx[0] / "user", "uses", env={"THING_LIB_PATH": str(cxx[0] / "gone")})
    assert done.returncode != 0
    assert done.stdout == "1 1\n"
    assert done.stderr.startswith("thing_number was used. Thing was not found at ")
