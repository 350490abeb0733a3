"""Runs the tests that `.ci/run` leaves out: a shard at a time, the one that passed longest ago.

    python3 ci/shards.py [NAME ...]    # these shards, or that one; --list lists them

A shard that passes is recorded in ci/green.toml with the commit. Commit that file: successive runs then take all shards
in it in turn, without a clock or a network. Exit status: 0, or that of the first session that failed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEDGER = Path(__file__).with_name("green.toml")
_HEAD = "# Written by ci/shards.py: the commit on which each shard passed last, and how many commits it has.\n"
_ROW = re.compile(r'^([\w-]+) = \["(\w+)", (\d+)\]$', re.MULTILINE)


@dataclass(frozen=True)
class Shard:
    """Tests that run together, in half an hour at most on two idle CPUs."""

    name: str
    session: str
    pytest: tuple[str, ...] = ()
    """Options of pytest."""
    nox: tuple[str, ...] = ()
    """Options of nox."""

    @property
    def command(self) -> list[str]:
        """The command that runs it."""
        options = ("--", "--reruns", "1", "-raR", *self.pytest) if self.session != "libraries" else ()
        return [sys.executable, "noxfile.py", "-s", self.session, *self.nox, *options]


_SLOW = "(slow or workflows) and not emulated"
_PARTS = {
    "loader": ("loader",),
    "ecosystems": ("ecosystems/plugin", "ecosystems/sdk", "ecosystems/symbols", "ecosystems/wheel"),
    "managers": ("ecosystems/maven", "ecosystems/npm", "ecosystems/nuget"),
    "adopt": ("adopt",),
    "beside": ("beside",),
    "ci": ("ci",),
    "verify": ("verify", "advice"),
    "packages": ("pack", "release", "rehearse"),
    "examples": ("examples", "test_sabotage.py"),
}
"""The slow tests of latebind by what in tests/ has them; "slow" has the others."""
_OTHERS = tuple(f"--ignore=tests/{place}" for places in _PARTS.values() for place in places)
SHARDS = (
    Shard("loadcheck", "loadcheck-tests", ("-m", "slow")),
    Shard("latenn", "latenn-tests", ("-m", "slow or emulated")),
    *(Shard(name, "tests", (*(f"tests/{place}" for place in places), "-m", _SLOW)) for name, places in _PARTS.items()),
    Shard("emulated", "tests", ("-m", "emulated")),
    Shard("slow", "tests", (*_OTHERS, "-m", _SLOW)),
    Shard("libraries", "libraries"),
    Shard("minimums", "minimums", nox=("--force-python", "3.10", "--error-on-missing-interpreters")),
)
"""Each test with one of these marks is in exactly one shard, which a test checks."""


def read_ledger() -> dict[str, tuple[str, int]]:
    """The commit on which each shard passed last, and how many commits it has."""
    text = LEDGER.read_text("utf-8") if LEDGER.is_file() else ""
    return {name: (commit, int(number)) for name, commit, number in _ROW.findall(text)}


def choose_oldest(ledger: dict[str, tuple[str, int]]) -> Shard:
    """The shard that passed longest ago. One that never did waits until someone names it and it passes."""
    passed = [shard for shard in SHARDS if shard.name in ledger]
    return min(passed or SHARDS, key=lambda shard: ledger.get(shard.name, ("", 0))[1])


def record(name: str) -> None:
    """Write the commit that is checked out as the last on which a shard passed."""
    commit, number = (_git("rev-parse", "--short=8", "HEAD"), int(_git("rev-list", "--count", "HEAD")))
    rows = {**read_ledger(), name: (commit, number)}
    known = [shard.name for shard in SHARDS if shard.name in rows]
    LEDGER.write_text(_HEAD + "".join(f'{each} = ["{rows[each][0]}", {rows[each][1]}]\n' for each in known), "utf-8")


def describe(ledger: dict[str, tuple[str, int]]) -> str:
    """When each shard passed last."""
    return ", ".join(f"{shard.name} {ledger.get(shard.name, ('never', 0))[0]}" for shard in SHARDS)


def choose_pythons() -> dict[str, str]:
    """The variable with which pyenv's programs start each of its Pythons, this one first; none without pyenv."""
    pyenv = shutil.which("pyenv")
    if pyenv is None:
        return {}
    listed = subprocess.check_output([pyenv, "versions", "--bare", "--skip-aliases"], text=True)
    here = "{}.{}.{}".format(*sys.version_info)
    return {"PYENV_VERSION": ":".join(sorted(listed.split(), key=lambda version: version != here))}


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main(arguments: list[str] | None = None) -> int:
    """Run shards."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [shard.name for shard in SHARDS]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument("--list", action="store_true", help="say when each passed last; run none")
    parsed = parser.parse_args(arguments)
    if unknown := sorted(set(parsed.names) - set(names)):
        parser.error(f"there is no shard {unknown[0]}; there are {', '.join(names)}")
    ledger = read_ledger()
    print(f"Shards, and the commit on which each passed last: {describe(ledger)}", flush=True)
    chosen = [shard for shard in SHARDS if shard.name in parsed.names] or [choose_oldest(ledger)]
    for shard in () if parsed.list else chosen:
        print(f"Shard {shard.name}: {' '.join(shard.command[1:])}", flush=True)
        variables = choose_pythons() if shard.nox else {}  # only what asks for another Python
        status = subprocess.call(shard.command, cwd=ROOT, env={**os.environ, **variables})
        if status:
            print(f"Shard {shard.name} failed.")
            return status
        record(shard.name)
        print(f"Shard {shard.name} passed. Commit {LEDGER.relative_to(ROOT)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
