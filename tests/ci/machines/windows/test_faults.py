"""Faults that Windows arm64 would show, each in a program or a library of its own: wine under qemu shows them, too."""

import contextlib
import os

import pytest

from ci.machines import wine_arm64
from ci.machines.emulator import Limits
from ci.machines.wine import windows_path
from latebind.verify.run.machine import NOT_SUPPORTED
from tests.loader.test_functions_stub import compile_c
from tests.support.emulated import cache
from tests.support.needs import available

pytestmark = [pytest.mark.emulated, pytest.mark.slow]
RID = "win-arm64"
ACCESS_VIOLATION, ILLEGAL, MISALIGNED, STACK = 0xC0000005, 0xC000001D, 0x80000002, 0xC00000FD
MODULE_MISSING, NAME_MISSING, WRONG_FORMAT, INITIALIZATION = 126, 127, 193, 1114
SAYS = """
#include <stdio.h>
#include <windows.h>
int main(int count, char** words) {
  HMODULE library = LoadLibraryA(words[1]);
  if (!library) return printf("load %lu\\n", GetLastError()), 3;
  int (*answer)(void) = (int (*)(void))(void*)GetProcAddress(library, "answer");
  if (!answer) return printf("find %lu\\n", GetLastError()), 4;
  return printf("%d\\n", answer()), count != 2;
}
"""
LIBRARY = "__declspec(dllexport) int answer(void) { return 42; }"


@pytest.fixture(scope="module")
def system():
    folder = cache() / f"wine_arm64-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
    emulator = available(wine_arm64.prepare, folder, Limits(seconds=60))
    with contextlib.closing(emulator):
        yield emulator


def compile_text(folder, name, text, *arguments, rid=RID):
    source = folder / f"{name}.c"
    source.write_text(text.replace("RUN_F", "int main(void) { return f(1); }"), encoding="utf-8")
    compile_c(rid, "-O1", "-fno-sanitize=all", source, "-o", folder / name, *arguments)
    return folder / name


def run(system, program, *arguments):
    """Exit status as Windows has it, cut to a byte as Linux does, and output."""
    done = system.run(program, *arguments, cwd=program.parent)
    return done.returncode, done.stdout.decode().replace("\r\n", "\n")


def load(system, folder, library):
    """What a program says that loads a library."""
    return run(system, compile_text(folder, "says.exe", SAYS), windows_path(library))


def test_a_good_library_loads(system, tmp_path):
    assert load(system, tmp_path, compile_text(tmp_path, "good.dll", LIBRARY, "-shared")) == (0, "42\n")


FAULTS = {
    "null": ("int main(int n, char** w) { return *(int volatile*)(n - 1LL); }", ACCESS_VIOLATION),
    "constant": (
        'int main(void) { char* volatile text = (char*)"abc"; text[0] = 0; return text[1]; }',
        ACCESS_VIOLATION,
    ),
    "no code": (
        "static int data[4];\nint main(void) { return ((int (*)(void))(void*)data)(); }",
        ACCESS_VIOLATION,
    ),
    "illegal instruction": ("int main(void) { __builtin_trap(); }", None),
    "deep recursion": (
        "int volatile go = 1; int f(int n) { char volatile b[9000]; b[1] = n; return go ? f(n + 1) + b[1] : 0; } RUN_F",
        None,
    ),
    "unaligned trampoline": (
        "int f(void) { return 0; }\nint main(void) { return ((int (*)(void))((char*)f + 2))(); }",
        None,
    ),
    "uncaught exception": (
        "#include <windows.h>\nint main(void) { RaiseException(0xE0000001, 1, 0, 0); }",
        None,
    ),
}
"""A program for each, and the status that Windows ends it with, where wine gives the same."""


@pytest.mark.parametrize("name", FAULTS)
def test_what_windows_would_end_does_not_end_well(system, tmp_path, name):
    text, status = FAULTS[name]
    ended, _ = run(system, compile_text(tmp_path, "program.exe", text))
    assert ended != 0
    if status is not None:
        assert ended & 0xFF == status & 0xFF


