"""Runs nox on machines that lack it: installs it once into an environment below .nox/, with this Python's own pip."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

MINIMUM = (3, 10)


def run_nox(noxfile: str, arguments: list[str]) -> int:
    """Run nox with these arguments on this noxfile. Returns nox's exit status, 2 if nox cannot be installed."""
    if sys.version_info < MINIMUM:
        version = ".".join(map(str, sys.version_info[:3]))
        print(f"latebind needs Python {MINIMUM[0]}.{MINIMUM[1]} or newer, this is {version}.", file=sys.stderr)
        return 2
    try:
        python = ensure_nox(Path(noxfile).resolve())
        return subprocess.call([python, "-m", "nox", "--noxfile", noxfile, *arguments])
    except subprocess.CalledProcessError as error:  # venv and pip have printed the reason
        print(f"noxfile.py: nox could not be installed: status {error.returncode} of {error.cmd}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def ensure_nox(noxfile: Path) -> str:
    """The Python of an environment with what noxfile's header requires. Raises CalledProcessError."""
    requirements = read_requirements(noxfile.read_text("utf-8"))
    key = hashlib.sha256("\0".join([*requirements, sys.version, sys.prefix]).encode()).hexdigest()[:8]
    home = noxfile.parent / ".nox" / f".bootstrap-{key}"
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    mark = home / "ready"
    if not mark.is_file():
        shutil.rmtree(home, ignore_errors=True)  # one that is not whole
        subprocess.check_call([sys.executable, "-m", "venv", str(home)], stdout=sys.stderr)
        subprocess.check_call([str(python), "-m", "pip", "install", "--quiet", *requirements], stdout=sys.stderr)
        mark.touch()
    return str(python)


def read_requirements(text: str) -> list[str]:
    """The `dependencies` of a script's PEP 723 header."""
    match = re.search(r"^# dependencies = \[(.*)\]$", text, re.MULTILINE)
    return re.findall(r'"([^"]+)"', match[1]) if match else []
