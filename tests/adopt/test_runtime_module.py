"""The generated module that finds a runtime: the one that Python would import."""

import ctypes  # noqa: F401  # the module imports it, where sys.path has no standard library any more
import importlib.util
import mmap
import os
import subprocess
import sys
import zipapp
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import SimpleNamespace

import pytest

from latebind.adopt.runtime_module import FILE_NAME, render_runtime_module
from latebind.config.file import load_described
from latebind.tables.presets import library_files, preset, presets
from latebind.templates import render
from tests.support.building import needed_compiler
from tests.support.running import run_checked

SUPPLIED = [
    (name, distribution) for name, preset in presets().items() for distribution in preset.python.extras.values()
]


TEXTS = {name: render_runtime_module(preset(name), "demo") for name in presets()}
LIBRARY = "onnxruntime/capi/libonnxruntime.so.1"


def runtime_module(name="onnxruntime"):
    names = {"__name__": "runtime_module"}
    exec(TEXTS[name], names)  # noqa: S102  # its text is ours
    return SimpleNamespace(**names)


def put_distribution(site, name, version="1.32.0", library=LIBRARY):
    """What pip leaves of a distribution in site-packages."""
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    if library:
        put_library(site, library)


def put_library(site, library=LIBRARY):
    (site / library).parent.mkdir(parents=True, exist_ok=True)
    (site / library).write_bytes(b"")


@pytest.mark.parametrize(("runtime", "distribution"), SUPPLIED)
def test_each_distribution_of_a_preset_is_found(tmp_path, monkeypatch, runtime, distribution):
    runtime_preset = preset(runtime)
    name = runtime_preset.list_files("linux")[0]
    put_distribution(tmp_path, distribution, library=f"{runtime_preset.python.folder}/{name}")
    module = runtime_module(runtime)
    monkeypatch.setattr("sys.path", [str(tmp_path)])

    found = module.find_runtime()

    folder = tmp_path / runtime_preset.python.folder
    assert found == (str(folder), str(folder / name), distribution, "1.32.0")
    assert module.advice(found) == f"pip install --upgrade --force-reinstall {distribution}"


@pytest.mark.parametrize("folder", ["cu13/lib", "cuda_nvrtc/lib"])
def test_a_runtime_is_found_in_the_folder_of_each_variant(tmp_path, monkeypatch, folder):
    described = load_described(library_files()["nvrtc"], {"linux"}).traits
    library = tmp_path / "nvidia" / folder / {"cu13/lib": "libnvrtc.so.13", "cuda_nvrtc/lib": "libnvrtc.so.12"}[folder]
    put_library(tmp_path, library)
    names = {"__name__": "runtime_module"}
    exec(render_runtime_module(described), names)  # noqa: S102  # its text is ours
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    assert names["find_runtime"]().library == str(library)


def test_it_finds_what_python_would_import(tmp_path, monkeypatch):
    put_distribution(tmp_path / "venv", "onnxruntime-openvino", "1.24.1")
    put_distribution(tmp_path / "system", "onnxruntime", "1.20.1")
    for folder in ("venv", "system"):
        (tmp_path / folder / "onnxruntime/__init__.py").touch()
    module = runtime_module()
    monkeypatch.setattr("sys.path", ["", str(tmp_path / "venv"), str(tmp_path / "system")])
    monkeypatch.delitem(sys.modules, "onnxruntime", raising=False)  # other tests import it
    found = module.find_runtime()
    assert found.folder == str(tmp_path / "venv/onnxruntime/capi")
    assert importlib.util.find_spec("onnxruntime").origin == str(tmp_path / "venv/onnxruntime/__init__.py")


def test_a_runtime_without_metadata_is_found(tmp_path, monkeypatch):
    put_library(tmp_path)
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    found = runtime_module().find_runtime()
    assert found.library == str(tmp_path / LIBRARY)
    assert (found.distribution, found.version) == ("onnxruntime", "")


