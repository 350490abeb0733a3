"""Gets the official headers of a runtime, which its packages rarely hold, and records what they are."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

import msgspec
from packaging.version import InvalidVersion, Version

from latebind.backend.cache import callers_home, user_cache
from latebind.backend.files import replacing, write_text
from latebind.backend.programs import which
from latebind.backend.targets import host_rid, target
from latebind.errors import INPUT_ERRORS, InputError, LatebindError, NotRun, ToolError
from latebind.system.run import run
from latebind.tables.presets import HeaderSupply, RuntimePreset
from latebind.text import human_size
from latebind.verify.run.installers import installer
from loadcheck.facts import Tar, ZipReader

_SUFFIXES = (".h", ".hpp", ".hxx")
_TAR_SUFFIXES = (".tgz", ".tar.gz", ".tar.xz", ".tar.bz2")
_LONGEST = 8 << 20
_TIME_LIMIT = 300.0
_TAG = re.compile(r"refs/tags/(\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Headers:
    """The headers of one version of a runtime. `source` says in words where they are from."""

    version: str
    source: str
    files: Mapping[str, bytes]
    """By their names below the folder that compilers search."""


class HeaderRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`<runtime>-headers.json`: what the headers next to it are, and their hashes."""

    runtime: str
    version: str
    source: str
    sha256: dict[str, str]


def get_headers(runtime: RuntimePreset, version: str, given: Path | None = None) -> Headers:
    """The headers of a version (`1.19`: any of its patches), from `given`, a folder or archive, if that is named.

    Without a version ("", with `given` alone), whatever is there.

    What was fetched is kept in the user's cache and read from there as long as its hashes hold.

    Raises InputError when `given` has none, or others; LatebindError with the reason of each place when none has them.
    """
    if given is not None:
        return _check(extract_headers(runtime, given), runtime, version)
    cache = user_cache()
    kept = cache / "headers" / f"{runtime.name}-{version}" if cache else None
    if kept and (headers := read_recorded(kept, runtime.name)):
        return headers
    reasons = []
    for place, find in _PLACES.items():
        try:
            headers = _check(find(runtime, version), runtime, version)
        except (NotRun, *INPUT_ERRORS, ToolError) as error:
            reasons.append(f"  {place}: {error.message.splitlines()[-1].strip()}")
            continue
        if kept:
            write_headers(headers, runtime.name, kept)
        return headers
    text = f"no headers of {runtime.title} {version} were found\n" + "\n".join(reasons)
    raise LatebindError(text, advice=_explain_by_hand(runtime, version))


def _explain_by_hand(runtime: RuntimePreset, version: str) -> str:
    ids, supply = runtime.nuget.ids, runtime.headers or HeaderSupply()
    exact = version if version.count(".") > 1 else f"{version}.*"  # tags and packages have a patch number, too
    places = [
        f"the NuGet package {ids[0]} {exact}" if ids else "",
        f"the sources of {supply.repository} at tag {supply.tag}{exact}" if supply.repository else "",
        f"a wheel of {supply.wheel} {exact}" if supply.wheel and not supply.repository else "",
    ]
    place = ", or ".join(filter(None, places)) or "its sources"
    return f"Download {place} on a machine with a network. Then name the file or folder: --from PATH."


def _is_of(version: str, wanted: str) -> bool:
    """Whether a version is the wanted one: `1.19.2` is `1.19`. A header may state its minor version alone."""
    return version == wanted or version.startswith(f"{wanted}.") or wanted.startswith(f"{version}.")


def _check(headers: Headers, runtime: RuntimePreset, version: str) -> Headers:
    """Those headers, with a version. Raises InputError for another version, or not the file that was pinned."""
    headers = replace(headers, version=headers.version or version)
    if not headers.version:
        raise InputError("does not state its version", where=headers.source, advice="Name the version.")
    if version and not _is_of(headers.version, version):
        advice = f"To use these headers, name their version: latebind headers {runtime.name} {headers.version} ..."
        text = f"has the headers of {headers.version}, not of {version}"
        raise InputError(text, where=headers.source, advice=advice)
    pinned = runtime.headers.sha256.get(headers.version) if runtime.headers else None
    name = identifying_header(runtime)
    if pinned and hashlib.sha256(headers.files[name]).hexdigest() != pinned:
        raise InputError(f"{name} is not that of {runtime.title} {headers.version}", where=headers.source)
    return headers


def _from_nuget(runtime: RuntimePreset, version: str) -> Headers:
    """Of a package that NuGet has restored for this user."""
    root = Path(os.environ.get("NUGET_PACKAGES") or callers_home() / ".nuget" / "packages")
    for folder in (root / name.lower() for name in runtime.nuget.ids):
        exact = _newest((path.name for path in folder.glob("*")), version)
        if exact:
            return replace(
                extract_headers(runtime, folder / exact, f"NuGet package {folder.name} {exact}"), version=exact
            )
    raise NotRun("no-distribution", f"the package cache does not have {runtime.title} {version}")


