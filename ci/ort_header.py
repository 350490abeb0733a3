"""Fetch ONNX Runtime's official C header, for the test that holds our function table against it.

The header is in no wheel; Debian ships it as `libonnxruntime-dev`. apt-get downloads the package with a private
source list, private lists and a private cache, so the machine's own configuration is neither read for packages nor
changed. Only the mirror's address and keyring come from the machine. Nothing is installed.
"""

from __future__ import annotations

import argparse
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SUITE = "trixie"
PACKAGE = "libonnxruntime-dev"
VERSION = "1.21.0+dfsg-1"
HEADER = "usr/include/onnxruntime/onnxruntime_c_api.h"
# Of the header itself: the same in the package of every architecture.
SHA256 = "7783e9664bdb0b1b36145b5c8587dd1bc9a399aa000edf2e3dd03003cafc6882"
KEYRING = pathlib.Path("/usr/share/keyrings/debian-archive-keyring.gpg")
SOURCES = pathlib.Path("/etc/apt")
LIMIT_SECONDS = 120


class NotAvailableError(Exception):
    """The header cannot be had here; the text says why, for a test's skip."""


def fetch(destination: pathlib.Path) -> pathlib.Path:
    """Put the header into `destination` and give its path; a header that is there and right is used as it is."""
    target = destination / "onnxruntime_c_api.h"
    if target.exists() and _digest(target) == SHA256:
        return target
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise NotAvailableError(f"{program} is missing: this is no Debian system")
    destination.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ort-header-") as name:
        folder = pathlib.Path(name)
        header = _unpack(_download(folder), folder)
        digest = _digest(header)
        if digest != SHA256:
            raise NotAvailableError(f"the header's sha256 is {digest}, not the pinned {SHA256}")
        part = target.with_suffix(".part")
        shutil.copyfile(header, part)
        part.replace(target)
    return target


def mirror(sources: pathlib.Path = SOURCES) -> str:
    """Find a Debian mirror among the machine's own apt sources."""
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


def _download(folder: pathlib.Path) -> pathlib.Path:
    for part in ("lists/partial", "cache/archives/partial", "empty"):
        (folder / part).mkdir(parents=True)
    signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
    (folder / "sources.list").write_text(f"deb {signed}{mirror()} {SUITE} main\n", encoding="utf-8")
    private = {
        "Dir::Etc::SourceList": folder / "sources.list",
        "Dir::Etc::SourceParts": folder / "empty",
        "Dir::State::Lists": folder / "lists",
        "Dir::Cache": folder / "cache",
        "Acquire::Languages": "none",
        "Acquire::Retries": "1",
        "APT::Sandbox::User": "",
    }
    options = [word for key, value in private.items() for word in ("-o", f"{key}={value}")]
    _run(["apt-get", *options, "-qq", "update"], folder)
    _run(["apt-get", *options, "-qq", "download", f"{PACKAGE}={VERSION}"], folder)
    found = sorted(folder.glob(f"{PACKAGE}_*.deb"))
    if not found:
        raise NotAvailableError(f"apt-get gave no {PACKAGE} {VERSION}")
    return found[0]


def _unpack(package: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    _run(["dpkg-deb", "-x", str(package), str(folder / "unpacked")], folder)
    header = folder / "unpacked" / HEADER
    if not header.is_file():
        raise NotAvailableError(f"{package.name} has no {HEADER}")
    return header


def _run(command: list[str], folder: pathlib.Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotAvailableError(f"{command[0]}: {error}") from error
    if done.returncode:
        words = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise NotAvailableError(f"{command[0]} failed: {words[-1]}")


def _digest(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> int:
    """Fetch the header and print where it is, or why it is not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("destination", type=pathlib.Path, help="the folder that gets the header")
    try:
        print(fetch(parser.parse_args().destination))
    except NotAvailableError as reason:
        print(f"not available: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
