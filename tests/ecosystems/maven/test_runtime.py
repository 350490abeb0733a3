"""A JAR whose library binds ONNX Runtime: what a program of Java reads without it, and that the dependency helps."""

import re
import zipfile

import pytest

from tests.ecosystems.maven.test_jar import TABLE, run_java
from tests.loader.test_stub import library
from tests.support.client import BOUND, CMAKE, by_kind, copy_client, pack_project
from tests.support.emulated import ORT_VERSIONS
from tests.support.needs import require_programs

pytestmark = pytest.mark.slow

SOURCE = """\
#include "latebind/onnxruntime.h"
#include <stdio.h>

static lb_binding binding = LB_BINDING_INIT;
__attribute__((visibility("default"))) void Java_Main_open(void* environment, void* type);
void Java_Main_open(void* environment, void* type) {
  lb_report report = {.size = sizeof report};
  (void)environment, (void)type;
  lb_bind(&binding, &lb_onnxruntime, NULL, &report);
  printf("%s\\n", report.message);
  fflush(stdout);
}
"""
LINKED = CMAKE + "find_package(latebind REQUIRED)\nlatebind_add_runtime(tiny onnxruntime)\n"
PROGRAM = """\
public class Main {
  static native void open();

  public static void main(String[] words) {
    io.github.acme.tiny.NativeLibrary.load();
    open();
  }
}
"""


def test_the_dependency_that_the_message_names_supplies_the_runtime(tmp_path):
    require_programs("java", "javac")
    config = BOUND.replace('exports = ["tiny_*"]', 'exports = ["Java_*"]') + TABLE
    jar = by_kind(pack_project(copy_client("tiny", tmp_path, latebind=config, tiny=SOURCE, cmakelists=LINKED)))["jar"]
    [message] = run_java(tmp_path, jar, text=PROGRAM)
    advice = message.partition("Get it with: ")[2]
    assert advice == (
        "the dependency com.microsoft.onnxruntime:onnxruntime:1.20 or newer (or name its file in ONNXRUNTIME_LIB_PATH)"
    )
    artifact = re.match(r"the dependency [\w.]+:(\w+):", advice)[1]
    supplied = tmp_path / f"{artifact}-{ORT_VERSIONS[-1]}.jar"  # as on Maven Central, which cannot be reached here
    with zipfile.ZipFile(supplied, "w") as archive:
        archive.write(library(ORT_VERSIONS[-1]), "ai/onnxruntime/native/linux-x64/libonnxruntime.so")
    [message] = run_java(tmp_path, jar, supplied, text=PROGRAM)
    assert message.startswith(f"ONNX Runtime {ORT_VERSIONS[-1]} is bound from "), message
