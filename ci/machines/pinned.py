"""Fetches wheels that are pinned by hash into a cache outside the repository; opens none of them."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from packaging.utils import parse_wheel_filename

if TYPE_CHECKING:
    from collections.abc import Mapping


def cache() -> Path:
    """Where downloads and peers lie: LATEBIND_BENCH_CACHE, else a folder below ~/.cache."""
    folder = Path(os.environ.get("LATEBIND_BENCH_CACHE") or Path.home() / ".cache" / "latebind-bench")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def pins(table: Path) -> Mapping[str, str]:
    """The file names of a TOML table `wheels`, each with its SHA-256."""
    hashes: dict[str, str] = msgspec.toml.decode(table.read_bytes())["wheels"]
    return hashes


def wheels(table: Path) -> list[Path]:
    """The pinned wheels by name, downloaded where they are not there yet. Raises SystemExit where one is another's."""
    return [wheel(name, digest) for name, digest in sorted(pins(table).items())]


def wheel(name: str, digest: str) -> Path:
    """One pinned wheel, downloaded where it is not there yet. Raises SystemExit where a file of its name is another."""
    folder = cache() / "wheels"
    folder.mkdir(exist_ok=True)
    if not (folder / name).is_file():
        _download(name, digest, folder)
    if hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest:
        raise SystemExit(f"{folder / name} is not the pinned wheel: remove it")
    return folder / name


def pip() -> list[str]:
    """The command that is pip: this interpreter's, else one that uv runs, since environments made by uv have none."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    if uv := shutil.which("uv"):
        return [uv, "tool", "run", "--quiet", "pip"]
    raise SystemExit(f"pip is needed to download wheels: {sys.executable} has none, and there is no uv on PATH")


def environment(name: str, requirements: Path) -> Path:
    """The folder of programs of an environment in the cache with just these requirements."""
    folder = cache() / name
    mark = folder / "installed"
    content = requirements.read_text("utf-8") + sys.version
    if not mark.is_file() or mark.read_text("utf-8") != content:
        subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", folder], check=True)
        python = folder / "bin" / "python"
        install = [*pip(), "--python", str(python), "install", "--quiet", "-r", str(requirements)]
        subprocess.run(install, check=True, stdin=subprocess.DEVNULL)
        mark.write_text(content, encoding="utf-8")
    return folder / "bin"


def _download(name: str, digest: str, folder: Path) -> None:
    project, number, _, tags = parse_wheel_filename(name)
    requirement = cache() / "wheel.txt"
    requirement.write_text(f"{project}=={number} --hash=sha256:{digest}\n", encoding="utf-8")
    platforms = [f"--platform={platform}" for platform in sorted({tag.platform for tag in tags})]
    tag = min(tags, key=str)
    minor = match[1] if (match := re.fullmatch(r"(?:cp|py)3(\d+)", tag.interpreter)) else "11"
    abi = [f"--abi={tag.abi}"] if tag.abi.endswith("t") else []
    only = ["--no-deps", "--only-binary=:all:", "--require-hashes", f"--python-version=3.{minor}"]
    only += ["--implementation=cp", "--ignore-requires-python", *abi]
    command = [*pip(), "download", "--quiet", *only, *platforms, f"--dest={folder}", "-r", str(requirement)]
    if status := subprocess.run(command, check=False, stdin=subprocess.DEVNULL).returncode:
        raise SystemExit(f"{name} was not to be had: pip ended with {status}")
