"""What a table of clients is made of, and how a pair of packages is put into one of them.

A *client* is a way in which somebody's program uses a package: an installer, a bundler, a server, a folder. Each is
tried twice, with the package that its ecosystem knows and with one that latebind made. Where theirs works, ours works.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from tests.support.needs import require_mounts
from tests.support.programs import run_checked

WORKS = "works"
"""What a program prints when the package computed the right numbers."""
Place = TypeVar("Place")


@dataclass(frozen=True)
class Client(Generic[Place]):
    """One client of packages."""

    name: str
    start: Callable[[Place], str]
    """Runs the program in it, and returns what was printed. Raises AssertionError with what went wrong."""
    version: str
    """The package whose version is the client's, or "" for that of the interpreter."""
    reference_fails: bool
    """Whether the package that the ecosystem knows does not work in it."""
    says: str
    """What is printed where ours does not work either, by which a user can go on; "" where ours works."""


class Clients(dict[str, Client[Place]]):
    """The clients of an ecosystem by name, in the order of their definition."""

    def add(
        self, name: str, version: str = "", *, reference_fails: bool = False, says: str = ""
    ) -> Callable[[Callable[[Place], str]], Callable[[Place], str]]:
        """A decorator for the function that starts one."""

        def keep(start: Callable[[Place], str]) -> Callable[[Place], str]:
            self[name] = Client(name, start, version, reference_fails, says)
            return start

        return keep


def run_quietly(*command: object, **options: object) -> str:
    """What a command printed that must succeed, and that reads nothing unless it gets an `input`."""
    given = {"timeout": 300, **options}
    return run_checked(*command, **(given if "input" in given else {"stdin": subprocess.DEVNULL, **given}))


def without_proc(*command: object) -> tuple[object, ...]:
    """The command where /proc is empty. The test is skipped where nothing can be mounted."""
    require_mounts()
    hide = 'mount --make-rprivate / && mount -t tmpfs none /proc && exec "$@"'
    return "unshare", "-m", "sh", "-c", hide, "sh", *command


def outcome(client: Client[Place], place: Place) -> str:
    """`works`, or what was printed instead."""
    try:
        said = client.start(place)
    except AssertionError as error:
        said = str(error)
    return WORKS if WORKS in said.split() else said.strip() or "nothing was printed"
