"""Checks LB308 and LB615: minimum versions and signatures on macOS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.binary import floors
from loadcheck.engine import platforms, symbols
from loadcheck.engine.check import Hit, Hits, check
from loadcheck.engine.wording import name_newest, some
from loadcheck.text import plural

if TYPE_CHECKING:
    from loadcheck.binary import Image
    from loadcheck.engine.policy import Policy
    from loadcheck.readers.contents import Contents


_OF_MACS = ("", "macos", "maccatalyst")
"""The systems of a Mach-O file whose signature counts as it is published; "" for a file that names none."""


@check(
    "LB308",
    "Newer macOS needed than promised",
    "warning",
    because="The library fails on older systems when it uses a newer function.",
    formats=("macho",),
    example="liblatenn.dylib needs macOS 14.0; the tag macosx_11_0_arm64 promises 11.0",
    fix="Build with MACOSX_DEPLOYMENT_TARGET or CMAKE_OSX_DEPLOYMENT_TARGET set to the promised version.",
)
def macos_above_tag(package: Contents, image: Image, policy: Policy) -> Hits:
    """dyld loads a library built for a newer macOS, but fails when the library needs a function that is missing.

    Installers look only at the tag, so they install the package on older systems anyway. The promised version of arm64
    slices is at least 11.0, the first macOS for these machines. A file that is built for the promised macOS may still
    use symbols that libc++ or libSystem got in a newer version.
    """
    needed = floors.needed_macos(image)
    # A tag for another processor says nothing about the image.
    names = [name for name in package.platforms if image.arch in (platforms.tag_archs(name) or (image.arch,))]
    promises = [(floor, name) for name in names if (floor := platforms.macos_floor(name, image.arch))]
    if package.wheel is None and (floor := floors.numeric(policy.macos)):
        promises = [(floor, "the configuration")]
    if promises and needed and floors.pad_version(needed) > floors.pad_version(min(promises)[0]):
        floor, promiser = min(promises)
        yield Hit(
            cause=f"minimum {image.min_os}",
            message=f"needs macOS {image.min_os}, but {promiser} promises {floors.version_text(floor)}",
            evidence=(f"minimum OS version {image.min_os}", f"promised by {promiser}"),
        )
    elif promises:
        yield from _judge_functions(image, *min(promises))


def _judge_functions(image: Image, floor: floors.Version, promiser: str) -> Hits:
    """Symbols that the system's libraries have only since a newer macOS, though the file says that it runs before.

    Headers of another compiler do that: those of Apple's own leave such symbols out, or import them weakly.
    """
    newer = {
        symbol.name: since
        for symbol in image.imports
        if symbol.kind == "normal"
        and (since := symbols.macos_since(symbol.name, symbol.library))
        and floors.pad_version(since) > floors.pad_version(floor)
    }
    if newer:
        names, worst = name_newest(newer)
        yield Hit(
            cause="functions",
            names=tuple(sorted(newer)),
            message=f"uses {names}, added in macOS {worst}, but {promiser} promises {floors.version_text(floor)}",
            evidence=(*some(sorted(newer)), f"promised by {promiser}"),
            fix="Compile with Apple's headers and MACOSX_DEPLOYMENT_TARGET set to the promised version, or raise the "
            "tag.",
        )


@check(
    "LB615",
    "Code signature missing or wrong",
    "error",
    because="Macs with Apple silicon do not load unsigned arm64 code, and kill a process that reads a changed page of "
    "it. The finding is a warning for x86_64 code, whose signature Macs with Intel processors check for some programs "
    "only.",
    formats=("macho",),
    example="liblatenn.dylib (arm64) has no LC_CODE_SIGNATURE",
    fix="Sign it as the last step: codesign --force --sign - FILE. Tools that edit a binary leave the old signature.",
)
def signature_wrong(image: Image) -> Hits:
    """Macs with Apple silicon run arm64 code only if it is signed. They run x86_64 code without a signature, too.

    An ad-hoc signature, which linkers write by default, is enough. It has a hash of each page of the file. A page that
    was changed later, by a tool that does not sign the file again, has another hash, and macOS kills the process that
    reads it. The check compares the hashes of the pages. It verifies neither certificates nor other files. It passes
    over code for iOS and other systems of Apple, which is signed with the app.
    """
    if image.platform not in _OF_MACS:
        return
    is_arm = image.arch in ("aarch64", "arm64e")
    pages = image.signed_pages
    if is_arm and not image.is_signed:
        text = f"is {image.arch} code without a signature"
        yield Hit(cause="unsigned", message=text, evidence=("no LC_CODE_SIGNATURE",))
    elif pages and pages.changed:
        yield Hit(
            cause="changed",
            message=f"was changed after it was signed: the signature is wrong for {pages.changed} of "
            f"{plural(pages.total, 'page')}",
            evidence=tuple(f"{pages.algorithm} of the page at byte {place}" for place in pages.places),
            severity="error" if is_arm else "warning",
        )