def test_metadata_in_another_folder_only_name_the_version(tmp_path, monkeypatch):
    put_distribution(tmp_path / "metadata", "onnxruntime-gpu", library="")
    put_library(tmp_path / "packages")
    monkeypatch.setattr("sys.path", [str(tmp_path / "metadata"), str(tmp_path / "packages")])
    found = runtime_module().find_runtime()
    assert found == (str(tmp_path / "packages/onnxruntime/capi"), str(tmp_path / "packages" / LIBRARY),
                     "onnxruntime-gpu", "1.32.0")  # fmt: skip


def test_metadata_alone_are_no_runtime(tmp_path, monkeypatch):
    put_distribution(tmp_path, "onnxruntime", library="")
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    assert runtime_module().find_runtime() is None


@pytest.mark.parametrize("entry", ["", ".", "relative"])
def test_the_working_folder_is_not_searched(tmp_path, monkeypatch, entry):
    put_library(tmp_path)
    put_library(tmp_path / "relative")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [entry])
    assert runtime_module().find_runtime() is None


FIND = (
    "import os, sys; {before}; import fake._runtime as r; {after}; f = r.find_runtime(); "
    "print(f.folder if f else r.explain(f, '1'))"
)


@pytest.mark.parametrize(
    ("before", "after", "folder", "given"),
    [
        ("sys.path.insert(0, 'vendor')", "", ".", "-c"),
        ("sys.path.insert(0, '../here/vendor')", "", ".", "-c"),
        ("sys.path.insert(0, 'vendor')", "os.chdir('/')", ".", "-c"),
        ("pass", "", "vendor", "-c"),
        ("pass", "", "vendor", "-"),
    ],
    ids=["vendor", "a way round", "another working folder", "-c", "stdin"],
)
def test_a_package_from_a_relative_entry_finds_the_runtime_beside_it(tmp_path, before, after, folder, given):
    vendor = tmp_path / "here/vendor"
    put_distribution(vendor, "onnxruntime")
    (vendor / "onnxruntime/__init__.py").touch()
    (vendor / "fake").mkdir()
    (vendor / "fake/__init__.py").touch()
    (vendor / "fake" / FILE_NAME).write_text(render_runtime_module(preset("onnxruntime"), "fake"))
    code = FIND.format(before=before, after=after or "pass")
    found = subprocess.run(
        [sys.executable, "-s", *(["-c", code] if given == "-c" else ["-"])],
        cwd=tmp_path / "here" / folder, input=code, text=True, capture_output=True, check=True,
    )  # fmt: skip
    assert found.stdout.strip() == str(vendor / "onnxruntime/capi")


def test_a_relative_entry_that_is_not_searched_is_named(tmp_path):
    put_distribution(tmp_path / "here/vendor", "onnxruntime")
    package = tmp_path / "site/fake"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / FILE_NAME).write_text(render_runtime_module(preset("onnxruntime"), "fake"))
    code = FIND.format(before="sys.path[:] = [p for p in sys.path if p.find('site-packages') < 0]; "
                       f"sys.path[:0] = ['vendor', {str(package.parent)!r}]", after="pass")  # fmt: skip
    said = run_checked(sys.executable, "-I", "-c", code, cwd=tmp_path / "here")
    assert said.startswith("Python would import ONNX Runtime from vendor, a relative entry of sys.path")
    assert "Make it absolute" in said
    fixed = code.replace("'vendor'", "os.path.abspath('vendor')")  # as it says
    assert run_checked(sys.executable, "-I", "-c", fixed, cwd=tmp_path / "here").strip().endswith("onnxruntime/capi")


def test_a_finder_of_an_editable_installation_is_asked(tmp_path, monkeypatch):
    put_library(tmp_path)
    (tmp_path / "onnxruntime/__init__.py").touch()

    class Finder:
        @staticmethod
        def find_spec(name, _path=None, _target=None):
            file = tmp_path / name / "__init__.py"
            return importlib.util.spec_from_file_location(name, file) if name == "onnxruntime" else None

    class OldFinder:
        """One of Python 3.3."""

    monkeypatch.setattr("sys.meta_path", [OldFinder, Finder])
    monkeypatch.setattr("sys.path", [])
    assert runtime_module().find_runtime().library == str(tmp_path / LIBRARY)


