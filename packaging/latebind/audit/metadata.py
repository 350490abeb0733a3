"""Checks LB5xx: whether a package's metadata is whole, true, and fits the one minimum; reads nothing."""

from __future__ import annotations

import base64
import contextlib
import re
from collections import Counter
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from latebind.audit.opc import readable_nuspec
from latebind.audit.record import Row, read_headers, read_record
from latebind.audit.registry import Hit, Skip, check
from latebind.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from latebind.audit.policy import Policy
    from latebind.audit.subject import File, Package

_LICENCE = re.compile(r"(^|/)(licen[cs]es?|copying|notice|unlicense)([._-][^/]*)?(/|$)", re.IGNORECASE)
_UNHASHED = ("RECORD", "RECORD.jws", "RECORD.p7s")


@check(
    "LB501",
    "RECORD missing, incomplete or wrong",
    "error",
    scope="package",
    kinds=("wheel",),
    example="latenn/liblatenn.so was replaced after RECORD was written",
    cure="Write the wheel again with its build backend, or run `wheel unpack` and `wheel pack` after a change.",
)
def record_wrong(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """RECORD lists every file of a wheel with hash and size.

    Installers verify it and uninstall by it: what is not listed stays behind for ever, what differs was changed
    after the build.
    """
    del policy
    info = package.dist_info
    name = f"{info}/RECORD"
    if not info or name not in package.texts:
        yield Hit(message="has no RECORD", evidence=(f"missing: {name.lstrip('/') or 'RECORD'}",))
        return
    try:
        rows = read_record(package.texts[name], name)
    except InputError as error:
        yield Hit(inner=name, message=error.message, evidence=(name,))
        return
    files = {file.name: file for file in package.files}
    counts = Counter(row.path for row in rows)
    for path in sorted(path for path, count in counts.items() if count > 1):
        yield Hit(inner=name, message=f"lists {path} {counts[path]} times", evidence=(path,))
    for row in rows:
        if row.path not in files:
            yield Hit(inner=name, message=f"lists {row.path}, which is not in the wheel", evidence=(row.path,))
        else:
            yield from _compare(row, files[row.path], info)
    for path in sorted(files.keys() - counts.keys()):
        if path not in (f"{info}/{plain}" for plain in _UNHASHED[1:]):
            yield Hit(inner=path, message="is in the wheel, but RECORD does not list it", evidence=(path,))


def _compare(row: Row, file: File, dist_info: str) -> Iterator[Hit]:
    if row.path in (f"{dist_info}/{plain}" for plain in _UNHASHED):
        return
    method, _, digest = row.digest.partition("=")
    if file.problem and not file.size:
        return  # LB601 tells that it cannot be read
    if not digest or method in ("md5", "sha1"):
        yield Hit(
            inner=row.path, message="has no SHA-256 or stronger hash in RECORD", evidence=(f"{row.path},{row.digest}",)
        )
    elif method == "sha256":
        seen = base64.urlsafe_b64encode(bytes.fromhex(file.sha256)).rstrip(b"=").decode()
        if digest.rstrip("=") != seen and not file.problem:
            yield Hit(
                inner=row.path,
                message="differs from its hash in RECORD",
                evidence=(f"RECORD: sha256={digest}", f"file: sha256={seen}"),
            )
    if row.size and row.size != str(file.size) and not file.problem:
        yield Hit(
            inner=row.path,
            message=f"has {file.size} bytes, RECORD says {row.size}",
            evidence=(f"RECORD: {row.size}", f"file: {file.size}"),
        )


@check(
    "LB502",
    "Wheel metadata broken or at odds with the file name",
    "error",
    scope="package",
    kinds=("wheel",),
    example="latenn-1.0-py3-none-any.whl whose METADATA says Version: 1.1",
    cure="Build the wheel again with its backend; rename with `wheel tags`, never by hand.",
)
def wheel_metadata(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """Installers choose by the file name and install by what is inside: both must say the same."""
    del policy
    if package.wheel is None:
        yield Hit(
            message="is not named as a wheel must be: project-version-python-abi-platform.whl",
            evidence=(f"file name: {package.path.name}",),
        )
        return
    folders = sorted({file.name.partition("/")[0] for file in package.files if ".dist-info/" in file.name})
    if len(folders) != 1:
        yield Hit(message=f"must hold one .dist-info folder, there are {len(folders)}", evidence=tuple(folders))
    for part, judge in (("WHEEL", _judge_wheel), ("METADATA", _judge_metadata)):
        name = f"{package.dist_info}/{part}"
        if name not in package.texts:
            yield Hit(message=f"has no {part}", evidence=(f"missing: {part}",))
            continue
        try:
            fields = read_headers(package.texts[name], name)
        except InputError as error:
            yield Hit(inner=name, message=error.message, evidence=(name,))
            continue
        for message, evidence in judge(package, fields):
            yield Hit(inner=name, message=message, evidence=(evidence, f"file name: {package.path.name}"))


def _judge_wheel(package: Package, fields: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    name = package.wheel
    if name is None:
        return
    said = {
        (python, abi, platform)
        for tag in fields.get("tag", ())
        for python in tag.split("-")[0].split(".")
        for abi in "".join(tag.split("-")[1:2]).split(".")
        for platform in "".join(tag.split("-")[2:3]).split(".")
    }
    named = {(python, abi, platform) for python in name.pythons for abi in name.abis for platform in name.platforms}
    if said != named:
        yield "has other tags than the file name", f"Tag: {', '.join(fields.get('tag', ('none',)))}"
    if not fields.get("wheel-version"):
        yield "lacks Wheel-Version", "missing: Wheel-Version"


def _judge_metadata(package: Package, fields: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    name = package.wheel
    for field in ("metadata-version", "name", "version"):
        if not fields.get(field):
            yield f"lacks {field.title()}", f"missing: {field.title()}"
    for text in fields.get("requires-dist", ()):
        try:
            Requirement(text)
        except InvalidRequirement:
            yield "has a requirement that cannot be read", f"Requires-Dist: {text}"
    if name is None:
        return
    for said in fields.get("name", ())[:1]:
        if canonicalize_name(said) != name.project:
            yield f"names the project {said}", f"Name: {said}"
    for said in fields.get("version", ())[:1]:
        if _version(said) != _version(name.version):
            yield f"has the version {said}", f"Version: {said}"


@check(
    "LB503",
    "Nuspec at odds with the file name",
    "error",
    scope="package",
    kinds=("nupkg",),
    example="Latenn.1.0.0.nupkg whose nuspec says 1.1.0",
    cure="Pack again; a nupkg is never renamed by hand.",
)
def nuspec_name(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """Local feeds and caches find a package by its file name and then read the nuspec: NuGet fails when they differ."""
    del policy
    found = readable_nuspec(package)
    if found is None:
        return
    name, spec = found
    said, version = spec.fields.get("id", ""), spec.fields.get("version", "")
    stem = package.path.name.rpartition(".")[0].removesuffix(".symbols")
    wanted = {f"{said}.{text}".lower() for text in (version, version.partition("+")[0], _normal(version))}
    if stem.lower() not in wanted:
        yield Hit(
            inner=name,
            message=f"says {said} {version}, the file is named {package.path.name}",
            evidence=(f"id: {said}", f"version: {version}", f"file name: {package.path.name}"),
        )


@check(
    "LB504",
    "Dependency that contradicts the minimum",
    "error",
    scope="package",
    kinds=("wheel", "nupkg"),
    example="Requires-Dist: onnxruntime==1.20.1",
    cure='Declare the one minimum and no more: onnxruntime>=1.19, or version="1.19.0" in a nuspec.',
)
def dependency_contradicts(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """A late-binding library runs on every release from its minimum on.

    A pinned or capped runtime keeps users from the release that they need; a lower minimum installs one that
    cannot work, a higher one refuses those that would.
    """
    for runtime in policy.runtimes:
        minimum = policy.minimums.get(runtime.name, "")
        if package.kind == "wheel":
            names = {canonicalize_name(name) for name in runtime.python.extras.values()}
            if package.project not in names:
                yield from _requirements(package, names, minimum)
        elif package.project not in runtime.nuget.ids:
            yield from _dependencies(package, {name.lower() for name in runtime.nuget.ids}, minimum)


@check(
    "LB506",
    "One supplier of the runtime required",
    "warning",
    scope="package",
    kinds=("wheel",),
    example="Requires-Dist: onnxruntime>=1.19",
    cure="Move each supplier into an extra of its own: cpu, gpu, directml, ...",
)
def supplier_required(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """Several distributions supply the runtime into one folder, and two of them destroy each other.

    A requirement that holds always brings the plain one beside the user's own choice, such as the GPU build.
    """
    inner = f"{package.dist_info}/METADATA"
    for runtime in policy.runtimes:
        names = {canonicalize_name(name) for name in runtime.python.extras.values()}
        if len(names) == 1 or package.project in names:
            continue
        for text, row in _required(package, inner):
            if canonicalize_name(row.name) in names and "extra" not in str(row.marker or ""):
                yield Hit(
                    inner=inner,
                    message=f"always requires {row.name}, one of {len(names)} suppliers of {runtime.title}",
                    evidence=(text,),
                )


def _required(package: Package, inner: str) -> Iterator[tuple[str, Requirement]]:
    """The requirements that can be read, with their text."""
    try:
        fields = read_headers(package.texts.get(inner, b""), inner)
    except InputError:
        return  # LB502
    for text in fields.get("requires-dist", ()):
        with contextlib.suppress(InvalidRequirement):  # LB502
            yield text, Requirement(text)


def _requirements(package: Package, names: Collection[str], minimum: str) -> Iterator[Hit]:
    inner = f"{package.dist_info}/METADATA"
    for text, row in _required(package, inner):
        if canonicalize_name(row.name) not in names:
            continue
        closed = [str(part) for part in row.specifier if part.operator in ("==", "===", "<", "<=", "~=")]
        lower = [part.version for part in row.specifier if part.operator in (">=", ">")]
        if closed:
            yield Hit(inner=inner, message=f"pins or caps {row.name}: {', '.join(closed)}", evidence=(text,))
        elif minimum and (len(lower) != 1 or _version(lower[0]) != _version(minimum)):
            asked = f">={lower[0]}" if lower else "any version"
            yield Hit(
                inner=inner,
                message=f"asks for {row.name} {asked}, the one minimum is {minimum}",
                evidence=(text, f"minimum: {minimum}"),
                fix=f"Declare {row.name}>={minimum}; let latebind pack write it from the configuration.",
            )


def _dependencies(package: Package, ids: set[str], minimum: str) -> Iterator[Hit]:
    found = readable_nuspec(package)
    if found is None:
        return
    inner, spec = found
    for row in spec.dependencies:
        if row.id.lower() not in ids:
            continue
        text = row.version.replace(" ", "")
        low, _, high = text.strip("[]()").partition(",")
        if text.startswith(("[", "(")) and (high or "," not in text):
            yield Hit(
                inner=inner, message=f"pins or caps {row.id}: {row.version}", evidence=(f"{row.id} {row.version}",)
            )
        elif minimum and _version(low) != _version(minimum):
            yield Hit(
                inner=inner,
                message=f"asks for {row.id} from {low or 'any version'}, the one minimum is {minimum}",
                evidence=(f"{row.id} {row.version}", f"minimum: {minimum}"),
            )


@check(
    "LB505",
    "Licence missing",
    "warning",
    scope="package",
    kinds=("wheel", "nupkg"),
    example="a wheel without dist-info/licenses/",
    cure='Set license and license-files in pyproject.toml; in the nuspec <license type="expression">.',
)
def licence_missing(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """Most licences demand that their text goes with every copy, and companies refuse packages without one."""
    del policy
    if package.kind == "wheel":
        if not any(_LICENCE.search(file.name) for file in package.files):
            yield Hit(message="holds no licence file", evidence=("looked for: LICENSE*, COPYING*, NOTICE*",))
        return
    found = readable_nuspec(package)
    if found is None or package.path.suffix == ".snupkg":  # symbols go with the package that names the licence
        return
    inner, spec = found
    named = spec.fields.get("license", "")
    if not named and not spec.fields.get("licenseUrl"):
        yield Hit(inner=inner, message="names no licence", evidence=("missing: <license>",))
    elif spec.license_type == "file" and named.replace("\\", "/") not in {file.name for file in package.files}:
        yield Hit(inner=inner, message=f"names the licence file {named}, which is not there", evidence=(named,))


def _version(text: str) -> Version | str:
    try:
        return Version(text)
    except InvalidVersion:
        return text


def _normal(text: str) -> str:
    """A NuGet version as file names write it: three numbers at least, no zero fourth, no leading zeros."""
    numbers, dash, label = text.partition("+")[0].partition("-")
    parts = [part.lstrip("0") or "0" for part in numbers.split(".")]
    parts += ["0"] * (3 - len(parts))
    if len(parts) == 4 and parts[3] == "0":  # noqa: PLR2004
        parts.pop()
    return ".".join(parts) + dash + label
