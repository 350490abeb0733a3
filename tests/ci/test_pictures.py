"""Pictures show what their tables say, as text, and are the same for the same tables."""

import re
from html import unescape

import pytest

from ci.gen import pictures
from ci.gen.places import read_places
from ci.gen.verified import list_outcomes, read_verified
from latebind.model import State
from latebind.verify.report.view import MARKS
from tests.conftest import ROOT
from tests.verify.reports import report, row

DRAWN = {
    "audit": pictures.draw_audit_times,
    "library": pictures.draw_library,
    "search-order": pictures.draw_search_order,
    "verified": pictures.draw_verified,
}
OWN = sorted((ROOT / "docs" / "img").glob("*.svg"))


def list_texts(svg):
    return [unescape(text).strip() for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


def test_the_search_order_has_every_place_in_order():
    texts = list_texts(pictures.draw_search_order())
    places = read_places()["place"]
    assert [text for text in texts if text in {place["source"] for place in places}] == [
        place["source"] for place in places
    ]
    assert {place["drawn"] for place in places} <= set(texts)


def test_the_bars_are_those_of_the_page():
    table = (ROOT / "docs" / "bench.md").read_text("utf-8").partition("| program |")[2].partition("\n\n")[0]
    clocks = {name: float(clock) for name, clock in re.findall(r"^\| ([^|]+) \| ([\d.]+) ", table, re.MULTILINE)}
    texts = list_texts(pictures.draw_audit_times())
    assert "peers" in clocks
    assert [f"{clock:.1f} s" for clock in clocks.values()] == [text for text in texts if text.endswith(" s")]
    assert set(clocks) <= set(texts)


def test_the_bars_of_a_c_library_are_those_of_the_page():
    section = (ROOT / "docs" / "bench.md").read_text("utf-8").partition("## A C library:")[2]
    [numbers] = re.findall(r"^\| larger than the linked program, kB \| (.*) \|$", section, re.MULTILINE)
    texts = list_texts(pictures.draw_library())
    assert {"linked", "late", "Implib.so", *numbers.split(" | ")} <= set(texts)
    assert "the first call, µs" in texts


def test_each_outcome_of_a_version_on_a_target_is_drawn():
    texts = list_texts(pictures.draw_verified())
    rows = read_verified()
    assert {version for _, version in rows} | {"ONNX Runtime", "OpenVINO", "LiteRT"} <= set(texts)
    for state, mark in MARKS.items():
        outcomes = [outcome for row in rows.values() for outcome in row.values()]
        assert texts.count(mark) == outcomes.count(state) + (state is not State.FAILED), "one more in the legend"


def test_a_version_counts_by_its_best_outcome_and_none_for_a_stand_in_alone():
    cases = [
        row("passed", runtime="onnxruntime", version="1.32.0"),
        row("glue passed", runtime="stand-in", version="1.32.0"),
        row("glue passed", runtime="stand-in", version="1.33.0"),
        row("not run", runtime="onnxruntime", version="1.19.2", reason="no-machine"),
    ]
    assert list_outcomes(report(*cases)) == {("onnxruntime", "1.32"): {cases[0].target: State.PASSED}}
    with pytest.raises(ValueError, match="failed: fix it"):
        list_outcomes(report(*cases, row("failed", runtime="onnxruntime", version="1.20.1")))


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_always_the_same_and_has_colors_for_dark_pages(name):
    svg = DRAWN[name]()
    assert svg == DRAWN[name]()
    assert "prefers-color-scheme: dark" in svg
    used = set(re.findall(r"(?:fill|stroke): (#\w{6})", svg.partition("<style>@media")[0])) - {"#000000", "#ffffff"}
    assert used <= set(pictures.DARK), "a color that stays on dark pages"


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_pictures_drawn_by_hand_say_what_they_show(path):
    svg = path.read_text("utf-8")
    assert re.search(r"<title id=\"\w[\w-]*\">[^<]{5,}</title>", svg)
    assert re.search(r"<desc id=\"\w[\w-]*\">[^<]{40,}</desc>", svg)
    assert "prefers-color-scheme: dark" in svg
    assert svg.count("http") == svg.count("http://www.w3.org/2000/svg") == 1
