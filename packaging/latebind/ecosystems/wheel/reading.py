"""What wheels and sdists say, for the audit."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from latebind.audit.checks.dependencies import comparable_version
from latebind.audit.checks.licenses import find_missing_file
from latebind.audit.engine import platforms
from latebind.audit.engine.reader import NativeFiles, PackageReader, TwinFacts
from latebind.audit.engine.registry import Hit
from latebind.audit.engine.supply import requirement_rows

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
        find_license_problems=find_missing_file,
        find_dependency_problems=_find_dependency_problems,
    ),
    PackageReader(kind="sdist", is_text=lambda name, _size: name.count("/") == 1 and name.endswith("/pyproject.toml")),
)
