"""PyInstaller: a wheel's hook takes its native files, the runtime and what plugs into it into a frozen program."""

import ast
import configparser
import sys

import pytest

from latebind.config.file import load
from latebind.ecosystems.wheel.metadata import hook_files
from latebind.verify.run.installers import find_uv
from tests.support.client import PYPROJECT, SEVERAL, by_kind, members, pack_project, write_client
from tests.support.epclient import write_ep
from tests.support.running import CLI, run_checked, run_program

HOOKS = "_pyinstaller/__init__.py", "_pyinstaller/hook-{}.py"
UNREACHABLE = ("error sending request", "Failed to fetch", "dns error")


def entry_points(files):
    """The entry points of a wheel by group."""
    (name,) = [name for name in files if name.endswith(".dist-info/entry_points.txt")]
    parser = configparser.ConfigParser()
    parser.read_string(files[name].decode())
    return {group: dict(parser[group]) for group in parser.sections()}


def read_constants(text):
    """The constants at the top of a hook."""
    assignments = {statement.targets[0].elts[1].id: statement.value.elts[1] for statement in ast.parse(text).body
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple)}  # fmt: skip
    return ast.literal_eval(assignments["RUNTIME"])


@pytest.mark.builds
def test_a_wheel_names_the_folder_of_its_hook(packed_once):
    files = members(by_kind(pack_project(packed_once))["wheel"])
    assert {f"tiny/{name.format('tiny')}" for name in HOOKS} <= set(files)
    assert entry_points(files) == {"pyinstaller40": {"hook-dirs": "tiny._pyinstaller:get_hook_dirs"}}
    assert read_constants(files["tiny/_pyinstaller/hook-tiny.py"].decode()) == ""


@pytest.mark.builds
def test_the_wheel_of_an_execution_provider_does_as_well(tmp_path):
    files = members(by_kind(pack_project(write_ep(tmp_path)))["wheel"])
    module = "onnxruntime_ep_tiny_npu"
    assert {f"{module}/{name.format(module)}" for name in HOOKS} <= set(files)
    assert entry_points(files) == {"pyinstaller40": {"hook-dirs": f"{module}._pyinstaller:get_hook_dirs"}}


@pytest.mark.builds
def test_a_project_with_a_hook_keeps_it(tmp_path):
    hooks = '\n[project.entry-points.pyinstaller40]\nhook-dirs = "tiny.hooks:dirs"\n'
    files = members(by_kind(pack_project(write_client(tmp_path, pyproject=PYPROJECT + hooks)))["wheel"])
    assert entry_points(files) == {"pyinstaller40": {"hook-dirs": "tiny.hooks:dirs"}}
    assert not [name for name in files if "_pyinstaller" in name]


@pytest.mark.parametrize(
    ("package", "module", "runtime", "names"),
    [
        ("core", "several", "", ["several-onnxruntime", "several-openvino", "several-litert"]),
        ("onnxruntime", "several_onnxruntime", "onnxruntime", ["onnxruntime-gpu"]),
        ("openvino", "several_openvino", "openvino", ["openvino"]),
    ],
)
def test_a_hook_names_the_runtime_and_what_plugs_in(package, module, runtime, names):
    files = hook_files(load(SEVERAL), package, module, module.replace("_", "-"))
    text = files[f"{module}/_pyinstaller/hook-{module}.py"]
    assert read_constants(text) == runtime
    assert [name for name in names if f'"{name}"' not in text] == []


@pytest.mark.slow
def test_a_plain_pyinstaller_call_freezes_a_new_project(tmp_path):
    run_checked(*CLI, "new", "demo", cwd=tmp_path)
    run_checked(*CLI, "-C", tmp_path / "demo", "pack", timeout=300)
    (wheel,) = (tmp_path / "demo/dist").glob("*.whl")
    uv, python = find_uv(), tmp_path / "venv/bin/python"
    run_checked(uv, "venv", "-q", "-p", sys.executable, tmp_path / "venv")
    install = (uv, "pip", "install", "-q", "-p", python)
    ended = run_program(*install, "--no-deps", wheel, "onnxruntime", timeout=300)
    if any(message in ended.stderr for message in UNREACHABLE):
        pytest.skip("not run: the package index cannot be reached")
    run_checked(*install, "pyinstaller>=6", timeout=300)
    assert ended.returncode == 0, ended.stderr
    (tmp_path / "app.py").write_text('import demo\nprint(demo.open_runtime()["path"])\n', encoding="utf-8")
    run_checked(python, "-m", "PyInstaller", "--noconfirm", "app.py", cwd=tmp_path, timeout=300)
    (tmp_path / "venv").rename(tmp_path / "gone")
    path = run_checked(tmp_path / "dist/app/app", cwd=tmp_path)
    assert path.startswith(str(tmp_path / "dist/app/_internal/onnxruntime/capi/libonnxruntime.so."))
    modules = tmp_path / "dist/app/_internal/onnxruntime/capi"
    assert not list(modules.glob("onnxruntime_pybind11_state.*"))  # only its libraries
