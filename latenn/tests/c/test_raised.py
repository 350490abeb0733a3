"""A process with more rights than its user: latenn reads no environment variable but through the loader."""

import re

from tests.support.building import ROOT
from tests.support.emulated import onnx_sum
from tests.support.raised import run_raised
from tests.support.sources import find_readers

__all__ = ["run_raised"]


def test_a_backend_that_the_environment_names_is_not_opened(run_raised, plain, tmp_path):
    library = plain.folder / "backends" / "liblatenn_backend_echo.so"
    printed = run_raised("runner", "path", onnx_sum(tmp_path / "m.onnx"), feed="report\n", LATENN_BACKEND=str(library))
    assert "echo" not in printed
    assert "ONNX Runtime was not found in" in printed  # the backend next to the core was taken


def test_the_environment_is_read_by_the_loader_alone():
    assert find_readers(ROOT / "latenn" / "native") == set()


def test_python_reads_the_environment_through_the_core():
    sources = [*(ROOT / "latenn" / "python").rglob("*.py")]
    assert sources
    assert not [path for path in sources if re.search(r"os\.(environ|getenv)", path.read_text("utf-8"))]
