"""The documentation site builds strict, asks nobody for anything, and a broken link of any kind fails.

Its pages are light, and axe-core finds nothing in the main ones.
"""

import gzip
import json
import os
import re
import shutil
import sys
from contextlib import contextmanager
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest

from ci.gen import docs_site
from ci.gen.asked import add_questions, questions
from ci.links import check_links
from tests.conftest import ROOT
from tests.support.axe import find_violations
from tests.support.needs import require_programs
from tests.support.running import run_program

PARTS = ("docs", "mkdocs.yml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "loader", "examples",
         "latenn", "loadcheck", "ci", "tests", "pyproject.toml", ".github", "LICENSE",
         "packaging", "templates")  # fmt: skip


def build(config, site):
    return run_program(sys.executable, "-m", "mkdocs", "build", "-f", config, "-d", site)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site of this tree."""
    folder = tmp_path_factory.mktemp("site")
    built = build(ROOT / "mkdocs.yml", folder)
    assert built.returncode == 0, built.stderr
    return folder


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@contextmanager
def serve(folder):
    """The address of a server with the files of a folder."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of what the site is made from, to be broken."""
    folder, skipped = tmp_path_factory.mktemp("copy"), shutil.ignore_patterns("build", "stage", "dist", "bin", "obj")
    for name in PARTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=skipped)
        else:
            shutil.copy(source, folder / name)
    return folder


@pytest.mark.slow
def test_every_document_is_a_page(site):
    pages = [path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")]
    paths = [Path(str(page).replace("README.html", "index.html")) for page in pages]
    paths += [Path(place).with_suffix(".html") for place in docs_site.PLACED.values()]
    assert [page for page in paths if not (site / page).is_file()] == []


@pytest.mark.parametrize("project", ["latenn", "loadcheck"])
def test_every_page_of_a_project_has_a_place_on_the_site(project):
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / project / "docs").rglob("*.md")}
    assert pages
    assert pages - set(docs_site.PLACED) == set()


@pytest.mark.builds
def test_no_page_asks_another_server_for_anything(site):
    asked = re.compile(r"<(?:script|img|iframe|link)\b[^>]*?(?:src|href)=\"(?:https?:)?//[^\"]*\"")
    for page in site.rglob("*.html"):
        assert asked.findall(page.read_text("utf-8")) == [], page


@pytest.mark.builds
def test_a_link_that_leaves_the_documents_leads_to_the_repository(site):
    page = (site / "workflows.html").read_text("utf-8") + (site / "consumers.html").read_text("utf-8")
    assert 'href="https://github.com/latebind/latebind/tree/main/latenn/verify/Smoke"' in page
    assert 'href="release.html"' in page


@pytest.mark.builds
def test_codes_of_checks_lead_to_their_pages(site):
    assert 'href="LB103.html"' in (site / "checks/index.html").read_text("utf-8")
    assert 'href="../checks/LB101.html"' in (site / "howto/adopt.html").read_text("utf-8")
    assert 'href="LB102.html"' in (site / "checks/LB101.html").read_text("utf-8")


@pytest.mark.builds
def test_words_between_angle_brackets_are_shown(site):
    assert "runtimes/&lt;rid&gt;/native/" in (site / "checks/LB401.html").read_text("utf-8")
    assert "&lt;NAME&gt;_LIB_PATH" in (site / "configuration-runtime.html").read_text("utf-8")


@pytest.mark.builds
def test_cells_of_wide_tables_name_their_column(site):
    page = (site / "bench.html").read_text("utf-8") + (site / "compare.html").read_text("utf-8")
    assert '<td data-label="wheels read"' in page
    heads, cells = "<tr><th>a</th><th><code>b</code></th></tr>", '<tr><td>1</td><td class="x">2</td></tr>'
    assert docs_site.label_cells(heads + cells) == heads + cells
    wide = docs_site.label_cells(heads.replace("</tr>", "<th></th></tr>") + cells)
    assert wide.endswith('<tr><td>1</td><td data-label="b" class="x">2</td></tr>')


