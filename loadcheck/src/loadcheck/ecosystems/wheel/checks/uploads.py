"""Checks LB307, LB312, LB507 and LB512: whether installers accept the tags of a wheel, and PyPI all of it."""

from __future__ import annotations

import configparser
import json
import re
from email.utils import parseaddr
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from packaging.metadata import ExceptionGroup, InvalidMetadata, Metadata, parse_email
from packaging.tags import mac_platforms
from packaging.version import Version

from loadcheck.engine.check import Hit, Hits, check
from loadcheck.engine.supply import requirement_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from packaging.metadata import RawMetadata

    from loadcheck.model import Severity
    from loadcheck.readers.contents import Contents, WheelName

_PEP_639 = Version("2.4")
"""The metadata version that introduced License-Expression and License-File."""
_LONGEST_SUMMARY = 512
_LONGEST_LABEL = 32
_COMMAND = re.compile(r"[\w.-]+")
_PLATFORMS = re.compile(
    r"any|win32|win_(arm64|amd64|ia64)|manylinux(1|2010)_(x86_64|i686)|linux_armv[67]l"
    r"|manylinux2014_(x86_64|i686|aarch64|armv7l|ppc64|ppc64le|s390x)|macosx_.+"
    r"|(manylinux_\d+_\d+_(ppc64|{0})|musllinux_\d+_\d+_({0}))|ios_\d+_\d+_(arm64|x86_64)_(iphoneos|iphonesimulator)"
    r"|android_\d+_(armeabi_v7a|arm64_v8a|x86|x86_64)|pyemscripten_\d+_\d+_wasm32".format(
        "x86_64|i686|aarch64|armv7l|ppc64le|s390x|riscv64"
    )
)
"""The platform tags that PyPI accepts: `_valid_platform_tag()` of warehouse/forklift/legacy.py. LB312 judges macOS'."""
_MACOS = re.compile(r"macosx_(?P<major>\d+)_(?P<minor>\d+)_(?P<arch>\w+)")
_NEWEST, _LAST_OLD = (60, 0), (10, 15)
"""Versions of macOS from which packaging counts down: one that is far ahead, and the last that is numbered 10."""
_MACHINES = (
    *((_NEWEST, arch) for arch in ("arm64", "x86_64")),
    *((_LAST_OLD, arch) for arch in ("x86_64", "i386", "ppc64", "ppc")),
)
_IN_LB502 = ("metadata-version", "name", "version", "requires-dist")
_PRIVATE = "Private ::"
"""How classifiers start that keep a package from PyPI."""
_COMMANDS = "Write sections of lines like name = module:function; names have letters, digits, dots, - and _ only."
_SBOM = "Write the SBOM again, as JSON in UTF-8."


@check(
    "LB307",
    "Platform tag that PyPI refuses",
    "warning",
    profiles=("all",),
    because="PyPI refuses the upload. The finding is a note if the wheel is not for PyPI: its version is local, or a "
    "classifier says that it is private.",
    example="latenn-1.0-py3-none-linux_x86_64.whl",
    fix="For Linux, tag the wheel manylinux_X_Y or musllinux_X_Y with auditwheel repair.",
)
def tag_refused(package: Contents, wheel: WheelName) -> Hits:
    """PyPI accepts tags that say on which systems the code runs. A plain linux tag promises no version of glibc.

    It accepts linux_armv6l and linux_armv7l, which piwheels uses, and the processors of PEP 600 and PEP 656.
    """
    refused = tuple(name for name in wheel.platforms if not _PLATFORMS.fullmatch(name))
    if refused:
        yield Hit(
            names=refused,
            message=f"is tagged {', '.join(refused)}, which PyPI refuses",
            evidence=refused,
            severity="warning" if _is_for_pypi(package) else "note",
        )


