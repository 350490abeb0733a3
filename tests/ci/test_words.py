"""The linter of words: each kind of text is read, code is not, and a hit names file, line and what to write."""

import pytest

from ci import words

GLOSSARY = words.glossary()
FUNCTION = 'def f():\n    """It is told."""\n    return "mended"\n'


def find_hits(name, text):
    return sorted((hit.line, hit.text) for hit in words.hits(name, text, GLOSSARY))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("docs/x.md", "It lies in build/.\n", [(1, "lies in")]),
        ("docs/x.md", "```\nIt lies in build/\n```\n\nand `lies in`\n\nMend it.\n", [(7, "Mend")]),
        ("docs/x.md", "1 errors, 11 errors, 1 error\n", [(1, "1 errors")]),
        ("docs/x.md", "a cell, two cells\n", [(1, "cells")]),
        ("packaging/latebind/x.py", "# beside it\nbeside = 1\n", [(1, "beside")]),
        (
            "packaging/latebind/x.py",
            FUNCTION,
            [(2, "told"), (3, "mended")],
        ),
        ("tests/x.py", FUNCTION, [(2, "told")]),
        ("packaging/latebind/x.py", "cells = []  # of a table\n", []),
        (
            "loader/src/x.c",
            '/* lies\n   at */ int beside; // told\nchar *s = "mended";\n',
            [(1, "lies\n   at"), (2, "told"), (3, "mended")],
        ),
    ],
)
def test_what_people_read_is_read(name, text, expected):
    assert find_hits(name, text) == expected


def test_a_headline_of_an_error_has_an_end():
    text = f'raise LatebindError(f"{{name}} {"x " * 60}", advice="short")\n'
    assert find_hits("packaging/latebind/x.py", text) == [(1, "LatebindError")]
    assert find_hits("packaging/latebind/x.py", text.replace("x " * 60, "short")) == []


def test_a_hit_says_where_and_what_to_write():
    (hit,) = words.hits("docs/x.md", "one\nmend it\n", GLOSSARY)
    assert str(hit) == "docs/x.md:2: 'mend': write fix (ci/words.toml)"


def test_the_command_fails_on_a_file_with_a_hit(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(words, "ROOT", tmp_path)
    monkeypatch.setattr(words, "glossary", lambda: GLOSSARY)
    (tmp_path / "x.md").write_text("Mend it.\n", encoding="utf-8")
    monkeypatch.setattr(words.subprocess, "run", lambda *_a, **_k: type("Done", (), {"stdout": "x.md\n"}))
    assert words.main(["x.md"]) == 1
    assert "x.md:1: 'Mend': write fix" in capsys.readouterr().out
