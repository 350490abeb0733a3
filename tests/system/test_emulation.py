"""Whether an emulator runs this process."""

import platform
import sys

import pytest

from ci.machines import arm64_python, qemu, windows_python, wine
from latebind.system.emulation import find_emulator, is_foreign
from tests.conftest import ROOT
from tests.support.emulated import cache
from tests.support.needs import available

ASK = (
    "import sys; sys.path.insert(0, sys.argv[1]); from latebind.system.emulation import find_emulator as f; print(f())"
)
INTEL, ARM = "processor\t: 0\nvendor_id\t: GenuineIntel\n", "processor\t: 0\nCPU implementer\t: 0x41\n"


@pytest.mark.parametrize(
    ("machine", "kernel", "processors", "foreign"),
    [
        ("x86_64", "x86_64\n", INTEL, False),
        ("i686", "x86_64\n", INTEL, False),
        ("armv7l", "aarch64\n", ARM, False),
        ("aarch64", "x86_64\n", ARM, True),
        ("x86_64", "aarch64\n", INTEL, True),
        ("riscv64", "x86_64\n", "", True),
        ("aarch64", "", INTEL, True),
        ("aarch64", "", ARM, False),
        ("x86_64", "", "", False),
    ],
)
def test_a_kernel_for_another_processor_shows_an_emulator(machine, kernel, processors, foreign):
    assert is_foreign(machine, kernel, processors) == foreign


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="not run: not Linux on x64")
def test_this_process_runs_on_the_system_itself():
    assert find_emulator() == ""


@pytest.mark.emulated
@pytest.mark.slow
def test_a_process_under_wine_says_so():
    folder = cache() / "kit-win-x64"
    python = available(windows_python.prepare, folder)
    with wine.open_free(folder) as emulator:
        done = emulator.run(python, "-c", ASK, wine.windows_path(ROOT / "packaging"))
    assert done.stdout.decode().strip().startswith("wine "), done.stderr


@pytest.mark.emulated
@pytest.mark.slow
def test_a_process_under_qemu_says_so():
    folder = cache() / "kit-linux-arm64"
    python = available(arm64_python.prepare, folder)
    with qemu.open_arm64(folder) as emulator:
        done = emulator.run(python, "-c", ASK, str(ROOT / "packaging"))
    assert done.stdout.decode().strip() == "qemu", done.stderr
