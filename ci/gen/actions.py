"""The actions of latebind's own workflows, which Dependabot updates, as the table that generated workflows use.

    python -m ci.gen    # writes tables/actions.toml from them

Two releases of one action in the workflows are an error.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "packaging/latebind/tables/actions.toml"
_USES = re.compile(r"uses: (?P<name>[\w.-]+/[\w.-]+)@(?P<commit>[0-9a-f]{40}) # (?P<version>v[\d.]+)$", re.MULTILINE)
_HEAD = "# Written by ci/gen/actions.py from .github/workflows, whose actions Dependabot updates; do not edit.\n"


def list_pins(files: list[Path]) -> dict[str, tuple[str, str]]:
    """Version and commit of each action that the files use. Raises ValueError for one with two."""
    pins: dict[str, tuple[str, str]] = {}
    for file in files:
        for match in _USES.finditer(file.read_text("utf-8")):
            pin = match["version"], match["commit"]
            if pins.setdefault(match["name"], pin) != pin:
                raise ValueError(f"{file.name} has {match['name']} {pin[0]}, another workflow {pins[match['name']][0]}")
    return pins


def table() -> str:
    """The text of actions.toml."""
    pins = list_pins([*sorted((ROOT / ".github/workflows").glob("*.yml")), ROOT / "action.yml"])
    entries = (
        f'\n["{name}"]\nversion = "{version}"\ncommit = "{commit}"\n'
        for name, (version, commit) in sorted(pins.items(), key=lambda item: item[0].lower())
    )
    return _HEAD + "".join(entries)
