"""What the page "Messages" advises about extensions of torch, tried with the installed torch."""

import sys
from pathlib import Path

import pytest

from tests.support.messages import hold_section
from tests.support.needs import require_programs
from tests.support.running import run_checked, run_program

pytestmark = pytest.mark.libraries
OPENS = "import ctypes; ctypes.CDLL('./libext.so', mode=2)"


@pytest.fixture
def lib():
    """The folder of torch's libraries."""
    torch = pytest.importorskip("torch", reason="not run: PyTorch is not installed; pip install torch")
    return Path(torch.__file__).with_name("lib")


def test_an_extension_is_imported_after_torch(lib, tmp_path):
    require_programs("cc")
    (tmp_path / "ext.c").write_text("int f(void) { return 1; }\n", encoding="utf-8")
    run_checked(
        "cc", "-shared", "-fPIC", "ext.c", "-o", "libext.so", "-Wl,--no-as-needed", f"-L{lib}", "-lc10", cwd=tmp_path
    )
    alone = run_program(sys.executable, "-c", OPENS, cwd=tmp_path)
    assert "libc10.so: cannot open shared object file" in alone.stderr
    hold_section(alone.stderr, "undefined symbol: _ZN3c10")
    run_checked(sys.executable, "-c", f"import torch; {OPENS}", cwd=tmp_path)


def test_an_extension_of_another_torch_names_the_function_that_is_gone(lib, tmp_path):
    require_programs("cc")
    symbol = "_ZN3c106detail10ofAnotherEv"
    (tmp_path / "ext.c").write_text(f"void {symbol}(void);\nvoid f(void) {{ {symbol}(); }}\n", encoding="utf-8")
    run_checked("cc", "-shared", "-fPIC", "ext.c", "-o", "libext.so", f"-L{lib}", "-lc10", cwd=tmp_path)
    refused = run_program(sys.executable, "-c", f"import torch; {OPENS}", cwd=tmp_path)
    hold_section(refused.stderr, "undefined symbol: _ZN3c10")


def test_a_second_copy_of_an_extension_is_refused_and_one_is_not(lib, tmp_path):
    require_programs("c++")
    text = '#include <torch/library.h>\nTORCH_LIBRARY(twice, m) { m.def("f() -> int"); }\n'
    (tmp_path / "ext.cpp").write_text(text, encoding="utf-8")
    flags = ("-std=c++20", "-shared", "-fPIC", f"-I{lib.with_name('include')}", f"-L{lib}")
    run_checked("c++", *flags, "ext.cpp", "-o", "one.so", "-ltorch_cpu", "-lc10", cwd=tmp_path)
    (tmp_path / "two.so").write_bytes((tmp_path / "one.so").read_bytes())
    loads = "import sys, torch\nfor name in sys.argv[1:]:\n    torch.ops.load_library(name)\n"
    refused = run_program(sys.executable, "-c", loads, "one.so", "two.so", cwd=tmp_path)
    hold_section(refused.stderr, "Only a single TORCH_LIBRARY")
    assert "two.so" in refused.stderr
    run_checked(sys.executable, "-c", loads, "one.so", "one.so", cwd=tmp_path)
