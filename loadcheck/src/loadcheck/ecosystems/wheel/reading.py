"""What wheels and sdists say, for the audit."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from loadcheck.engine import platforms
from loadcheck.engine.kinds import AuditedKind, Description, NativeFiles, TwinFacts
from loadcheck.readers.record import read_fields

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


_PAGE = {
    "summary": ("summary",),
    "README": ("description",),
    "author": ("author", "author_email", "maintainer", "maintainer_email"),
    "link": ("home_page", "project_urls"),
    "license": ("license", "license_expression"),
}
"""What the page of a project on PyPI shows, and the fields of METADATA that have it."""


def _find_description(package: Contents) -> Description | None:
    """What METADATA of a wheel says, or PKG-INFO of an sdist."""
    name = f"{package.dist_info}/METADATA" if package.kind == "wheel" else f"{min(package.tops, default='')}/PKG-INFO"
    fields = read_fields(package.texts[name]) if name in package.texts else None
    if fields is None:
        return None  # LB502 reports it
    found = {what: any(any(fields.get(key, ())) for key in keys) for what, keys in _PAGE.items()}
    found["license"] |= any(text.startswith("License ::") for text in fields.get("classifiers", ()))
    return name, found


KINDS = (
    AuditedKind(
        kind="wheel",
        is_text=_is_text,
        find_project=lambda package: package.wheel.project if package.wheel is not None else "",
        find_twin_facts=_find_twin_facts,
        find_description=_find_description,
    ),
    AuditedKind(
        kind="sdist",
        is_text=lambda name, _size: name.count("/") == 1 and name.endswith(("/pyproject.toml", "/PKG-INFO")),
        find_description=_find_description,
    ),
)
