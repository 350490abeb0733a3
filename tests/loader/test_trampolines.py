"""The trampolines' machine code for macOS, which does not run here: what a call keeps is what it restores."""

import re
import sys

import pytest

from ci.machines import llvm
from tests.support.building import ROOT
from tests.support.needs import available
from tests.support.running import run_checked

pytestmark = pytest.mark.slow  # LLVM is downloaded
COUNT = 1024
X64 = {
    "pad": r"endbr64", "number": r"movl\t\$0x([0-9a-f]+), %r11d", "call": "callq", "end": r"jmpq\t\*%r11",
    "keeps": r"(?:movq\t%(r\w+), (-0x\w+\(%rbp\))|(xsave|fxsave)\t)",
    "gives": r"(?:movq\t(-0x\w+\(%rbp\)), %(?!rbx)(r\w+)|(xrstor|fxrstor)\t)",
    "registers": {"rdi", "rsi", "rdx", "rcx", "r8", "r9", "rax", "r10", "xsave", "fxsave"},
}  # fmt: skip
ARM64 = {
    "pad": r"hint\t#0x22|bti\tc", "number": r"mov\tw16, #0x([0-9a-f]+)", "call": "bl", "end": r"br\tx16",
    "keeps": r"stp?\w*\t((?:[xq]\d+(?:, )?)+), (\[sp, #0x\w+\])",
    "gives": r"ldp?\w*\t((?:[xq]\d+(?:, )?)+), (\[sp, #0x\w+\])",
    "registers": {*(f"x{n}" for n in range(9)), *(f"q{n}" for n in range(24))},
}  # fmt: skip


@pytest.fixture(scope="module")
def otool(tmp_path_factory):
    return available(llvm.prepare, tmp_path_factory.mktemp("llvm")) / "otool"


@pytest.mark.parametrize(("target", "form"), [("x86_64-macos.11.0", X64), ("aarch64-macos.11.0", ARM64)])
def test_each_trampoline_gives_its_number_and_every_argument_comes_back(otool, tmp_path, target, form):
    source, object_file = ROOT / "loader" / "src" / "trampolines.c", tmp_path / "trampolines.o"
    run_checked(sys.executable, "-m", "ziglang", "cc", "-target", target, "-O2", "-c", source, "-o", object_file)
    first, _, rest = run_checked(otool, "-tv", object_file).partition("lb_trampoline_common:\n")
    common = rest[: re.search(form["end"], rest).end()]
    assert [int(number, 16) for number in re.findall(form["number"], first)] == list(range(COUNT))
    starts = re.findall(rf"^([0-9a-f]+)\t(?:{form['pad']})", first, re.MULTILINE)
    # The jumps of the tables follow, in as many pieces of the same size.
    assert [int(address, 16) for address in starts] == [16 * number for number in range(2 * COUNT)]
    before, _, after = common.partition(form["call"])
    saved = {frozenset(match) for match in re.findall(form["keeps"], before)}
    taken = {frozenset(re.sub("rstor$", "save", word) for word in match) for match in re.findall(form["gives"], after)}
    assert saved == taken
    assert form["registers"] <= {name for group in saved for part in group for name in part.split(", ")}
