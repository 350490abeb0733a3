"""What the release workflow does with GitHub itself, by its own command line, gh; each step may be run again.

    python ci/github.py last DEST                        # the public API of the newest release -> DEST/api.json
    python ci/github.py folder DEST --previous FOLDER    # the release folder, from dist/ and reports/
    python ci/github.py publish FOLDER                   # the folder as a release of the tag TAG

DRY_RUN=true makes the folder even if the gate failed.
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
    arguments += ["--dry-run"] if os.environ.get("DRY_RUN") == "true" else []
    _run(sys.executable, "noxfile.py", "-s", "release", "--", *arguments)


def publish(release: Path) -> None:
    """Make the release of a tag, or go on with one that is half made: files that are there already are replaced."""
    tag = os.environ["TAG"]
    packed = shutil.make_archive(str(release.parent / f"release-{tag}"), "zip", release)
    every = sorted(path for path in release.rglob("*") if path.is_file())
    files = [packed, *(str(path) for path in every if release / "reports/logs" not in path.parents)]
    is_published = _status("gh", "release", "view", tag) == 0
    if not is_published:
        notes = str(release / "CHANGELOG.md")
        _run("gh", "release", "create", tag, "--draft", "--verify-tag", "--title", tag, "--notes-file", notes)
    _run("gh", "release", "upload", tag, *files, "--clobber")
    _run("gh", "release", "edit", tag, "--draft=false")


def main() -> int:
    """Run one of the three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("last", "folder", "publish"))
    parser.add_argument("path", type=Path)
    parser.add_argument("--previous", type=Path, default=Path("previous"))
    arguments = parser.parse_args()
    if arguments.what == "folder":
        folder(arguments.path, arguments.previous)
    else:
        {"last": last, "publish": publish}[arguments.what](arguments.path)
    return 0


def _run(*arguments: str) -> None:
    if status := _status(*arguments):
        raise SystemExit(f"{arguments[0]} {arguments[1]} ended with {status}")


def _status(*arguments: str) -> int:
    return subprocess.run(_command(arguments), cwd=ROOT, check=False, timeout=_SECONDS * 6).returncode


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
