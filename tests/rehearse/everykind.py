"""A project that makes every kind of package, each with a consumer."""

from __future__ import annotations

from pathlib import Path

from tests.client import CONFIG, copy_client, write_files
from tests.ecosystems.maven.test_consumer import PROGRAM as JAVA
from tests.ecosystems.maven.test_consumer import SOURCE
from tests.ecosystems.npm.test_node import PROGRAM as NODE
from tests.ecosystems.sdk.test_consumer import CMAKE as SDK_CMAKE
from tests.ecosystems.sdk.test_consumer import PROGRAM as SDK

TABLES = """
npm = { name = "@acme/tiny", dependencies = { koffi = "^3" } }
maven = { group = "io.github.acme", name = "tiny" }
sdk = true

[verify]
python = "verify/python/smoke.py"
node = "verify/node"
java = "verify/java"
c = "verify/c"
sdk = "verify/sdk"
"""
PYTHON = """\
import ctypes
import json
import pathlib
import sys

import tiny

library = str(next(pathlib.Path(tiny.__file__).parent.glob("*tiny.*so*")))
right = ctypes.CDLL(library).tiny_add(2, 3) == 5
result = {"passed": ["adds"] if right else [], "libraries": [library]}
pathlib.Path(sys.argv[sys.argv.index("--out") + 1]).write_text(json.dumps(result))
sys.exit(not right)
"""
NUGET_CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(consumer LANGUAGES CXX)
find_path(INCLUDE tiny.h PATHS "${PACKAGES}/tiny/build/native/include" NO_DEFAULT_PATH REQUIRED)
find_library(LIBRARY tiny PATHS "${PACKAGES}/tiny/runtimes/${RID}/native" NO_DEFAULT_PATH REQUIRED)
add_executable(consumer main.cpp)
target_include_directories(consumer PRIVATE "${INCLUDE}")
target_link_libraries(consumer PRIVATE "${LIBRARY}")
"""


def write_every_kind(folder: Path) -> Path:
    """Write the project below `folder`."""
    config = CONFIG.replace('exports = ["tiny_*"]', 'exports = ["tiny_*", "Java_*"]')
    config = config.replace('license = "MIT"', 'license = "MIT"\nlicense_file = "LICENSE"')
    config = config.replace("[native]", "[native]", 1).rstrip() + TABLES
    copy_client("sdk", folder, latebind=config, tiny=SOURCE)
    return write_files(
        folder,
        {
            ".gitignore": "/build/\n/dist/\n/stage/\n/reports/\n",
            "CHANGELOG.md": "# Changelog\n\n## [1.2.3] - 2026-11-20\n\n- Adds numbers.\n",
            "LICENSE": "MIT\n",
            "verify/python/smoke.py": PYTHON,
            "verify/node/package.json": '{"main": "smoke.mjs", "dependencies": {"koffi": "^3"}}',
            "verify/node/smoke.mjs": NODE.replace("EXPECTED", "5"),
            "verify/java/Main.java": JAVA.replace("EXPECTED", "5"),
            "verify/c/CMakeLists.txt": NUGET_CMAKE,
            "verify/c/main.cpp": SDK.replace("EXPECTED", "5"),
            "verify/sdk/CMakeLists.txt": SDK_CMAKE,
            "verify/sdk/main.cpp": SDK.replace("EXPECTED", "5"),
        },
    )
