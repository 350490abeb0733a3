"""Runs a server for as long as a block lasts."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from latebind.errors import ToolError
from latebind.system.run import run

_HOST = "127.0.0.1"
_START_SECONDS, _LONGEST = 60.0, 24 * 3600.0
_PAUSE = 0.05


class _StoppedError(Exception):
    """The block has ended, and the server with it."""


def find_free_port() -> int:
    """A port of this machine that no server has."""
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        return int(probe.getsockname()[1])


@contextmanager
def serve(argv: Sequence[str | Path], port: int, *, env: Mapping[str, str], log: Path) -> Iterator[str]:
    """Start a server that listens on a port of this machine, and end it and all that it started with the block.

    The address of the server. Raises ToolError when it does not listen; `log` then has what it printed.
    """
    stop, failures = threading.Event(), list[ToolError]()

    def watch(output: bytes) -> None:
        log.write_bytes(output)
        if stop.is_set():
            raise _StoppedError

    def work() -> None:
        try:
            run(argv, env=env, timeout=_LONGEST, watcher=watch)
        except ToolError as error:
            failures.append(error)
        except (_StoppedError, KeyboardInterrupt):
            pass

    log.parent.mkdir(parents=True, exist_ok=True)
    thread = threading.Thread(target=work)
    thread.start()
    try:
        end = time.monotonic() + _START_SECONDS
        while not _is_listening(port):
            if not thread.is_alive() or time.monotonic() > end:
                raise failures[0] if failures else ToolError("the server does not listen", where=str(log))
            time.sleep(_PAUSE)
        yield f"http://{_HOST}:{port}"
    finally:
        stop.set()
        thread.join()


def _is_listening(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((_HOST, port)) == 0