def test_what_this_wine_is_at_fault_for_is_no_fault_of_the_program(system, tmp_path):
    """LocalFree() of a security descriptor changes x18, which the C library reads next."""
    text = """
    #include <aclapi.h>
    #include <string.h>
    #include <windows.h>
    int main(int count, char** words) {
      void *owner = NULL, *descriptor = NULL;
      HANDLE file = CreateFileA(words[0], READ_CONTROL, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
      GetSecurityInfo(file, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION, &owner, NULL, NULL, NULL, &descriptor);
      LocalFree(descriptor);
      return _strnicmp(words[0], "x", 1) == 0;
    }
    """
    done = system.run(compile_text(tmp_path, "frees.exe", text, "-ladvapi32"), cwd=tmp_path)
    assert done.returncode == NOT_SUPPORTED
    assert b"changes the register x18" in done.stderr


def test_variadic_arguments_that_are_passed_like_others_arrive_wrong(system, tmp_path):
    """Windows arm64 has variadic doubles in the registers of whole numbers (docs.microsoft.com, "Addendum")."""
    text = """
    #include <stdio.h>
    int main(void) {
      int (*plain)(char*, size_t, const char*, double) = (int (*)(char*, size_t, const char*, double))snprintf;
      char right[32], wrong[32];
      snprintf(right, sizeof right, "%.1f", 2.5);
      plain(wrong, sizeof wrong, "%.1f", 2.5);
      printf("%s %s\\n", right, wrong);
    }
    """
    status, output = run(system, compile_text(tmp_path, "variadic.exe", text))
    right, wrong = output.split()
    assert (status, right) == (0, "2.5")
    assert wrong != "2.5"


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("missing dependency", f"load {MODULE_MISSING}\n"),
        ("missing export", f"find {NAME_MISSING}\n"),
        ("missing import", ""),  # Windows says 127 when it loads; wine ends the program at the call
        ("other processor", f"load {WRONG_FORMAT}\n"),
        ("text", f"load {WRONG_FORMAT}\n"),
        ("truncated", f"load {WRONG_FORMAT}\n"),
        ("refuses", f"load {INITIALIZATION}\n"),
    ],
)
def test_a_library_that_cannot_be_loaded_is_refused_with_windows_number(system, tmp_path, fault, expected):
    low = "__declspec(dllexport) int low(void) { return 41; }"
    high = "int low(void);\n__declspec(dllexport) int answer(void) { return low() + 1; }"
    if fault in ("missing dependency", "missing import"):
        compile_text(tmp_path, "low.dll", low, "-shared", f"-Wl,--out-implib,{tmp_path / 'liblow.a'}")
        library = compile_text(tmp_path, "bad.dll", high, "-shared", str(tmp_path / "liblow.a"))
        (tmp_path / "low.dll").unlink()
        if fault == "missing import":
            compile_text(tmp_path, "low.dll", "__declspec(dllexport) int lower(void) { return 1; }", "-shared")
    elif fault == "missing export":
        library = compile_text(tmp_path, "bad.dll", low, "-shared")
    elif fault == "other processor":
        library = compile_text(tmp_path, "bad.dll", LIBRARY, "-shared", rid="win-x64")
    elif fault == "refuses":
        entry = "#include <windows.h>\nBOOL WINAPI DllMain(HINSTANCE a, DWORD b, void* c) { return 0; }\n"
        library = compile_text(tmp_path, "bad.dll", entry + LIBRARY, "-shared")
    else:
        library = tmp_path / "bad.dll"
        good = compile_text(tmp_path, "good.dll", LIBRARY, "-shared").read_bytes()
        library.write_bytes(b"no library\n" * 999 if fault == "text" else good[:700])
    status, output = load(system, tmp_path, library)
    assert status != 0
    assert output == expected
