"""loadcheck's HTML report in a real headless browser: drawn, filtered, and complete without its script.

loadcheck's own tests have no browser; they test what the page has in it (loadcheck/tests/reports).
"""

import pytest
from reports.sample import HOSTILE, lack, many, need, usual_report

from loadcheck.model import AuditReport
from loadcheck.reports.htmlpage import audit_html
from tests.support.axe import find_violations
from tests.support.visits import watch_visits

SECONDS = 2
"""How long a page of an environment with 300 binaries may take until it is drawn."""


@pytest.fixture
def visit(browser, tmp_path):
    """Opens a report; afterwards the console must be empty, and only the file may have been requested."""
    with watch_visits(browser) as visits:

        def open_page(report, *, width=1280, **more):
            file = tmp_path / "report.html"
            file.write_text(audit_html(report), encoding="utf-8")
            return visits.open(file, width=width, **more)

        yield open_page
    assert len(visits.requests) == len(visits.contexts)


def labels(page, query):
    return page.locator(f"#graph {query} text:first-of-type").all_text_contents()


@pytest.mark.browser
def test_the_drawing_shows_copies_what_is_missing_and_packages(visit):
    page = visit(usual_report())
    assert sorted(labels(page, ".node.copy")) == ["libgomp-1.so", "libgomp.so.1"]
    assert sorted(page.locator("#graph .node.copy .detail").all_text_contents()) == ["OpenMP 1 of 2", "OpenMP 2 of 2"]
    assert labels(page, ".node.missing") == ["libodd.so.3"]
    assert sorted(page.locator("#graph .frame text").all_text_contents()) == [
        "scikit-learn 1.9",
        "torch 2.13",
        "user 1.0",
    ]
    assert page.locator("#graph .edge.bad").count() == 1
    assert page.locator("#graph .edge.tocopy").count() == 2
    keys = page.locator(".entry:visible").evaluate_all("entries => entries.map((each) => each.dataset.key)")
    assert keys == ["file", "asks", "system", "missing", "copy"]


@pytest.mark.browser
def test_nodes_do_not_overlap_and_are_inside_the_picture(visit):
    page = visit(many(20, 15))
    boxes = page.evaluate("""() => [...document.querySelectorAll('#graph .node rect')].map((each) => {
      const { x, y, width, height } = each.getBBox(); return [x, y, x + width, y + height]; })""")
    left, top, width, height = map(float, page.locator("#graph svg").get_attribute("viewBox").split())
    assert len(boxes) > 20
    for index, (x1, y1, x2, y2) in enumerate(boxes):
        assert left <= x1
        assert x2 <= left + width
        assert top <= y1
        assert y2 <= top + height
        assert not [
            other for other in boxes[:index] if x1 < other[2] and other[0] < x2 and y1 < other[3] and other[1] < y2
        ]


@pytest.mark.browser
def test_words_and_severities_filter_findings_tables_and_drawing(visit):
    page = visit(usual_report())
    search = page.get_by_label("Filter findings and libraries by words")
    assert page.locator(".cause:visible").count() == 2
    search.fill("libodd")
    assert page.locator(".cause:visible").count() == 1
    assert page.locator("#shown").inner_text() == "Causes shown: 1 of 2."
    assert page.locator(".loads > details:visible").all_inner_texts()[0].startswith("user 1.0")
    assert page.locator(".loads > details:visible").count() == 1
    assert sorted(labels(page, ".node.on")) == ["_core.so", "libodd.so.3"]
    page.keyboard.press("Escape")
    assert page.locator(".cause:visible").count() == 2
    assert page.locator("#graph .dim").count() == 0
    page.get_by_role("button", name="2 warnings").click()
    assert page.locator(".cause:visible").count() == 0
    assert page.locator(".check:visible").count() == 0


