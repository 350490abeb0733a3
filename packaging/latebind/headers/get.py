"""Gets the headers of a version from the first of several places that has them."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from packaging.version import InvalidVersion, Version

from latebind.errors import InputError, LatebindError, NotRun, ToolError
from latebind.headers.files import Headers, extract_headers, identifying_header
from latebind.headers.record import read_recorded, write_headers
from latebind.system.cache import callers_home, user_cache
from latebind.system.programs import which
from latebind.system.run import run
from latebind.tables.presets import RuntimePreset
from latebind.tables.targets import host_rid
from latebind.verify.cases.installers import installer

_TIME_LIMIT = 300.0
_TAG = re.compile(r"refs/tags/(\S+)$", re.MULTILINE)


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
        except (NotRun, InputError, ToolError) as error:
            reasons.append(f"  {place}: {error.message.splitlines()[-1].strip()}")
            continue
        if kept:
            write_headers(headers, runtime.name, kept)
        return headers
    text = f"no headers of {runtime.title} {version} were found\n" + "\n".join(reasons)
    raise LatebindError(text, advice=_explain_by_hand(runtime, version))


def _explain_by_hand(runtime: RuntimePreset, version: str) -> str:
    ids, supply = runtime.nuget.ids, runtime.headers
    exact = version if version.count(".") > 1 else f"{version}.*"  # tags and packages have a patch number, too
    sources = f"the sources of {supply.repository} at tag {supply.tag}{exact}" if supply else "its sources"
    package = f"the NuGet package {ids[0]} {exact}, or " if ids else ""
    return f"Download {package}{sources} on a machine with a network. Then name the file or folder: --from PATH."


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
    name = runtime.headers.wheel if runtime.headers else ""
    if not name:
        raise NotRun("no-distribution", "contains no headers")
    with tempfile.TemporaryDirectory(prefix="latebind-headers-") as aside:
        folder = Path(aside) / "wheel"
        log = Path(aside) / "log"
        installer(Path(aside) / "home").unpack(f"{name}=={version}.*", folder, host_rid(), log)
        metadata = next(folder.glob(f"{name}-*.dist-info"))
        exact = metadata.name.removesuffix(".dist-info").partition("-")[2]
        return replace(extract_headers(runtime, folder, f"wheel {name} {exact}"), version=exact)


def _from_repository(runtime: RuntimePreset, version: str) -> Headers:
    """Of the version's newest tag in the runtime's repository."""
    supply, git = runtime.headers, which("git")
    if supply is None or git is None:
        raise NotRun("no-distribution", "there is no git" if supply else "it is not known")
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
        run([git, "-C", tree, "sparse-checkout", "set", *supply.folders], env=environment, timeout=_TIME_LIMIT)
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


_PLACES = {
    "NuGet": _from_nuget,
    "the system": _from_system,
    "the wheel": _from_wheel,
    "the repository": _from_repository,
}
