"""What the release workflow does before it publishes; each step may be run again.

    python ci/github.py last DEST                        # the public API of the newest release -> DEST/api.json
    python ci/github.py folder DEST --previous FOLDER    # the release folder, from dist/ and reports/

DRY_RUN=true makes the folder even if the gate failed. The output `name` is that of its artifact: `release`, or
`dry-run` for one that is never published.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_SECONDS = 600


def last(dest: Path) -> None:
    """Fetch what callers of the newest release rely on; nothing is there when there was none."""
    dest.mkdir(parents=True, exist_ok=True)
    arguments = ("--exclude-drafts", "--exclude-pre-releases", "--limit", "1", "--json", "tagName")
    listed = json.loads(_ask_program("gh", "release", "list", *arguments))
    if not listed:
        print("there is no earlier release")
        return
    tag = listed[0]["tagName"]
    _ask_program("gh", "release", "download", tag, "--pattern", "api.json", "--dir", str(dest), "--clobber")
    print(f"the last release is {tag}")


def folder(dest: Path, previous: Path) -> None:
    """Make the release folder of the packages in dist/ and the report in reports/."""
    earlier = previous / "api.json"
    arguments = ["--output", str(dest), "--dist", "dist", "--report", "reports/verify.json"]
    arguments += ["--previous", str(earlier)] if earlier.is_file() else []
    is_dry = os.environ.get("DRY_RUN") == "true"
    command = (sys.executable, "noxfile.py", "-s", "latenn", "--", "release", *arguments)
    try:
        _run(*command, *(["--dry-run"] if is_dry else []))
    except SystemExit:
        if not (is_dry and (dest / "manifest.json").is_file()):  # a dry run with blockers ends with 1
            raise
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as outputs:
        outputs.write(f"name={'dry-run' if is_dry else 'release'}\n")


def main() -> int:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("last", "folder"))
    parser.add_argument("path", type=Path)
    parser.add_argument("--previous", type=Path, default=Path("previous"))
    arguments = parser.parse_args()
    if arguments.what == "folder":
        folder(arguments.path, arguments.previous)
    else:
        last(arguments.path)
    return 0


def _run(*arguments: str) -> None:
    if status := subprocess.run(arguments, cwd=ROOT, check=False, timeout=_SECONDS * 6).returncode:
        raise SystemExit(f"{arguments[0]} {arguments[1]} ended with {status}")


def _ask_program(*arguments: str) -> str:
    ended = subprocess.run(_command(arguments), cwd=ROOT, check=False, timeout=_SECONDS, capture_output=True, text=True)
    if ended.returncode:
        raise SystemExit(f"{' '.join(arguments[:3])} ended with {ended.returncode}: {ended.stderr.strip()}")
    return ended.stdout


def _command(arguments: tuple[str, ...]) -> list[str]:
    program = shutil.which(arguments[0])
    if program is None:
        raise SystemExit(f"{arguments[0]} is not on PATH: a runner of GitHub has it")
    return [program, *arguments[1:]]


if __name__ == "__main__":
    sys.exit(main())