def test_a_package_that_nuitka_compiled_is_found(tmp_path, monkeypatch):
    put_library(tmp_path)
    spec = ModuleSpec("onnxruntime", None, origin=str(tmp_path / "onnxruntime/__init__.py"), is_package=True)
    monkeypatch.setattr("sys.meta_path", [SimpleNamespace(find_spec=lambda *_: spec)])
    assert spec.submodule_search_locations == []
    assert runtime_module().find_runtime().library == str(tmp_path / LIBRARY)


@pytest.mark.parametrize("base", [False, True], ids=["environment", "below-an-environment"])
@pytest.mark.parametrize(
    ("system", "file"),
    [
        ("linux", "lib/libonnxruntime.so.1"),
        ("darwin", "lib/libonnxruntime.1.25.0.dylib"),
        ("win32", "Library/bin/onnxruntime_conda.dll"),
    ],
)
def test_a_library_that_its_supplier_takes_out_of_the_package_is_found(tmp_path, monkeypatch, base, system, file):
    site = tmp_path / "lib/python3/site-packages"
    put_library(site, "onnxruntime/capi/__init__.py")
    put_library(tmp_path, file)
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.setattr("sys.path", [str(site)])
    monkeypatch.setattr("sys.prefix", str(tmp_path / "venv" if base else tmp_path))
    monkeypatch.setattr("sys.base_prefix", str(tmp_path))
    assert runtime_module().find_runtime().library == str(tmp_path / file)


def test_the_base_installation_of_an_environment_without_its_packages_is_not_searched(tmp_path, monkeypatch):
    put_library(tmp_path / "base", "lib/libonnxruntime.so.1")
    put_library(tmp_path / "venv/site-packages", "onnxruntime/capi/__init__.py")
    monkeypatch.setattr("sys.path", [str(tmp_path / "venv/site-packages")])
    monkeypatch.setattr("sys.prefix", str(tmp_path / "venv"))
    monkeypatch.setattr("sys.base_prefix", str(tmp_path / "base"))
    assert runtime_module().find_runtime().library == ""


def test_a_package_without_a_library_is_explained(tmp_path, monkeypatch):
    put_distribution(tmp_path, "onnxruntime-gpu", "1.17.0", "onnxruntime/capi/__init__.py")
    module = runtime_module()
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    assert module.explain(module.find_runtime(), "1.19") == (
        f"onnxruntime-gpu 1.17.0 is installed, but has no shared library in {tmp_path / 'onnxruntime/capi'}; "
        "onnxruntime-gpu 1.19 or newer is needed. Run: pip install --upgrade --force-reinstall onnxruntime-gpu"
    )


def test_an_archive_is_explained(tmp_path, monkeypatch):
    put_library(tmp_path / "app")
    (tmp_path / "app/onnxruntime/__init__.py").touch()
    (tmp_path / "app/__main__.py").touch()
    zipapp.create_archive(tmp_path / "app", tmp_path / "app.pyz")
    module = runtime_module()
    monkeypatch.setattr("sys.path", [str(tmp_path / "app.pyz")])
    text = module.explain(module.find_runtime(), "1.19")
    assert text.startswith(f"onnxruntime is in the archive {tmp_path / 'app.pyz'}. Use shiv or pex")


def test_without_a_runtime_it_advises_the_first_extra(tmp_path, monkeypatch):
    module = runtime_module()
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    assert module.find_runtime() is None
    assert module.explain(None, "1.19") == ""
    assert module.advice(None) == 'pip install "demo[cpu]"'


def test_a_frozen_program_must_be_frozen_again(monkeypatch):
    monkeypatch.setattr("sys.frozen", True, raising=False)
    assert runtime_module().advice(None) == 'pip install "demo[cpu]", and freeze the program again'


@pytest.fixture
def loaded(monkeypatch):
    """The libraries that load_runtime() opens."""
    opened = []
    monkeypatch.setattr("ctypes.CDLL", opened.append)
    monkeypatch.delenv("ONNXRUNTIME_LIB_PATH", raising=False)
    return opened