@check(
    "LB312",
    "Platform tag that no installer accepts",
    "error",
    because="No installer accepts the tag, so the wheel cannot be installed on the systems that it names. The finding "
    "is a warning if installers accept other tags of the wheel.",
    example="voice-1.0-cp310-abi3-macosx_10_9_arm64.whl",
    fix="For macOS 11 and newer, write the minor version 0 (macosx_12_0_arm64). For arm64, write 11_0 or newer.",
)
def tag_that_nobody_accepts(wheel: WheelName) -> Hits:
    """Installers list the tags that a machine accepts, and take a wheel only if it has one of them (PEP 425).

    Of the tags for macOS 11 and newer, they list only those with the minor version 0. For arm64, they list no version
    before 11, except for universal2 wheels (packaging.tags.mac_platforms).
    """
    named = {name: match for name in wheel.platforms if (match := _MACOS.fullmatch(name))}
    served = {match["arch"] for name, match in named.items() if name in _list_accepted()}
    refused = {name: match for name, match in named.items() if name not in _list_accepted()}
    lost = [name for name, match in refused.items() if not served & {match["arch"], "universal2"}]
    if lost:
        match = refused[lost[0]]
        newer = max(int(match["major"]) + bool(int(match["minor"])), 11)
        nearest = f"macosx_{newer}_0_{match['arch']}"
        yield Hit(
            names=tuple(lost),
            message=f"is tagged {lost[0]}, which no installer accepts; the nearest accepted one is {nearest}",
            evidence=tuple(lost),
            severity="error" if len(refused) == len(wheel.platforms) else "warning",
        )


@cache
def _list_accepted() -> frozenset[str]:
    """Every tag for macOS that some version of it accepts."""
    return frozenset(name for version, arch in _MACHINES for name in mac_platforms(version, arch))


@check(
    "LB507",
    "Metadata that the index refuses",
    "warning",
    profiles=("all",),
    because="The package installs, but the package index refuses the upload. The finding is a note for an SBOM that "
    "cannot be read, and for a local version.",
    kinds=("wheel",),
    example="License-File: LICENSE in METADATA, but no file latenn-1.0.dist-info/licenses/LICENSE",
    fix="Correct the field in pyproject.toml, and build again.",
)
def refused_metadata(package: Contents) -> Hits:
    """PyPI reads the metadata during an upload with packaging.metadata, as this check does, and has rules of its own.

    It refuses direct URLs in requirements, summaries of more than 512 characters, labels of more than 32 characters for
    Project-URL, links that are no URLs of the web, and e-mail addresses without @. It reads entry_points.txt, and
    compares License-File with the wheel's files (PEP 639). It also refuses local versions, such as 1.0+cu128, and each
    package with a classifier that starts with "Private ::", whose other fields are not judged. Its list of classifiers
    grows, so they are not compared with a list. For an SBOM in `.dist-info/sboms`, PEP 770 recommends JSON in UTF-8,
    because scanners skip SBOMs that they cannot read.
    """
    name, fields = f"{package.dist_info}/METADATA", package.metadata
    if fields is None:
        return
    for case, message, evidence in _find_refused_fields(package, fields) if not _is_private(fields) else ():
        yield Hit(cause=case, inner=name, message=message, evidence=(evidence,))
    if version := next((text for text in fields.get("version", ()) if "+" in text), ""):
        message = f"has the local version {version}, which PyPI refuses"
        yield Hit(cause="local", inner=name, message=message, evidence=(f"Version: {version}",), severity="note")
    for file, data in package.texts.items():
        if file == f"{package.dist_info}/entry_points.txt" and (wrong := _find_refused_commands(data)):
            yield Hit(cause="commands", inner=file, message=wrong, fix=_COMMANDS)
        if file.startswith(f"{package.dist_info}/sboms/"):
            try:
                json.loads(data)
            except (ValueError, RecursionError) as error:
                yield Hit(cause="sbom", inner=file, message=f"is not JSON: {error}", severity="note", fix=_SBOM)


def _find_refused_fields(package: Contents, fields: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str, str]]:
    """The case, what is wrong, and the line."""
    raw, unparsed = parse_email(package.texts.get(f"{package.dist_info}/METADATA", b""))
    yield from _find_invalid_fields(raw, unparsed)
    for expression in fields.get("license_expression", ()) if fields.get("license") else ():
        yield "both", "has both License and License-Expression", f"License-Expression: {expression}"
    for text, requirement in requirement_rows(package):
        if requirement.url:
            yield f"url {requirement.name}", f"requires {requirement.name} from a URL", f"Requires-Dist: {text}"
    yield from _find_refused_links(raw)
    yield from _find_refused_texts(fields)
    is_new = _is_since_pep_639("".join(fields.get("metadata_version", ())[:1]))
    for text in fields.get("license_files", ()) if is_new else ():
        if f"{package.dist_info}/licenses/{text}" not in package.names:
            message = f"names the license file {text}, which is not in licenses/"
            yield f"file {text}", message, f"License-File: {text}"


