"""The struct of latenn's operator is in memory as ONNX Runtime's own."""

import re

import pytest

from tests.support.building import ROOT, needed_compiler
from tests.support.latenn import LATENN
from tests.support.needs import official_header
from tests.support.programs import run_program

LAYOUT = LATENN / "native/src/customop/layout.h"


def layout_checks():
    """Give C that compiles only when our struct of a custom operator is in memory as the official one does."""
    yield '#include "onnxruntime_c_api.h"\n#include "layout.h"\n#include <stddef.h>\n'
    names = re.findall(r"CALL\* ?(\w+)\)\(", LAYOUT.read_text())
    assert len(names) == 25
    for name in ("version", *names):
        yield f'_Static_assert(offsetof(customop_layout, {name}) == offsetof(OrtCustomOp, {name}), "place of {name}");'
    yield '_Static_assert(sizeof(customop_layout) == sizeof(OrtCustomOp), "size");'


@pytest.fixture
def compile_layout(shared_folder, tmp_path):
    """Compiles the checks with the struct of a folder."""
    official, source = official_header(shared_folder).parent, tmp_path / "check.c"
    source.write_text("\n".join(layout_checks()), "utf-8")
    folders = [f"-I{official}", f"-I{ROOT / 'loader/include'}"]
    command = [needed_compiler(tmp_path), "-std=c11", "-Wall", "-Wextra", "-Werror", "-c", *folders]
    return lambda folder: run_program(*command, f"-I{folder}", source, "-o", tmp_path / "check.o")


def test_the_struct_of_a_custom_operator_is_the_official_one(compile_layout):
    done = compile_layout(LAYOUT.parent)
    assert done.returncode == 0, done.stderr


def test_the_check_sees_a_struct_with_two_members_in_the_wrong_order(compile_layout, tmp_path):
    names = {"GetStartVersion": "GetEndVersion", "GetEndVersion": "GetStartVersion"}
    wrong = re.sub("|".join(names), lambda name: names[name[0]], LAYOUT.read_text())
    (tmp_path / "layout.h").write_text(wrong)
    done = compile_layout(tmp_path)
    assert done.returncode != 0
    assert "place of GetStartVersion" in done.stderr
