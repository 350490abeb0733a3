"""Which pinned action has a newer release, and which runner's label GitHub no longer has; asks GitHub, by git.

    python ci/pins.py [--write]

`--write` puts the newest releases into ci/actions.toml; a label in targets.toml is a choice, so it is only reported.
Exit status: 0 all is new, 1 something is not.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from gen_workflows import Action, actions
from latebind.system.archive import write_text
from latebind.tables.targets import targets

ROOT = Path(__file__).resolve().parent.parent
HOST = "https://github.com"
IMAGES = "actions/runner-images"
_TAG = re.compile(r"([0-9a-f]{40})\trefs/tags/(v\d+\.\d+\.\d+)(\^\{\})?")
_LABEL = re.compile(r"`([a-z]+-[a-z0-9.-]+)`")


def newest(action: Action, host: str = HOST) -> Action:
    """The newest release of an action, without previews. Raises SystemExit when it has none."""
    found: dict[str, str] = {}
    for match in map(_TAG.fullmatch, _git("ls-remote", "--tags", f"{host}/{action.uses}").splitlines()):
        if match and (match[3] or match[2] not in found):  # what an annotated tag points to comes second
            found[match[2]] = match[1]
    if not found:
        raise SystemExit(f"{action.uses} has no release")
    version = max(found, key=lambda tag: tuple(map(int, tag[1:].split("."))))
    return Action(uses=action.uses, version=version, commit=found[version])


def labels(host: str = HOST) -> set[str]:
    """The labels of GitHub's runners, from the table in the README of their images."""
    with tempfile.TemporaryDirectory() as folder:
        _git("clone", "--quiet", "--depth=1", "--filter=blob:none", "--no-checkout", f"{host}/{IMAGES}", folder)
        return set(_LABEL.findall(_git("-C", folder, "show", "HEAD:README.md")))


def updated(text: str, old: Action, new: Action) -> str:
    """The table of actions with one of them renewed."""
    return text.replace(f'"{old.version}"\ncommit = "{old.commit}"', f'"{new.version}"\ncommit = "{new.commit}"')


def main(argv: list[str] | None = None, host: str = HOST) -> int:
    """Tell, or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the newest releases into ci/actions.toml")
    arguments = parser.parse_args(argv)
    file = ROOT / "ci" / "actions.toml"
    text, stale = file.read_text("utf-8"), 0
    for old in actions().values():
        new = newest(old, host)
        if new != old:
            print(f"{old.uses}: {old.version} is pinned, {new.version} is the newest")
            text, stale = updated(text, old, new), stale + 1
    gone = sorted({row.runner for row in targets().values()} - labels(host))
    for label in gone:
        print(f"targets.toml: GitHub has no runner {label} any more")
    if arguments.write:
        write_text(file, text)
        stale = 0
    return int(bool(stale or gone))


def _git(*words: str) -> str:
    ended = subprocess.run(
        [shutil.which("git") or "git", *words], check=False, capture_output=True, text=True, timeout=300
    )
    if ended.returncode:
        raise SystemExit(f"git {words[0]} ended with {ended.returncode}: {ended.stderr.strip()}")
    return ended.stdout


if __name__ == "__main__":
    sys.exit(main())
