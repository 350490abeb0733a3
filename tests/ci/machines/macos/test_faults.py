"""Faults that a Mac would show, each in a program of its own: the emulated macOS shows them, too."""

import pytest

from ci.machines.macos import image, machine
from latebind.verify.run.machine import NOT_SUPPORTED
from tests.loader.test_functions_stub import compile_c
from tests.support.needs import available

pytestmark = [pytest.mark.emulated, pytest.mark.slow]


@pytest.fixture(params=machine.KINDS)
def rid(request):
    return request.param


def compile_text(rid, folder, name, text, *arguments):
    source = folder / f"{name}.c"
    source.write_text(text, encoding="utf-8")
    compile_c(rid, "-O1", "-fno-sanitize=all", source, "-o", folder / name, *arguments)
    return folder / name


def run(rid, program, *arguments, **variables):
    """Exit status, output and error output."""
    emulator = available(machine.prepare, program.parent, None, rid)
    done = emulator.run(program, *arguments, env=variables, cwd=None, feed=b"")
    emulator.close()
    return done.returncode, done.stdout.decode(), done.stderr.decode()


SAYS = """
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char** words) {
  void* library = dlopen(words[1], RTLD_NOW);
  if (!library) return puts(dlerror()), 3;
  int (*answer)(void) = (int (*)(void))dlsym(library, "answer");
  if (!answer) return puts(dlerror()), 4;
  return printf("%d %.1f %s\\n", answer(), 2.5, "right"), count != 2;
}
"""


FAULTS = {
    "double free": (
        "#include <stdlib.h>\nint main(void) { void* volatile p = malloc(9); free(p); free(p); }",
        "pointer being freed was not allocated",
    ),
    "constant": (
        'int main(void) { char* volatile text = (char*)"abc"; text[0] = 0; return text[1]; }',
        "UC_ERR_WRITE_PROT",
    ),
    "null": ("int main(int n, char** w) { return *(int volatile*)(n - 1L); }", "UC_ERR_READ_UNMAPPED"),
    "copy to null": (
        "#include <string.h>\nint main(int n, char** w) { memcpy((void*)(n - 1L), w[0], 9L * n); }",
        "UC_ERR_WRITE_UNMAPPED",
    ),
    "deep recursion": (
        "int f(int n) { char volatile b[9000]; b[n] = 1; return n ? f(n + 1) + b[n] : 0; }\nint main(void) { f(1); }",
        "UC_ERR_WRITE_UNMAPPED",
    ),
    "unknown function": (
        "int getloadavg(double*, int);\nint main(void) { double d; return getloadavg(&d, 1); }",
        "_getloadavg is not a function of ci/machines/macos",
    ),
}
"""A program for each, and what its error says."""


@pytest.mark.parametrize("name", FAULTS)
def test_what_a_mac_would_end_ends_with_a_reason(rid, tmp_path, name):
    text, says = FAULTS[name]
    status, _, errors = run(rid, compile_text(rid, tmp_path, "program", text))
    assert status == (NOT_SUPPORTED if name == "unknown function" else 1)
    assert says in errors


def test_variadic_arguments_that_are_passed_like_others_arrive_wrong_on_arm64_alone(rid, tmp_path):
    text = """
    #include <stdio.h>
    int main(void) {
      int (*plain)(const char*, long, long) = (int (*)(const char*, long, long))printf;
      plain("%ld %ld", 41, 42);
    }
    """
    _, output, _ = run(rid, compile_text(rid, tmp_path, "variadic", text))
    assert (output == "41 42") == (rid == "osx-x64")


def test_initializers_run_in_the_order_of_need(rid, tmp_path):
    body = '#include <stdio.h>\n__attribute__((constructor)) static void begin(void) {{ puts("{0}"); }}\n'
    low = body.format("low") + "int low(void) { return 41; }"
    high = body.format("high") + "int low(void);\nint answer(void) { return low() + 1; }"
    compile_text(rid, tmp_path, "liblow.dylib", low, "-shared", "-install_name", "@rpath/liblow.dylib")
    link = ("-shared", f"-L{tmp_path}", "-llow", "-Wl,-rpath,@loader_path")
    library = compile_text(rid, tmp_path, "libhigh.dylib", high, *link)
    program = compile_text(rid, tmp_path, "says", SAYS)
    assert run(rid, program, str(library)) == (0, "low\nhigh\n42 2.5 right\n", "")


@pytest.mark.parametrize("fault", ["rpath", "install name", "slice", "symbol", "text"])
def test_a_library_that_cannot_be_loaded_is_refused_in_dylds_words(rid, tmp_path, fault):
    (other,) = set(machine.KINDS) - {rid}
    install_name = "/nowhere/liblow.dylib" if fault == "install name" else "@rpath/liblow.dylib"
    low = "int low(void) { return 41; }"
    compile_text(rid, tmp_path, "liblow.dylib", low, "-shared", "-install_name", install_name)
    rpath = "/nowhere" if fault == "rpath" else "@loader_path"
    high = "int low(void);\nint answer(void) { return low() + 1; }"
    library = compile_text(
        rid, tmp_path, "libhigh.dylib", high, "-shared", f"-L{tmp_path}", "-llow", f"-Wl,-rpath,{rpath}"
    )
    if fault == "slice":
        compile_text(other, tmp_path, "liblow.dylib", low, "-shared", "-install_name", install_name)
    elif fault == "symbol":
        compile_text(rid, tmp_path, "liblow.dylib", "int lower;", "-shared", "-install_name", install_name)
    elif fault == "text":
        (tmp_path / "liblow.dylib").write_text("no library\n" * 999, encoding="utf-8")
    status, output, errors = run(rid, compile_text(rid, tmp_path, "says", SAYS), str(library))
    assert (status, errors) == (3, "")
    expected = {
        "rpath": "tried: '/nowhere/liblow.dylib' (no such file)",
        "install name": "Library not loaded: /nowhere/liblow.dylib",
        "slice": "incompatible architecture (have '",
        "symbol": "Symbol not found: _low",
        "text": "(not a mach-o file)",
    }
    assert expected[fault] in output


def test_each_thread_has_its_own_variables_and_a_lock_holds_the_others_back(rid, tmp_path):
    text = """
    #include <pthread.h>
    #include <stdio.h>
    static _Thread_local int mine = 5;
    static int sum;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static void* add(void* count) {
      for (long at = 0; at < (long)count; ++at) {
        pthread_mutex_lock(&lock);
        sum += ++mine > 5;
        pthread_mutex_unlock(&lock);
      }
      return (void*)(long)mine;
    }
    int main(void) {
      pthread_t threads[4];
      void* ends[4];
      for (long at = 0; at < 4; ++at) pthread_create(&threads[at], NULL, add, (void*)(at + 1));
      for (int at = 0; at < 4; ++at) pthread_join(threads[at], &ends[at]);
      printf("%d %d %ld %ld\\n", sum, mine, (long)ends[0], (long)ends[3]);
    }
    """
    assert run(rid, compile_text(rid, tmp_path, "threads", text)) == (0, "10 5 6 9\n", "")


def test_what_was_read_of_a_file_is_read_once(rid, tmp_path, monkeypatch):
    program = compile_text(rid, tmp_path, "program", "int main(void) {}")
    first = image.read_image(program, machine.KINDS[rid], tmp_path / "kept")
    monkeypatch.delattr(image, "_parse")
    assert image.read_image(program, machine.KINDS[rid], tmp_path / "kept") == first
    program.write_bytes(program.read_bytes() + b"another")
    with pytest.raises(NameError):
        image.read_image(program, machine.KINDS[rid], tmp_path / "kept")
