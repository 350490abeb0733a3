"""What wheels and sdists say, for the audit."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from latebind.audit.checks.dependencies import comparable_version
from latebind.audit.checks.licenses import find_missing_file
from latebind.audit.engine import platforms
from latebind.audit.engine.reader import Description, NativeFiles, PackageReader, TwinFacts
from latebind.audit.engine.registry import Hit
from latebind.audit.engine.supply import requirement_rows
from latebind.audit.readers.record import has_description, read_headers
from latebind.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from latebind.audit.engine.policy import Policy
    from latebind.audit.readers.contents import Contents
    from latebind.model import Severity
    from latebind.tables.presets import RuntimePreset


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
    "author": ("author", "author-email", "maintainer", "maintainer-email"),
    "link": ("home-page", "project-url"),
    "license": ("license", "license-expression"),
}
"""What the page of a project on PyPI shows, and the fields of METADATA that have it."""


def _find_description(package: Contents) -> Description | None:
    """What METADATA of a wheel says, or PKG-INFO of an sdist."""
    tops = {file.name.partition("/")[0] for file in package.files}
    name = f"{package.dist_info}/METADATA" if package.kind == "wheel" else f"{min(tops, default='')}/PKG-INFO"
    data = package.texts.get(name)
    if data is None:
        return None
    try:
        fields = read_headers(data, name)
    except InputError:
        return None  # LB502 reports it
    found = {what: any(map(fields.get, keys)) for what, keys in _PAGE.items()}
    found["README"] |= has_description(data)
    found["license"] |= any(text.startswith("License ::") for text in fields.get("classifier", ()))
    return Description(inner=name, fields=found)


def _find_dependency_problems(package: Contents, policy: Policy, runtime: RuntimePreset) -> Iterator[Hit]:
    names = {canonicalize_name(name) for name in runtime.python.extras.values()}
    if package.project in names:
        return
    minimum = policy.minimums.get(runtime.name, "")
    inner = f"{package.dist_info}/METADATA"
    for text, requirement in requirement_rows(package):
        if canonicalize_name(requirement.name) not in names:
            continue
        closed = [str(part) for part in requirement.specifier if part.operator in ("==", "===", "<", "<=", "~=")]
        lower = [part.version for part in requirement.specifier if part.operator in (">=", ">")]
        if closed:
            severity = _pin_severity(minimum, closed)
            message = f"pins or caps {requirement.name}: {', '.join(closed)}"
            yield Hit(inner=inner, message=message, evidence=(text,), severity=severity)
        elif minimum and (len(lower) != 1 or comparable_version(lower[0]) != comparable_version(minimum)):
            asked = f">={lower[0]}" if lower else "any version"
            yield Hit(
                inner=inner,
                message=f"requires {requirement.name} {asked}, but the configured minimum is {minimum}",
                evidence=(text, f"minimum: {minimum}"),
                fix=f"Declare {requirement.name}>={minimum}. latebind pack writes it from the configuration.",
            )


def _pin_severity(minimum: str, closed: list[str]) -> Severity:
    """An error in a project that configures a minimum; elsewhere a cap is a choice, and a pin stops some users."""
    if minimum:
        return "error"
    return "warning" if any(part.startswith("==") for part in closed) else "note"


READERS = (
    PackageReader(
        kind="wheel",
        is_text=_is_text,
        find_project=lambda package: package.wheel.project if package.wheel is not None else "",
        find_twin_facts=_find_twin_facts,
        is_whole=True,
        has_tags=True,
        find_description=_find_description,
        find_license_problems=find_missing_file,
        find_dependency_problems=_find_dependency_problems,
    ),
    PackageReader(
        kind="sdist",
        is_text=lambda name, _size: name.count("/") == 1 and name.endswith(("/pyproject.toml", "/PKG-INFO")),
        find_description=_find_description,
    ),
)
