"""No damaged model opens anything that it may not reach, and the watching sees one that does."""

import os
import subprocess
import sys

import opened
import pytest

from tests.support.building import ROOT

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not opened.is_there(),
    reason="not run: strace may not watch here, or is missing: apt-get install strace",
)
for needed in ("onnxruntime", "openvino", "ai_edge_litert"):
    pytest.importorskip(needed, reason=f"not run: {needed} is not installed; noxfile.py -s tests installs it")

FOLDER = ROOT / "latenn" / "tests"
OPENS = """
import sys, subprocess
sys.path.insert(0, {root!r})
import opened
opened.mark("first")
open({file!r}).close()
opened.mark("second")
try:
    open("nothing\\n here")
except OSError:
    pass
subprocess.run([sys.executable, "-S", "-c", "open({file!r})"])
"""


def run_fuzzer(tmp_path, *arguments):
    command = [sys.executable, FOLDER / "fuzz_customop.py", *arguments]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=900)


@pytest.mark.slow
def test_damaged_models_open_nothing_else(latenn_site, tmp_path):
    done = run_fuzzer(tmp_path, "--count", "400", "--site", latenn_site)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("400 cases in ")
    for outcome in ("refused by latenn", "refused by the runtime", "ran"):
        assert outcome in done.stdout


@pytest.mark.slow
def test_a_session_that_allows_any_path_is_seen_to_open_files(latenn_site, tmp_path):
    done = run_fuzzer(tmp_path, "--count", "150", "--site", latenn_site, "--control")
    assert done.returncode == 1
    assert "/outside/hostile.onnx" in done.stdout, done.stdout + done.stderr


def test_every_file_that_a_program_and_its_children_open_is_seen_at_its_step(tmp_path):
    file = tmp_path / "a file"
    file.touch()
    code = OPENS.format(root=str(FOLDER), file=str(file))
    run = opened.watch([sys.executable, "-c", code], dict(os.environ), tmp_path, 60)
    assert (run.status, run.last) == (0, "second"), run.output
    calls = [(call.step, call.path) for call in run.opened if call.path.startswith(f"{tmp_path}/")]
    assert calls == [("first", str(file)), ("second", f"{tmp_path}/nothing\n here"), ("second", str(file))]


def test_a_program_that_does_not_end_is_ended(tmp_path):
    code = f"import sys, time; sys.path.insert(0, {str(FOLDER)!r})\n"
    code += "import opened; opened.mark(7); time.sleep(60)"
    run = opened.watch([sys.executable, "-c", code], dict(os.environ), tmp_path, 3)
    assert (run.status, run.last) == (None, "7")
