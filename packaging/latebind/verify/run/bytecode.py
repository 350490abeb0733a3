"""Gives the byte-code of the index's packages that one test case's Python wrote to the environments of the others.

uv installs sources only, so that each environment would compile NumPy anew, which takes a second on an emulated machine
and little on this one. Python does not use byte-code of a source with another time or size.
"""

from __future__ import annotations

import csv
import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from latebind.verify.run.supply import Environment

_LOCK = threading.Lock()
"""So that nobody reads a file that is half written."""


def give_byte_code(environment: Environment, shared: Path, *, ours: Collection[str] = ()) -> None:
    """Copy what is kept in `shared` for the installed distributions, without those named in `ours`, next to them."""
    for metadata, folder in _list_folders(environment, shared, ours):
        with _LOCK:
            for kept in sorted(folder.rglob("*.pyc")):
                _copy(kept, metadata.parent / kept.relative_to(folder))


def keep_byte_code(environment: Environment, shared: Path, *, ours: Collection[str] = ()) -> None:
    """Copy what Python wrote since into `shared`. What is in `ours` may change and keep its version."""
    tag = f"cpython-{''.join(environment.machine.python_version.split('.')[:2])}"
    for metadata, folder in _list_folders(environment, shared, ours):
        for name in _list_compiled(metadata, tag):
            written, kept = metadata.parent / name, folder / name
            if written.is_file() and not kept.exists():
                with _LOCK:
                    _copy(written, kept)


def _list_folders(environment: Environment, shared: Path, ours: Collection[str]) -> Iterator[tuple[Path, Path]]:
    """The metadata of each distribution on another machine than this one, and the folder of its byte-code."""
    machine, without = environment.machine, set(map(canonicalize_name, ours))
    if machine.is_host:
        return
    store = shared / "bytecode" / f"{machine.rid}-{machine.python_version}"
    for metadata in sorted(environment.site.glob("*.dist-info")):
        if canonicalize_name(metadata.name.partition("-")[0]) not in without:
            yield metadata, store / metadata.name


def _list_compiled(metadata: Path, tag: str) -> Iterator[Path]:
    """Where Python puts the byte-code of a distribution's modules, in site-packages."""
    record = metadata / "RECORD"
    if not record.is_file():
        return
    with record.open(encoding="utf-8", newline="") as file:
        names = [Path(row[0]) for row in csv.reader(file) if row]
    for name in names:
        if name.suffix == ".py" and not name.is_absolute() and ".." not in name.parts:
            yield name.parent / "__pycache__" / f"{name.stem}.{tag}.pyc"


def _copy(source: Path, destination: Path) -> None:
    destination.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, destination)
