"""`latebind new --kind torch` and the page about it: one wheel, an operator that PyTorch itself checks, its errors."""

import os
import re
import shutil
from functools import partial

import pytest

from ci.machines import table
from latebind.adopt.new import torch_files
from loadcheck.facts import read_image
from tests.conftest import ROOT
from tests.examples.conftest import run, select_cases
from tests.support.client import edit
from tests.support.emulated import fetch_wheel
from tests.support.needs import require_programs
from tests.support.running import make_environment, run_checked, run_program

pytestmark = pytest.mark.slow

CPU = "2.13.0+cpu"
"""The wheels of PyPI for Linux on x64 need 3 GB of libraries of CUDA."""
PAGE = (ROOT / "docs/howto/torch.md").read_text("utf-8")
CASES = ("works", "extra", "threads", "fork", "absent")
BOTH = "import torch, {0}, {1}; x = torch.ones(1); print(({0}.scale(x, 2.0) + {1}.scale(x, 3.0)).item())"
REFUSES = "import torch, {0}\ntry: {0}.scale(torch.ones(1).int(), 2.0)\nexcept RuntimeError as error: print(error)"
OLDER = """
import sys, types
sys.modules["torch"] = torch = types.ModuleType("torch")
torch.__version__ = "2.9.1"
import {0}
"""
SETUP = """
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension
minimum = [("TORCH_TARGET_VERSION", "0x020a000000000000")]
extension = CppExtension("boxes._C", ["boxes.cc", "version.c"], py_limited_api=True, define_macros=minimum)
setup(name="boxes", version="1.0", ext_modules=[extension],
      cmdclass={"build_ext": BuildExtension.with_options(use_ninja=False)})
"""
REQUIRED = ("filelock", "fsspec", "jinja2", "networkx", "sympy", "typing-extensions")
"""What PyTorch requires, besides CUDA."""


def make(latebind, folder, name, versions=CPU):
    """A new project, which is verified with one PyTorch."""
    run(latebind, "-C", folder, "new", name, "--kind", "torch")
    if not (folder / name / "native/include/torch/csrc/stable/library.h").is_file():
        pytest.skip("not run: the index has no wheel of PyTorch for macOS, which has the headers")
    edit(folder / name / "latebind.toml", "[verify]", f'[verify]\nruntimes.torch = ["{versions}"]')
    return folder / name


@pytest.fixture(scope="module")
def torch():
    """PyTorch for CPUs, unpacked; skips where the index lacks it."""
    return fetch_wheel("linux-x64", "torch", CPU)


@pytest.fixture(scope="module")
def wheels(installed_latebind, torch, tmp_path_factory):
    """Two extensions, the second without `boxed.h`'s TORCH_BOX(), and what runs Python code with both and PyTorch."""
    folder = tmp_path_factory.mktemp("extensions")
    made = [make(installed_latebind, folder, name) for name in ("boxes", "throws")]
    edit(folder / "throws/native/boxed.h", "#undef TORCH_BOX", "#undef TORCH_BOX_OF_PYTORCH")
    text = (folder / "throws/native/boxed.h").read_text("utf-8")
    (folder / "throws/native/boxed.h").write_text(text.partition("#define TORCH_BOX(")[0], encoding="utf-8")
    for project in made:
        run(installed_latebind, "-C", project, "pack", "--target", "linux-x64")
    for wheel in [wheel for project in made for wheel in (project / "dist").glob("*.whl")]:
        shutil.unpack_archive(wheel, folder / "site", "zip")
    interpreter = make_environment(folder / "env", *REQUIRED)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (folder / "site", torch)))}
    return made, partial(run_program, interpreter, "-c", env=environment)


