"""The page "Adopt in five minutes": each build system builds what it shows, and the program finds ONNX Runtime."""

import os
import re
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from latebind.tables.targets import host_rid
from tests.support.needs import official_header, require_programs, runtime_folder
from tests.support.running import assert_success, run_checked, run_program

pytestmark = [pytest.mark.slow, pytest.mark.skipif(host_rid() != "linux-x64", reason="not run: linux-x64 is shown")]
PAGE = (Path(__file__).resolve().parent.parent / "docs/howto/five-minutes.md").read_text("utf-8")
MODULE = r"""
#include <Python.h>
#include <onnxruntime_c_api.h>

static PyObject* count(PyObject* module, PyObject* nothing) {
  const OrtApi* api = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  char** names = NULL;
  int number = 0;
  OrtStatus* status = api->GetAvailableProviders(&names, &number);
  if (status) {
    PyErr_SetString(PyExc_ImportError, api->GetErrorMessage(status));
    api->ReleaseStatus(status);
    return NULL;
  }
  api->ReleaseStatus(api->ReleaseAvailableProviders(names, number));
  return PyLong_FromLong(number);
}

static PyMethodDef functions[] = {{"count", count, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "providers", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_providers(void) { return PyModule_Create(&definition); }
"""
FILES = re.findall(r"^`([^`\n]+)`:\n\n```\w+\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The page's files, and the official headers."""
    require_programs("c++", "pkg-config")
    root = tmp_path_factory.mktemp("five")
    for name, text in FILES:
        (root / name).write_text(text, encoding="utf-8")
    (root / "headers").symlink_to(official_header(tmp_path_factory.getbasetemp().parent).parent)
    return root


def environment(**more):
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    hidden = ("ONNXRUNTIME_LIB_PATH", "VIRTUAL_ENV", "CONDA_PREFIX")
    return {**{key: value for key, value in os.environ.items() if key not in hidden}, "PATH": tools, **more}


def bash(command, folder, **more):
    return run_program(shutil.which("bash"), "-c", command, cwd=folder, env=environment(**more))


def run_but_last(heading, folder):
    """Run the commands of a section but the last, and give that."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    *commands, last = re.findall(r"^\$ (.*)$", section, re.MULTILINE)
    for command in commands:
        assert_success(bash(command, folder))
    return last


def runs(command, folder):
    """The program finds the runtime that it is given, and says what to install without one."""
    bound, absent = bash(command, folder, ONNXRUNTIME_LIB_PATH=str(runtime_folder())), bash(command, folder)
    assert re.fullmatch(r"\d providers\n", bound.stdout), bound
    assert re.match(r"ONNX Runtime was not found in .*pip install", absent.stdout), absent
    assert (bound.returncode, absent.returncode) == (0, 1)


@pytest.mark.parametrize("heading", ["CMake", "Meson", "A compiler alone"])
def test_a_program_builds_and_runs_as_shown(folder, heading):
    runs(run_but_last(heading, folder), folder)


@pytest.mark.parametrize("form", ["source", "static library"])
def test_a_module_of_setuptools_builds_and_runs_as_shown(folder, tmp_path, latebind, form):
    (extension,) = re.findall(r'^`(Extension\("providers", \["module.c"\].*?)`\.$', PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "module.c").write_text(MODULE)
    (tmp_path / "setup.py").write_text((folder / "setup.py").read_text("utf-8"))
    (tmp_path / "headers").symlink_to(folder / "headers")
    if form == "source":
        latebind("stub", "onnxruntime", "--source", "--output", tmp_path / "vendor")
    else:
        latebind("stub", "onnxruntime", "--output", tmp_path / "stubs")
        text = (tmp_path / "setup.py").read_text("utf-8")
        (tmp_path / "setup.py").write_text(re.sub(r'Extension\("providers", sources.*?\)', extension, text))
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--wheel-dir", "dist", "."]
    run_checked(*pip, cwd=tmp_path)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")

    program = "try: print(providers.count(), 'providers')\nexcept ImportError as error: sys.exit(print(error) or 1)"
    script = tmp_path / "script.py"
    script.write_text(f"import sys\nsys.path.insert(0, 'site')\nimport providers\n{program}\n")
    runs(f"{sys.executable} -I -S script.py", tmp_path)
