"""A runtime whose wheel has the library below Python's own folder (`<prefix>/lib`): tbb, intel-openmp and others."""

import pytest

from tests.support.client import write_files
from tests.support.running import assert_success

PYPROJECT = """[build-system]
requires = ["hatchling>=1.29", "latebind>=0.1"]
build-backend = "hatchling.build"
[project]
name = "eng"
license = "MIT"
license-files = ["LICENSE"]
dynamic = ["version", "dependencies", "optional-dependencies"]
[tool.hatch.metadata.hooks.latebind]
package = "eng"
[tool.hatch.build.hooks.latebind]
package = "eng"
[tool.hatch.build.targets.wheel]
packages = ["src/eng"]
"""
CONFIGURATION = """[project]
name = "eng"
version = "1.0.0"
license = "MIT"
authors = ["Someone"]
[[runtime]]
minimum = "{minimum}"
drop_in = true
[runtime.describe]
name = "{name}"
title = "{name}"
entry = "{entry}"
version = "{version}"
compatible = "always"
built = "{minimum}"
files.linux = ["{file}"]
libc = ["glibc"]
python = {{ prefix = "lib", extras = {{ cpu = "{distribution}" }} }}
[runtime.describe.stub]
functions = ["{text}", "{number}"]
failures = {{ {text} = "message", {number} = -1 }}
packages = ["THING"]
targets = ["THING::thing"]
system = false
[targets]
include = ["linux-x64"]
[package.eng]
component = "eng"
runtime = "{name}"
exports = ["eng_*"]
wheel = {{ source = "python/eng", runtime = "required" }}
[verify]
python = "verify/smoke.py"
runtimes.{name} = ["latest"]
own.{name}.scenarios = ["works", "absent", "truncated", "target-folder", "user-site", "environment", "imported-before"]
"""
CMAKE = """cmake_minimum_required(VERSION 3.20)
project(eng VERSION 1.0.0 LANGUAGES C)
find_package(THING REQUIRED)
add_library(eng SHARED eng.c)
target_link_libraries(eng PRIVATE THING::thing)
install(TARGETS eng COMPONENT eng)
"""
SOURCE = """int {number}(void);
const char* {text}(void);
const char* lb_{name}_message(void);
int eng_number(void) {{ return {number}(); }}
const char* eng_text(void) {{ return {says}(); }}
const char* eng_version(void) {{ return {text}(); }}
"""
MODULE = """import ctypes
from pathlib import Path
_lib = ctypes.CDLL(str(Path(__file__).with_name("libeng.so")))
_lib.eng_text.restype = _lib.eng_version.restype = ctypes.c_char_p
def number(): return _lib.eng_number()
def text(): return _lib.eng_text().decode()
def version(): return _lib.eng_version().decode()
"""
SMOKE = """import json, os, sys
arg = lambda name: sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None
if arg("--runtime-path"): os.environ["{variable}_LIB_PATH"] = arg("--runtime-path")
import eng
if eng.number() == -1:
    json.dump({{"error": {{"message": eng.text()}}}}, open(arg("--out"), "w"))
    sys.exit(3)
libs = sorted({{line.split()[-1] for line in open("/proc/self/maps") if "/{file}" in line}})
report = {{"version": eng.version()}} if "{version}" == "text" else None
json.dump({{"report": report, "libraries": libs, "passed": ["number"], "failed": []}}, open(arg("--out"), "w"))
"""
TBB = {
    "name": "tbb",
    "distribution": "tbb",
    "file": "libtbb.so.12",
    "minimum": "2022.0",
    "version": "text",
    "number": "TBB_runtime_interface_version",
    "text": "TBB_runtime_version",
    "variable": "TBB",
    "entry": "TBB_runtime_version",
}
OPENMP = {
    "name": "iomp",
    "distribution": "intel-openmp",
    "file": "libiomp5.so",
    "minimum": "2024.0",
    "version": "none",
    "number": "omp_get_max_threads",
    "text": "kmp_get_affinity_name",
    "variable": "IOMP",
    "entry": "omp_get_max_threads",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runtime", "says"),
    [(TBB, "{text}"), (TBB, "lb_{name}_message"), (OPENMP, "lb_{name}_message")],
    ids=["tbb, short text", "tbb", "intel-openmp"],
)
def test_a_library_below_pythons_prefix_is_found_removed_and_damaged(latebind, tmp_path, runtime, says):
    write_files(
        tmp_path,
        {
            "latebind.toml": CONFIGURATION.format(**runtime),
            "native/CMakeLists.txt": CMAKE,
            "native/eng.c": SOURCE.format(**runtime, says=says.format(**runtime)),
            "python/eng/pyproject.toml": PYPROJECT,
            "python/eng/LICENSE": "MIT",
            "python/eng/src/eng/__init__.py": MODULE,
            "verify/smoke.py": SMOKE.format(**runtime),
        },
    )
    assert_success(latebind("-C", tmp_path, "pack"))
    ended = latebind("-C", tmp_path, "verify")
    assert " passed, 0 failed" in assert_success(ended), ended.stdout
