"""Pictures show what their tables say, as text, and are the same for the same tables."""

import re
from html import unescape

import pytest

from ci.gen import pictures
from ci.gen.places import read_places
from tests.conftest import ROOT

DRAWN = {
    "audit": pictures.draw_audit_times,
    "library": pictures.draw_library,
    "search-order": pictures.draw_search_order,
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
