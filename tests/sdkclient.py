"""The small project with a header, and with an SDK archive for each target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.build.native import stage_target
from latebind.config.file import load
from latebind.ecosystems.sdk.pack import pack_sdk
from latebind.system.tarball import unpack_tar
from latebind.tables.targets import target

from tests.client import CONFIG, PORTABLE_CMAKE, PORTABLE_SOURCE, write_client, write_files
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SDK = CONFIG.replace("[package.tiny]", "[package.tiny]\nsdk = true").replace(
    'license = "MIT"', 'license = "MIT"\nlicense_file = "native/tiny.c"'
)
HEADER = """\
#ifdef __cplusplus
extern "C"
#endif
int tiny_add(int a, int b);
"""
WITH_HEADER = f"{PORTABLE_CMAKE}install(FILES tiny.h DESTINATION include COMPONENT tiny)\n"


def write_sdk_client(folder: Path, cmake: str = WITH_HEADER, latebind: str = SDK) -> Path:
    root = write_client(folder, latebind=latebind, cmakelists=cmake, tiny=PORTABLE_SOURCE)
    (root / "native" / "tiny.h").write_text(HEADER, encoding="utf-8")
    return root


LATENN_PROGRAM = """\
#include <latenn.h>
#include <stdio.h>
#include <string.h>

int main(int count, char** words) {
  const char* folders[1];
  float numbers[3] = {1, 2, 3};
  int64_t shape[2] = {1, 3};
  latenn_load_options options;
  latenn_tensor tensor;
  latenn_model* model = NULL;
  latenn_context* context = NULL;
  latenn_status* status;
  memset(&options, 0, sizeof options);
  memset(&tensor, 0, sizeof tensor);
  folders[0] = words[count - 1];
  options.size = sizeof options;
  options.runtime_directories = folders;
  options.runtime_directory_count = 1;
  tensor.type = LATENN_FLOAT32;
  tensor.rank = 2;
  tensor.shape = shape;
  tensor.data = numbers;
  tensor.bytes = sizeof numbers;
  status = latenn_load_path(words[1], &options, &model);
  if (!status) status = latenn_context_create(model, &context);
  if (!status) status = latenn_set_input(context, 0, &tensor);
  if (!status) status = latenn_compute(context);
  if (!status) status = latenn_get_output(context, 0, &tensor);
  if (status)
    printf("%s\\n", latenn_status_message(status));
  else
    printf("%g %g %g\\n", ((float*)tensor.data)[0], ((float*)tensor.data)[1], ((float*)tensor.data)[2]);
  latenn_context_release(context);
  latenn_model_release(model);
  return status != NULL;
}
"""
"""Adds what the model says to 1, 2, 3."""
LATENN_CONSUMER = """\
cmake_minimum_required(VERSION 3.20)
project(consumer LANGUAGES CXX)
find_package(latenn CONFIG REQUIRED COMPONENTS core onnxruntime)
add_executable(program program.cpp)
target_link_libraries(program PRIVATE latenn::core)
"""


def latenn_sdk(folder: Path, rid: str) -> Path:
    """latenn's SDK for a target, packed and unpacked below a folder with a space in its name."""
    config = load(ROOT / "latenn" / "latebind.toml")
    stage = stage_target(config, target(rid), folder / "work")
    path = pack_sdk(config, config.sdk_packages, stage, folder)
    return unpack_tar(path, folder / "a place").rename(folder / "a place" / "a prefix")


def write_latenn_consumer(folder: Path) -> Path:
    """A CMake project in C++ whose program runs a model."""
    return write_files(folder, {"CMakeLists.txt": LATENN_CONSUMER, "program.cpp": LATENN_PROGRAM})
