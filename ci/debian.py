"""Debian's packages for tests, without installing anything.

apt-get downloads them with a private source list, private lists and a private cache, so the machine's own configuration
is neither read for packages nor changed, and dpkg-deb unpacks them. Only the mirror's address and the keyring come from
the machine; apt checks the signatures.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
SOURCES = Path("/etc/apt")
_READY = "made-of-debian-packages"
_SECONDS = 180


class NotAvailableError(Exception):
    """What is wanted cannot be had here; the text says why, for a test's skip."""


def unpack(packages: Sequence[str], folder: Path, *, suite: str, architecture: str = "") -> None:
    """Unpack packages (`name` or `name=version`) of a suite into a folder. `architecture` is by default the host's.

    Raises NotAvailableError without apt-get, dpkg-deb or a mirror, and when one of them fails.
    """
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise NotAvailableError(f"{program} is missing: this is not a Debian system")
    with tempfile.TemporaryDirectory(prefix="debian-") as name:
        for package in _download(packages, Path(name), suite, architecture):
            _run(["dpkg-deb", "-x", str(package), str(folder)], Path(name))


def made_once(dest: Path, make: Callable[[Path], None]) -> Path:
    """A folder that `make` fills, made when it is not there yet: aside, and renamed when it is whole."""
    if not (dest / _READY).is_file():
        dest.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{dest.name}-", dir=dest.parent))
        try:
            make(aside)
            (aside / _READY).touch()
            _rename(aside, dest)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    return dest


def print_made(prepare: Callable[[Path], Path]) -> int:
    """The main program of a maker: make it in the folder that is named, print where it is, or why it cannot be had."""
    try:
        print(prepare(Path(sys.argv[1])))
    except NotAvailableError as reason:
        print(f"not available: {reason}", file=sys.stderr)
        return 1
    return 0


def mirror(sources: Path = SOURCES) -> str:
    """Find a Debian mirror among the machine's own apt sources. Raises NotAvailableError when none is named."""
    files = [sources / "sources.list", *sorted((sources / "sources.list.d").glob("*"))]
    for file in files:
        if file.suffix not in {".list", ".sources"} or not file.is_file():
            continue
        for found in re.finditer(
            r"(?m)^(?:deb\s+(?:\[[^\]]*\]\s+)?|URIs:\s*)(\S+)", file.read_text("utf-8", "replace")
        ):
            address = found.group(1).rstrip("/")
            if re.search(r"/debian$", address):
                return address
    raise NotAvailableError(f"no Debian mirror is named in {sources}")


def _download(packages: Sequence[str], folder: Path, suite: str, architecture: str) -> list[Path]:
    for part in ("lists/partial", "cache/archives/partial", "empty"):
        (folder / part).mkdir(parents=True)
    signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
    (folder / "sources.list").write_text(f"deb {signed}{mirror()} {suite} main\n", encoding="utf-8")
    private = {
        "Dir::Etc::SourceList": folder / "sources.list",
        "Dir::Etc::SourceParts": folder / "empty",
        "Dir::State::Lists": folder / "lists",
        "Dir::Cache": folder / "cache",
        "Acquire::Languages": "none",
        "Acquire::Retries": "1",
        "APT::Sandbox::User": "",
    }
    if architecture:
        (folder / "status").touch()  # nothing is installed of that architecture
        private |= {
            "APT::Architecture": architecture,
            "APT::Architectures": architecture,
            "Dir::State::status": folder / "status",
        }
    options = [word for key, value in private.items() for word in ("-o", f"{key}={value}")]
    _run(["apt-get", *options, "-qq", "update"], folder)
    _run(["apt-get", *options, "-qq", "download", *packages], folder)
    found = sorted(folder.glob("*.deb"))
    if len(found) != len(packages):
        raise NotAvailableError(f"apt-get gave {len(found)} of {len(packages)} packages")
    return found


def _run(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotAvailableError(f"{command[0]}: {error}") from error
    if done.returncode:
        words = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise NotAvailableError(f"{command[0]} failed: {words[-1]}")


def _rename(aside: Path, dest: Path) -> None:
    try:
        aside.rename(dest)
    except OSError:
        if (dest / _READY).is_file():  # someone else was quicker, and theirs is as good
            return
        shutil.rmtree(dest)  # made by something else, or not whole
        aside.rename(dest)
