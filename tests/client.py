"""A whole small project for tests: one C library, a wheel and a nupkg, written to a folder of the test's."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = """\
[project]
name = "tiny"
version = "1.2.3"
description = "Adds numbers"
license = "MIT"
authors = ["Somebody"]

[native]
source = "native"

[targets]
include = ["linux-x64"]
glibc = "2.28"

[package.tiny]
component = "tiny"
exports = ["tiny_*"]
wheel = { source = "python/tiny" }
nuget = { id = "Tiny" }
"""

CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(tiny C)
add_library(tiny SHARED tiny.c)
set_target_properties(tiny PROPERTIES C_VISIBILITY_PRESET hidden)
target_link_options(tiny PRIVATE -Wl,-z,relro,-z,now -s)
target_compile_options(tiny PRIVATE -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
install(TARGETS tiny LIBRARY DESTINATION lib COMPONENT tiny)
"""

SOURCE = """\
__attribute__((visibility("default"))) int tiny_add(int a, int b);
int tiny_add(int a, int b) { return a + b; }
"""

PORTABLE_CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(tiny C)
add_library(tiny SHARED tiny.c)
set_target_properties(tiny PROPERTIES C_VISIBILITY_PRESET hidden INSTALL_RPATH "")
target_compile_options(tiny PRIVATE -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=.)
target_link_options(tiny PRIVATE -s)
install(TARGETS tiny COMPONENT tiny)
"""

PORTABLE_SOURCE = """\
#include <stdio.h>
#ifdef _WIN32
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
int tiny_add(int a, int b) { return printf("%d\\n", a) + b; }
"""

PYPROJECT = """\
[build-system]
requires = ["hatchling", "latebind-build"]
build-backend = "hatchling.build"

[project]
name = "tiny"
requires-python = ">=3.10"
license = "MIT"
license-files = ["LICENSE"]
dynamic = ["version", "dependencies", "optional-dependencies"]

[tool.hatch.build]
ignore-vcs = true

[tool.hatch.metadata.hooks.latebind]
package = "tiny"

[tool.hatch.build.hooks.latebind]
package = "tiny"

[tool.hatch.build.targets.wheel]
packages = ["src/tiny"]

[tool.hatch.build.targets.sdist]
only-include = ["src", "LICENSE"]
"""

FILES = {
    "latebind.toml": CONFIG,
    "native/CMakeLists.txt": CMAKE,
    "native/tiny.c": SOURCE,
    "python/tiny/pyproject.toml": PYPROJECT,
    "python/tiny/LICENSE": "MIT\n",
    "python/tiny/src/tiny/__init__.py": '"""Adds numbers."""\n',
}


def write_client(folder: Path, **changed: str) -> Path:
    """Write the project below `folder`; `changed` replaces whole files by the last part of their name's stem."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(changed.get(path.stem.lower(), text), encoding="utf-8")
    return folder


def write_portable(folder: Path, rids: list[str]) -> Path:
    """The project for those targets, in C and CMake that name no platform."""
    config = CONFIG.replace('["linux-x64"]', str(rids))
    return write_client(folder, latebind=config, cmakelists=PORTABLE_CMAKE, tiny=PORTABLE_SOURCE)
