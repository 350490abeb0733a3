"""Debian's packages for tests, without installing anything.

apt-get downloads them with a private source list, private lists and a private cache, so the machine's own configuration
is neither read for packages nor changed, and dpkg-deb unpacks them. Only the mirror's address and the keyring come from
the machine; apt checks the signatures.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ci.machines import NotAvailableError, run_tool

if TYPE_CHECKING:
    from collections.abc import Sequence

SUITE = "bookworm"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
SOURCES = Path("/etc/apt")
_ADDRESS = re.compile(r"^(?:deb\s+(?:\[[^\]]*\]\s+)?|URIs:\s*)(\S+)", re.MULTILINE)


def unpack(packages: Sequence[str], folder: Path, *, suite: str = SUITE, architecture: str = "") -> None:
    """Unpack packages (`name` or `name=version`) of a suite into a folder. `architecture` is by default the host's.

    Raises NotAvailableError without apt-get, dpkg-deb or a mirror, and when one of them fails.
    """
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise NotAvailableError(f"{program} is missing: this is not a Debian system")
    with tempfile.TemporaryDirectory(prefix="debian-") as name:
        for package in _download(packages, Path(name), suite, architecture):
            run_tool(["dpkg-deb", "-x", package, folder.absolute()], cwd=Path(name))


def mirror(sources: Path = SOURCES) -> str:
    """Find a Debian mirror among the machine's own apt sources. Raises NotAvailableError when none is named."""
    files = [sources / "sources.list", *sorted((sources / "sources.list.d").glob("*"))]
    for file in files:
        if file.suffix not in {".list", ".sources"} or not file.is_file():
            continue
        for address in _ADDRESS.findall(file.read_text("utf-8", "replace")):
            if address.rstrip("/").endswith("/debian"):
                return str(address.rstrip("/"))
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
    options = [option for key, value in private.items() for option in ("-o", f"{key}={value}")]
    for action in (["update"], ["download", *packages]):
        run_tool(["apt-get", "-qq", *action, *options], cwd=folder)
    files = sorted(folder.glob("*.deb"))
    if len(files) != len(packages):
        raise NotAvailableError(f"apt-get gave {len(files)} of {len(packages)} packages")
    return files
