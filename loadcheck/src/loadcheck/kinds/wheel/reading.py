"""What wheels and sdists say, for the audit."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from loadcheck.checks.licenses import find_missing_file
from loadcheck.engine import platforms
from loadcheck.engine.reader import NativeFiles, PackageReader, TwinFacts

if TYPE_CHECKING:
    from loadcheck.readers.contents import Contents


def _is_text(name: str, _size: int) -> bool:
    is_module = name.count("/") == 1 and name.endswith("/__init__.py")
    return is_module or posixpath.dirname(name).endswith((".dist-info", ".dist-info/sboms"))


def _find_twin_facts(package: Contents) -> TwinFacts | None:
    if package.wheel is None:
        return None
    rids = {rid for name in package.wheel.platforms if (rid := platforms.rid_of_tag(name))}
    files = {
        file.base: (package.subject(file.name), file.sha256)
        for file in package.native
        if not file.is_module and not file.base.endswith(".pyd")  # only Python uses a module
    }
    native: NativeFiles = dict.fromkeys(sorted(rids), files)
    wheel = package.wheel
    return TwinFacts(
        subject=package.subject(), kind="wheel", project=wheel.project, version=wheel.version, native=native
    )


READERS = (
    PackageReader(
        kind="wheel",
        is_text=_is_text,
        find_project=lambda package: package.wheel.project if package.wheel is not None else "",
        find_twin_facts=_find_twin_facts,
        is_whole=True,
        has_tags=True,
        find_license_problems=find_missing_file,
    ),
    PackageReader(kind="sdist", is_text=lambda name, _size: name.count("/") == 1 and name.endswith("/pyproject.toml")),
)
