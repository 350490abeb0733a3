"""C++ libraries that zig links for macOS have operators new and delete of their own, which no other library sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import lief
import pytest
from latebind.build.native import stage_target
from latebind.config.file import load
from latebind.tables.targets import target

from tests.client import CONFIG, write_client

if TYPE_CHECKING:
    from pathlib import Path

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


def stage(root: Path, lines: str, rid: str = "osx-arm64", counted: str = "") -> lief.MachO.Binary:
    """The library that zig links for these lines of CMake."""
    write_client(
        root,
        latebind=CONFIG.replace("linux-x64", rid),
        cmakelists="cmake_minimum_required(VERSION 3.20)\n"
        f"project(tiny LANGUAGES C{'' if 'below' in lines else ' CXX'})\n"
        f"set(CMAKE_CXX_VISIBILITY_PRESET hidden)\nset(CMAKE_VISIBILITY_INLINES_HIDDEN ON)\n{lines}"
        "install(TARGETS tiny LIBRARY DESTINATION lib COMPONENT tiny)\n",
    )
    (root / "native/tiny.cpp").write_text(SOURCE + counted, "utf-8")
    (root / "native/below").mkdir()
    (root / "native/below/CMakeLists.txt").write_text(BELOW, "utf-8")
    staged = stage_target(load(root / "latebind.toml"), target(rid), root)
    (library,) = staged.libraries("tiny")
    return lief.MachO.parse(library).at(0)


def names(symbols) -> set[str]:
    return {symbol.name for symbol in symbols if symbol.name not in {"__mh_dylib_header", "___dso_handle"}}


def operators(symbols) -> set[str]:
    return {name for name in names(symbols) if name.startswith(("__Zn", "__Zd"))}


@pytest.mark.parametrize("kind", KINDS)
def test_a_cxx_library_exports_no_operator_and_binds_to_none(tmp_path, kind):
    library = stage(tmp_path, KINDS[kind])

    assert names(library.exported_symbols) == {"_tiny_add"}
    assert not operators(binding.symbol for binding in library.bindings if binding.has_symbol)
    assert not {"WEAK_DEFINES", "BINDS_TO_WEAK"} & {flag.name for flag in library.header.flags_list}
    assert {"_malloc", "_free", "_posix_memalign"} <= names(library.imported_symbols)


def test_the_same_for_intel(tmp_path):
    assert names(stage(tmp_path, LIBRARY, "osx-x64").exported_symbols) == {"_tiny_add"}


def test_operators_of_the_project_take_precedence(tmp_path):
    library = stage(tmp_path, LIBRARY, counted=COUNTED)

    assert operators(library.exported_symbols) == {"__Znwm", "__ZdlPv"}
    assert "_calloc" in names(library.imported_symbols)


def test_a_c_library_stays_without_the_cxx_library(tmp_path):
    library = stage(tmp_path, PLAIN_C)

    assert not {"_malloc", "_posix_memalign"} & names(library.imported_symbols)
