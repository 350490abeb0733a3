"""What the page has from others: the files of the registry, unchanged, with their license."""

import hashlib
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import msgspec
import pytest
from reports.sample import usual_report

from loadcheck.reports import markup
from loadcheck.reports.htmlpage import audit_html

ASSETS = Path(markup.__file__).with_name("assets")
ROWS = msgspec.toml.decode((ASSETS / "vendored.toml").read_bytes())["file"]
DEPENDENCIES = Path(__file__).parents[3] / "docs/dependencies.md"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_a_file_of_others_is_the_one_that_the_table_names(row):
    assert hashlib.sha256((ASSETS / row["name"]).read_bytes()).hexdigest() == row["sha256"]


def test_the_table_has_each_file_that_is_not_ours():
    ours = {"report.css", "report.js", "vendored.toml"}
    assert {path.name for path in ASSETS.iterdir()} - ours == {row["name"] for row in ROWS}


@pytest.mark.skipif(not DEPENDENCIES.exists(), reason="not run: loadcheck's sdist has no docs")
def test_the_docs_name_version_and_sha256():
    text = DEPENDENCIES.read_text("utf-8")
    for row in ROWS:
        assert all(row[key] in text for key in ("package", "version", "license"))
    assert all(row["sha256"] in text for row in ROWS if row["name"].endswith(".js"))


@pytest.mark.parametrize("package", sorted({f"{row['package']}@{row['version']}" for row in ROWS}))
def test_the_registry_has_the_same_files(package, tmp_path):
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("not run: the npm registry cannot be asked: there is no npm here")
    ended = subprocess.run(  # a package that the table pins
        [npm, "pack", package, "--pack-destination", str(tmp_path)], capture_output=True, text=True, check=False
    )
    if ended.returncode:
        pytest.skip(f"not run: the npm registry cannot be reached: {ended.stderr.strip()[-200:]}")
    [archive] = tmp_path.glob("*.tgz")
    with tarfile.open(archive) as opened:
        for row in (row for row in ROWS if package == f"{row['package']}@{row['version']}"):
            data = opened.extractfile(f"package/{row['path']}").read()
            assert data == (ASSETS / row["name"]).read_bytes()


def test_a_page_has_the_license_of_what_is_in_it():
    text = re.sub(r"\s+", " ", audit_html(usual_report()))
    assert "Copyright (c) 2012-2014 Chris Pettitt" in text
    assert "The above copyright notice and this permission notice shall be included" in text
    assert "sourceMappingURL" not in text
