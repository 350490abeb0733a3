"""The HTML report: safe with hostile words, one file, and used in a real headless browser as a reader would."""

import html
import json
import re

import msgspec
import pytest

from latebind.verify.report.data import Provenance, Report
from latebind.verify.report.render import LOG_LIMITS, clip, report_html
from latebind.verify.report.view import view_of
from tests.verify.reports import HOSTILE, large, report, row

LOG = f"$ install\n{HOSTILE}\nthe end"


def page_of(shown, log=LOG):
    return report_html(view_of(shown), lambda _: log)


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="cases">(.*?)</script>', page, re.DOTALL)[1])


def test_hostile_words_stay_words():
    page = page_of(report(row("failed", reason=HOSTILE, facts={HOSTILE: HOSTILE}, consumer=HOSTILE)))
    assert page.count("</script>") == 2
    assert "<img" not in page
    assert '<script>document.title = "taken"' not in page
    (case,) = data_of(page)
    assert '</script><script>document.title = "taken"</script>' in case["log"]
    assert "\x1b" not in page


def test_the_page_asks_for_nothing():
    page = page_of(large())
    assert not re.findall(r"\b(?:src|href|action|data)=\"(?!#)", page)
    assert not re.findall(r"url\(|@import|fetch\(|XMLHttpRequest|https?:", page)
    assert "default-src 'none'" in html.unescape(page)


def test_a_long_log_is_clipped_with_the_count_of_what_is_left_out():
    text = "begin" + "x" * 100_000 + "end"
    short = clip(text, 1000)
    assert short.startswith("begin")
    assert short.endswith("end")
    assert f"… {len(text) - 1000:,} characters left out …" in short
    shown = row("failed")
    assert len(data_of(page_of(report(shown), log=text))[0]["log"]) < LOG_LIMITS[shown.outcome] + 100


def test_every_cell_has_a_name_that_tells_state_and_place():
    page = page_of(report(row(), row("not run", target="win-x64", version="1.19.2")))
    labels = re.findall(r'class="m ." data-i="\d" aria-label="([^"]*)"', page)
    assert labels == ["passed: linux-x64, works, onnxruntime 1.31.1", "not run: win-x64, works, onnxruntime 1.19.2"]


def test_the_page_names_project_version_commit_and_date():
    source = Provenance(project="latenn<b>", version="0.1.0", commit="1f92bad" + "0" * 33, date="2026-11-21")
    page = page_of(msgspec.structs.replace(report(row()), source=source))
    assert "<title>latenn&lt;b&gt; 0.1.0, commit 1f92bad, 2026-11-21 – passed: " in page
    assert f'<p class="source" title="{source.commit}">latenn&lt;b&gt; 0.1.0, commit 1f92bad, 2026-11-21</p>' in page


def test_a_report_of_nothing_is_a_page():
    assert "Verification proves nothing" in page_of(Report((), (), ()))


@pytest.fixture
def visit(browser, tmp_path):
    """Opens a report; afterwards the console must be empty, and only the file may have been requested."""
    contexts, complaints, requests = [], [], []

    def open_page(shown, *, width=1400, log=LOG, **more):
        file = tmp_path / "verify.html"
        file.write_text(page_of(shown, log), encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 844}, **more)
        page = context.new_page()
        contexts.append(context)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith("file://")] == []
    assert len(requests) == len(contexts)


def shown_marks(page):
    return page.locator(".m:visible").count()


@pytest.mark.browser
def test_words_and_states_filter_the_cases(visit):
    page = visit(large())
    total = len(large().cases)
    assert shown_marks(page) == total
    page.get_by_label("Filter test cases by words").fill("win-x64 1.23")
    assert shown_marks(page) == 4
    assert page.locator("#shown").inner_text() == f"4 of {total} test cases are shown."
    page.locator(".tools button[data-style=p]").click()
    assert shown_marks(page) == 1
    assert page.locator(".m:visible").get_attribute("aria-label").startswith("failed: win-x64")
    page.get_by_label("Filter test cases by words").fill("no such case")
    assert (shown_marks(page), page.locator("section:visible").count()) == (0, 0)


@pytest.mark.browser
def test_an_opened_cell_shows_sentence_facts_and_log_as_text(visit):
    page = visit(large())
    page.locator(".failures button").first.click()
    dialog = page.get_by_role("dialog")
    assert dialog.get_by_role("heading").inner_text() == "wheel/win-x64/python3.10/onnxruntime-1.23.2/works"
    assert "2 cases differ" in dialog.inner_text()
    assert '</script><script>document.title = "taken"</script>' in page.locator("#case-log").inner_text()
    assert "machine 5, win-x64" in page.locator("#case-facts").inner_text()
    assert page.title().startswith("failed:")
    page.get_by_role("button", name="Close").click()
    assert not dialog.is_visible()


@pytest.mark.browser
def test_a_keyboard_alone_is_enough(visit):
    page = visit(report(*(row(version=f"1.{minor}.0", target=rid) for rid in ("linux-x64", "win-x64")
                          for minor in (19, 20))))  # fmt: skip
    label = "document.activeElement.getAttribute('aria-label')"
    for _ in range(5):  # three states, the filter, the table
        page.keyboard.press("Tab")
    assert page.evaluate(label) == "passed: linux-x64, works, onnxruntime 1.19.0"
    assert "3 cases passed" in page.get_by_role("tooltip").inner_text()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(label) == "passed: win-x64, works, onnxruntime 1.20.0"
    page.keyboard.press("Enter")
    assert page.get_by_role("dialog").is_visible()
    assert "the end" in page.locator("#case-log").inner_text()
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()
    assert page.evaluate(label) == "passed: win-x64, works, onnxruntime 1.20.0"
    page.keyboard.press("/")
    page.keyboard.type("linux")
    assert shown_marks(page) == 2
    page.keyboard.press("Escape")
    assert shown_marks(page) == 4


@pytest.mark.browser
def test_states_differ_in_shape_and_name_not_in_colour_alone(visit):
    page = visit(large(), forced_colors="active")
    shapes = {state: page.locator(f".m.{state} use").first.get_attribute("href") for state in "pfn"}
    assert len(set(shapes.values())) == 3
    names = {page.locator(f".m.{state}").first.get_attribute("aria-label").partition(":")[0] for state in "pfn"}
    assert names == {"passed", "failed", "not run"}


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
def test_nothing_is_wider_than_the_screen(visit, tmp_path, width, scheme):
    page = visit(large(), width=width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator(".m.f").first.click()
    assert page.evaluate("document.querySelector('dialog').scrollWidth") <= width
    page.screenshot(path=tmp_path / f"{width}-{scheme}.png", full_page=True)
    assert (tmp_path / f"{width}-{scheme}.png").stat().st_size > 10_000


@pytest.mark.browser
def test_a_narrow_screen_opens_a_cell_by_touch(visit):
    page = visit(large(), width=390, has_touch=True)
    page.locator(".m.f").first.tap()
    box = page.locator("dialog").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert page.locator("#case-log").is_visible()


@pytest.mark.browser
def test_the_page_tells_the_state_without_scripts_and_on_paper(visit):
    page = visit(large(), java_script_enabled=False)
    assert shown_marks(page) == len(large().cases)
    page.emulate_media(media="print")
    assert page.get_by_role("heading", name="Verification failed").is_visible()
    assert not page.locator(".tools").is_visible()
