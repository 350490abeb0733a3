"""Wheels that bind the runtime, and wheels with a stub, work where tools put packages."""

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from latebind.adopt.new import project_files
from latebind.adopt.runtime_module import FILE_NAME, render_runtime_module
from latebind.backend.targets import host_rid
from latebind.ecosystems.wheel import layouts
from latebind.tables.presets import preset
from latebind.verify.cases.scenarios import SCENARIOS
from latebind.verify.declared import Situation
from tests.conftest import ROOT
from tests.support import needs
from tests.support.client import write_files
from tests.support.running import CLI, run_checked, run_program

MINUTES = {"frozen-nuitka"}
"""What takes many minutes: `latebind verify --all -k frozen-nuitka` in a project."""
RARE = [scenario.name for scenario in SCENARIOS if scenario.rare and scenario.name not in MINUTES]
UNREACHABLE = ("no-index", "no-distribution")


def write_binding(folder):
    """A project of `latebind new`, in every scenario that it can have."""
    write_files(folder, project_files("demo", "c", "Someone"))
    settings = folder / "latebind.toml"
    lines = settings.read_text("utf-8").splitlines(keepends=True)
    settings.write_text("".join(line for line in lines if ".scenarios = " not in line), encoding="utf-8")


def write_stub(folder):
    """The example whose code is written for a linked runtime, with a package that loads the runtime first."""
    shutil.copytree(ROOT / "examples/linked-to-late", folder, dirs_exist_ok=True)
    header = needs.official_header(folder / "headers", "1.21")
    shutil.copytree(header.parent, folder / "native/include")
    package = folder / "python/tinyrun/src/tinyrun"
    (package / FILE_NAME).write_text(render_runtime_module(preset("onnxruntime"), "tinyrun"), encoding="utf-8")
    init = package / "__init__.py"
    load = "from ._runtime import load_runtime\n\nload_runtime()\n\n"
    init.write_text(load + init.read_text("utf-8"), encoding="utf-8")


@pytest.fixture(scope="module")
def project(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "headers").mkdir()
    request.param(folder)
    run_checked(*CLI, "-C", folder, "pack", "--target", host_rid(), timeout=600)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("project", "name"),
    # A package with a stub finds the runtime with the same module. What differs is how the stub gets it.
    [*((write_binding, name) for name in RARE), (write_stub, "frozen-file"), (write_stub, "uv-symlinks")],
    ids=lambda value: getattr(value, "__name__", value),
    indirect=["project"],
)
def test_a_wheel_works_in_each_layout(project, name):
    cases = ("--all", "--target", host_rid(), "-k", f"wheel/*/{name}")
    ended = run_program(*CLI, "-C", project, "verify", *cases, timeout=900)
    if any(f"not run: {reason}" in ended.stdout for reason in UNREACHABLE):
        pytest.skip("not run: the package index cannot be reached")
    assert "1 passed, 0 failed, 0 not run" in ended.stdout, ended.stdout + ended.stderr


def test_every_layout_of_a_scenario_exists():
    situations = [scenario.set_up for scenario in SCENARIOS if isinstance(scenario.set_up, Situation)]
    assert {situation.layout for situation in situations} == set(layouts.LAYOUTS)


@pytest.mark.slow
def test_an_editable_installation_of_a_new_project_finds_its_library_and_the_runtime(tmp_path):
    write_binding(tmp_path / "demo")
    site = tmp_path / "site"
    command = (sys.executable, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps", "--target", site)
    ended = run_program(*command, "editables", timeout=300)
    if ended.returncode:
        pytest.skip("not run: the package index cannot be reached")
    build = "import hatchling.build, sys; hatchling.build.build_editable(sys.argv[1])"
    where = {
        "cwd": tmp_path / "demo/python",
        "env": {"PYTHONPATH": str(site), "PATH": str(Path(sys.executable).parent)},
    }
    run_checked(sys.executable, "-c", build, tmp_path, timeout=300, **where)
    (wheel,) = tmp_path.glob("*.whl")
    run_checked(*command, wheel, timeout=300)
    code = f"import site; site.addsitedir({str(site)!r}); import demo; print(demo.open_runtime()['path'])"
    path = run_checked(sys.executable, "-c", code, cwd=tmp_path).strip()
    assert Path(path).parent == Path(find_spec("onnxruntime").origin).parent / "capi"


@pytest.fixture
def archive(tmp_path):
    """What `python -m zipapp` makes of a new project's package, without its library, and of a runtime."""
    app = tmp_path / "app"
    files = project_files("demo", "c", "Someone").items()
    own = {name.removeprefix("python/src/"): text for name, text in files if name.startswith("python/src/")}
    return write_files(app, {**own, "onnxruntime/__init__.py": "", "onnxruntime/capi/libonnxruntime.so.1": ""})


def test_a_package_in_an_archive_names_the_way_out(archive, tmp_path):
    (archive / "__main__.py").write_text("import demo", encoding="utf-8")
    run_checked(sys.executable, "-m", "zipapp", archive, "-o", tmp_path / "app.pyz")
    ended = run_program(sys.executable, tmp_path / "app.pyz")
    assert "is not in a folder of the package" in ended.stderr
    assert "For an archive, use shiv or pex." in ended.stderr


def test_a_runtime_in_an_archive_names_the_way_out(archive, tmp_path):
    code = "from demo._runtime import explain, find_runtime\nprint(explain(find_runtime(), '1.19'))\n"
    (archive / "demo/__init__.py").write_text("", encoding="utf-8")
    (archive / "__main__.py").write_text(code, encoding="utf-8")
    run_checked(sys.executable, "-m", "zipapp", archive, "-o", tmp_path / "app.pyz")
    says = f" is in the archive {tmp_path / 'app.pyz'}. Use shiv or pex instead, which unpack libraries."
    assert says in run_checked(sys.executable, tmp_path / "app.pyz")
