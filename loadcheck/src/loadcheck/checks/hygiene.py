"""Checks LB601-LB605, LB609, LB611 and LB612: damage, hostile archives, secrets, and leftovers of the build."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loadcheck.engine import platforms
from loadcheck.engine.check import ALL_KINDS, ARCHIVES, INSTALLED, Hit, Hits, check
from loadcheck.engine.pool import is_slow
from loadcheck.tables import pythonabi
from loadcheck.text import human_size

if TYPE_CHECKING:
    from loadcheck.archive import ArchiveProblemKind
    from loadcheck.binary import Image
    from loadcheck.model import Severity
    from loadcheck.readers.contents import Contents, File

_UNREADABLE: tuple[ArchiveProblemKind, ...] = ("damaged", "encrypted", "method")
_UNSAFE: tuple[ArchiveProblemKind, ...] = ("unsafe-name", "link", "bomb", "duplicate", "prefix", "records")
_DOS_NAME = re.compile(r"(con|prn|aux|nul|com[1-9]|lpt[1-9])(\.|$)", re.IGNORECASE)
_DOS_CHARACTERS = re.compile(r'[<>:"|?*\x01-\x1f]')
_LEFTOVERS = re.compile(
    r"(^|/)(__pycache__|\.git|\.svn|\.hg|\.pytest_cache|\.mypy_cache|__MACOSX)/|\.py[co]$|(^|/)(\.DS_Store|Thumbs\.db)$"
)
_FOR_TESTS = re.compile(r"(^|[/_.-])(tests?|testing|examples?|fixtures?|testdata|test_data)([/_.-]|$)", re.IGNORECASE)
"""Paths of files that only tests and examples use."""
_SECRET_NAMES = re.compile(
    r"(^|/)(\.env(\.[^/]*)?|id_(rsa|dsa|ecdsa|ed25519)|\.netrc|\.pypirc|\.git-credentials)$", re.IGNORECASE
)
_NPM_TOKEN = re.compile(rb"_(?:authToken|auth|password)[ \t]*=[ \t]*(?!\$\{)[^\s]")
"""In .npmrc; not the name of a variable."""
_KEY_STORE = re.compile(rb"\x07\x02\0\0\0\x24\0\0RSA2|\xfe\xed\xfe\xed.{8}\0\0\0\x01", re.DOTALL)
"""How the private key of a strong name begins (PRIVATEKEYBLOB), and a JKS file whose first entry is a private key."""
_PRIVATE_KEY = re.compile(rb"-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY( BLOCK)?-----")
_SETTING = re.compile(rb"^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*=[ \t]*[\"']?([^\s\"'#]+)", re.MULTILINE)
_SECRET_SETTING = re.compile(
    rb"key|token|secret|passw|pwd|credential|private|auth|dsn|://[^/@]*:[^/@]*@", re.IGNORECASE
)
"""In the name of a setting, or in a URL with a password."""
_HARMLESS = (".env.example", ".env.sample", ".env.template")


@check(
    "LB601",
    "Unreadable archive or file",
    "error",
    always=True,
    of_unread=True,
    because="Installers cannot install the package, or loadcheck cannot read it, and the package was not audited.",
    example="a wheel whose download was cut off",
    fix="Build or download the package again.",
)
def unreadable(package: Contents) -> Hits:
    """Installers refuse an unreadable file, or they read it differently and install content that was not audited."""
    if package.damage:
        yield Hit(
            cause="package",
            inner="",
            message=f"cannot be read: {package.damage.rpartition(': ')[2]}",
            evidence=(package.damage,),
            fix=package.damage_fix,
        )
    for problem in package.problems:
        if problem.kind in _UNREADABLE:
            text = f"cannot be read: {problem.detail}"
            yield Hit(cause=problem.kind, inner=problem.member, message=text, evidence=(problem.kind,))
    for file in package.files:
        if file.problem and file.format is None:
            text = f"cannot be read: {file.problem}"
            yield Hit(cause="file", inner=file.name, message=text, evidence=(file.problem,))


@check(
    "LB602",
    "Unsafe archive",
    "error",
    because="The archive can attack the user who unpacks it, or different tools read different content from it.",
    kinds=ARCHIVES,
    example="a member named ../../.ssh/authorized_keys",
    fix="Pack each file once, as a plain file under a relative name, with the ecosystem's own tool.",
)
def unsafe_archive(package: Contents) -> Hits:
    """Links, repeated names, decompression bombs and paths like ../x can harm the user who unpacks the archive.

    If two members have the same name, some programs read the first and others the last, so they see different packages.
    Data in front of the first member, or after the last record, can contain a second archive, which some programs read
    instead. If the last record says another number of members than the directory has, some programs read only these.
    """
    for problem in package.problems:
        if problem.kind in _UNSAFE:
            seen = f"{problem.kind}: {problem.member!r}"
            yield Hit(cause=problem.kind, inner=problem.member, message=problem.detail, evidence=(seen,))


@check(
    "LB603",
    "File name that is not portable",
    "warning",
    because="Some systems cannot install the file correctly. The finding is a note if the tags exclude these systems.",
    kinds=tuple(kind for kind in ARCHIVES if kind != "jar"),
    example="latenn/Model.onnx and latenn/model.onnx",
    fix="Rename the file so that its name is valid on Windows and differs from other names by more than case.",
)
def unportable_name(package: Contents) -> Hits:
    """On Windows and macOS, names that differ only by case usually refer to one file. Windows reserves some names.

    Names in JARs do no harm: Java reads their entries where they are.
    """
    is_for_linux = bool(package.platforms) and all("linux" in tag for tag in package.platforms)
    severity: Severity = "note" if is_for_linux else "warning"
    for problem in package.problems:
        if problem.kind == "case-collision":
            yield Hit(cause="case", inner=problem.member, message=problem.detail, severity=severity)
    severity = "warning" if platforms.admits_windows(package) else "note"
    for file in package.files:
        if bad := next(filter(_is_unportable, file.name.split("/")), ""):
            text = f"{bad!r} is not a valid file name on Windows"
            yield Hit(cause="Windows", inner=file.name, message=text, severity=severity)


def _is_unportable(part: str) -> bool:
    return bool(_DOS_NAME.match(part) or _DOS_CHARACTERS.search(part)) or part.endswith((".", " "))


@check(
    "LB604",
    "Unreadable binary",
    "error",
    always=True,
    because="The binary does not load. The finding is a note for test data, and a warning for an empty module file "
    "next to other modules.",
    example="an ELF file whose last segment is cut off",
    fix="Build the binary again, and compare its size and hash with the build's output.",
)
def binary_unreadable(package: Contents) -> Hits:
    """The file starts like a native binary but is damaged, so it does not load, or is larger than loadcheck reads.

    A module of Python or Node.js that is no binary at all was overwritten: by a conversion of its bytes to text, or by
    the pointer that Git LFS leaves in its place. The finding is a note for a file in a folder of tests. It is a warning
    for an empty file that is named like a Python module, if the package has other modules.
    """
    for file in package.files:
        if file.problem and file.format is not None:
            yield Hit(
                cause="damaged",
                inner=file.name,
                message=f"cannot be read as {file.format}: {file.problem.removeprefix('damaged member: ')}",
                evidence=(f"size {human_size(file.size)}", f"first bytes {file.head[:16].hex()}"),
                severity="note" if _FOR_TESTS.search(file.name) else "error",
            )
        elif file.size and not file.problem and file.format is None and _is_named_module(file):
            yield Hit(
                cause="no binary",
                inner=file.name,
                message="is named like a native module, but is no ELF, Mach-O or PE file",
                evidence=(f"size {human_size(file.size)}", f"first bytes {file.head[:16].hex()}"),
                severity="note" if _FOR_TESTS.search(file.name) else "error",
            )
        elif not file.size and pythonabi.module_abi(file.base):
            yield Hit(
                cause="empty",
                inner=file.name,
                message="is an empty file, which Python cannot import as a module",
                evidence=("size 0",),
                severity="warning" if package.modules else "error",
            )


def _is_named_module(file: File) -> bool:
    return file.is_node_addon or file.base.endswith(".pyd") or bool(pythonabi.module_abi(file.base))


_SLOW_FIX = (
    "The audit of this file is not finished. If the file is not unusually large, report a bug in loadcheck and attach "
    "the file."
)


@check(
    "LB605",
    "Reader crashed on a file",
    "error",
    always=True,
    of_unread=True,
    kinds=(*ALL_KINDS, "environment"),
    because="The file may be hostile. The finding is a warning if the reader only took too long.",
    example="an ELF file that makes the parser crash or loop",
    fix="Do not load this file. If your own build made the file, report a bug in loadcheck and attach the file.",
)
def reader_died(package: Contents) -> Hits:
    """Files are read in worker processes with a limit on time and, on Linux, on memory.

    If a worker crashes, the file is either hostile or shows a bug in loadcheck. Either way it was not audited. The
    finding is a warning if the reader only took too long: the audit of this file is not finished. Except on Windows,
    the time limit counts only CPU time, so a busy machine does not change the result.
    """
    for file in package.files:
        if file.died:
            slow = is_slow(file.died)
            others = tuple(f"{name}: {how}" for name, how in package.lost.items() if name != file.name)
            yield Hit(
                cause="slow" if slow else "crash",
                inner=file.name,
                message=f"was not audited: the reader {file.died}",
                evidence=(file.died, *others),
                fix=_SLOW_FIX if slow else "",
                severity="warning" if slow else None,
            )


@check(
    "LB609",
    "Leftovers of a build",
    "note",
    profiles=("all",),
    because="Nothing fails.",
    kinds=(*INSTALLED, "sdist"),
    example="latenn/__pycache__/__init__.cpython-311.pyc",
    fix="Exclude the files in the build configuration, and build from a clean checkout.",
)
def leftovers(package: Contents) -> Hits:
    """Bytecode, folders such as .git, and files such as .DS_Store make packages differ from build to build."""
    for file in package.files:
        if _LEFTOVERS.search(file.name):
            yield Hit(inner=file.name, message="is a leftover of the build that no user needs")


@check(
    "LB611",
    "Secret included",
    "error",
    because="Anyone who has the package can use the secret. The finding is a warning for key stores, which a password "
    "may protect, and for a .env whose first settings do not look like secrets. It is a note for test data.",
    kinds=(*ARCHIVES, "folder"),
    example="latenn/.env",
    fix="Remove the file, revoke the secrets in it, and delete the published package.",
)
def secret(package: Contents) -> Hits:
    """Published packages are searched for keys within minutes. The report does not show the secret itself.

    Keys in folders with tests or examples are usually made for that purpose.
    """
    for file in package.files:
        if file.base.lower() in _HARMLESS or not file.size:
            continue
        severity: Severity = "error"
        evidence: tuple[str, ...] = ()
        if match := _PRIVATE_KEY.search(file.head):
            case, message, evidence = "key", "contains a private key", (match[0].decode(),)
        elif file.base.lower() == ".npmrc" and _NPM_TOKEN.search(file.head):
            case, message = "token", "contains a token or a password for npm"
        elif _SECRET_NAMES.search(file.name):
            case, message = "name", "has a name typical of files with secrets"
            severity = "error" if _names_secret(file) else "warning"
        elif _KEY_STORE.match(file.head):
            case, message, severity = "key", "contains a private key", "warning"
        else:
            continue
        severity = "note" if _FOR_TESTS.search(file.name) else severity
        yield Hit(cause=case, inner=file.name, message=message, evidence=evidence, severity=severity)


def _names_secret(file: File) -> bool:
    """Whether a file with a name for secrets has one: a .env may hold other settings alone."""
    return not file.base.lower().startswith(".env") or any(
        _SECRET_SETTING.search(name) or (b"://" in value and _SECRET_SETTING.search(value))
        for name, value in _SETTING.findall(file.head)
    )


@check(
    "LB612",
    "Debug information left in",
    "note",
    profiles=("all",),
    because="Debug information only takes space.",
    example="liblatenn.so: section .debug_info",
    fix="Strip the library (cmake --install --strip) and keep its symbols in a separate archive.",
)
def debug_info(file: File, image: Image) -> Hits:
    """Debug information is often most of a library's size, and contains paths of the build machine."""
    if image.has_debug_info:
        seen = "__DWARF segment or debug map" if image.format == "macho" else "section .debug_info"
        yield Hit(message=f"contains debug information; the file size is {human_size(file.size)}", evidence=(seen,))