def test_a_new_extension_is_packed_audited_and_verified(installed_latebind, wheels):
    (project, _), _ = wheels
    run(installed_latebind, "-C", project, "audit")
    (library,) = (project / "stage").glob("linux-x64/*/lib/libboxes.so")
    image = read_image(library.read_bytes(), library.name)
    assert set(image.needed) <= {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2"}
    (wheel,) = (project / "dist").glob("*.whl")
    assert "-py3-none-manylinux_2_28_x86_64" in wheel.name
    printed = run(installed_latebind, "-C", project, "verify", "--target", "linux-x64", *select_cases(*CASES)).stdout
    assert f"{len(CASES)} passed, 0 failed, 0 not run" in printed, printed


def test_two_extensions_are_in_one_process_and_a_wrong_argument_is_an_error(wheels):
    _, ask = wheels
    assert ask(BOTH.format("boxes", "throws")).stdout == "5.0\n"
    assert "boxes::scale: x must be float32" in ask(REFUSES.format("boxes")).stdout


def test_without_the_box_a_wrong_argument_ends_the_process(wheels):
    _, ask = wheels
    assert ask(REFUSES.format("throws")).returncode < 0


def test_a_torch_that_is_too_old_is_refused_before_the_library_is_loaded(wheels):
    _, ask = wheels
    refused = ask(OLDER.format("boxes"))
    assert 'PyTorch 2.9.1 is too old. boxes needs version 2.10 or newer: pip install "torch>=2.10"' in refused.stderr


def test_what_a_newer_torch_alone_has_does_not_compile(installed_latebind, tmp_path):
    project = make(installed_latebind, tmp_path, "newer")
    edit(project / "native/newer.cc", "return y;", "torch_delete_generator(nullptr);\n  return y;")
    run(installed_latebind, "headers", "torch", "2.13", "--output", project / "other")
    shutil.rmtree(project / "native/include")
    (project / "other").rename(project / "native/include")
    refused = run(installed_latebind, "-C", project, "build", "--target", "linux-x64", allowed=(2,))
    assert "torch_delete_generator" in refused.stderr
    edit(project / "latebind.toml", 'minimum = "2.10"', 'minimum = "2.13"')
    run(installed_latebind, "-C", project, "build", "--target", "linux-x64")


def test_a_setup_py_of_torchs_own_links_the_stub_as_it_is(installed_latebind, wheels, torch, tmp_path):
    """The page's command; CppExtension also links libc10, libtorch and libtorch_python, which are empty."""
    require_programs("c++")
    (project, _), _ = wheels
    for name in ("boxes.cc", "boxed.h", "version.c"):
        shutil.copy(project / "native" / name, tmp_path)
    (tmp_path / "setup.py").write_text(SETUP)
    run(installed_latebind, "stub", "torch", "--minimum", "2.10", "--output", tmp_path / "stubs")
    interpreter = make_environment(tmp_path / "env", *REQUIRED, "setuptools")
    stubs = tmp_path / "stubs/linux-x64"
    [options] = re.findall(r"`(LDFLAGS=\S+) python setup.py bdist_wheel`", PAGE)
    assert options == "LDFLAGS=-L$PWD/stubs/linux-x64/lib"
    environment = {**os.environ, "PYTHONPATH": str(torch), "LDFLAGS": f"-L{stubs}/lib", "CPATH": str(stubs / "include")}
    run_checked(interpreter, "setup.py", "-q", "build_ext", "--build-lib", "out", cwd=tmp_path, env=environment)
    (library,) = (tmp_path / "out").rglob("*.so")
    image = read_image(library.read_bytes(), library.name)
    assert not [name for name in image.needed if "torch" in name or "c10" in name]
    loads = f"import torch; torch.ops.load_library({str(library)!r}); "
    calls = "print(torch.ops.boxes.scale(torch.ones(1), 3.0).item())"
    assert run_checked(interpreter, "-c", f"{loads}{calls}", env=environment) == "3.0\n"


@pytest.mark.emulated
def test_a_new_extension_on_arm64(installed_latebind, tmp_path):
    """With the last PyTorch that needs no CUDA. In wine, PyTorch crashes at errors of its own, also by itself."""
    rid, version = "linux-arm64", "2.10.0"
    message = table.make(tmp_path / "machines", rid)[rid]
    if message.startswith("not available"):
        pytest.skip(f"not run: {message}")
    project = make(installed_latebind, tmp_path, "other", version)
    words = ("verify", "--target", rid, "--machines", tmp_path / "machines", *select_cases("works", "absent"))
    shown = run(installed_latebind, "-C", project, *words).stdout
    assert "0 passed, 2 passed emulated, 0 failed, 0 not run" in shown


def test_the_page_shows_what_latebind_writes():
    files = torch_files("demo", "Someone")
    for title, text in re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', PAGE, re.DOTALL):
        assert text in files[title]
