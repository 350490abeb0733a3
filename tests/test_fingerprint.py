"""The fingerprint of latebind: whatever packing imports changes it, and then packages are made again."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from latebind import fingerprint
from latebind.pack.pack import ELSEWHERE
from tests.support.client import pack_project
from tests.support.running import run_checked

TOPS = (fingerprint.PACKAGE, fingerprint.LOADCHECK)
LISTING = """\
import json, sys
import latebind.ecosystems.wheel.hatch, latebind.pack.pack, latebind.commands.make
import loadcheck.binary.elf, loadcheck.binary.macho, loadcheck.binary.pe  # which are imported late
ours = ("latebind", "loadcheck")
print(json.dumps(sorted(module.__file__ for name, module in sys.modules.items() if name.startswith(ours))))
"""


def list_imported_files():
    """The files of all modules that packing imports, below the folders of latebind and loadcheck."""
    files = list(map(Path, json.loads(run_checked(sys.executable, "-c", LISTING))))
    names = [f"{top.name}/{file.relative_to(top).as_posix()}" for top in TOPS for file in files
             if file.is_relative_to(top)]  # fmt: skip
    return [name for name in names if not name.startswith("latebind/commands/")]


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A latebind and a loadcheck of the test's own, for the fingerprint alone; the folder with both."""
    for name in ("PACKAGE", "LOADCHECK"):
        source = getattr(fingerprint, name)
        folder = shutil.copytree(source, tmp_path / source.name, ignore=shutil.ignore_patterns("__pycache__"))
        monkeypatch.setattr(fingerprint, name, folder)
    fingerprint._fingerprint.cache_clear()
    yield tmp_path
    fingerprint._fingerprint.cache_clear()


def now():
    fingerprint._fingerprint.cache_clear()
    return fingerprint.fingerprint(*ELSEWHERE)


@pytest.mark.slow
def test_each_module_that_packing_imports_is_part_of_it(copy):
    modules = list_imported_files()
    ours = ("pack/pack.py", "preconditions.py", "tables/targets.py")
    assert {*(f"latebind/{name}" for name in ours), "loadcheck/archive.py", "loadcheck/binary/elf.py"} <= set(modules)
    missed = []
    for name in [*modules, "latebind/tables/targets.toml", "latebind/tables/runtimes/onnxruntime.toml"]:
        before, text = now(), (copy / name).read_bytes()
        (copy / name).write_bytes(text + b"#")
        missed += [name] if now() == before else []
        (copy / name).write_bytes(text)
    assert missed == []


def test_a_module_that_is_new_is_part_of_it(copy):
    before = now()
    (copy / "latebind" / "novel.py").touch()
    assert now() != before


def test_what_packing_cannot_reach_is_not(copy):
    before = now()
    (copy / "latebind" / "verify" / "gate.py").write_bytes(b"")
    (copy / "latebind" / "cli.py").write_bytes(b"")
    (copy / "loadcheck" / "cli.py").write_bytes(b"")
    assert now() == before


@pytest.mark.slow
def test_packages_are_made_again_when_the_code_that_writes_zips_has_changed(copy, tiny):
    def times():
        pack_project(tiny)
        return {path.name: path.stat().st_mtime_ns for path in (tiny / "dist").iterdir()}

    first = times()
    assert times() == first
    with (copy / "loadcheck" / "archive.py").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    fingerprint._fingerprint.cache_clear()
    second = times()
    assert second.keys() == first.keys()
    assert all(second[name] != first[name] for name in first)
