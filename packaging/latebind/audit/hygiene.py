"""Checks LB6xx: damage, hostile archives, leftovers and secrets; reads nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from latebind.audit.registry import ALL_KINDS, ARCHIVES, EVERY_FORMAT, Hit, Skip, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from latebind.audit.policy import Policy
    from latebind.audit.subject import File, Package
    from latebind.binary import Image
    from latebind.system.archive import ProblemKind

_UNREADABLE: tuple[ProblemKind, ...] = ("damaged", "encrypted", "method")
_UNSAFE: tuple[ProblemKind, ...] = ("unsafe-name", "link", "bomb", "duplicate")
_DOS_NAME = re.compile(r"(con|prn|aux|nul|com[1-9]|lpt[1-9])(\.|$)", re.IGNORECASE)
_DOS_CHARACTERS = re.compile(r'[<>:"|?*\x01-\x1f]')
_LEFTOVERS = re.compile(
    r"(^|/)(__pycache__|\.git|\.svn|\.hg|\.pytest_cache|\.mypy_cache|__MACOSX)/|\.py[co]$|(^|/)(\.DS_Store|Thumbs\.db)$"
)
_SECRET_NAMES = re.compile(
    r"(^|/)(\.env(\.[^/]*)?|id_(rsa|dsa|ecdsa|ed25519)|\.netrc|\.pypirc|\.npmrc|\.git-credentials|[^/]*\.(pfx|p12|snk|"
    r"keystore|jks))$",
    re.IGNORECASE,
)
_PRIVATE_KEY = re.compile(rb"-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY( BLOCK)?-----")
_HARMLESS = (".env.example", ".env.sample", ".env.template")


@check(
    "LB601",
    "Archive or file cannot be read",
    "error",
    scope="package",
    kinds=ALL_KINDS,
    example="a wheel that was cut off while it was downloaded",
    cure="Build or download the package again.",
)
def unreadable(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """What cannot be read cannot be installed, and what installers read otherwise than audits do is not audited."""
    del policy
    if package.damage:
        yield Hit(inner="", message=f"cannot be read: {package.damage}", evidence=(package.damage,))
    for problem in package.problems:
        if problem.kind in _UNREADABLE:
            yield Hit(inner=problem.member, message=f"cannot be read: {problem.detail}", evidence=(problem.kind,))
    for file in package.files:
        if file.problem and file.format is None:
            yield Hit(inner=file.name, message=f"cannot be read: {file.problem}", evidence=(file.problem,))


@check(
    "LB602",
    "Archive that is not safe to unpack",
    "error",
    scope="package",
    kinds=ARCHIVES,
    example="a member named ../../.ssh/authorized_keys",
    cure="Pack plain files under relative names, each once, with latebind pack or the ecosystem's own tool.",
)
def unsafe_archive(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """Members that leave their folder, links, bombs and repeated names attack whoever unpacks the archive.

    Readers that take the first and readers that take the last of two members see different packages.
    """
    del policy
    for problem in package.problems:
        if problem.kind in _UNSAFE:
            yield Hit(inner=problem.member, message=problem.detail, evidence=(f"{problem.kind}: {problem.member!r}",))


@check(
    "LB603",
    "Name that some system cannot hold",
    "error",
    scope="package",
    kinds=ARCHIVES,
    example="latenn/Model.onnx and latenn/model.onnx",
    cure="Rename the file so that it differs by more than case and suits Windows.",
)
def unportable_name(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """On Windows and macOS names that differ by case alone are one file, and some names do not exist at all."""
    del policy
    for problem in package.problems:
        if problem.kind == "case-collision":
            yield Hit(inner=problem.member, message=problem.detail, evidence=(problem.member,))
    for file in package.files:
        bad = [part for part in file.name.split("/") if _is_unportable(part)]
        if bad:
            yield Hit(
                inner=file.name,
                message=f"cannot exist on Windows: {bad[0]!r}",
                evidence=(file.name,),
                severity="error" if package.kind == "nupkg" else "warning",
            )


def _is_unportable(part: str) -> bool:
    return bool(_DOS_NAME.match(part) or _DOS_CHARACTERS.search(part)) or part.endswith((".", " "))


@check(
    "LB604",
    "Binary cannot be read",
    "error",
    scope="package",
    formats=EVERY_FORMAT,
    kinds=ALL_KINDS,
    example="an ELF file whose last segment is cut off",
    cure="Build the binary again; compare its size and hash with the build's.",
)
def binary_unreadable(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """A file with the first bytes of a native binary that is damaged behind them does not load."""
    del policy
    for file in package.files:
        if file.problem and file.format is not None:
            yield Hit(
                inner=file.name,
                message=f"is damaged {file.format}: {file.problem}",
                evidence=(f"{file.size} bytes read", f"first bytes {file.head[:16].hex()}"),
            )


@check(
    "LB605",
    "Reader died on a file",
    "error",
    scope="package",
    formats=EVERY_FORMAT,
    kinds=ALL_KINDS,
    example="an ELF file that makes the parser crash or run without end",
    cure="Do not load this file. If your own build made it, report it with the file to latebind.",
)
def reader_died(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """Files are read in worker processes with limits of time and memory.

    A worker that crashes or runs past a limit shows a file made to attack whoever reads it, or a defect: either
    way it was not audited.
    """
    del policy
    for file in package.files:
        if file.died:
            yield Hit(inner=file.name, message=f"was not read: its reader {file.died}", evidence=(file.died,))


@check(
    "LB609",
    "Leftovers of a build",
    "warning",
    scope="package",
    kinds=("wheel", "nupkg", "sdist"),
    example="latenn/__pycache__/__init__.cpython-311.pyc",
    cure="Exclude the files in the build configuration; build from a clean checkout.",
)
def leftovers(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """Byte code of one Python, version control and desktop files make packages differ from build to build."""
    del policy
    for file in package.files:
        if _LEFTOVERS.search(file.name):
            yield Hit(inner=file.name, message="is a leftover that no user needs", evidence=(file.name,))


@check(
    "LB610",
    "Path of the build machine inside",
    "warning",
    scope="package",
    formats=EVERY_FORMAT,
    kinds=ALL_KINDS,
    example="liblatenn.so holds /home/ci/latenn/src/core.c",
    cure="Compile with -ffile-prefix-map=$PWD=. (and -fmacro-prefix-map for __FILE__), and strip the result.",
)
def build_path(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """Such a path tells who built it and where, and makes two builds of one source differ."""
    del policy
    for file in package.native:
        if file.paths:
            yield Hit(inner=file.name, message=f"holds paths such as {file.paths[0]}", evidence=file.paths)


@check(
    "LB611",
    "Secret inside",
    "error",
    scope="package",
    kinds=("wheel", "nupkg", "sdist", "archive", "folder"),
    example="latenn/.env",
    cure="Take the file out, revoke what it held, and delete the published package.",
)
def secret(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """Published packages are searched for keys within minutes. The content is not shown here."""
    del policy
    for file in package.files:
        if file.base.lower() in _HARMLESS:
            continue
        if match := _PRIVATE_KEY.search(file.head):
            yield Hit(inner=file.name, message="starts with a private key", evidence=(match[0].decode(),))
        elif _SECRET_NAMES.search(file.name):
            yield Hit(inner=file.name, message="has a name that files with secrets have", evidence=(file.name,))


@check(
    "LB612",
    "Debug information left in",
    "note",
    scope="binary",
    formats=EVERY_FORMAT,
    example="liblatenn.so: section .debug_info",
    cure="Strip the library (cmake --install --strip) and keep its symbols in an archive of their own.",
)
def debug_info(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """Debug information is often most of a library's size, and holds the paths of the build machine.

    In a package of the project itself it is a warning: a library that was built for debugging took the place of the
    one for release.
    """
    own = policy.allowed_exports(file.base or package.path.name, package.project) is not None
    if image.has_debug_info:
        seen = "a __DWARF segment or a debug map" if image.format == "macho" else "section .debug_info"
        yield Hit(
            message=f"holds debug information; the file has {file.size} bytes",
            evidence=(seen,),
            severity="warning" if own else "note",
        )
