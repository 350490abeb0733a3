"""The documentation site builds strict, asks nobody for anything, and a broken link of any kind fails."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("docs", "mkdocs.yml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "loader", "examples",
         "latenn", "ci", "pyproject.toml", ".github", "LICENSE", "bench", "packaging", "templates")  # fmt: skip


def build(config, site):
    command = [sys.executable, "-m", "mkdocs", "build", "-f", config, "-d", site]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site of this tree."""
    folder = tmp_path_factory.mktemp("site")
    built = build(ROOT / "mkdocs.yml", folder)
    assert built.returncode == 0, built.stderr
    return folder


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


def test_every_document_is_a_page(site):
    pages = [path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")]
    made = [Path(str(page).replace("README.html", "index.html")) for page in pages]
    assert [page for page in made if not (site / page).is_file()] == []


def test_no_page_asks_another_server_for_anything(site):
    asked = re.compile(r"<(?:script|img|iframe|link)\b[^>]*?(?:src|href)=\"(?:https?:)?//[^\"]*\"")
    for page in site.rglob("*.html"):
        assert asked.findall(page.read_text("utf-8")) == [], page


def test_a_link_that_leaves_the_documents_leads_to_the_repository(site):
    page = (site / "workflows.html").read_text("utf-8") + (site / "verify.html").read_text("utf-8")
    assert 'href="https://github.com/latebind/latebind/tree/main/latenn/verify/Smoke"' in page
    assert 'href="release.html"' in page


@pytest.mark.parametrize(
    ("page", "link", "told"),
    [
        ("docs/verify.md", "[x](nowhere.md)", "docs/nowhere.md, which is not there"),
        ("docs/verify.md", "[x](wheels.md#no-such-heading)", "no-such-heading"),
        ("docs/verify.md", "[x](#no-such-heading)", "no-such-heading"),
        ("docs/verify.md", "[x](../ci/nothing.py)", "ci/nothing.py, which is not there"),
        ("docs/verify.md", "![x](img/nothing.svg)", "docs/img/nothing.svg, which is not there"),
        ("CHANGELOG.md", "[x](docs/verify.md#no-such-heading)", "no-such-heading"),
        ("docs/orphan.md", "# A page that nav lacks", "orphan.md"),
    ],
)
def test_what_is_broken_fails_by_name(copy, tmp_path, page, link, told):
    path = copy / page
    before = path.read_text("utf-8") if path.exists() else None
    path.write_text(f"{before or ''}\n{link}\n", encoding="utf-8")
    try:
        built = build(copy / "mkdocs.yml", tmp_path / "site")
    finally:
        path.unlink() if before is None else path.write_text(before, encoding="utf-8")
    assert built.returncode == 1
    assert told in built.stderr, built.stderr
