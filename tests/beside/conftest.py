"""Keeps what came of the clients: `pytest tests/beside --write-rows` writes rows.json."""

from __future__ import annotations

import json

from ci.gen.clients_page import ROWS
from tests.beside import java, node, python

TABLES = {"Java": java.CLIENTS, "Python": python.CLIENTS, "npm": node.CLIENTS}
_MADE: dict[tuple[str, str], list[str]] = {}


def pytest_addoption(parser):
    """Declare the option."""
    parser.addoption("--write-rows", action="store_true", help="keep what came of the clients, for the page of them")


def pytest_runtest_logreport(report):
    """Keep the row of a test."""
    for name, row in report.user_properties if report.when == "call" else ():
        if name == "row":
            _MADE[row[0], row[1]] = row


def pytest_sessionfinish(session):
    """Replace the rows of the clients that were tried, and leave out those of clients that are gone."""
    if not session.config.getoption("--write-rows", default=False) or hasattr(session.config, "workerinput"):
        return
    kept = {(row[0], row[1]): row for row in json.loads(ROWS.read_bytes())} if ROWS.exists() else {}
    rows = sorted(row for row in {**kept, **_MADE}.values() if row[1] in TABLES[row[0]])
    ROWS.write_text("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n", "utf-8")
