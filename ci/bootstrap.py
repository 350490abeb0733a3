"""Makes a private environment with nox and uv in it and hands over to nox; needs Python and nothing else.

Environments come from uv, from venv, which is filled by this Python's own pip or else by ensurepip, or from virtualenv,
whichever this machine has. A stock Debian has none of them: then it says what to install.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MINIMUM = (3, 10)
_TIME_LIMIT = 600
_PIP_FOR_OTHERS = (22, 3)
"""The first pip with --python (its changelog)."""


class BootstrapError(Exception):
    """What is missing and how to get it, for people."""


def main(root: Path, arguments: list[str]) -> int:
    """Run nox with these arguments on root's noxfile.py. Returns nox's exit status, 2 when it cannot be had."""
    if sys.version_info < MINIMUM:
        print(
            f"latebind needs Python {MINIMUM[0]}.{MINIMUM[1]} or newer, this is {sys.version.split()[0]}.",
            file=sys.stderr,
        )
        return 2
    try:
        home = ensure_environment(root)
    except BootstrapError as error:
        print(f"noxfile.py: {error}", file=sys.stderr)
        return 2
    binaries = home / ("Scripts" if os.name == "nt" else "bin")
    environment = {
        **os.environ,
        "PATH": f"{binaries}{os.pathsep}{os.environ.get('PATH', '')}",
        "UV_PYTHON_DOWNLOADS": "never",
    }
    argv = [str(binaries / "python"), "-m", "nox", "--noxfile", str(root / "noxfile.py"), *arguments]
    try:
        return subprocess.run(argv, env=environment, check=False).returncode
    except KeyboardInterrupt:
        return 130


def ensure_environment(root: Path) -> Path:
    """The folder of the environment that noxfile.py's own header describes, made once for each content of it."""
    packages = requirements((root / "noxfile.py").read_text("utf-8"))
    key = hashlib.sha256("\0".join([*packages, sys.version, sys.prefix]).encode()).hexdigest()[:12]
    home = root / ".nox" / f".bootstrap-{key}"
    if (home / ".ready").is_file():
        return home
    print("noxfile.py: making an environment with nox ...", file=sys.stderr)
    shutil.rmtree(home, ignore_errors=True)
    home.parent.mkdir(exist_ok=True)
    try:
        _fill(home, packages)
        (home / ".ready").touch()
    except BaseException:
        shutil.rmtree(home, ignore_errors=True)
        raise
    return home


def requirements(text: str) -> list[str]:
    """The `dependencies` of a script's PEP 723 header (the header's own format: one line, double quotes)."""
    match = re.search(r"^# dependencies = \[(.*)\]$", text, re.MULTILINE)
    return re.findall(r'"([^"]+)"', match[1]) if match else []


def _fill(home: Path, packages: list[str]) -> None:
    """Make the environment with the first means that this machine has."""
    python = str(home / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    uv = shutil.which("uv")
    if uv:
        _run([uv, "venv", "--python", sys.executable, str(home)])
        _run([uv, "pip", "install", "--python", python, *packages])
        return
    install = ["install", "--quiet", "--disable-pip-version-check", *packages]
    has_venv = importlib.util.find_spec("venv") is not None
    if has_venv and _fills_others():
        _run([sys.executable, "-m", "venv", "--without-pip", str(home)])
        _run([sys.executable, "-m", "pip", "--python", python, *install])
        return
    if has_venv and importlib.util.find_spec("ensurepip"):
        _run([sys.executable, "-m", "venv", str(home)])
    elif importlib.util.find_spec("virtualenv"):
        _run([sys.executable, "-m", "virtualenv", str(home)])
    else:
        raise BootstrapError(
            "this Python can make no environments: it has neither pip, ensurepip nor virtualenv, and there is no uv.\n"
            f"  Debian, Ubuntu: apt install python{sys.version_info.major}.{sys.version_info.minor}-venv\n"
            "  elsewhere: install uv or virtualenv, or use a Python from python.org."
        )
    _run([python, "-m", "pip", *install])


def _fills_others() -> bool:
    """Whether this Python's pip can install into another environment: a pip in each takes ensurepip three seconds."""
    try:
        version = importlib.metadata.version("pip")
    except importlib.metadata.PackageNotFoundError:
        return False
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2]) >= _PIP_FOR_OTHERS


def _run(argv: list[str]) -> None:
    try:
        ended = subprocess.run(
            argv,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_TIME_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BootstrapError(f"{' '.join(argv[:4])} ... ran past {_TIME_LIMIT} s") from error
    if ended.returncode:
        raise BootstrapError(f"{' '.join(argv[:4])} ... failed:\n{ended.stdout[-3000:]}")
