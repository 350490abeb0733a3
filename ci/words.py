"""Finds words of the glossary in ci/words.toml that must not come back, and headlines of errors that are too long.

    python -m ci.words [FILE ...]

Reads what people read: pages, comments, docstrings and strings; in tests, comments and docstrings alone.
Exit status: 0 nothing found, 1 something was.
"""

from __future__ import annotations

import ast
import fnmatch
import io
import re
import subprocess
import sys
import tokenize
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ci import docs_site

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 100
_PLACEHOLDER = 8
"""How many characters a value in a headline counts for: most are a file's name or a version."""
_PAGES = {".md", ".toml", ".yml", ".yaml", ".html"}
_FENCED = re.compile(r"^(`{3,}|~{3,}).*?^\1[ ]*$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_C = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
_C_FILES = {".c", ".h", ".cpp", ".hpp", ".cs"}
_PASSED_OVER = ("tests/clients/*", "ci/words.*", "ci/names.toml", "research/broken/*", "*/LICENSE")


class Word(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An expression that must not be written, what to write instead, and the only files it concerns."""

    find: str
    write: str
    only: tuple[str, ...] = ()


class Glossary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """ci/words.toml."""

    word: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A place that reads badly."""

    file: str
    line: int
    text: str
    advice: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text!r}: write {self.advice} (ci/words.toml)"


def glossary() -> Glossary:
    """The table of words."""
    return msgspec.toml.decode((ROOT / "ci" / "words.toml").read_bytes(), type=Glossary)


def hits(name: str, text: str, table: Glossary) -> Iterator[Hit]:
    """What reads badly in one file, by its path in the repository."""
    entries = [entry for entry in table.word if not entry.only or _is_any(name, entry.only)]
    for line, prose in _prose(name, text):
        for entry in entries:
            for match in _expression(entry.find).finditer(prose):
                yield Hit(name, line + prose.count("\n", 0, match.start()), match[0], entry.write)
    if name.startswith("packaging/") and name.endswith(".py"):
        yield from _long_headlines(name, text)


@cache
def _expression(text: str) -> re.Pattern[str]:
    return re.compile(text.replace(" ", r"[\s*#]+"), re.IGNORECASE)  # a line may end in between


def _prose(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Pieces of a file that people read, each with its first line."""
    suffix = Path(name).suffix
    if suffix == ".py":
        yield from _python(text, strings=not name.startswith(("tests/", "latenn/tests/")))
    elif suffix in _C_FILES or name.endswith((".c.j2", ".h.j2")):
        for match in _C.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, match[0]
    elif suffix in _PAGES or suffix == ".j2":
        keep_lines = (lambda match: re.sub(r"[^\n]", " ", match[0])) if suffix == ".md" else (lambda match: match[0])
        yield 1, _FENCED.sub(keep_lines, text)


def _python(text: str, *, strings: bool) -> Iterator[tuple[int, str]]:
    """Comments and docstrings, and with `strings` every other string, too."""
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
        elif token.type == tokenize.STRING or tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
            is_docstring = before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
            if strings or is_docstring:
                yield token.start[0], token.string
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.type


def _long_headlines(name: str, text: str) -> Iterator[Hit]:
    """Errors whose headline, the first argument, is longer than LONGEST characters."""
    for node in ast.walk(ast.parse(text)):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and isinstance(called, ast.Name) and called.id.endswith("Error") and node.args:
            length = _length(node.args[0])
            if length > LONGEST:
                advice = f"a headline of at most {LONGEST} characters; this one has about {length}"
                yield Hit(name, node.lineno, called.id, advice)


def _length(node: ast.expr) -> int:
    """How long the first line of a text is, about; 0 where it is not written down."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return len(node.value.split("\n")[0])
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else "x" * _PLACEHOLDER for part in node.values]
        return len("".join(str(part) for part in parts).split("\n")[0])
    return 0


def _is_any(name: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, glob) for glob in globs)


def main(arguments: list[str]) -> int:
    """Read the named files, or all that git tracks and all pages that only the site has."""
    table = glossary()
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607
    names = arguments or listed.stdout.splitlines()
    results: list[Hit] = []
    for name in names:
        suffixes = _PAGES | _C_FILES | {".py", ".j2"}
        if Path(name).suffix in suffixes and not _is_any(name, _PASSED_OVER) and (ROOT / name).is_file():
            results += hits(name, (ROOT / name).read_text("utf-8"), table)
    for page, text in ({} if arguments else docs_site.generate_pages()).items():
        results += hits(f"docs/{page}", text, table)
    for hit in results:
        print(hit)
    return 1 if results else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
