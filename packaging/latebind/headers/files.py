"""Finds the headers of a runtime in a folder or an archive: a package, a wheel, a source tree or one's own copy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from latebind.errors import InputError, LatebindError
from latebind.tables.presets import HeaderSupply, RuntimePreset
from loadcheck.archive import ZipReader
from loadcheck.tarball import Tar
from loadcheck.text import human_size

_SUFFIXES = (".h", ".hpp", ".hxx")
_TAR_SUFFIXES = (".tgz", ".tar.gz", ".tar.xz", ".tar.bz2")
_LONGEST = 8 << 20


@dataclass(frozen=True, slots=True)
class Headers:
    """The headers of one version of a runtime. `source` says in words where they are from."""

    version: str
    source: str
    files: Mapping[str, bytes]
    """By their names below the folder that compilers search."""


def extract_headers(runtime: RuntimePreset, place: Path, source: str = "") -> Headers:
    """The headers of a runtime in a folder or archive; the version is what the header states, "" if it states none.

    Raises InputError where there are none, or several different ones.
    """
    name, supply = identifying_header(runtime), runtime.headers
    files = _read_folder(place) if place.is_dir() else _read_archive(place)
    bases = sorted(path.removesuffix(name) for path in files if path == name or path.endswith(f"/{name}"))
    if len({files[f"{base}{name}"] for base in bases}) != 1:
        reason = f"several folders have different {name}: {', '.join(bases)}" if bases else f"contains no {name}"
        raise InputError(reason, where=str(place), advice="Name a folder of headers, a NuGet package or a wheel.")
    base, globs = bases[0], supply.globs if supply else ("*",)
    chosen = _below(files, base, PurePosixPath(name).parent, globs)
    folders = supply.folders if supply else ()
    if folders and base.endswith(f"{folders[0]}/"):  # a source tree, which has them in several folders
        top = base.removesuffix(f"{folders[0]}/")
        for folder in folders[1:]:
            chosen |= _below(files, f"{top}{folder}/", PurePosixPath(), globs)
    version = _stated_version(supply, chosen[name])
    return Headers(version, source or str(place), dict(sorted(chosen.items())))


def identifying_header(runtime: RuntimePreset) -> str:
    """The name of the header that identifies the folder of all. Raises LatebindError where that is not known."""
    if runtime.stub is None or not runtime.stub.header:
        raise LatebindError(
            f"the headers of {runtime.title} are not known", advice="Copy the headers from the runtime's sources."
        )
    return runtime.stub.header


def _below(files: Mapping[str, bytes], base: str, part: PurePosixPath, globs: tuple[str, ...]) -> dict[str, bytes]:
    """The headers in a folder, by names from `base`: all below `part`, or those in `base` itself."""
    is_flat = part == PurePosixPath()
    start = base if is_flat else f"{base}{part}/"
    names = {path: path.removeprefix(base) for path in files if path.startswith(start)}
    return {
        name: files[path]
        for path, name in names.items()
        if not (is_flat and "/" in name) and any(fnmatchcase(name.rpartition("/")[2], glob) for glob in globs)
    }


def _stated_version(supply: HeaderSupply | None, header: bytes) -> str:
    if supply is None or not supply.macro:
        return ""
    match = re.search(rf"^#define {supply.macro} (\d+)", header.decode("utf-8", "replace"), re.MULTILINE)
    return supply.macro_version.format(match[1]) if match else ""


def _read_folder(folder: Path) -> dict[str, bytes]:
    """The headers below a folder, without links, which may lead anywhere."""
    paths = (path for path in folder.rglob("*") if path.suffix in _SUFFIXES and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths if path.is_file()}


def _read_archive(path: Path) -> dict[str, bytes]:
    """The headers in a NuGet package, a wheel, or another zip or tar archive."""
    if not path.is_file():
        advice = "Name a folder with the headers, a NuGet package, a wheel or a source archive."
        raise InputError("there is no such file or folder", where=str(path), advice=advice)
    if path.name.endswith(_TAR_SUFFIXES):
        return dict(_read_tar(path))
    with ZipReader(path) as archive:
        names = [member.name for member in archive.members if member.name.endswith(_SUFFIXES)]
        return {name: archive.read(name, _LONGEST) for name in names}


def _read_tar(path: Path) -> Iterator[tuple[str, bytes]]:
    for member in Tar(path).files():
        if member.name.endswith(_SUFFIXES):
            if member.size > _LONGEST:
                text = f"{human_size(member.size)} exceed the limit of {human_size(_LONGEST)}"
                raise InputError(text, where=f"{path.name}!{member.name}")
            yield member.name, b"".join(member.blocks())
