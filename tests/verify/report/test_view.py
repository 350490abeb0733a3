"""Texts as the tables show them."""

import pytest

from latebind.verify.report.view import synopsis, view_of
from tests.verify.reports import report, row

FOLDER = "/srv/a b/build/verify/work/wheel_linux-x64_python3.11_onnxruntime-1.31.1_too-old/venv/lib/capi"


@pytest.mark.parametrize("folder", [FOLDER, FOLDER.replace("/", "\\"), f"C:{FOLDER}"])
def test_a_long_sentence_gives_up_its_folders_first(folder):
    text = f'message: "ONNX Runtime 1.31.1 at {folder}/libonnxruntime.so is too old: 99.0 or newer is needed. Get one."'
    short = synopsis(text, 150)
    assert "/libonnxruntime.so is too old: 99.0 or newer is needed. Get one." in short
    assert "python3.11" not in short
    assert "left out" not in short


def test_then_its_middle():
    assert synopsis("begin " + "x" * 300 + " end", 40) == f"begin {'x' * 14} … {'x' * 16} end"


def test_what_fits_stays_as_it_is():
    assert synopsis(f"at {FOLDER}", 200) == f"at {FOLDER}"


def test_each_runtime_has_a_table_of_its_versions_in_their_order_and_the_other_scenarios_have_one():
    cases = [row(version=version) for version in ("1.9.0", "latest", "1.31.1")]
    others = [row(scenario="absent", runtime="", version=""), row(runtime="openvino"), row(runtime="", version="")]

    (group,) = view_of(report(*cases, *others)).groups

    assert [(grid.title, grid.columns) for grid in group.grids] == [
        ("works", ("no runtime",)),
        ("works with onnxruntime", ("1.9.0", "1.31.1", "latest")),
        ("works with openvino", ("1.31.1",)),
        ("other scenarios", ("absent",)),
    ]
