"""The table of what came of the clients."""

import json

from ci.gen import clients_page
from tests.beside.conftest import TABLES
from tests.beside.pairs import WORKS

ROWS = json.loads(clients_page.ROWS.read_bytes())


def test_each_client_was_tried():
    tried = {(row[0], row[1]) for row in ROWS}
    assert tried == {(ecosystem, name) for ecosystem, clients in TABLES.items() for name in clients}


def test_where_the_known_package_works_ours_does():
    assert [row for row in ROWS if row[4] == WORKS != row[5]] == []


def test_the_page_has_a_line_for_each():
    lines = [line for line in clients_page.page().splitlines() if line.endswith((" works |", " fails |"))]
    assert len(lines) == len(ROWS)
    assert all(line.count("|") - line.count("\\|") == 6 for line in lines)
