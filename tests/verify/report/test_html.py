"""The HTML report: safe with hostile words, one file, and used in a real headless browser as a reader would."""

import html
import json
import re

import msgspec
import pytest

from latebind.model import State
from latebind.verify.report.data import Provenance, Report
from latebind.verify.report.page import LOG_LIMITS, clip, report_html
from latebind.verify.report.view import view_of
from tests.support.axe import find_violations
from tests.support.visits import watch_visits
from tests.verify.reports import CONSUMERS, HOSTILE, huge, large, report, row

LOG = f"$ install\n{HOSTILE}\nthe end"


def page_of(shown, log=LOG, earlier=None):
    return report_html(view_of(shown, earlier), lambda _: log)


def read_details(page):
    """What the page shows of each opened test case."""
    lines = re.search(r'<script type="application/jsonl" id="details">(.*?)</script>', page, re.DOTALL)[1]
    return [json.loads(line) for line in lines.split("\n")]


def test_hostile_words_stay_words():
    page = page_of(report(row("failed", reason=HOSTILE, facts={HOSTILE: HOSTILE}, consumer=HOSTILE)))
    assert page.count("</script>") == 3
    assert "<img" not in page
    assert '<script>document.title = "taken"' not in page
    (case,) = read_details(page)
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
    assert len(read_details(page_of(report(shown), log=text))[0]["log"]) < LOG_LIMITS[shown.outcome] + 100


def test_many_logs_share_the_page():
    cases = [row("failed", scenario="x"), *(row(version=f"1.{number}.0") for number in range(4000))]
    failed, *passed = [len(case["log"]) for case in read_details(page_of(report(*cases), log="x" * 50_000))]
    assert failed > LOG_LIMITS[State.FAILED]
    assert sum(passed) < 4_500_000


def list_labels(page):
    return re.findall(r'class="m s .[^"]*" data-i="\d+" style="[^"]*" tabindex="-1" aria-label="([^"]*)"', page)


def test_every_cell_has_a_name_that_tells_state_place_and_time():
    page = page_of(report(row(), row("not run", target="win-x64", version="1.19.2"), row(scenario="fork", cached=True)))
    assert list_labels(page) == [
        "not run: win-x64, works, onnxruntime 1.19.2",
        "passed: linux-x64, works, onnxruntime 1.31.1, 1.5 s",
        "passed: linux-x64, fork, onnxruntime 1.31.1, 1.5 s, cached",
    ]


def test_each_bar_is_as_long_as_its_share_of_the_longest_time():
    page = page_of(report(row(), row(version="1.19.2", seconds=6), row("not run", scenario="fork")))
    assert re.findall(r'class="m s .*?style="(.*?)"', page) == ["--t:100.0%", "--t:25.0%", "--t:0.0%"]


def test_a_table_of_one_target_has_its_results_and_times_in_words():
    page = page_of(report(row(seconds=90), row("failed", scenario="fork", reason="it <broke>")))
    assert "<h2>wheel · python3.11 · linux-x64</h2>" in page
    cells = re.findall(r'<td class="result">(.*?)</td><td class="time"><span[^>]*></span>(.*?)</td>', page)
    assert cells == [("3 cases passed", "1 min 30 s"), ("it &lt;broke&gt;", "1.5 s")]


def test_the_page_shows_the_critical_path():
    cases = [row(scenario=name, started=begin) for name, begin in (("works", 0.0), ("fork", 1.5))]
    page = page_of(report(*cases, row(scenario="extra", started=0.1, seconds=0.2)))
    assert "<summary>machine 1, linux-x64: 3 test cases (3.2 s of work) took 3.0 s</summary>" in page
    bars = re.findall(r'<td class="when"><span role="img" aria-label="(.*?)" style="(.*?)"', page)
    assert bars == [
        ("after 0.0 s", "margin-left:0.00%;width:50.00%"),
        ("after 1.5 s", "margin-left:50.00%;width:50.00%"),
    ]
    assert "What decided how long the run took" not in page_of(report(row(), row(scenario="fork", started=0.0)))


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
    with watch_visits(browser) as visits:

        def open_page(shown, *, width=1400, log=LOG, earlier=None, fragment="", **more):
            file = tmp_path / "verify.html"
            file.write_text(page_of(shown, log, earlier), encoding="utf-8")
            return visits.open(file, fragment, width=width, **more)

        yield open_page
    assert len(set(visits.requests)) == 1


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
    assert (shown_marks(page), page.locator(".failed:visible, .group:visible").count()) == (0, 0)