@pytest.mark.builds
def test_empty_heads_are_no_heads_and_short_code_is_kept_on_a_line(site):
    page = (site / "index.html").read_text("utf-8")
    assert re.search(r"<tr>\s*<td></td>\s*<th>ONNX Runtime 1", page)
    assert [path.name for path in site.rglob("*.html") if re.search(r"<th[^>]*></th>", path.read_text("utf-8"))] == []
    prepared = docs_site.on_page_content(
        f"<code>--all</code><code>{'long' * 9}</code><pre><code>x</code></pre>", page=None, config=None, files=None
    )
    assert prepared == f'<code class="short">--all</code><code>{"long" * 9}</code><pre><code>x</code></pre>'


BROKEN = (
    ("docs/verify.md", "[x](nowhere.md)", "docs/nowhere.md, which is not there"),
    ("docs/wheels.md", "[x](verify.md#no-such-heading)", "verify.md#no-such-heading"),
    ("docs/verify.md", "[x](#nothing-of-this-page)", "#nothing-of-this-page"),
    ("docs/verify.md", "[x](../ci/nothing.py)", "ci/nothing.py, which is not there"),
    ("docs/verify.md", "![x](img/nothing.svg)", "docs/img/nothing.svg, which is not there"),
    ("CHANGELOG.md", "[x](docs/wheels.md#nothing-in-there)", "wheels.md#nothing-in-there"),
    ("docs/orphan.md", "# A page that nav lacks", "orphan.md"),
)


@pytest.mark.slow
def test_each_thing_that_is_broken_is_a_warning_and_warnings_fail(copy, tmp_path):
    for page, line, _ in BROKEN:
        with (copy / page).open("a", encoding="utf-8") as file:
            file.write(f"\n{line}\n")

    built = build(copy / "mkdocs.yml", tmp_path / "site")

    warnings = [line for line in built.stderr.splitlines() if line.startswith("WARNING")]
    assert [warning for _, _, warning in BROKEN if not any(warning in line for line in built.stderr.splitlines())] == []
    assert built.returncode == 1
    assert len(warnings) >= len(BROKEN) - 1, built.stderr  # pages that nav lacks come together


@pytest.mark.builds
def test_each_link_leads_somewhere_and_one_leads_to_each_page(site):
    report = check_links(site)
    assert report.faults == ()
    assert report.pages == len(list(site.rglob("*.html")))
    assert report.links > 50 * report.pages
    assert report.unchecked > 20


DEAD = {
    '<a href="nowhere.html">page</a>': "nowhere.html: File not found",
    '<a href="gate.html#nowhere">part of another page</a>': "gate.html#nowhere: Cannot find fragment",
    '<a href="#nothing">part of this page</a>': "verify.html#nothing: Cannot find fragment",
    '<a href="howto/">folder without a page</a>': "howto: Cannot find index file",
    '<a href="/absolute.html">page</a>': "absolute.html: File not found",
    '<a href="../beside.html">page</a>': "../beside.html: outside the site",
    '<img src="img/nothing.svg" alt="">': "img/nothing.svg: File not found",
    '<img srcset="img/wide.svg 2x" src="img/flow.svg" alt="">': "img/wide.svg: File not found",
    '<link rel="stylesheet" href="nothing.css">': "nothing.css: File not found",
    '<script src="nothing.js"></script>': "nothing.js: File not found",
}
"""Links that mkdocs does not check, since they are HTML, and what is reported of each."""


@pytest.mark.builds
def test_dead_links_written_as_html_and_pages_without_links_are_faults(site, tmp_path):
    shutil.copytree(site, tmp_path / "site")
    (tmp_path / "beside.html").touch()
    page, lone = tmp_path / "site" / "verify.html", "decisions/0999-lone.html"
    page.write_text(page.read_text("utf-8").replace("</article>", "".join(DEAD) + "</article>"), "utf-8")
    (tmp_path / "site" / lone).write_text(f'<a href="{Path(lone).name}">itself</a>', "utf-8")

    ran = run_program(sys.executable, "-m", "ci.links", tmp_path / "site", cwd=ROOT)

    *faults, summary = ran.stdout.splitlines()
    assert ran.returncode == 1
    assert [fault for fault in DEAD.values() if not any(fault in line for line in faults)] == []
    assert f"{lone}: no other page links to it" in faults
    assert len(faults) == len(DEAD) + 1, faults
    assert re.search(r"\d+ addresses elsewhere not checked$", summary)


