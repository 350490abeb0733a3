"""Which backends and runtimes latenn for Python finds: what is installed, and nothing in the working folder."""

from __future__ import annotations

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.programs import run_checked

FIND = """
import json, latenn._backends
places = latenn._backends.places(None, None)
print(json.dumps([places.names, places.runtimes, latenn._backends.note(None)]))
"""


def plant(folder, name, version="99.0", **files):
    """Metadata of a distribution, as an attacker would put it."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    for file, text in files.items():
        (info / f"{file}.txt").write_text(text)


@pytest.fixture
def work(tmp_path):
    """A working folder with a backend whose code writes a marker, and with a runtime."""
    folder = tmp_path / "work"
    plant(folder, "evil", entry_points="[latenn.backends]\nevil = evil_backend\n")
    (folder / "evil_backend.py").write_text(f"open({str(tmp_path / 'marker')!r}, 'w')")
    plant(folder, "onnxruntime")
    (folder / "onnxruntime" / "capi").mkdir(parents=True)
    (folder / "onnxruntime" / "capi" / "libonnxruntime.so.1").write_text("")
    return folder


@pytest.mark.parametrize("entry", ["", ".", "relative"])
def test_metadata_in_the_working_folder_is_not_read(latenn_site, work, tmp_path, entry):
    if entry == "relative":
        (work / entry).symlink_to(work)
    code = f"import sys; sys.path.insert(0, {entry!r})\n{FIND}"
    names, runtimes, note = json.loads(
        run_checked(sys.executable, "-c", code, cwd=work, env={**os.environ, "PYTHONPATH": str(latenn_site)})
    )
    assert "onnxruntime" in names
    assert "evil" not in names
    assert not (tmp_path / "marker").exists()
    assert all(Path(folder).is_absolute() and not folder.startswith(str(work)) for folder in runtimes)
    assert "99.0" not in note


ONE = """
import json, latenn._backends
places = latenn._backends.places("onnxruntime", None)
print(json.dumps([places.names, places.runtimes, places.advice, latenn._backends.note("onnxruntime")]))
"""


@pytest.fixture
def find(tmp_path):
    """What latenn finds with some folders on sys.path, when nothing but numpy is installed."""
    site = tmp_path / "numpy-only"
    site.mkdir()
    numpy = Path(find_spec("numpy").submodule_search_locations[0])
    for folder in numpy.parent.glob("numpy*"):
        (site / folder.name).symlink_to(folder)

    def run(*path):
        variables = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (*path, site)))}
        return json.loads(run_checked(sys.executable, "-S", "-c", ONE, env=variables))

    return run


def put_runtime(folder, *, library=True):
    (folder / "onnxruntime/capi").mkdir(parents=True)
    (folder / "onnxruntime/__init__.py").write_text("raise SystemExit('was imported')")
    if library:
        (folder / "onnxruntime/capi/libonnxruntime.so.1").write_text("")


def test_a_runtime_without_metadata_is_found(find, latenn_site, tmp_path):
    put_runtime(tmp_path)
    _, runtimes, _, note = find(latenn_site, tmp_path)
    assert (runtimes, note) == ([str(tmp_path / "onnxruntime/capi")], "")


def test_metadata_in_another_folder_do_not_hide_a_runtime(find, latenn_site, tmp_path):
    plant(tmp_path / "metadata", "onnxruntime", "1.32.0")
    put_runtime(tmp_path / "packages")
    _, runtimes, advice, note = find(latenn_site, tmp_path / "metadata", tmp_path / "packages")
    assert (runtimes, note) == ([str(tmp_path / "packages/onnxruntime/capi")], "")
    assert '"onnxruntime>=' in advice


def test_a_package_without_a_library_is_noted(find, latenn_site, tmp_path):
    plant(tmp_path, "onnxruntime", "1.17.0")
    put_runtime(tmp_path, library=False)
    _, runtimes, _, note = find(latenn_site, tmp_path)
    assert runtimes == []
    assert note.startswith("onnxruntime 1.17.0 is installed, but its wheel holds no shared library")


def test_backends_without_metadata_are_found(find, latenn_site, tmp_path):
    for package in latenn_site.iterdir():
        if not package.name.endswith(".dist-info"):
            (tmp_path / package.name).symlink_to(package)
    put_runtime(tmp_path / "runtime")
    names, runtimes, advice, _ = find(tmp_path, tmp_path / "runtime")
    assert (names, runtimes) == (["onnxruntime"], [str(tmp_path / "runtime/onnxruntime/capi")])
    assert advice == 'onnxruntime: pip install "latenn-onnxruntime[cpu]"\n'
