"""Reads each file of a package once, in memory and within limits: hash, images, metadata texts."""

from __future__ import annotations

import hashlib
import io
import mmap
import re
import tempfile
from dataclasses import replace
from typing import IO, TYPE_CHECKING

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from loadcheck.binary import is_managed, read_images, sniff
from loadcheck.containers import naming_space
from loadcheck.errors import InputError
from loadcheck.formats import find_format
from loadcheck.readers.contents import Contents, File, WheelName
from loadcheck.readers.links import find_aliases, list_unfollowed
from loadcheck.readers.numpyapi import find_numpy_use
from loadcheck.readers.opened import find_opened, may_open
from loadcheck.readers.package_json import SCRIPTS, find_required
from loadcheck.readers.sources import open_source
from loadcheck.readers.strings import find_markers, helper_names, provider_names, search_helpers
from loadcheck.text import human_size

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from loadcheck.binary import Data
    from loadcheck.containers import Raw
    from loadcheck.model import Kind

_VARIANT = re.compile(r"(?P<plain>.+)-(?P<label>[0-9a-z_.]+)\.whl")
_HEAD = 128
_PEEK = 4096
_MAX_TEXT = 64 * 1024**2
_MAX_BINARY = 2 * 1024**3
_MAX_IN_MEMORY = 64 * 1024**2
_MAX_SCRIPT = 1024**2
_SCRIPTS = (".py", ".sh", ".js", ".cjs", ".mjs", ".rb", ".pth")


class NothingToAuditError(InputError):
    """Something that is neither a package nor a native binary, and contains none."""


def kind_of(path: Path) -> Kind:
    """The kind of a path. Raises InputError when it is not a package, a folder or a native binary."""
    if path.is_dir():
        return "folder"
    if path.exists() and not path.is_file():
        raise InputError("is a pipe, a socket or a device, not a file or folder", where=str(path))
    try:
        with path.open("rb") as file:
            head = file.read(_PEEK)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from error
    form = find_format(path.name)
    if form is not None:
        return form.audited_as
    if head.startswith(b"PK\3\4"):
        return "archive"
    if sniff(head) is None:
        raise NothingToAuditError(
            "is neither a package nor a native binary",
            where=str(path),
            advice="Name wheels, nupkgs, npm packages, JARs, sdists, SDKs, zip archives, folders, or ELF, Mach-O or PE "
            "files.",
        )
    return "binary"


def read_package(  # noqa: PLR0913  # what to read, and what to keep of it
    path: Path,
    kind: Kind,
    *,
    is_text: Callable[[str, int], bool],
    markers: Collection[str],
    lost: Mapping[str, str],
    about_to_read: Callable[[str], None],
) -> Contents:
    """Read a whole package.

    `is_text` decides, by a member's name and size, whether checks need its bytes. `about_to_read` is called with the
    name of each file before it is parsed. Files in `lost` are not parsed, because their reader died before; the value
    says how.
    """
    package = Contents(path=path, kind=kind, wheel=wheel_name(path.name))
    files: list[File] = []
    texts: dict[str, bytes] = {}
    try:
        source = open_source(path, kind)
        for raw in source.files():
            about_to_read(raw.name)
            keeps_text = not raw.within and is_text(raw.name, raw.size)
            file, data = _read(raw, lost.get(raw.name, ""), keep=keeps_text)
            if data is not None and file.is_native:
                file = _with_image(file, data, markers)
            files.append(file)
            if keeps_text and isinstance(data, bytes):
                texts[raw.name] = data
            del data  # not needed while the next file is inflated
    except InputError as error:
        return replace(package, files=tuple(files), texts=texts, damage=error.message, damage_fix=error.advice)
    files.sort(key=lambda file: file.name)
    aliases = find_aliases(source.links, {file.name for file in files})
    return replace(
        package,
        files=tuple(files),
        texts=texts,
        problems=tuple(source.problems),
        links=tuple(sorted(source.links)),
        aliases=aliases,
        unfollowed=list_unfollowed(source.links, aliases),
    )


