"""Renders the site's page clients.md from tests/beside/rows.json, which the tests of clients write."""

from __future__ import annotations

import json
from pathlib import Path

ROWS = Path(__file__).resolve().parents[2] / "tests/beside/rows.json"
_HEAD = ("| client | version | known package | it | ours |", "|---|---|---|---|---|")
_INTRODUCTION = """# Clients, beside a package that works

How programs use a package differs: an installer, a bundler, a server, a folder without /proc. Each of these *clients*
was tried with a package that its ecosystem knows, and with one that latebind made: a new project's wheel beside
onnxruntime, which computes with it, and an npm package with a library, beside sharp. All ran on Linux x64.

Where the known package works, ours must work. Where neither does, [the table of clients](../tests/beside) has what is
printed then; if that names a way out, another row takes it. `pytest tests/beside --write-rows` tries them again.
"""

_NOT_RUN = {
    "Electron": "its program is on no registry that the tests can reach; what packagers do with an archive is tested",
    "Java 11 and 21": "no such JDK on the machine",
    "GraalVM native image": "no GraalVM on the machine",
    "Spring Boot's loader": "its classes are in no package of Debian; loaders with URLs of their own, or with streams "
    "only, are tested",
    ".NET beside Microsoft.ML.OnnxRuntime": "that package is on no registry that the tests can reach; applications "
    "with a package of ours have tests of their own",
    "Windows and macOS": "the tests of clients run on Linux",
}
"""Clients for which this table has no row, and why."""


def page() -> str:
    """The page, by the rows alone."""
    rows = json.loads(ROWS.read_bytes())
    parts = [_INTRODUCTION]
    for ecosystem in dict.fromkeys(row[0] for row in rows):
        own = [row[1:] for row in rows if row[0] == ecosystem]
        lines = (f"| {' | '.join(map(_escape, row))} |" for row in own)
        parts.append("\n".join([f"## {ecosystem}: {len(own)} clients\n", *_HEAD, *lines, ""]))
    parts.append("## Not run\n\n| client | why |\n|---|---|")
    return "\n".join([*parts, *(f"| {client} | {why} |" for client, why in _NOT_RUN.items()), ""])


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
