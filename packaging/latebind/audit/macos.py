"""Checks LB110, LB308 and LB615: what macOS asks of a binary beside the rest; reads nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.audit import platforms
from latebind.audit.registry import Hit, Skip, check
from latebind.audit.wording import own_name
from latebind.binary import floors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from latebind.audit.policy import Policy
    from latebind.audit.subject import File, Package
    from latebind.binary import Image

_DELOCATED = "/DLC/"
"""delocate names what it grafts so: a folder that no system has."""


@check(
    "LB110",
    "Install name is a path of the build machine",
    "warning",
    scope="binary",
    formats=("macho",),
    example="liblatenn.dylib: install name /Users/ci/build/liblatenn.dylib",
    cure="Link with -Wl,-install_name,@rpath/liblatenn.dylib (CMake: MACOSX_RPATH ON, the default).",
)
def absolute_install_name(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """Whatever is linked against the library records its install name, and looks for it there and nowhere else.

    An absolute path is right for libraries of the system alone; any other leaks the build machine's layout, and
    whoever can write there can inject code.
    """
    del package, file, policy
    name = image.soname
    if name.startswith("/") and not name.startswith(_DELOCATED) and not platforms.is_macos(name):
        yield Hit(message=f"has the install name {name}", evidence=(own_name(image),))


@check(
    "LB308",
    "Newer macOS needed than promised",
    "error",
    scope="binary",
    formats=("macho",),
    example="liblatenn.dylib needs macOS 14.0; the tag macosx_11_0_arm64 promises 11.0",
    cure="Build with MACOSX_DEPLOYMENT_TARGET or CMAKE_OSX_DEPLOYMENT_TARGET set to the floor, or raise the tag.",
)
def macos_above_tag(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """dyld refuses a library that was built for a newer macOS, or loads it and fails at a function that is missing.

    Installers choose by the tag alone, so they install it there. Arm64 slices are held to 11.0 at least, the first
    macOS of these machines.
    """
    del file
    needed = floors.needed_macos(image)
    if not needed:
        return
    names = package.wheel.platforms if package.wheel is not None else ()
    promises = [(floor, name) for name in names if (floor := platforms.macos_floor(name, image.arch))]
    if package.wheel is None and (floor := floors.numeric(policy.macos)):
        promises = [(floor, "the configured floor")]
    if promises and floors.padded(needed) > floors.padded(min(promises)[0]):
        floor, place = min(promises)
        yield Hit(
            message=f"needs macOS {image.min_os}, but {place} promises {floors.dotted(floor)}",
            evidence=(f"minimum OS version {image.min_os}", f"promised by {place}"),
        )


@check(
    "LB615",
    "Arm64 code without a signature",
    "error",
    scope="binary",
    formats=("macho",),
    example="liblatenn.dylib (arm64) has no LC_CODE_SIGNATURE",
    cure="Sign it as the last step: codesign --force --sign - FILE. Tools that edit a binary drop its signature.",
)
def unsigned_arm(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """Macs with Apple's processors run signed code only: a process that loads unsigned code is killed.

    An ad-hoc signature, which linkers write by themselves, is enough. It is looked for here, not checked.
    """
    del package, file, policy
    if image.arch in ("aarch64", "arm64e") and not image.is_signed:
        yield Hit(message=f"is {image.arch} code without a signature", evidence=("no LC_CODE_SIGNATURE",))
