"""A program behaves with the stub of a C library as with the library itself, which each test links, too."""

import os
import shutil

import pytest

from latebind.backend.targets import host_rid
from tests.support.building import needed_compiler
from tests.support.running import assert_success, run_checked, run_program

LIBRARY = """\
#include <stdio.h>
int foo_version(void) { return 10203; }
int foo_add(int a, int b) { return a + b; }
void foo_error(const char* text) { printf("library: %s\\n", text); }
int foo_run(int x) { if (x < 0) foo_error("negative"); return x + 1; }
const char* foo_text(int number) { (void)number; return "fine"; }
"""
DESCRIBED = """\
name = "foo"
entry = "foo_version"
version = "integer"
scale = [10000, 100, 1]
minimum = "1.2"
built = "1.2.3"
files.linux = ["libfoo.so"]
files.windows = ["foo.dll"]
advice = "make install"
[stub]
library = "foo"
"""


@pytest.fixture
def bench(latebind, tmp_path):
    """A folder with a library, and functions that write its stub and link a program with one of both."""
    return _Bench(latebind, tmp_path)


class _Bench:
    def __init__(self, latebind, folder):
        self.latebind, self.folder = latebind, folder
        self.compiler = needed_compiler()
        (folder / "foo.c").write_text(LIBRARY)
        self.compile("foo.c", "-shared", "-fPIC", "-o", "libfoo.so")

    def compile(self, *arguments):
        run_checked(self.compiler, *arguments, cwd=self.folder)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def describe(self, *lines, options=(), target=None):
        """Write the stub of the library; returns its folder."""
        functions = () if any(line.startswith("functions") for line in lines) else ('functions = ["libfoo.so"]',)
        file = self.write("foo.toml", "\n".join((DESCRIBED, *functions, *lines, "")))
        stubs = self.folder / "stubs"
        ended = self.latebind("stub", file, *options, "--output", stubs, *(("--target", target) if target else ()))
        assert_success(ended)
        return stubs / (target or host_rid())

    def link(self, *sources, stub=None, flags=()):
        """A program of sources, linked with the stub, or with the library."""
        name, libraries = ("late", [stub / "lib/libfoo.a"]) if stub else ("linked", ["-L.", "-lfoo"])
        rpath = () if stub else (f"-Wl,-rpath,{self.folder}",)
        include = (f"-I{stub}/include",) if stub else ()
        links = ["-ldl", "-lpthread", "-o", name]
        self.compile(*sources, *include, *flags, *libraries, *rpath, *links)
        return self.folder / name

    def run(self, program, *arguments, place="libfoo.so"):
        return run_program(program, *arguments, env={"FOO_LIB_PATH": str(self.folder / place), "PATH": "/usr/bin:/bin"})


OVERRIDES = """\
#include <stdio.h>
int foo_run(int);
void foo_error(const char* text) { printf("program: %s\\n", text); }
int main(void) { foo_error("own"); printf("%d\\n", foo_run(-1)); return 0; }
"""


def test_a_program_may_define_a_function_of_the_library_and_both_call_it(bench):
    bench.write("main.c", OVERRIDES)
    linked, stub = bench.link("main.c", flags=("-rdynamic",)), bench.describe()
    late = bench.link("main.c", stub=stub, flags=("-rdynamic",))

    assert bench.run(linked).stdout == "program: own\nprogram: negative\n0\n"
    assert bench.run(late).stdout == bench.run(linked).stdout
    assert bench.run(bench.link("main.c", stub=stub)).stdout == "program: own\nlibrary: negative\n0\n", (
        "a program that does not export it"
    )


def test_a_function_that_the_program_defines_after_the_stub_is_the_programs(bench):
    """The archive's own object is linked already, and is weak."""
    bench.write("calls.c", 'void foo_error(const char*);\nint main(void) { foo_error("own"); return 0; }\n')
    bench.write("defines.c", OVERRIDES.replace("int main(void)", "int unused(void)"))
    stub = bench.describe()
    bench.compile(
        "calls.c", stub / "lib/libfoo.a", "defines.c", stub / "lib/libfoo.a", "-ldl", "-lpthread", "-o", "late"
    )

    assert bench.run(bench.folder / "late").stdout == "program: own\n"


