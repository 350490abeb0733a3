"""Check LB302: whether native files are for the processors and systems that tags and RIDs name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.checks.tags import list_platforms
from loadcheck.engine import platforms
from loadcheck.engine.reader import promised_rid
from loadcheck.engine.registry import PROMISING, Hit, Skip, check
from loadcheck.engine.wording import name_platform

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.model import Severity
    from loadcheck.readers.contents import Contents, File

_OLD_MACS = frozenset({"i686", "ppc", "ppc64"})
"""Processors whose last macOS is 10.14, 10.5 and 10.5."""


@check(
    "LB302",
    "Binary of another architecture or system",
    "error",
    profiles=("loads",),
    because="The file does not load on the promised platform. In a wheel, the finding is a note if other "
    "files serve that platform, unless Python imports the file or one of those files needs it. It is a warning for a "
    "file that lacks only processors that Apple no longer supports (i386, PowerPC).",
    kinds=PROMISING,
    example="an aarch64 library in a wheel tagged manylinux_2_28_x86_64",
    fix="Package the binary built for this tag, or correct the tag or the RID folder.",
)
def wrong_architecture(package: Contents) -> Iterator[Hit | Skip]:
    """The file installs without a warning, but fails to load: `wrong ELF class`, `not a valid Win32 application`.

    At least one slice of a universal Mach-O file must be for the promised platform. Under universal2, intel, fat and
    universal tags, the slices of all processors that they stand for must be present. In wheels, the finding is a
    note for files of other systems next to files that fit, such as launchers for several platforms.
    """
    for file in package.native:
        archs = [image.arch for image in file.images]
        seen = name_platform(file.format or "", archs)
        for promiser, wanted_format, wanted_archs in _places(package, file):
            lacking = [arch for arch in wanted_archs if archs and not _runs_as(arch, archs)]
            if (wanted_format and wanted_format != file.format) or lacking:
                yield Hit(
                    cause=f"{file.format} {' '.join(archs)}",
                    inner=file.name,
                    message=f"is for {seen}, but {promiser} promises {name_platform(wanted_format, wanted_archs)}",
                    evidence=(f"binary: {seen}", f"promised: {promiser}"),
                    severity=_judge_misfit(package, file, lacking, is_other_system=wanted_format != file.format),
                )
                break


def _judge_misfit(package: Contents, file: File, lacking: list[str], *, is_other_system: bool) -> Severity:
    """How bad it is that a file is not for all that is promised. Old processors of Macs have no maintained system."""
    if not _must_fit(package, file):
        return "note"
    is_of_old_macs = not is_other_system and file.format == "macho" and _OLD_MACS.issuperset(lacking)
    return "warning" if is_of_old_macs else "error"


def _must_fit(package: Contents, file: File) -> bool:
    """Whether the platform needs this particular file: no other fits, Python imports it, or a fitting file needs it."""
    others = [other for other in package.native if other is not file and not misfits(package, other)]
    if package.wheel is None or not others:
        return True
    stem = file.base.partition(".")[0]
    serves = any(other.is_module and other.base.partition(".")[0] == stem for other in others)
    fitting = {other.name for other in others}
    return (file.is_module and not serves) or bool((package.users.get(file.name, frozenset()) - {file.name}) & fitting)


def misfits(package: Contents, file: File) -> bool:
    """Whether a file is for another processor or system than a tag or a folder promises."""
    archs = [image.arch for image in file.images]
    return any(
        (wanted_format and wanted_format != file.format) or not all(_runs_as(arch, archs) for arch in needed_archs)
        for _, wanted_format, needed_archs in _places(package, file)
    )


def _runs_as(arch: str, archs: list[str]) -> bool:
    return arch in archs or (arch == "aarch64" and "arm64x" in archs)


def _places(package: Contents, file: File) -> list[tuple[str, str, tuple[str, ...]]]:
    """The tags or the RID folder that promise a format and architectures for the file."""
    if rid := promised_rid(package, file):
        return [(rid, platforms.rid_format(rid), tuple(filter(None, [platforms.rid_arch(rid)])))]
    tags = list_platforms(package)
    promises = [(name, platforms.tag_format(name), platforms.tag_archs(name)) for name in tags]
    return [promise for promise in promises if promise[1]]
