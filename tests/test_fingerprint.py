"""The fingerprint of latebind: whatever packing imports changes it, and then packages are made again."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from latebind import fingerprint
from latebind.pack.pack import ELSEWHERE
from tests.client import pack_project
from tests.programs import run_checked

LISTING = """\
import json, sys
import latebind.ecosystems.wheel.hatch, latebind.pack.pack, latebind.commands.make
import loadcheck.binary.elf, loadcheck.binary.macho, loadcheck.binary.pe  # which are imported late
print(json.dumps(sorted(module.__file__ for name, module in sys.modules.items() if name.startswith("latebind"))))
"""


def list_imported_files():
    """The files of all modules that packing imports, below latebind's folder."""
    printed = run_checked(sys.executable, "-c", LISTING)
    files = (Path(name).relative_to(Path(fingerprint.__file__).parent) for name in json.loads(printed))
    return [file.as_posix() for file in files if file.parts[0] != "commands"]


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A latebind of the test's own, for the fingerprint alone."""
    folder = shutil.copytree(fingerprint.PACKAGE, tmp_path / "latebind", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(fingerprint, "PACKAGE", folder)
    fingerprint._fingerprint.cache_clear()
    yield folder
    fingerprint._fingerprint.cache_clear()


def now():
    fingerprint._fingerprint.cache_clear()
    return fingerprint.fingerprint(*ELSEWHERE)


@pytest.mark.slow
def test_each_module_that_packing_imports_is_part_of_it(copy):
    modules = list_imported_files()
    assert {"system/archive.py", "pack/pack.py", "preconditions.py", "tables/targets.py", "binary/elf.py"} <= set(
        modules
    )
    missed = []
    for name in [*modules, "tables/targets.toml", "tables/runtimes/onnxruntime.toml"]:
        before, text = now(), (copy / name).read_bytes()
        (copy / name).write_bytes(text + b"#")
        missed += [name] if now() == before else []
        (copy / name).write_bytes(text)
    assert missed == []


def test_a_module_that_is_new_is_part_of_it(copy):
    before = now()
    (copy / "novel.py").touch()
    assert now() != before


def test_what_packing_cannot_reach_is_not(copy):
    before = now()
    assert all((copy / name).exists() for name in ELSEWHERE)
    (copy / "verify" / "gate.py").write_bytes(b"")
    (copy / "cli.py").write_bytes(b"")
    assert now() == before


@pytest.mark.slow
def test_packages_are_made_again_when_the_code_that_writes_zips_has_changed(copy, tiny):
    def times():
        pack_project(tiny)
        return {path.name: path.stat().st_mtime_ns for path in (tiny / "dist").iterdir()}

    first = times()
    assert times() == first
    with (copy / "system" / "archive.py").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    fingerprint._fingerprint.cache_clear()
    second = times()
    assert second.keys() == first.keys()
    assert all(second[name] != first[name] for name in first)
