"""Writes ci/action-requirements.txt: what action.yml installs next to latebind, each distribution with its hashes.

    python -m ci.gen.lock              # the newest releases
    python -m ci.gen.lock --check      # says whether the file still fits pyproject.toml; needs a package index

Dependabot updates the file, too.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "ci" / "action-requirements.txt"
_HEAD = "# Written by ci/gen/lock.py from pyproject.toml for action.yml; do not edit.\n"
_PYTHON = re.compile(r'python-version: "(3\.\d+)"')


def python_version() -> str:
    """The CPython that action.yml installs."""
    (version,) = _PYTHON.findall((ROOT / "action.yml").read_text("utf-8"))
    return str(version)


def render_lock(earlier: str = "") -> str:
    """The text of the lock; releases that `earlier` names are kept as far as they fit."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / LOCK.name
        file.write_text(earlier, encoding="utf-8")
        options = ("--generate-hashes", "--universal", "--no-header", "--no-annotate", "--quiet")
        target = ("--python-version", python_version(), "--output-file", str(file))
        loadcheck = Path(folder) / "loadcheck.in"
        loadcheck.write_text(f"loadcheck @ {(ROOT / 'loadcheck').as_uri()}\n", encoding="utf-8")
        # The group builds latebind from a checkout. loadcheck is installed from there, too, so it has no hash.
        sources = ("pyproject.toml", "--group", "headers", str(loadcheck), "--no-emit-package", "loadcheck")
        command = (sys.executable, "-m", "uv", "pip", "compile", *options, *target, *sources)
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        return _HEAD + file.read_text("utf-8").removeprefix(_HEAD)


def main() -> int:
    """Write or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a requirement is not met")
    if not parser.parse_args().check:
        LOCK.write_text(render_lock(), encoding="utf-8", newline="\n")
        return 0
    text = LOCK.read_text("utf-8")
    is_met = render_lock(text) == text
    print(f"{LOCK.name} {'fits pyproject.toml' if is_met else 'is out of date: run python -m ci.gen.lock'}")
    return int(not is_met)


if __name__ == "__main__":
    sys.exit(main())
