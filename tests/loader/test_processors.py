"""The loader on processors that it knows, and the error of the compiler on those that it doesn't: no silent default."""

import re
import sys

import pytest

from latebind.backend.targets import targets, zig_triple
from tests.support.building import ROOT
from tests.support.running import run_checked, run_program

LOADER = ROOT / "loader"


def compiler(triple):
    options = ["-target", triple, "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{LOADER / 'include'}"]
    return [sys.executable, "-m", "ziglang", "cc", *options, f"-I{LOADER / 'src'}", "-c"]


@pytest.mark.slow
@pytest.mark.parametrize("rid", [rid for rid, properties in targets().items() if properties.system == "linux"])
@pytest.mark.parametrize("source", ["trampolines", "neighbours", "elf_head", "search_linux"])
def test_every_target_has_machine_code_and_names(rid, source, tmp_path):
    properties = targets()[rid]
    run_checked(
        *compiler(zig_triple(properties, properties.floor)),
        LOADER / "src" / f"{source}.c",
        "-o",
        tmp_path / "made.o",
        timeout=300,
    )


@pytest.mark.slow
def test_thumb_code_has_the_trampolines_in_arm_state(tmp_path):
    arguments = ["-mthumb", LOADER / "src" / "trampolines.c", "-o", tmp_path / "made.o"]
    run_checked(*compiler("arm-linux-gnueabihf.2.28"), *arguments, timeout=300)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("triple", "source", "message"),
    [
        ("powerpc64le-linux-gnu.2.28", "trampolines", "no machine code for this processor: add a header like code_x64"),
        ("powerpc64le-linux-gnu.2.28", "elf_head", ""),
        ("mips-linux-gnueabihf.2.28", "elf_head", "This processor is not known: add its names to cpu.h"),
        ("mips-linux-gnueabihf.2.28", "neighbours", "This processor is not known: add its names to cpu.h"),
        ("riscv32-linux-musl", "trampolines", "no machine code for this processor"),
    ],
)
def test_an_unknown_processor_is_an_error_of_the_compiler(tmp_path, triple, source, message):
    ended = run_program(*compiler(triple), LOADER / "src" / f"{source}.c", "-o", tmp_path / "made.o", timeout=300)
    assert (ended.returncode == 0) == (not message), ended.stderr
    assert re.search(message, ended.stderr)


def test_our_machine_code_leaves_the_register_alone_that_windows_and_macos_reserve():
    """x18, or w18 for its lower half ("Overview of ARM64 ABI conventions", learn.microsoft.com)."""
    files = [*(LOADER / "src").glob("*.h"), *(LOADER / "src").glob("*.c"), *(LOADER / "src").glob("*.asm")]
    assert len(files) > 50
    assert not [file.name for file in files if re.search(r"\b[xw]18\b", file.read_text("utf-8"))]
