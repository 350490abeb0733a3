"""Makes wheels of the latebind that runs and of its loadcheck, and pins what they need, so that a kit has the same."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from latebind.errors import LatebindError
from latebind.fingerprint import LOADCHECK, PACKAGE
from latebind.system.archive import Entry, write_zip
from latebind.system.resources import folder, license_file, messages_page
from latebind.system.tree import list_tree

_NAME = "latebind"
_FOLDERS = {_NAME: PACKAGE, "loadcheck": LOADCHECK}
"""The distributions of which a kit has a wheel, with the folders of their modules."""
_EXTRA = "verify"
_DATA = ("templates", "loader")
_WHEEL = "Wheel-Version: 1.0\nGenerator: latebind\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_ADVICE = "Install latebind again, with its extra: pip install 'latebind[verify]'."


def write_own_wheels(destination: Path) -> list[Path]:
    """The wheels of this latebind, and of its loadcheck, in a folder. Raises LatebindError without their metadata."""
    return [_write_wheel(name, destination) for name in _FOLDERS]


def _write_wheel(name: str, destination: Path) -> Path:
    metadata = {file: text.encode() for file, text in _read_metadata(name).items()}
    version = distribution(name).version
    info = f"{name}-{version}.dist-info"
    files = {**_list_files(name), **{f"{info}/{file}": data for file, data in metadata.items()}}
    record = "".join(f"{name},sha256={_encode_hash(data)},{len(data)}\n" for name, data in sorted(files.items()))
    entries = [Entry(name=name, data=data) for name, data in files.items()]
    entries.append(Entry(name=f"{info}/RECORD", data=f"{record}{info}/RECORD,,\n".encode()))
    path = destination / f"{name}-{version}-py3-none-any.whl"
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
    return [f"{name}=={version}" for name, version in sorted(versions.items()) if name not in _FOLDERS]


def find_pip_wheel() -> Path:
    """The newest wheel of pip that virtualenv has. Raises LatebindError without virtualenv."""
    spec = importlib.util.find_spec("virtualenv")
    wheels = list(Path(spec.origin).parent.glob("seed/wheels/embed/pip-*.whl")) if spec and spec.origin else []
    if not wheels:
        raise LatebindError("no installed virtualenv contains a wheel of pip, which the kit needs", advice=_ADVICE)
    return max(wheels, key=lambda path: Version(path.name.split("-")[1]))


def _list_files(name: str) -> dict[str, bytes]:
    """The package's files by their names in the wheel, as ci/build_hook.py and pyproject.toml have them."""
    package = _FOLDERS[name]
    files = {
        f"{name}/{path.relative_to(package).as_posix()}": path
        for path in list_tree(package)
        if path.relative_to(package).parts[0] != "_data"
    }
    for data in _DATA if name == _NAME else ():
        root = folder(data)  # type: ignore[arg-type]  # both are names of folders
        files |= {f"{name}/_data/{data}/{path.relative_to(root).as_posix()}": path for path in list_tree(root)}
    if name == _NAME:
        files |= {f"{name}/_data/{path.name}": path for path in (license_file(), messages_page())}
    return {name: path.read_bytes() for name, path in files.items()}


def _read_metadata(name: str) -> dict[str, str]:
    """The texts of the installed distribution that a wheel has, too."""

    def texts() -> Iterator[tuple[str, str]]:
        installed = distribution(name)
        for file in ("METADATA", "entry_points.txt"):
            if text := installed.read_text(file):
                yield file, text
        yield "WHEEL", _WHEEL

    try:
        metadata = dict(texts())
    except PackageNotFoundError as error:
        message = f"the installed {name} has no package metadata"
        raise LatebindError(message, where=str(_FOLDERS[name]), advice=_ADVICE) from error
    if "METADATA" not in metadata:
        raise LatebindError(f"{name}'s metadata is missing", where=str(_FOLDERS[name]), advice=_ADVICE)
    return metadata


def _encode_hash(data: bytes) -> str:
    """As RECORD has it (packaging.python.org, "Binary distribution format")."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
