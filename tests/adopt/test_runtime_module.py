"""The generated module that finds a runtime: every distribution of a preset, in the order of sys.path."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from latebind.adopt.runtime_module import find_package, render_runtime_module
from latebind.tables.presets import preset, presets

DOCS = Path(__file__).parents[2] / "docs" / "wheels.md"
SUPPLIED = [
    (name, distribution) for name, preset in presets().items() for distribution in preset.python.extras.values()
]


def runtime_module(name="onnxruntime"):
    names = {"__name__": "runtime_module"}
    exec(render_runtime_module(preset(name), "demo"), names)  # noqa: S102  # its text is ours
    return SimpleNamespace(**names)


def put_distribution(site, name, version="1.32.0", library="onnxruntime/capi/libonnxruntime.so.1"):
    """What pip leaves of a distribution in site-packages."""
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    if library:
        (site / library).parent.mkdir(parents=True, exist_ok=True)
        (site / library).write_bytes(b"")


@pytest.mark.parametrize(("runtime", "distribution"), SUPPLIED)
def test_each_distribution_of_a_preset_is_found(tmp_path, monkeypatch, runtime, distribution):
    runtime_preset = preset(runtime)
    put_distribution(tmp_path, distribution, library=f"{runtime_preset.python.folder}/{runtime_preset.names.linux[0]}")
    module = runtime_module(runtime)
    monkeypatch.setattr("sys.path", [str(tmp_path)])

    location = module.find_runtime()

    assert (location.distribution, location.version, location.has_library) == (distribution, "1.32.0", True)
    assert Path(location.folder) == tmp_path / runtime_preset.python.folder
    assert module.advice(location) == f"pip install --upgrade --force-reinstall {distribution}"


def test_the_environment_comes_before_the_systems_packages(tmp_path, monkeypatch):
    put_distribution(tmp_path / "venv", "onnxruntime-openvino", "1.24.1")
    put_distribution(tmp_path / "system", "onnxruntime", "1.20.1")
    module = runtime_module()
    monkeypatch.setattr("sys.path", ["", str(tmp_path / "venv"), str(tmp_path / "system")])
    assert module.find_runtime().distribution == "onnxruntime-openvino"


def test_one_with_a_library_comes_before_one_without(tmp_path, monkeypatch):
    put_distribution(tmp_path / "first", "onnxruntime", "1.17.0", library="")
    put_distribution(tmp_path / "second", "onnxruntime-gpu", "1.31.1")
    module = runtime_module()
    monkeypatch.setattr("sys.path", [str(tmp_path / "first")])
    alone = module.find_runtime()
    assert (alone.version, alone.has_library) == ("1.17.0", False)
    monkeypatch.setattr("sys.path", [str(tmp_path / "first"), str(tmp_path / "second")])
    assert module.find_runtime().version == "1.31.1"


def test_without_a_runtime_it_advises_the_first_extra(tmp_path, monkeypatch):
    module = runtime_module()
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    assert module.find_runtime() is None
    assert module.advice(None) == 'pip install "demo[cpu]"'


def test_the_documentation_shows_the_module_that_is_generated():
    (block,) = re.findall(r"```python title=\"_runtime.py\"\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    assert block == render_runtime_module(preset("onnxruntime"), "demo")


@pytest.mark.parametrize(
    ("folder", "settings", "expected"),
    [
        ("src/voice_box", "", "src/voice_box"),
        ("voice_box", "", "voice_box"),
        ("lib/voice", '[tool.hatch.build.targets.wheel]\npackages = ["lib/voice"]\n', "lib/voice"),
        ("elsewhere/voice", "", None),
    ],
)
def test_the_package_is_where_hatchling_finds_it(tmp_path, folder, settings, expected):
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "__init__.py").touch()
    package = find_package(tmp_path, f'[project]\nname = "Voice-Box"\n{settings}')
    assert package == (tmp_path / expected if expected else None)
