"""Reads each file of a package once, in memory and within limits: hash, images, metadata texts."""

from __future__ import annotations

import hashlib
import io
import posixpath
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from latebind.audit.nested import is_archive, native_members
from latebind.audit.sources import PACKAGE_KINDS, Raw, open_source, package_suffix
from latebind.audit.subject import BUILD_FOLDERS, Contents, File, SubjectKind, WheelName
from latebind.binary import is_managed, read_images, sniff
from latebind.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from latebind.binary import Format

_HEAD = 128
_PEEK = 4096
_MAX_TEXT = 64 * 1024**2
_MAX_BINARY = 2 * 1024**3
_MAX_SHOWN_PATHS = 5
_MICROSOFT_TYPE = ".?A"  # Visual C++ gives types such names, and makes only PE files
# Folders of build machines. Short ones such as /work or /src would match ordinary strings.
_BUILD_FOLDERS = re.compile(rb"/(?:home|root|Users|tmp|var/tmp|builds|workspace|__w|github/workspace|private/var)/")
_WINDOWS_FOLDERS = re.compile(rb":\\(?:Users|a|agent)\\")
_REST_OF_PATH = re.compile(rb"[^\x00-\x20\x7f-\xff\"'<>`:;,|*]{1,200}")
# Examples in help texts, such as OpenVINO's '/home/user/models/model.onnx'.
_EXAMPLES = re.compile(rb"(['\"`])/(?:home|Users)/(?:user|username|me|you)/[^'\"`\0]*\1")
_OF_BUILD = re.compile(
    r"\.([cfhmor]|[ch](c|pp|xx|h)|rs|go|py|pyx|f90|asm|s|cu|cuh|inl|ipp|a|so|obj|mod)$|build|pip-", re.IGNORECASE
)
"""What follows a folder for temporary files if something was built there."""
# Strings of programs that use such a folder at run time.
_RUN_TIME_PATHS = (b"/tmp/%", b"/tmp/.", b"/tmp/perf-", b"/home/%s", b"/root/.", b"/tmp/\0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What is searched in the bytes of each binary, each in a pass of its own."""

    markers: tuple[str, ...] = ()
    """These strings."""
    paths: bool = True
    """Paths of build machines."""


def kind_of(path: Path) -> SubjectKind:
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
    suffix = package_suffix(path.name)
    if suffix:
        return PACKAGE_KINDS[suffix]
    if head.startswith(b"PK\3\4"):
        return "archive"
    if sniff(head) is None:
        raise InputError(
            "is neither a package nor a native binary",
            where=str(path),
            advice="Name wheels, nupkgs, sdists, zip archives, folders, or ELF, Mach-O or PE files.",
        )
    return "binary"


def read_package(
    path: Path,
    kind: SubjectKind,
    *,
    sought: Sought,
    lost: Mapping[str, str],
    about_to_read: Callable[[str], None],
) -> Contents:
    """Read a whole package.

    `about_to_read` is called with the name of each file before it is parsed. Files in `lost` are not parsed, because
    their reader died before; the value says how.
    """
    package = Contents(path=path, kind=kind, wheel=wheel_name(path.name) if kind == "wheel" else None)
    files: list[File] = []
    texts: dict[str, bytes] = {}
    try:
        source = open_source(path, kind)
        for raw in source.files():
            about_to_read(raw.name)
            is_text = _is_text(raw.name, kind)
            file, data = _read(raw, lost.get(raw.name, ""), keep=is_text)
            if data is not None and file.is_native:
                file = _with_image(file, data, sought)
            files.append(file)
            if data is not None and is_text:
                texts[raw.name] = data
            del data  # not needed while the next file is inflated
    except InputError as error:
        return replace(package, files=tuple(files), texts=texts, damage=error.message)
    files.sort(key=lambda file: file.name)
    return replace(
        package, files=tuple(files), texts=texts, problems=tuple(source.problems), links=tuple(sorted(source.links))
    )


def wheel_name(file_name: str) -> WheelName | None:
    """The parts of a wheel's file name, or None if it is not a valid wheel name."""
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


def _is_text(name: str, kind: SubjectKind) -> bool:
    if kind == "wheel":
        return posixpath.dirname(name).endswith((".dist-info", ".dist-info/sboms"))
    if kind == "sdist":
        return name.count("/") == 1 and name.endswith("/pyproject.toml")
    if kind != "nupkg":
        return False
    small = name.lower()
    of_build = small.startswith(BUILD_FOLDERS) and small.endswith((".props", ".targets"))
    return of_build or small.endswith((".nuspec", ".rels", ".psmdcp")) or name == "[Content_Types].xml"


def _read(raw: Raw, died: str, *, keep: bool) -> tuple[File, bytes | None]:
    digest = hashlib.sha256()
    whole = io.BytesIO()  # joining a list of blocks would copy it once more
    head, size, problem = b"", 0, ""
    kept = keep and raw.size <= _MAX_TEXT
    try:
        for block in raw.blocks():
            if is_start := size < _PEEK:
                head += block[: _PEEK - size]
                kept = kept or (sniff(head) is not None and raw.size <= _MAX_BINARY)
                kept = kept or (is_archive(raw.name, head) and raw.size <= _MAX_TEXT)
            if is_start or kept:
                whole.write(block)
            size += len(block)
            digest.update(block)
    except InputError as error:
        problem = error.message
    file = File(
        name=raw.name,
        size=size,
        mode=raw.mode,
        sha256=digest.hexdigest(),
        head=head[:_HEAD],
        format=sniff(head),
        is_managed=is_managed(head),
        problem=problem,
        died=died,
    )
    if not kept or problem:
        return file, None
    data = whole.getvalue()
    whole.close()
    if is_archive(raw.name, head) and not file.is_native:
        file = replace(file, nested=native_members(data))
    return file, data if keep or file.is_native else None


def _with_image(file: File, data: bytes, sought: Sought) -> File:
    file = replace(
        file,
        markers=tuple(
            marker
            for marker in sought.markers
            if file.format == "pe" or not marker.startswith(_MICROSOFT_TYPE)
            if marker.encode() in data
        ),
        paths=build_paths(data, file.format) if sought.paths else (),
    )
    if file.died:
        return file
    try:
        return replace(file, images=read_images(data, file.name))
    except InputError as error:
        return replace(file, problem=error.message)


def build_paths(data: bytes, format_: Format | None) -> tuple[str, ...]:
    """The first few absolute paths of a build machine in a binary."""
    found: dict[str, None] = {}
    pattern = _WINDOWS_FOLDERS if format_ == "pe" else _BUILD_FOLDERS
    for match in pattern.finditer(data):
        if (text := _path_at(data, match.start(), match.end())) is not None:
            found[text] = None
        if len(found) == _MAX_SHOWN_PATHS:
            break
    return tuple(found)


def _path_at(data: bytes, start: int, end: int) -> str | None:
    """The path that starts there, if it goes on below the folder and is not one that the program uses at run time."""
    is_windows = data[start : start + 1] == b":"
    start -= is_windows
    before = data[start - 1 : start] if start else b""
    if before.isalnum() or before in (b"/", b".", b"_", b"-", b"}", b"*"):
        return None  # the middle of a longer path or of a URL
    if data.startswith(_RUN_TIME_PATHS, start) or _EXAMPLES.match(data, max(start - 1, 0)):
        return None
    match = _REST_OF_PATH.match(data, end)
    rest = match[0].decode("ascii") if match else ""
    if b"tmp/" in data[start:end] and not _OF_BUILD.search(rest):
        return None  # an example in a docstring, such as PyArrow's /tmp/new_folder/local_fs.dat
    if "%" in rest or not ("/" in rest.strip("/") or "\\" in rest):
        return None  # a pattern that is filled in at run time, or a single name
    return data[start:end].decode("ascii", "replace") + rest
