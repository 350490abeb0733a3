"""What all tests share does not depend on the order in which modules are collected."""

import os
import shutil
import sys

from tests.client import write_files
from tests.conftest import ROOT
from tests.programs import run_program

FILES = {
    "scripts/wheel.py": "raise SystemExit('a script was taken for a folder of tests')\n",
    "tests/a/test_a.py": "import sys\nsys.path.append(SCRIPTS)\ndef test_a():\n    assert SCRIPTS not in sys.path\n",
    "tests/wheel/test_b.py": "def test_b():\n    pass\n",
}


def test_a_path_that_one_module_adds_does_not_change_how_others_are_imported(tmp_path):
    scripts = repr(str(tmp_path / "scripts"))
    write_files(tmp_path, {name: text.replace("SCRIPTS", scripts) for name, text in FILES.items()})
    shutil.copy(ROOT / "tests" / "plugin.py", tmp_path / "tests" / "conftest.py")
    shutil.copy(ROOT / "tests" / "skips.toml", tmp_path / "tests")
    options = ["-q", "-n", "0", "--import-mode=importlib", "-o", "consider_namespace_packages=true"]
    command = [sys.executable, "-m", "pytest", *options, "--rootdir", tmp_path, tmp_path / "tests"]
    ended = run_program(*command, env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=tmp_path)
    assert "2 passed" in ended.stdout, ended.stdout + ended.stderr
