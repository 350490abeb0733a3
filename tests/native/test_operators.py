"""C++ libraries that zig links for macOS have operators new and delete of their own, which no other library sees."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import lief
import pytest

from ci.machines.macos import machine
from latebind.backend.fill import fill
from latebind.backend.zig import find_zig, zig_variables
from tests.loader.test_functions_stub import compile_c
from tests.support.client import CONFIG, stage_project, write_client
from tests.support.needs import available
from tests.support.running import run_checked

pytestmark = pytest.mark.slow  # zig compiles its C++ library

SOURCE = """
#include <new>
#include <stdexcept>
#include <string>
#include <vector>
struct alignas(64) Line { char text[64]; };
extern "C" __attribute__((visibility("default"))) int tiny_add(int a, int b) {
  std::vector<std::string> texts(static_cast<std::size_t>(a), std::to_string(b));
  Line* lines = new Line[static_cast<std::size_t>(b)];
  lines[0].text[0] = texts.at(0)[0];
  const int sum = a + b + lines[0].text[0] + (new (std::nothrow) int ? 1 : 0);
  delete[] lines;
  if (texts.empty()) throw std::runtime_error("empty");
  return sum;
}
"""
COUNTED = """
#include <cstdlib>
#include <new>
void* operator new(std::size_t size) { return std::calloc(2, size); }
void operator delete(void* memory) noexcept { std::free(memory); }
"""
LIBRARY = "add_library(tiny SHARED tiny.cpp)\n"
USED = """
#include <new>
struct alignas(64) Line { char text[64]; };
extern "C" __attribute__((visibility("default"))) int tiny_add(int a, int b) {
  int* volatile numbers = new int[2]{a, b};
  const int sum = numbers[0] + numbers[1];
  delete[] numbers;
  Line* volatile lines = new Line[3];
  const int is_aligned = reinterpret_cast<unsigned long>(lines) % 64 == 0;
  delete[] lines;
  int* volatile last = new (std::nothrow) int(10);
  const int ten = *last;
  delete last;
  void* empty = ::operator new(0);
  const int is_there = empty != nullptr;
  ::operator delete(empty);
  return sum + ten + 100 * is_aligned + 1000 * is_there;
}
"""
CALLS = """
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char** words) {
  void* library = dlopen(words[count - 1], RTLD_NOW);
  if (!library) return puts(dlerror()), 3;
  int (*add)(int, int) = (int (*)(int, int))dlsym(library, "tiny_add");
  return printf("%d", add(2, 3)), 0;
}
"""
EXHAUSTED = """
#include <cstdio>
#include <new>
int calls = 0;
void Free() { if (++calls % 3 == 0) std::set_new_handler(nullptr); }
template <typename Allocate> const char* Try(Allocate allocate) {
  std::set_new_handler(Free);
  try { return allocate() ? "memory" : "null"; } catch (const std::bad_alloc&) { return "bad_alloc"; }
}
int main() {
  volatile std::size_t much = ~std::size_t{0} / 2;
  const std::align_val_t line{64};
  std::printf("%s ", Try([&] { return ::operator new(much); }));
  std::printf("%s ", Try([&] { return ::operator new[](much, line); }));
  std::printf("%s ", Try([&] { return ::operator new(much, std::nothrow); }));
  std::printf("%s ", Try([&] { return ::operator new[](much, line, std::nothrow); }));
  std::printf("%d", calls);
}
"""
PLAIN_C = "add_library(tiny SHARED tiny.c)\nadd_library(unused STATIC tiny.cpp)\n"
KINDS = {
    "library": LIBRARY,
    "module": "add_library(tiny MODULE tiny.cpp)\n",
    "C++ in a folder, without exceptions": "add_subdirectory(below)\n",
    "no source of its own": "add_library(code OBJECT tiny.cpp)\nadd_library(tiny SHARED $<TARGET_OBJECTS:code>)\n"
    "set_target_properties(tiny PROPERTIES LINKER_LANGUAGE CXX)\n",
}
BELOW = """project(below CXX)
add_compile_options(-fno-rtti -Werror -Weverything)
add_library(tiny SHARED ../tiny.cpp)
target_compile_options(tiny PRIVATE -Wno-everything)
"""


def stage(root: Path, lines: str, rid: str = "osx-arm64", source: str = SOURCE) -> Path:
    """The library that zig links for these lines of CMake."""
    write_client(
        root,
        latebind=CONFIG.replace("linux-x64", rid),
        cmakelists="cmake_minimum_required(VERSION 3.20)\n"
        f"project(tiny LANGUAGES C{'' if 'below' in lines else ' CXX'})\n"
        f"set(CMAKE_CXX_VISIBILITY_PRESET hidden)\nset(CMAKE_VISIBILITY_INLINES_HIDDEN ON)\n{lines}"
        "install(TARGETS tiny LIBRARY DESTINATION lib COMPONENT tiny)\n",
    )
    (root / "native/tiny.cpp").write_text(source, "utf-8")
    (root / "native/below").mkdir()
    (root / "native/below/CMakeLists.txt").write_text(BELOW, "utf-8")
    staged = stage_project(root, rid)
    (library,) = staged.libraries("tiny")
    return library


def parse(library: Path) -> lief.MachO.Binary:
    return lief.MachO.parse(library).at(0)


def names(symbols) -> set[str]:
    return {symbol.name for symbol in symbols if symbol.name not in {"__mh_dylib_header", "___dso_handle"}}


def operators(symbols) -> set[str]:
    return {name for name in names(symbols) if name.startswith(("__Zn", "__Zd"))}


@pytest.mark.parametrize("kind", KINDS)
def test_a_cxx_library_exports_no_operator_and_binds_to_none(tmp_path, kind):
    library = parse(stage(tmp_path, KINDS[kind]))

    assert names(library.exported_symbols) == {"_tiny_add"}
    assert not operators(binding.symbol for binding in library.bindings if binding.has_symbol)
    assert not {"WEAK_DEFINES", "BINDS_TO_WEAK"} & {flag.name for flag in library.header.flags_list}
    assert {"_malloc", "_free", "_posix_memalign"} <= names(library.imported_symbols)


def test_the_same_for_intel(tmp_path):
    assert names(parse(stage(tmp_path, LIBRARY, "osx-x64")).exported_symbols) == {"_tiny_add"}


def test_operators_of_the_project_take_precedence(tmp_path):
    library = parse(stage(tmp_path, LIBRARY, source=SOURCE + COUNTED))

    assert operators(library.exported_symbols) == {"__Znwm", "__ZdlPv"}
    assert "_calloc" in names(library.imported_symbols)


def test_a_c_library_stays_without_the_cxx_library(tmp_path):
    library = parse(stage(tmp_path, PLAIN_C))

    assert not {"_malloc", "_posix_memalign"} & names(library.imported_symbols)


@pytest.mark.emulated
@pytest.mark.parametrize("rid", machine.KINDS)
def test_the_operators_allocate_on_an_emulated_macos(tmp_path, rid):
    """Its free() refuses what was not allocated."""
    library = stage(tmp_path / "tiny", LIBRARY, rid, USED)
    (tmp_path / "calls.c").write_text(CALLS, "utf-8")
    compile_c(rid, "-O1", "-fno-sanitize=all", tmp_path / "calls.c", "-o", tmp_path / "calls")
    emulator = available(machine.prepare, tmp_path, None, rid)

    done = emulator.run(tmp_path / "calls", library, env={}, cwd=None, feed=b"")

    emulator.close()
    assert (done.returncode, done.stdout, done.stderr) == (0, b"1115", b"")


@pytest.mark.skipif(sys.platform == "win32", reason="not run: Windows has no posix_memalign()")
def test_without_memory_the_handler_is_called_until_there_is_none(tmp_path):
    """What the operators do is the same on every system, so this one shows it: macOS runs no exceptions here."""
    (tmp_path / "operators.cpp").write_text(fill("operators.cpp"), "utf-8")
    (tmp_path / "main.cpp").write_text(EXHAUSTED, "utf-8")
    files = [tmp_path / "operators.cpp", tmp_path / "main.cpp", "-o", tmp_path / "main"]
    environment = {**os.environ, **zig_variables(find_zig(), tmp_path)}
    run_checked(find_zig(), "c++", "-std=c++17", "-O1", *files, env=environment)

    shown = run_checked(tmp_path / "main")

    assert shown == "bad_alloc bad_alloc null null 12"
