"""The variables by which builds find a stub: whatever the folder's name is, and in front of what is set already."""

import json
import os
import shlex
import sys

import pytest

from latebind.native.stubplaces import export_places, set_places
from tests.support.running import run_checked

_PRINT = "import json, os; print(json.dumps({name: os.environ[name] for name in ('LIBRARY_PATH', 'CPATH', 'LDFLAGS')}))"


@pytest.mark.skipif(sys.platform == "win32", reason="not run: Windows has no POSIX shell")
@pytest.mark.parametrize("name", ["stubs", "my 'own' $HOME", 'a"b`c'])
def test_a_shell_sets_what_the_trial_sets(tmp_path, monkeypatch, name):
    folder = tmp_path / name / "linux-x64"
    monkeypatch.setenv("LDFLAGS", "-Wl,-O1 -s")
    monkeypatch.setenv("LIBRARY_PATH", "/opt/lib")
    monkeypatch.delenv("CPATH", raising=False)
    script = f"{export_places(folder)}\n{shlex.join([sys.executable, '-c', _PRINT])}"
    shown = run_checked("sh", "-ec", script, env=os.environ)
    wanted = set_places(folder)
    assert {name: wanted[name] for name in ("LIBRARY_PATH", "CPATH", "LDFLAGS")} == json.loads(shown)
    assert wanted["LIBRARY_PATH"] == f"{folder}/lib:/opt/lib"
    assert wanted["CPATH"] == f"{folder}/include"
    assert shlex.split(wanted["LDFLAGS"]) == [f"-L{folder}/lib", "-Wl,-O1", "-s"]