@pytest.mark.browser
def test_targets_and_runtimes_filter_the_cases_and_the_address_keeps_the_filter(visit):
    page = visit(large())
    page.get_by_label("Filter test cases by target").select_option("win-x64")
    page.get_by_label("Filter test cases by runtime").select_option("onnxruntime")
    assert shown_marks(page) == 54
    page.get_by_label("Filter test cases by runtime").select_option("onnxruntime 1.23.2")
    page.get_by_role("button", name="432 passed").click()
    page.keyboard.press("/")
    page.keyboard.type("PYTHON3.10")
    assert page.url.endswith("#outcome=failed%2Cnot-run&target=win-x64&runtime=onnxruntime+1.23.2&words=PYTHON3.10")
    page.reload()
    assert page.locator("#shown").inner_text() == f"1 of {len(large().cases)} test cases are shown."
    assert page.get_by_label("Filter test cases by target").input_value() == "win-x64"
    page.locator(".m:visible").click()
    page.reload()
    assert page.get_by_role("dialog").get_by_role("heading").inner_text() == large().cases[4 * 27 + 4].id
    page.keyboard.press("Escape")
    page.wait_for_url(lambda url: "case=" not in url)
    page.evaluate(f"location.hash = 'case={large().cases[0].id}'")
    page.get_by_role("dialog").wait_for()
    page.evaluate("location.hash = ''")
    page.get_by_role("dialog").wait_for(state="hidden")


@pytest.mark.browser
@pytest.mark.parametrize(
    ("fragment", "shown"),
    [
        ("#outcome=failed", 2),
        ("#outcome=", 0),
        ("#outcome=emulated,glue", 2),
        ("#target=osx-x64&runtime=Microsoft.ML.OnnxRuntime", 48),
        ("#target=amiga&case=no%2Fsuch&more=%zz", 614),
    ],
)
def test_an_address_filters_the_cases(visit, fragment, shown):
    lesser = [row("passed, emulated", scenario="x"), row("glue passed", scenario="y")]
    page = visit(msgspec.structs.replace(large(), cases=(*large().cases, *lesser)), fragment=fragment)
    assert shown_marks(page) == shown
    assert page.locator("#shown").get_attribute("aria-live") == "polite"
    page.evaluate("location.hash = 'outcome=failed'")
    page.wait_for_function("document.getElementById('shown').textContent.startsWith('2 of')")


@pytest.mark.browser
def test_the_page_shows_what_changed_since_the_last_run(visit):
    earlier = report(row(), row("failed", scenario="fork"), row(scenario="extra"))
    page = visit(report(row("failed"), row(scenario="fork"), row(scenario="threads")), earlier=earlier)
    section = page.locator("section", has=page.get_by_role("heading", name="Since the last run"))
    assert section.locator("summary").all_inner_texts() == ["1 newly failed", "1 newly passed", "1 new", "1 gone"]
    assert section.locator("li").all_inner_texts() == [
        case.id for case in (row(), row(scenario="fork"), row(scenario="threads"), row(scenario="extra"))
    ]
    section.get_by_role("button").first.click()
    assert page.get_by_role("dialog").get_by_role("heading").inner_text() == row().id


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
    for _ in range(7):  # three states, target, runtime, words, the table
        page.keyboard.press("Tab")
    assert page.evaluate(label) == "passed: linux-x64, works, onnxruntime 1.19.0, 1.5 s"
    assert "3 cases passed" in page.get_by_role("tooltip").inner_text()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(label) == "passed: win-x64, works, onnxruntime 1.20.0, 1.5 s"
    page.keyboard.press("Enter")
    assert page.get_by_role("dialog").is_visible()
    assert "the end" in page.locator("#case-log").inner_text()
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()
    assert page.evaluate(label) == "passed: win-x64, works, onnxruntime 1.20.0, 1.5 s"
    page.keyboard.press("/")
    page.keyboard.type("linux")
    assert shown_marks(page) == 2
    page.keyboard.press("Escape")
    assert shown_marks(page) == 4


