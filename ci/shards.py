"""The tests that `.ci/run` leaves out, in shards: each run takes the one that passed longest ago.

    python -m ci.shards [NAME ...]    # run these, by default that one, and write the commit into green.toml

Commit green.toml after it: successive runs then take every shard in turn. It needs no clock and no network.
Exit status: that of the first session that fails, else 0.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEDGER = Path(__file__).with_name("green.toml")
_HEAD = "# Written by ci/shards.py: the commit on which each shard last passed.\n"
_ROW = re.compile(r'^(\S+) = "(\w*)"$', re.MULTILINE)
OTHERS = "slow or emulated or workflows"
"""The marks of tests that no other session of `.ci/run` runs."""


@dataclass(frozen=True, kw_only=True)
class Shard:
    """Tests that run together, in at most half an hour on two CPUs."""

    name: str
    session: str
    options: tuple[str, ...] = ()
    """For pytest."""

    @property
    def command(self) -> list[str]:
        """The session's command."""
        return [sys.executable, "noxfile.py", "-s", self.session, "--", "--reruns", "1", "-raR", *self.options]