@pytest.mark.builds
def test_the_search_finds_pages_and_no_records_of_decisions(site):
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    places = {entry["location"].partition("#")[0] for entry in index["docs"]}
    assert {"verify.html", "decisions/index.html"} <= places
    assert not [place for place in places if place.startswith("decisions/0")]


QUERIES = ROOT / "tests/ci/queries.json"
PASTED = (
    ("OMP: Error #15: Initializing libiomp5md.dll", "omp-error-15"),
    ("ImportError: libcudart.so.13: cannot open shared object file", "libcudartso13"),
    ("\"DllNotFoundException: Unable to load DLL 'onnxruntime'\"", "dllnotfoundexception"),
    ("-- ImportError: DLL load failed while importing onnxruntime_pybind11_state: The specified", "dll-load-failed"),
    ("[ONNXRuntimeError] : 1 : FAIL : Failed to load ~/libonnxruntime_providers_cuda.so: libcudnn.so.9:", "libcudnn"),
    ("* What went wrong: 2 files found with path 'lib/arm64-v8a/libonnxruntime.so' from inputs:", "2-files-found"),
    ("dyld[57850]: Library not loaded: @rpath/libonnxruntime.1.21.0.dylib", "library-not-loaded"),
    ('"libc++_shared.so"', "android-library"),
    ("EntryPointNotFoundException: Unable to find an entry point named 'OrtGetApiBase'", "entrypointnotfound"),
    ("^ Error: ./a: version `VERS_1.27.1' not found (required by ./a)", "version-vers_1271"),
)
"""What people paste, with lunr's own operators in it, and the beginning of the section about it."""


def search(site, queries):
    """The three best sections of each query, the best first."""
    (node,) = require_programs("node")
    ended = run_program(node, ROOT / "tests/ci/search.mjs", site, input=json.dumps(queries))
    assert ended.stderr == ""
    return json.loads(ended.stdout)


@pytest.mark.builds
def test_a_pasted_message_finds_its_section_in_the_search(site):
    found = search(site, [*(message for message, _ in PASTED), "cibuildwh", "what does LB103 mean"])
    wanted = [*(f"howto/messages.html#{section}" for _, section in PASTED), "cibuildwheel.html", "checks/LB103.html"]
    missed = {start: best for start, best in zip(wanted, found, strict=True) if not "".join(best).startswith(start)}
    assert missed == {}


@pytest.mark.builds
@pytest.mark.parametrize(("kind", "share"), [("message", 0.9), ("problem", 0.8)])
def test_what_people_typed_who_had_not_seen_the_pages_finds_its_answer_first(site, kind, share):
    """`wants` is what they hoped to read, where they said it, `answer` the beginning of what says it, or a list."""
    rows = [row for row in json.loads(QUERIES.read_text("utf-8")) if row["kind"] == kind]
    found = search(site, [row["query"] for row in rows])
    answers = [(row["answer"],) if isinstance(row["answer"], str) else tuple(row["answer"]) for row in rows]
    missed = [
        row["query"] for row, best, answer in zip(rows, found, answers, strict=True) if not best[0].startswith(answer)
    ]
    assert len(missed) <= (1 - share) * len(rows), missed


def test_no_question_of_the_index_is_one_by_which_the_search_is_judged():
    judged = {row["query"].lower() for row in json.loads(QUERIES.read_text("utf-8"))}
    assert [question for asked in questions().values() for question in asked if question.lower() in judged] == []


def test_questions_about_a_section_that_is_gone_are_named():
    place = next(iter(questions()))
    entries = [{"location": other, "title": "<code>a</code> &amp; b"} for other in questions() if other != place]
    index = {"config": {"fields": {"title": {"boost": 3}}}, "docs": entries}
    with pytest.raises(KeyError, match=re.escape(place)):
        add_questions(index)
    assert index["config"]["fields"]["asked"] == {"boost": 5}
    assert entries[0]["asked"].startswith("a & b . ")


