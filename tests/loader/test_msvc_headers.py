"""Our own declarations of Windows for the stub for Visual C++ agree with the headers of mingw-w64, and all are used."""

import re

import pytest

from tests.support.building import ROOT
from tests.support.needs import zig
from tests.support.running import run_checked, run_program

HEADERS = ROOT / "loader" / "stub" / "msvc"
WINDOWS = (HEADERS / "windows.h").read_text("utf-8")
CONSTANTS = re.findall(r"^#define ([A-Z]\w+) +(\(.+\)|\d\w*)$", WINDOWS, re.MULTILINE)
FUNCTIONS = re.findall(r"^LB_KERNEL ([^;]+?) WINAPI (\w+)\(([^;]*)\);", WINDOWS, re.MULTILINE)
STRUCTS = re.findall(r"^typedef (struct|union) \{\n(.*?)^\} (\w+);", WINDOWS, re.MULTILINE | re.DOTALL)
SOURCE = """\
#include <windows.h>
#include <stddef.h>
BOOL WINAPI K32EnumProcessModules(HANDLE process, HMODULE* modules, DWORD size, DWORD* needed);
"""
FIELD = """\
_Static_assert(offsetof({name}, {field}) == offsetof({mine}, {field}), "{name}.{field}");
_Static_assert(sizeof((({name}*)0)->{field}) == sizeof((({mine}*)0)->{field}), "{name}.{field}");
"""
CALL = """\
static {result} (WINAPI* check_{name})({parameters}) = {name};
void* use_{name}(void) {{ return &check_{name}; }}
"""


def checks():
    """C that compiles only if the declarations are those of our header: constants, prototypes and layouts."""
    for name, value in CONSTANTS:
        yield f'_Static_assert((long long)({name}) == (long long)({value}), "{name}");\n'
    for result, name, parameters in FUNCTIONS:
        yield CALL.format(result=result, name=name, parameters=parameters)
    for kind, body, name in STRUCTS:
        yield f"{kind} my_{name} {{\n{body}}};\n"
        yield f'_Static_assert(sizeof({name}) == sizeof({kind} my_{name}), "{name}");\n'
        for field in re.findall(r"^  \w+ (\w+)(?:\[\w+\])?;", body, re.MULTILINE):
            if field != "PartitionId":  # mingw-w64 leaves it out: it is where padding was
                yield FIELD.format(name=name, mine=f"{kind} my_{name}", field=field)


def compile_checks(folder, text):
    (folder / "checks.c").write_text(SOURCE + text)
    flags = ["-std=gnu11", "-Wall", "-Werror", "-c", "checks.c", "-o", "checks.obj"]
    return run_program(*zig("win-x64"), *flags, cwd=folder)


def test_declarations_agree_with_those_of_mingw(tmp_path):
    assert len(CONSTANTS) > 50
    assert len(FUNCTIONS) > 30
    assert len(STRUCTS) > 6
    done = compile_checks(tmp_path, "".join(checks()))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(long long)(65001)", "(long long)(65002)"),
        ("DWORD dwVolumeSerialNumber;", "WORD dwVolumeSerialNumber;"),
        ("BOOL (WINAPI* check_FreeLibrary)(HMODULE", "BOOL (WINAPI* check_FreeLibrary)(DWORD"),
    ],
)
def test_a_declaration_that_differs_is_found(tmp_path, before, after):
    text = "".join(checks())
    assert before in text
    assert compile_checks(tmp_path, text.replace(before, after)).returncode != 0


def test_everything_that_is_declared_is_used():
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "loader" / "src").glob("*.[ch]"))
    names = {name for name, _ in CONSTANTS} | {name for _, name, _ in FUNCTIONS}
    for header in ("string", "stdlib"):
        names |= set(re.findall(r"(\w+)\([^;]*\);", (HEADERS / f"{header}.h").read_text("utf-8")))
    unused = {name for name in names - {"__declspec"} if not re.search(rf"\b{name}\b", sources)}
    assert not unused, sorted(unused)


def test_the_headers_are_enough_for_every_source(tmp_path):
    """Also with all warnings, which the single file is not compiled with."""
    sources = ROOT / "loader" / "src"
    posix = re.compile(r"_(posix|linux|macos)$")
    for source in sorted(path for path in sources.glob("*.c") if not posix.search(path.stem)):
        if source.stem in {"functions_stub", "elf_head", "ld_cache", "macho_head", "macho_paths"}:
            continue  # of other systems, and the one that needs a table of functions
        flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-isystem", HEADERS, f"-I{ROOT / 'loader' / 'include'}"]
        command = [zig()[0], "cc", "-target", "aarch64-windows-msvc", *flags, "-c", source, "-o", tmp_path / "made.obj"]
        run_checked(*command)