def variant_label(file_name: str) -> str:
    """The label of a wheel variant in a file's name (PEP 825); "" for other names."""
    match = _VARIANT.fullmatch(file_name)
    if match is None or _parse_name(file_name):  # then the last part is the platform
        return ""
    return match["label"] if _parse_name(f"{match['plain']}.whl") else ""


def wheel_name(file_name: str) -> WheelName | None:
    """The parts of a wheel's file name, or None if it is not a valid wheel name.

    The label of a wheel variant, after the platform (PEP 825), is left out.
    """
    return _parse_name(file_name) or _parse_name(_VARIANT.sub(r"\g<plain>.whl", file_name))


def _parse_name(file_name: str) -> WheelName | None:
    """The parts of a name without a label; None if it is not a valid one."""
    try:
        project, version, _, tags = parse_wheel_filename(file_name)
    except InvalidWheelFilename:
        return None
    return WheelName(
        project=project,
        version=str(version),
        pythons=tuple(sorted({tag.interpreter for tag in tags})),
        abis=tuple(sorted({tag.abi for tag in tags})),
        platforms=tuple(sorted({tag.platform for tag in tags})),
    )


def _read(raw: Raw, died: str, *, keep: bool) -> tuple[File, Data | None]:
    """Read one file, and return its bytes if they are needed. Raises UserError if there is no room for them."""
    # In memory, since joining a list of blocks would copy it once more; a huge file is mapped from the disk.
    with naming_space(raw), io.BytesIO() if keep or raw.size <= _MAX_IN_MEMORY else tempfile.TemporaryFile() as whole:
        file, is_needed = _copy(raw, whole, died, keep=keep)
        if not is_needed:
            return file, None
        if not isinstance(whole, io.BytesIO):
            return file, mmap.mmap(whole.fileno(), 0, access=mmap.ACCESS_READ)
        data = whole.getvalue()
    if file.is_managed:
        file = replace(file, names=helper_names(data))
    elif _is_script(raw, data[:2]):
        opens = raw.name.endswith(".py") and may_open(data)
        file = replace(
            file,
            helpers=search_helpers(data, is_python=raw.name.endswith((".py", ".pth"))),
            opened=find_opened(data) if opens else (),
            may_open=opens,
            required=find_required(data) if raw.name.endswith(SCRIPTS) else (),
        )
    return file, data if keep or file.is_native else None


def _is_script(raw: Raw, start: bytes) -> bool:
    """Whether a file has a script's name or, without an ending, its first line."""
    return raw.size <= _MAX_SCRIPT and (raw.name.endswith(_SCRIPTS) or start == b"#!")


def _copy(raw: Raw, whole: IO[bytes], died: str, *, keep: bool) -> tuple[File, bool]:
    """Copy a file to `whole` if its bytes are needed, and return whether they are."""
    digest = hashlib.sha256()
    head, size, problem = b"", 0, ""
    kept = keep and raw.size <= _MAX_TEXT
    try:
        for block in raw.blocks():
            if is_start := size < _PEEK:
                head += block[: _PEEK - size]
                is_native = sniff(head) is not None
                if is_native and raw.size > _MAX_BINARY:
                    problem = f"has {human_size(raw.size)}, but loadcheck reads at most {human_size(_MAX_BINARY)}"
                    size = raw.size
                    break
                kept = kept or is_native or _is_script(raw, head[:2])
            if is_start or kept:
                whole.write(block)
            size += len(block)
            digest.update(block)
    except InputError as error:
        problem = error.message
    file = File(
        name=raw.name,
        within=raw.within,
        size=size,
        mode=raw.mode,
        sha256=digest.hexdigest(),
        head=head[:_HEAD],
        format=sniff(head),
        is_managed=is_managed(head),
        problem=problem,
        died=died,
    )
    whole.flush()
    return file, kept and not problem


def _with_image(file: File, data: Data, markers: Collection[str]) -> File:
    file = replace(file, markers=find_markers(data, file.format, markers))
    if file.died:
        return file
    try:
        images = read_images(data, file.name)
    except InputError as error:
        return replace(file, problem=error.message)
    file = replace(file, images=images, numpy=find_numpy_use(data, images))
    return replace(file, names=provider_names(data)) if file.is_provider else file