@pytest.mark.builds
def test_the_copy_button_leaves_prompts_and_output_out(site):
    style = (site / "site.css").read_text("utf-8")
    (rule,) = [line for line in style.splitlines() if "data-md-copying" in line]
    assert "display: none" in rule
    page = (site / "verify.html").read_text("utf-8")
    assert '<span class="gp">$ </span>' in page
    assert '<span class="go">' in page
    scripts = (path.read_text("utf-8") for path in (site / "assets" / "javascripts").glob("bundle.*.js"))
    assert any("data-md-copying" in script for script in scripts)


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("width", [400, 1280])
def test_pages_fit_phones_and_desks(site, browser, width):
    page = browser.new_page(viewport={"width": width, "height": 900})
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    for name in ("configuration.html", "reference/c.html", "tutorial.html"):
        page.goto((site / name).as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []


MAIN = ("index", "tutorial", "need", "howto/problems", "howto/messages", "howto/adopt", "howto/nuget", "verify",
        "configuration", "checks/index")  # fmt: skip
WIDE = ("census", "howto/ep", "reference/python")
"""With wide tables, and with two sections of one name."""


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(("scheme", "shown"), [("light", "default"), ("dark", "slate")])
def test_axe_finds_nothing_in_pages_and_the_search(site, browser, axe, width, scheme, shown):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    found = {}
    with serve(site) as address:
        for name in MAIN + WIDE:
            page.goto(f"{address}/{name}.html", wait_until="networkidle")
            assert page.locator("body").get_attribute("data-md-color-scheme") == shown
            found[name] = find_violations(page, axe)
        page.keyboard.press("/")
        page.keyboard.type("libcudart cannot open shared object")
        page.locator(".md-search-result__item").first.wait_for()
        found["search"] = find_violations(page, axe)
    page.close()
    assert {name: violations for name, violations in found.items() if violations} == {}


LIMIT = 300_000
"""Bytes of a page with all that it loads, as a server compresses it."""
LATER = {"search/search_index.json", "img/session.svg"}
"""What does not count: the index of the search, and the recorded session."""


def weigh_pages(browser, folder):
    """The bytes of each page with what it loads, and what is not there."""
    compressed = cache(lambda path: len(gzip.compress((folder / path).read_bytes())))
    page, weights, missing = browser.new_page(), {}, []
    asked = set()

    def answer(route):
        path = urlsplit(route.request.url).path[1:]
        if path in LATER:
            route.abort()
        elif (folder / path).is_file():
            asked.add(path)
            route.continue_()
        else:
            missing.append(path)
            route.abort()

    page.route("**/*", answer)
    with serve(folder) as address:
        for file in sorted(folder.rglob("*.html")):
            asked.clear()
            page.goto(f"{address}/{file.relative_to(folder).as_posix()}")
            weights[file.relative_to(folder).as_posix()] = sum(map(compressed, asked))
    page.close()
    return weights, missing


@pytest.mark.slow
@pytest.mark.browser
def test_each_page_is_light(site, browser):
    weights, missing = weigh_pages(browser, site)
    assert {name: weight for name, weight in weights.items() if weight > LIMIT} == {}
    assert min(weights.values()) > 50_000
    assert missing == []


@pytest.mark.builds
@pytest.mark.browser
def test_a_heavy_page_and_what_it_lacks_are_seen(browser, tmp_path):
    parts = "".join(f'<img src="{name}.png" alt="">' for name in "abcd")
    (tmp_path / "heavy.html").write_text(f'<link rel="icon" href="data:,">{parts}', "utf-8")
    (tmp_path / "light.html").write_text('<link rel="icon" href="data:,">', "utf-8")
    for name in "abc":
        (tmp_path / f"{name}.png").write_bytes(os.urandom(LIMIT // 3))
    weights, missing = weigh_pages(browser, tmp_path)
    assert weights["heavy.html"] > LIMIT > 1000 > weights["light.html"]
    assert missing == ["d.png"]