def _find_refused_links(raw: RawMetadata) -> Iterator[tuple[str, str, str]]:
    links = {"Home-page": raw.get("home_page", ""), "Download-URL": raw.get("download_url", "")}
    labels = raw.get("project_urls", {})
    for label, url in {**{name: url for name, url in links.items() if url}, **labels}.items():
        if label in labels and not 0 < len(label) <= _LONGEST_LABEL:
            yield f"label {label}", f"has a label of {len(label)} characters for a URL; PyPI takes 1 to 32", url
        elif urlsplit(url).scheme not in ("http", "https") or " " in url:
            yield f"link {label}", f"has {url!r} as a URL", f"{label}: {url}"


def _find_refused_texts(fields: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str, str]]:
    for name in ("author_email", "maintainer_email"):
        for text in fields.get(name, ()):
            if (address := parseaddr(text)[1]) and "@" not in address:
                yield name, f"has {address!r} as an e-mail address", f"{name}: {text}"
    for summary in fields.get("summary", ()):
        if len(summary) > _LONGEST_SUMMARY:
            yield "summary", f"has a summary of {len(summary)} characters; PyPI takes 512", f"Summary: {summary}"


def _find_refused_commands(data: bytes) -> str:
    """What PyPI, and most installers, refuse in entry_points.txt; "" for nothing (`validate_entrypoints()`)."""
    parser = configparser.ConfigParser(delimiters=("=",))
    try:
        parser.read_string(data.decode("utf-8"))
    except (UnicodeDecodeError, configparser.Error) as error:
        return f"cannot be read: {str(error).splitlines()[0]}"
    sections = (parser[name] for name in ("console_scripts", "gui_scripts") if name in parser)
    bad = next((name for section in sections for name in section if not _COMMAND.fullmatch(name)), "")
    return f"names the command {bad!r}" if bad else ""


def _find_invalid_fields(raw: RawMetadata, unparsed: Mapping[str, list[str]]) -> Iterator[tuple[str, str, str]]:
    """What packaging finds invalid. It cannot judge metadata of a version that is newer than itself.

    PyPI reads the fields that twine sends. Twine leaves License-File out of metadata before 2.4, where setuptools wrote
    it too early (`PackageFile.from_filename`).
    """
    if not _is_since_pep_639(raw.get("metadata_version", "")):
        raw.pop("license_files", None)
    errors = [InvalidMetadata(field, f"unknown or malformed: {values[0]}") for field, values in unparsed.items()]
    try:
        Metadata.from_raw(raw)
    except ExceptionGroup as group:
        errors += [error for error in group.exceptions if isinstance(error, InvalidMetadata)]
    if any(error.field == "metadata-version" for error in errors):
        return
    for error in errors:
        if error.field not in _IN_LB502:
            # For this field, packaging's text lists a set, whose order differs from run to run.
            is_type = error.field == "description-content-type"
            reason = repr(raw.get("description_content_type")) if is_type else str(error)
            yield error.field, f"has an invalid {error.field}: {reason}", error.field


def _is_since_pep_639(version: str) -> bool:
    try:
        return Version(version) >= _PEP_639
    except ValueError:
        return False


def _is_private(fields: Mapping[str, tuple[str, ...]]) -> bool:
    return any(text.startswith(_PRIVATE) for text in fields.get("classifiers", ()))


def _is_for_pypi(package: Contents) -> bool:
    """Whether neither a local version nor a classifier says that a wheel is not for PyPI."""
    return not _is_private(package.metadata or {}) and (package.wheel is None or "+" not in package.wheel.version)


@check(
    "LB512",
    "Archive that PyPI refuses",
    "error",
    because="PyPI refuses the upload. The finding is a note if the wheel's version is local, or if a classifier says "
    "that the wheel is private: it is not for PyPI.",
    kinds=("wheel",),
    example="latenn/__init__.py has a data descriptor",
    fix="Write the wheel to a file, not to a pipe, with the build backend or `wheel pack`.",
)
def refused_archive(package: Contents) -> Hits:
    """PyPI refuses archives from which programs could read different files.

    Some programs read the directory at the end of an archive, and others the headers of the files from the start. PyPI
    compares the two. It refuses data descriptors, bytes between the files, comments, and control characters in names
    (warehouse/utils/zipfiles.py). LB602 reports what is wrong in any archive.
    """
    severity: Severity = "error" if _is_for_pypi(package) else "note"
    found: dict[str, list[str]] = {}
    for problem in package.problems:
        if problem.kind == "streamed":
            found.setdefault(problem.detail, []).append(problem.member)
    for detail, members in found.items():
        others = f" and {len(members) - 1:,} others" if members[1:] else ""
        text = f"{members[0]}{others}: {detail}"
        yield Hit(cause=detail, message=text, evidence=tuple(members[:3]), severity=severity)