def test_the_library_is_opened_for_a_stub(tmp_path, monkeypatch, loaded):
    put_library(tmp_path)
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    runtime_module().load_runtime()
    assert loaded == [str(tmp_path / LIBRARY)]


def test_nothing_is_opened_without_a_runtime(tmp_path, monkeypatch, loaded):
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    runtime_module().load_runtime()
    assert loaded == []


def test_nothing_is_opened_if_the_variable_names_a_library(tmp_path, monkeypatch, loaded):
    put_library(tmp_path)
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    monkeypatch.setenv("ONNXRUNTIME_LIB_PATH", "/elsewhere")
    runtime_module().load_runtime()
    assert loaded == []


@pytest.mark.skipif(sys.platform != "linux", reason="not run: it reads /proc")
@pytest.mark.parametrize("name", [LIBRARY, "libonnxruntime.so.1", "libonnxruntime.so.1.99.0"])
def test_nothing_is_opened_beside_a_copy_that_is_loaded(tmp_path, monkeypatch, loaded, name):
    put_library(tmp_path / "installed")
    other = tmp_path / "other" / name
    other.parent.mkdir(parents=True)
    other.write_bytes(b"\0" * 5000)
    monkeypatch.setattr("sys.path", [str(tmp_path / "installed")])
    with other.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ):
        runtime_module().load_runtime()
    assert loaded == []
    runtime_module().load_runtime()
    assert loaded, "it is no longer mapped"


@pytest.mark.skipif(sys.platform != "linux", reason="not run: the loaders of other systems refuse it")
@pytest.mark.parametrize("cut", [-1, 100_000, 4096])
def test_a_library_that_was_cut_off_is_a_warning_and_not_the_end(tmp_path, monkeypatch, loaded, cut):
    put_library(tmp_path)
    library = tmp_path / LIBRARY
    whole = Path(next(path for path in map(str, Path("/proc/self/maps").read_text().split()) if "/libc.so" in path))
    library.write_bytes(whole.read_bytes())
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    runtime_module().load_runtime()
    assert len(loaded) == 1
    library.write_bytes(whole.read_bytes()[: cut if cut > 0 else len(whole.read_bytes()) // 2])
    with pytest.warns(RuntimeWarning, match=r"libonnxruntime\.so.* is truncated\. Run: pip install "):
        runtime_module().load_runtime()
    assert len(loaded) == 1


def test_a_library_that_cannot_be_opened_is_a_warning(tmp_path, monkeypatch):
    put_library(tmp_path)
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    monkeypatch.delenv("ONNXRUNTIME_LIB_PATH", raising=False)
    with pytest.warns(RuntimeWarning, match=r"ONNX Runtime cannot be opened: .*libonnxruntime\.so\.1"):
        runtime_module().load_runtime()


def test_a_new_projects_package_takes_no_runtime_from_the_working_folder(tmp_path):
    work = tmp_path / "work"
    put_distribution(work, "onnxruntime", "99.0")
    package = tmp_path / "package" / "fake"
    package.mkdir(parents=True)
    (package / "fake.c").write_text(
        "#include <stdio.h>\n#include <stddef.h>\n"
        "int fake_open(const char* folder, const char* path, const char* minimum, const char* advice, char* report,"
        ' size_t size) { snprintf(report, size, "{\\"folder\\": \\"%s\\"}", folder ? folder : ""); return 0; }'
    )
    run_checked(needed_compiler(), "-shared", "-fPIC", package / "fake.c", "-o", package / "libfake.so")
    (package / "__init__.py").write_text(render("new/package.py.j2", name="fake", module="fake"))
    (package / FILE_NAME).write_text(render_runtime_module(preset("onnxruntime"), "fake"))
    code = "import fake, sys; print(fake.open_runtime()['folder'])"
    folder = run_checked(
        sys.executable, "-c", code, cwd=work, env={**os.environ, "PYTHONPATH": str(package.parent)}
    ).strip()
    assert folder == "" or Path(folder).is_absolute()
    assert not folder.startswith(str(work))
