"""The workflows of GitHub Actions as text, from ci/workflows/, targets.toml and ci/actions.toml; runs none of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
import msgspec
from latebind.tables.targets import targets

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = ROOT / "ci" / "workflows"
PYTHON = "3.12"
"""The Python of jobs in which it does not matter."""
MINORS = ("3.10", "3.11", "3.13", "3.14", PYTHON)
"""Those of jobs in which it does; the last one is `python`."""
DOTNET = "10.0.x"
_TESTED = ("linux-x64", "linux-arm64", "osx-arm64", "win-x64")
"""Where the tests run; verification goes further."""


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An action by the commit of one of its releases."""

    uses: str
    version: str
    commit: str


def actions() -> Mapping[str, Action]:
    """The pinned actions by the names that templates use."""
    return msgspec.toml.decode((ROOT / "ci" / "actions.toml").read_bytes(), type=dict[str, Action])


def outputs() -> dict[str, str]:
    """Path -> text of every workflow."""
    environment = jinja2.Environment(  # noqa: S701  # YAML, whose own {{ }} are GitHub's
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        variable_start_string="[[",
        variable_end_string="]]",
        block_start_string="<%",
        block_end_string="%>",
        comment_start_string="<#",
        comment_end_string="#>",
    )
    known = {str(rid): row for rid, row in targets().items()}
    environment.globals |= {
        "actions": actions(),
        "main_python": f'"{PYTHON}"',
        "minors": MINORS,
        "dotnet_version": DOTNET,
        "runner": lambda rid: known[rid].runner,
        "targets": [row for row in known.values() if row.libc != "musl"],
        "runners_json": json.dumps({rid: row.runner for rid, row in known.items()}, separators=(",", ":")),
        "test_runs": [
            *({"runner": known[rid].runner, "python": PYTHON} for rid in _TESTED),
            *({"runner": known[_TESTED[0]].runner, "python": minor} for minor in (MINORS[0], MINORS[-2])),
        ],
    }
    found = {}
    for template in sorted(TEMPLATES.glob("*.yml.j2")):
        note = f"Made by ci/gen.py from ci/workflows/{template.name}, targets.toml and ci/actions.toml."
        text = environment.get_template(template.name).render(note=note)
        found[f".github/workflows/{template.stem}"] = text.strip() + "\n"
    return found
