"""A project with an execution provider that exports what it must and does nothing, for tests without a runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.client import write_files

if TYPE_CHECKING:
    from pathlib import Path

EP = (
    'ep = { id = "tiny-npu", names = ["TinyExecutionProvider"], minimum = "1.23.1", excepted = ["1.25"], '
    'vendor = "Acme" }'
)
CONFIG = f"""\
[project]
name = "tiny"
version = "1.2.0rc1"
description = "Runs models on a tiny NPU"
license = "MIT"
license_file = "LICENSE"
authors = ["Acme"]

[targets]
include = ["linux-x64"]

[package.tiny]
component = "tiny"
{EP}
"""
CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(tiny C)
find_package(latebind CONFIG REQUIRED)
add_library(tiny_ep SHARED tiny_ep.c)
latebind_ep(tiny_ep tiny)
latebind_hardening(tiny_ep)
install(TARGETS tiny_ep COMPONENT tiny)
"""
SOURCE = """\
#define API __attribute__((visibility("default")))
API const char *CreateEpFactories(void);
API void *ReleaseEpFactory(void);
const char *CreateEpFactories(void) { return LATEBIND_EP_NAME " " LATEBIND_EP_VERSION " " LATEBIND_EP_EXCEPT; }
void *ReleaseEpFactory(void) { return 0; }
"""


def write_ep(folder: Path, **changed: str) -> Path:
    """Write the project below `folder`; `config`, `cmake` and `source` replace whole files."""
    files = {
        "latebind.toml": changed.get("config", CONFIG),
        "LICENSE": "MIT\n",
        "native/CMakeLists.txt": changed.get("cmake", CMAKE),
        "native/tiny_ep.c": changed.get("source", SOURCE),
    }
    return write_files(folder, files)
