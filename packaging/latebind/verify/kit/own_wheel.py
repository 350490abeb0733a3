"""Makes a wheel of the latebind that runs, and pins what it needs, so that a kit has the same latebind."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from latebind import __version__
from latebind.errors import LatebindError
from latebind.fingerprint import PACKAGE
from latebind.system.resources import folder, license_file
from latebind.system.tree import list_tree
from loadcheck.archive import Entry, write_zip

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = "latebind"
_EXTRA = "verify"
_DATA = ("templates", "loader")
_WHEEL = "Wheel-Version: 1.0\nGenerator: latebind\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_ADVICE = "Install latebind again, with its extra: pip install 'latebind[verify]'."


def write_own_wheel(destination: Path) -> Path:
    """A wheel of this latebind in a folder. Raises LatebindError if latebind's metadata is missing."""
    info = f"{_NAME}-{__version__}.dist-info"
    files = {**_list_files(), **{f"{info}/{name}": text.encode() for name, text in _read_metadata().items()}}
    record = "".join(f"{name},sha256={_encode_hash(data)},{len(data)}\n" for name, data in sorted(files.items()))
    entries = [Entry(name=name, data=data) for name, data in files.items()]
    entries.append(Entry(name=f"{info}/RECORD", data=f"{record}{info}/RECORD,,\n".encode()))
    path = destination / f"{_NAME}-{__version__}-py3-none-any.whl"
    write_zip(path, entries)
    return path


def pin_requirements() -> list[str]:
    """The versions of everything that latebind needs to verify, as installed here: `msgspec==0.20.0`, sorted."""
    versions: dict[str, str] = {}
    pending = [(_NAME, _EXTRA)]
    done = set()
    while pending:
        name, extra = pending.pop()
        if (name, extra) in done:
            continue
        done.add((name, extra))
        try:
            installed = distribution(name)
        except PackageNotFoundError:  # another system or Python needs it, which chooses the version
            continue
        versions[canonicalize_name(name)] = installed.version
        for requirement in map(Requirement, installed.requires or ()):
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                pending += [(requirement.name, more) for more in ("", *requirement.extras)]
    return [f"{name}=={version}" for name, version in sorted(versions.items()) if name != _NAME]


def find_pip_wheel() -> Path:
    """The newest wheel of pip that virtualenv has. Raises LatebindError without virtualenv."""
    spec = importlib.util.find_spec("virtualenv")
    wheels = list(Path(spec.origin).parent.glob("seed/wheels/embed/pip-*.whl")) if spec and spec.origin else []
    if not wheels:
        raise LatebindError("no installed virtualenv contains a wheel of pip, which the kit needs", advice=_ADVICE)
    return max(wheels, key=lambda path: Version(path.name.split("-")[1]))


def _list_files() -> dict[str, bytes]:
    """The package's files by their names in the wheel, as ci/build_hook.py and pyproject.toml have them."""
    files = {
        f"{_NAME}/{path.relative_to(PACKAGE).as_posix()}": path
        for path in list_tree(PACKAGE)
        if path.relative_to(PACKAGE).parts[0] != "_data"
    }
    for name in _DATA:
        root = folder(name)  # type: ignore[arg-type]  # both are names of folders
        files |= {f"{_NAME}/_data/{name}/{path.relative_to(root).as_posix()}": path for path in list_tree(root)}
    files[f"{_NAME}/_data/LICENSE"] = license_file()
    return {name: path.read_bytes() for name, path in files.items()}


def _read_metadata() -> dict[str, str]:
    """The texts of the installed distribution that a wheel has, too."""

    def texts() -> Iterator[tuple[str, str]]:
        installed = distribution(_NAME)
        for name in ("METADATA", "entry_points.txt"):
            if text := installed.read_text(name):
                yield name, text
        yield "WHEEL", _WHEEL

    try:
        metadata = dict(texts())
    except PackageNotFoundError as error:
        message = "the installed latebind has no package metadata"
        raise LatebindError(message, where=str(PACKAGE), advice=_ADVICE) from error
    if "METADATA" not in metadata:
        raise LatebindError("latebind's metadata is missing", where=str(PACKAGE), advice=_ADVICE)
    return metadata


def _encode_hash(data: bytes) -> str:
    """As RECORD has it (packaging.python.org, "Binary distribution format")."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
