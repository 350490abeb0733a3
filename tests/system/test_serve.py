"""A server lives as long as its block, and one that does not start is reported."""

import os
import sys
import urllib.error
import urllib.request

import pytest

from latebind.errors import ToolError
from latebind.system.serve import find_free_port, serve


def test_it_answers_within_the_block_only(tmp_path):
    port = find_free_port()
    argv = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(tmp_path)]
    with serve(argv, port, env=os.environ, log=tmp_path / "logs/log") as address:
        assert urllib.request.urlopen(address).status == 200  # noqa: S310
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address)  # noqa: S310


def test_one_that_fails_is_reported_with_what_it_printed(tmp_path):
    argv = [sys.executable, "-c", "raise SystemExit('there is no room')"]
    with (
        pytest.raises(ToolError, match="there is no room"),
        serve(argv, find_free_port(), env=os.environ, log=tmp_path / "log"),
    ):
        pass