@pytest.mark.browser
def test_a_node_shows_its_files_and_what_it_asks_for(visit):
    page = visit(usual_report())
    page.locator("#graph .node", has_text="3 files").hover()
    assert page.locator("#tip").inner_text().splitlines() == [
        "scikit-learn 1.9", "sklearn/_a.so", "sklearn/_b.so", "sklearn/_c.so", "", "asks for libgomp-1.so",
    ]  # fmt: skip
    page.locator("#graph .node.missing").click()
    assert page.get_by_label("Filter findings and libraries by words").input_value() == "libodd.so.3"


@pytest.mark.browser
def test_hostile_names_are_text(visit):
    missing, finding = lack(f"{HOSTILE}:{HOSTILE}", HOSTILE, "error")
    page = visit(AuditReport(subjects=1, packages=(HOSTILE,), findings=(finding,), needs=(missing,)))
    assert page.title().startswith("failed: ")
    assert page.locator("img").count() == 0
    page.locator("#graph .node.missing").hover()
    assert '<script>document.title = "taken"' in page.locator("#tip").inner_text()


@pytest.mark.browser
def test_a_report_without_libraries_is_no_drawing(visit):
    page = visit(AuditReport(subjects=1, packages=("a.whl",)))
    assert page.locator("#graph").count() == 0
    assert "There are none." in page.locator("main").inner_text()


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_the_width_in_light_and_dark(visit, width, scheme):
    page = visit(usual_report(), width=width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("#graph svg").is_visible()
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(13, 17, 23)" if scheme == "dark" else "rgb(255, 255, 255)")


@pytest.mark.builds
@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(visit, axe, width, scheme):
    page = visit(usual_report(), width=width, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert find_violations(page, axe) == []


@pytest.mark.browser
def test_without_javascript_the_tables_have_it_all(visit):
    page = visit(usual_report(), java_script_enabled=False)
    assert not page.locator("#graph").is_visible()
    assert not page.locator(".tools").is_visible()
    row = page.get_by_role("row", name="user/_core.so libodd.so.3")
    assert "missing, warning: needs libodd.so.3" in row.inner_text()
    page.locator("summary", has_text="torch 2.13").click()
    assert page.get_by_role("row", name="torch/libtorch.so libgomp.so.1 the package itself").is_visible()


@pytest.mark.browser
def test_a_screen_reader_gets_the_tables_and_not_the_drawing(visit):
    page = visit(usual_report())
    assert page.locator("#graph svg").get_attribute("aria-hidden") == "true"
    assert page.get_by_role("table", name="What user 1.0 asks for").is_visible()
    assert page.get_by_role("columnheader", name="supplied by").first.is_visible()


@pytest.mark.browser
def test_the_printed_page_has_findings_and_the_whole_drawing(visit):
    page = visit(many(20, 15))
    page.emulate_media(media="print")
    assert not page.locator(".tools").is_visible()
    width, shown = page.evaluate("""() => { const box = by('graph').getBoundingClientRect();
      return [box.width, document.querySelector('#graph svg').getBoundingClientRect().width]; }""")
    assert shown <= width
    assert page.locator(".cause:visible").count() == 20


@pytest.mark.browser
@pytest.mark.parametrize(("packages", "files"), [(20, 15), (100, 20)])
def test_a_large_environment_is_drawn_in_time(visit, packages, files):
    page = visit(many(packages, files))
    took = page.evaluate("performance.timing.loadEventEnd - performance.timing.navigationStart") / 1000
    assert page.locator("#graph .node").count() > 20
    assert took < SECONDS * (1 if packages * files == 300 else 3)


@pytest.mark.browser
def test_libraries_that_need_each_other_are_drawn(visit):
    rows = [need("a 1.0:a/x.so", "y.so", path="a/y.so"), need("a 1.0:a/y.so", "x.so", path="a/x.so")]
    page = visit(AuditReport(subjects=1, needs=(*rows, need("a 1.0:a/x.so", "libc.so.6", "system"))))
    assert page.locator("#graph .edge").count() == 3