@pytest.mark.parametrize("how", ["functions", "called by"])
def test_the_library_calls_the_function_of_a_program_that_the_stub_leaves_out(bench, how):
    bench.write("main.c", OVERRIDES)
    linked = bench.link("main.c", flags=("-rdynamic",))
    if how == "functions":
        stub = bench.describe('functions = ["libfoo.so", "!foo_err*"]')
    else:
        stub = bench.describe(options=("--called-by", linked))
    late = bench.link("main.c", stub=stub, flags=("-rdynamic",))

    assert bench.run(linked).stdout == "program: own\nprogram: negative\n0\n"
    assert bench.run(late).stdout == bench.run(linked).stdout


PLUGIN = "int foo_add(int, int);\nint plugin_run(void) { return foo_add(40, 2); }\n"
HOST = """\
#include <dlfcn.h>
#include <stdio.h>
int foo_version(void);
int host(const char* path) {
  printf("foo %d, ", foo_version());
  void* plugin = dlopen(path, RTLD_NOW);
  if (!plugin) return puts("undefined"), 1;
  int (*run)(void) = (int (*)(void))dlsym(plugin, "plugin_run");
  return printf("plugin %d\\n", run()) < 0;
}
"""
MAIN = "int host(const char*);\nint main(int count, char** values) { return host(values[count - 1]); }\n"
OPENS = """\
#include <dlfcn.h>
int main(int count, char** values) {
  void* module = dlopen(values[count - 2], RTLD_NOW);
  return module ? ((int (*)(const char*))dlsym(module, "host"))(values[count - 1]) : 2;
}
"""
LOADS, FAILS = "foo 10203, plugin 42\n", "foo 10203, undefined\n"


@pytest.mark.parametrize(
    ("key", "in_program", "in_module"),
    [
        ("", LOADS, FAILS),
        ('symbols = "linked"', LOADS, FAILS),
        ('symbols = "global"', LOADS, LOADS),
        ('symbols = "local"', FAILS, FAILS),
    ],
)
def test_plugins_that_name_no_library_find_it_where_a_linked_one_is_found(bench, key, in_program, in_module):
    for name, text in (("plugin.c", PLUGIN), ("host.c", HOST), ("main.c", MAIN), ("opens.c", OPENS)):
        bench.write(name, text)
    bench.compile("plugin.c", "-shared", "-fPIC", "-o", "plugin.so")
    plugin, stub = bench.folder / "plugin.so", bench.describe(key)
    assert bench.run(bench.link("main.c", "host.c", stub=stub), plugin).stdout == in_program
    module = bench.link("host.c", stub=stub, flags=("-shared", "-fPIC"))
    shutil.move(module, bench.folder / "late.so")
    bench.compile("opens.c", "-ldl", "-o", "opens")
    assert bench.run(bench.folder / "opens", bench.folder / "late.so", plugin).stdout == in_module
    if not key:  # the reference
        assert bench.run(bench.link("main.c", "host.c"), plugin).stdout == in_program
        shutil.move(bench.link("host.c", flags=("-shared", "-fPIC")), bench.folder / "linked.so")
        assert bench.run(bench.folder / "opens", bench.folder / "linked.so", plugin).stdout == in_module


TEXTS = """\
#include <latebind/stub.h>
#include <stdio.h>
#include <string.h>
LB_DECLARE_STUB(foo);
const char* foo_text(int);
int main(void) {
  const char* text = foo_text(0);
  return printf("%d %s\\n", strlen(lb_foo_message()) > 60, text) < 0;
}
"""


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("", "foo is not available: LATEBIND_ON_MISSING=print"),
        ("longest_text = 24", "foo is not available"),
        ("longest_text = 3", "foo"),
        ("longest_text = 4096", "foo was not found at "),
    ],
)
def test_a_text_in_place_of_the_librarys_fits_where_callers_copy_it(bench, key, text):
    bench.write("main.c", TEXTS)
    late = bench.link("main.c", stub=bench.describe(key, 'failures = { foo_text = "message" }'))

    assert bench.run(late).stdout == "0 fine\n"
    has_message, _, printed = bench.run(late, place=f"none/{'x' * 100}").stdout.rstrip("\n").partition(" ")
    assert (has_message, printed.startswith(text)) == ("1", True)
    assert len(printed) <= int(key.rpartition(" ")[2] or 60)


