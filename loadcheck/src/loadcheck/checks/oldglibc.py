"""The part of LB106 on functions that are newer than the glibc of the tag, and that have no version."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from loadcheck.binary.floors import version_text
from loadcheck.checks.linkage import provided_libraries
from loadcheck.checks.tags import list_linux_tags
from loadcheck.engine import platforms, symbols
from loadcheck.engine.registry import Hit
from loadcheck.engine.supply import must_load
from loadcheck.engine.wording import name_newest, some

if TYPE_CHECKING:
    from loadcheck.binary import Image
    from loadcheck.binary.floors import Version
    from loadcheck.readers.contents import Contents, File


def lowest_tag(package: Contents) -> platforms.LinuxTag | None:
    """The manylinux tag of a wheel with the oldest glibc."""
    return min(list_linux_tags(package, "glibc"), key=lambda tag: tag.floor, default=None)


def list_newer_than_tag(package: Contents, image: Image) -> dict[str, Version]:
    """Open symbols that the glibc of the tag lacks, with the glibc that has them: those of static libraries."""
    tag = lowest_tag(package)
    if image.format != "elf" or tag is None:
        return {}
    inside = provided_libraries(package)
    if any(posixpath.basename(name) not in inside and not platforms.is_system(name, "glibc") for name in image.needed):
        return {}
    names = sorted({symbol.name for symbol in image.open_imports} - package.exported)
    return {name: since for name in names if (since := symbols.glibc_since(name)) > tag.floor}


def judge_old_glibc(package: Contents, file: File, image: Image, newer: dict[str, Version]) -> Hit:
    """Functions without a version, which the loader finds in glibc where it is new enough."""
    names, worst = name_newest(newer)
    tag = lowest_tag(package)
    listed = some([f"undefined {name}, of glibc {version_text(since)}" for name, since in newer.items()])
    return Hit(
        cause="glibc",
        names=tuple(newer),
        message=f"uses {names}, added in glibc {worst}, but the tag promises {version_text(tag.floor) if tag else ''}",
        evidence=(*listed, *["BIND_NOW"] * image.is_bound_at_once),
        fix="Also compile the static libraries in the image for that manylinux tag, and link with libc.",
        severity="error" if image.is_bound_at_once and must_load(package, file, image) else "warning",
    )