@pytest.mark.browser
def test_states_differ_in_shape_and_name_not_in_colour_alone(visit):
    page = visit(large(), forced_colors="active")
    shape = "e => getComputedStyle(e, '::after').clipPath"
    shapes = {page.locator(f".m.{state}").first.evaluate(shape) for state in "pfn"}
    assert len(shapes) == 3
    assert "none" not in shapes
    names = {page.locator(f".m.{state}").first.get_attribute("aria-label").partition(":")[0] for state in "pfn"}
    assert names == {"passed", "failed", "not run"}


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_nothing_is_wider_than_the_screen(visit, tmp_path, width, scheme):
    page = visit(large(), width=width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator(".m.f").first.click()
    assert page.evaluate("document.querySelector('dialog').scrollWidth") <= width
    page.screenshot(path=tmp_path / f"{width}-{scheme}.png", full_page=True)
    assert (tmp_path / f"{width}-{scheme}.png").stat().st_size > 10_000


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize("targets", [1, 6])
def test_axe_finds_nothing_in_the_page_and_in_an_opened_test_case(visit, axe, width, scheme, targets):
    cases = [case for case in large(CONSUMERS[::2]).cases if case.machine < targets]
    timed = [msgspec.structs.replace(case, started=1.5 * place) for place, case in enumerate(cases)]
    shown = msgspec.structs.replace(large(), cases=(*timed, row("failed", scenario="x")))
    page = visit(shown, width=width, color_scheme=scheme, earlier=report(row(scenario="x"), row(scenario="y")))
    found = find_violations(page, axe)
    page.locator(".m.f").first.click()
    assert found + find_violations(page, axe) == []


@pytest.mark.browser
def test_a_narrow_screen_opens_a_cell_by_touch(visit):
    page = visit(large(), width=390, has_touch=True)
    page.locator(".m.f").first.tap()
    box = page.locator("dialog").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert page.locator("#case-log").is_visible()


@pytest.mark.browser
def test_the_page_tells_the_state_without_scripts(visit):
    page = visit(large(), java_script_enabled=False)
    assert shown_marks(page) == len(large().cases)
    assert page.get_by_role("heading", name="Verification failed").is_visible()
    assert not page.locator(".tools").is_visible()


@pytest.mark.browser
def test_paper_has_everything_unfolded_and_no_controls(visit):
    long = "begin " + "x" * 400 + " end"
    page = visit(report(*(row("failed", version=f"1.{minor}.0", reason=long) for minor in range(30))))
    hashes = page.get_by_text("0" * 64)
    assert not hashes.is_visible()
    assert page.locator(".failures li:visible").count() == 20
    page.emulate_media(media="print")
    assert hashes.is_visible()
    assert page.locator(".failures li:visible").count() == 30
    assert page.get_by_text(long).first.is_visible()
    assert not page.locator(".tools").is_visible()


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_of_10000_test_cases_opens_within_a_second(visit, width):
    """A second of the page's thread: the processors are other tests' too."""
    page = visit(huge(), log="x" * 4_000, width=width)
    assert len(huge().cases) > 10_000
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.reload()
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    metrics = {entry["name"]: entry["value"] for entry in session.send("Performance.getMetrics")["metrics"]}
    assert 0.05 < metrics["TaskDuration"] < 1
    page.get_by_label("Filter test cases by words").fill("python3.72 win-x64 1.23")
    assert page.locator("#shown").inner_text() == f"1 of {len(huge().cases)} test cases are shown."