@pytest.mark.parametrize("option", ["-O0", "-O2", "-fstack-protector-all"])
def test_mingw_links_the_stub_with_what_pkg_config_gives(bench, option):
    compiler = shutil.which("x86_64-w64-mingw32-gcc")
    if compiler is None or shutil.which("pkg-config") is None:
        pytest.skip("not run: it needs MinGW-w64's GCC and pkg-config")
    own = "void foo_error(const char* text) { (void)text; }\n"
    bench.write("main.c", f"int foo_run(int);\n{own}int main(void) {{ foo_error(0); return foo_run(1); }}\n")
    stub = bench.describe('functions = ["foo_run", "foo_error", "foo_version"]', target="win-x64")
    flags = run_checked("pkg-config", "--libs", "foo", env={"PKG_CONFIG_PATH": str(stub / "lib/pkgconfig")}).split()
    run_checked(compiler, option, "main.c", *flags, "-o", "late.exe", cwd=bench.folder)


@pytest.mark.parametrize("name", ["portaudio", "libusb", "nvrtc"])
def test_mingw_compiles_and_links_the_stub_as_one_file(bench, latebind, name):
    if (compiler := shutil.which("x86_64-w64-mingw32-gcc")) is None:
        pytest.skip("not run: it needs MinGW-w64's GCC")
    assert_success(latebind("stub", name, "--source", "--output", bench.folder))
    bench.write(
        "asks.c", f"int lb_{name}_available(const char*);\nint main(void) {{ return lb_{name}_available(0); }}\n"
    )
    run_checked(compiler, "-std=c99", "asks.c", f"latebind_{name}.c", "-o", "asks.exe", cwd=bench.folder)


@pytest.mark.parametrize("options", [(), ("-O2",), ("-Os", "-Wl,--gc-sections")], ids=" ".join)
def test_a_stripped_program_is_at_most_60_kb_larger_with_the_stub(bench, options):
    bench.write("main.c", "int foo_version(void);\nint main(void) { return foo_version(); }\n")
    linked = bench.link("main.c", flags=("-s", *options))
    late = bench.link("main.c", stub=bench.describe(), flags=("-s", *options))

    assert linked.stat().st_size < late.stat().st_size <= linked.stat().st_size + 60_000


def test_a_function_of_a_later_patch_is_told_with_all_three_numbers(latebind, tmp_path):
    (tmp_path / "thing.c").write_text('const char* thing_version(void) { return "1.2.13"; }\n')
    (tmp_path / "use.c").write_text(
        '#include <stdio.h>\n#include "latebind_thing.h"\nint thing_newer(void);\n'
        'int main(void) { int n = thing_newer(); printf("%d %s\\n", n, lb_thing_message()); return 0; }\n'
    )
    (tmp_path / "thing.toml").write_text(
        'name = "thing"\nentry = "thing_version"\nversion = "text"\nminimum = "1.2"\nbuilt = "1.2"\n'
        'files.linux = ["libthing.so.1"]\nadvice = "make"\n'
        '[stub]\nfunctions = ["thing_version"]\nsince = { "1.2.99" = ["thing_newer"] }\nfailures = { "*" = -1 }\n'
    )
    run_checked("cc", "-shared", "-fPIC", "-Wl,-soname,libthing.so.1", "thing.c", "-o", "libthing.so.1", cwd=tmp_path)
    assert_success(latebind("stub", tmp_path / "thing.toml", "--source", "--output", tmp_path))
    run_checked("cc", "use.c", "latebind_thing.c", "-o", "use", "-ldl", "-pthread", cwd=tmp_path)
    said = run_checked(tmp_path / "use", env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)})
    assert said == "-1 thing_newer needs thing 1.2.99; 1.2.13 is bound\n"
