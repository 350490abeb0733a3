"""The table of latenn's options of ONNX Runtime: what it names is there, in each language and in the tests."""

import re

import pytest

from tests.support.building import ROOT

LATENN = ROOT / "latenn"
PAGE = LATENN / "docs" / "onnxruntime-options.md"
SOURCES = {
    "C": [LATENN / "native" / "include"],
    "Python": [LATENN / "python" / "latenn" / "src"],
    ".NET": [LATENN / "dotnet" / "Latenn"],
}


def rows():
    lines = [line.strip("| ").split(" | ") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|")]
    return lines[0], lines[2:]


def text_of(folders):
    return "".join(file.read_text("utf-8") for folder in folders for file in folder.rglob("*.*") if file.suffix in ENDS)


ENDS = {".h", ".py", ".cs"}


@pytest.mark.parametrize("language", SOURCES)
def test_what_the_table_names_is_there(language):
    head, table = rows()
    text = text_of(SOURCES[language])
    names = {name for cells in table for name in re.findall(r"`([^`]+)`", cells[head.index(language)])}
    terms = {term for name in names for term in re.findall(r"\w+", name)} - {"NAME", "KEY"}
    defined = set(re.findall(r"\w+", text)) | {"GetLibraryPath"}  # the provider's own
    assert len(table) >= 13
    assert terms - defined == set()