def _from_system(runtime: RuntimePreset, version: str) -> Headers:
    """Of a package of the system, as pkg-config describes it."""
    name, program = runtime.stub.pkg_config if runtime.stub else "", which("pkg-config")
    if not name or program is None:
        raise NotRun("no-distribution", "there is no pkg-config")
    questions = ("--modversion", "--variable=includedir")
    answers = [run([program, question, name], timeout=_TIME_LIMIT, check=False) for question in questions]
    if any(answer.returncode for answer in answers):
        raise NotRun("no-distribution", f"pkg-config does not know {name}")
    installed, folder = (answer.output.strip() for answer in answers)
    if not _is_of(installed, version):
        raise NotRun("no-distribution", f"has {installed}")
    return replace(extract_headers(runtime, Path(folder), f"{name} {installed} in {folder}"), version=installed)


def _from_wheel(runtime: RuntimePreset, version: str) -> Headers:
    """Of the runtime's wheel, for those that hold their headers."""
    supply = runtime.headers
    if supply is None or not (name := supply.wheel):
        raise NotRun("no-distribution", "contains no headers")
    with tempfile.TemporaryDirectory(prefix="latebind-headers-") as aside:
        folder = Path(aside) / "wheel"
        log = Path(aside) / "log"
        rid = target(supply.target).rid if supply.target else host_rid()
        installer(Path(aside) / "home").unpack(f"{name}=={version}.*", folder, rid, log, for_any=True)
        metadata = next(folder.glob(f"{name}-*.dist-info"))
        exact = metadata.name.removesuffix(".dist-info").partition("-")[2]
        return replace(extract_headers(runtime, folder, f"wheel {name} {exact}"), version=exact)


def _from_repository(runtime: RuntimePreset, version: str) -> Headers:
    """Of the version's newest tag in the runtime's repository."""
    supply, git = runtime.headers, which("git")
    if supply is None or not supply.repository or git is None:
        raise NotRun("no-distribution", "there is no git" if supply and supply.repository else "it is not known")
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    listed = run([git, "ls-remote", "--tags", "--refs", "--", supply.repository], env=environment, timeout=_TIME_LIMIT)
    tags = (tag.removeprefix(supply.tag) for tag in _TAG.findall(listed.output) if tag.startswith(supply.tag))
    exact = _newest(tags, version)
    if not exact:
        raise NotRun("no-distribution", f"no tag of {version} in {supply.repository}")
    with tempfile.TemporaryDirectory(prefix="latebind-headers-") as aside:
        tree, tag = Path(aside) / "tree", f"{supply.tag}{exact}"
        options = ("--quiet", "--depth=1", "--filter=blob:none", "--sparse", "--branch", tag)
        run([git, "clone", *options, "--", supply.repository, tree], env=environment, timeout=_TIME_LIMIT)
        run([git, "-C", tree, "sparse-checkout", "set", *supply.sources], env=environment, timeout=_TIME_LIMIT)
        headers = extract_headers(runtime, tree, f"{supply.repository}, tag {tag}")
    return replace(headers, version=exact)


def _newest(names: Iterable[str], version: str) -> str:
    """The newest release of a version among names; "" for none."""
    releases = [(parsed, name) for name in names if _is_of(name, version) and (parsed := _release(name))]
    return max(releases, default=(None, ""))[1]


def _release(text: str) -> Version | None:
    try:
        parsed = Version(text)
    except InvalidVersion:
        return None
    return None if parsed.is_prerelease else parsed


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
    folders = (supply.folders if supply else ()) or (str(PurePosixPath(name).parent),)
    chosen = {
        path: data for folder in folders for path, data in _below(files, base, PurePosixPath(folder), globs).items()
    }
    sources = supply.sources if supply else ()
    if sources and base.endswith(f"{sources[0]}/"):  # a source tree, which has them in several folders
        top = base.removesuffix(f"{sources[0]}/")
        for folder in sources[1:]:
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


def write_headers(headers: Headers, runtime: str, folder: Path) -> None:
    """Write headers into a folder, next to what is there. Each file is whole or as it was; the record comes last."""
    for name, data in headers.files.items():
        with replacing(folder / name) as aside:
            aside.write_bytes(data)
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in headers.files.items()}
    record = HeaderRecord(runtime=runtime, version=headers.version, source=headers.source, sha256=hashes)
    text = msgspec.json.format(msgspec.json.encode(record), indent=1).decode()
    write_text(_record_file(folder, runtime), f"{text}\n")


def read_recorded(folder: Path, runtime: str) -> Headers | None:
    """The recorded headers of a folder; None where there is no record, or a file is not what was recorded."""
    try:
        record = msgspec.json.decode(_record_file(folder, runtime).read_bytes(), type=HeaderRecord)
        files = {name: (folder / name).read_bytes() for name in record.sha256}
    except (OSError, ValueError):
        return None
    if any(hashlib.sha256(files[name]).hexdigest() != digest for name, digest in record.sha256.items()):
        return None
    return Headers(record.version, record.source, files)


def _record_file(folder: Path, runtime: str) -> Path:
    return folder / f"{runtime}-headers.json"


_PLACES = {
    "NuGet": _from_nuget,
    "the system": _from_system,
    "the wheel": _from_wheel,
    "the repository": _from_repository,
}
