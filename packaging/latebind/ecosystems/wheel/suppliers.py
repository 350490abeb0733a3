"""Which distributions of a runtime wheels require, for the checks of late binding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from latebind.checks.supplier import Supplier
from loadcheck.engine.registry import Hit
from loadcheck.engine.supply import comparable_version, requirement_rows

if TYPE_CHECKING:
    from latebind.checks.policy import BindingPolicy
    from latebind.tables.presets import RuntimePreset
    from loadcheck.model import Severity
    from loadcheck.readers.contents import Contents


def _find_dependency_problems(package: Contents, policy: BindingPolicy, runtime: RuntimePreset) -> Iterator[Hit]:
    names = {canonicalize_name(name) for name in runtime.python.extras.values()}
    if package.project in names:
        return
    minimum = policy.minimums.get(runtime.name, "")
    inner = f"{package.dist_info}/METADATA"
    rows = [row for row in requirement_rows(package) if canonicalize_name(row[1].name) in names]
    if names and not rows and policy.must_require(package.project, runtime):
        line = runtime.python.render_requirement(runtime.python.extra, minimum)
        yield Hit(
            cause="none",
            inner=inner,
            message=f"binds {runtime.title}, but requires no distribution of it, not even in an extra",
            evidence=(f"missing: Requires-Dist: {line}",),
            fix=f"Add {line} to dependencies, or to an extra, in pyproject.toml. If latebind makes the wheel, write "
            'runtime = "required" into its table in latebind.toml. If users install the runtime apart, write "none".',
        )
    for text, requirement in rows:
        closed = [str(part) for part in requirement.specifier if part.operator in ("==", "===", "<", "<=", "~=")]
        lower = [part.version for part in requirement.specifier if part.operator in (">=", ">")]
        if closed:
            severity = _pin_severity(minimum, closed)
            message = f"pins or caps {requirement.name}: {', '.join(closed)}"
            yield Hit(
                cause=f"cap {requirement.name}", inner=inner, message=message, evidence=(text,), severity=severity
            )
            continue
        oldest = runtime.python.oldest_of(requirement.name, minimum) if minimum else ""
        if oldest and (len(lower) != 1 or comparable_version(lower[0]) != comparable_version(oldest)):
            asked = f">={lower[0]}" if lower else "any version"
            yield Hit(
                cause=f"minimum {requirement.name}",
                inner=inner,
                message=f"requires {requirement.name} {asked}, but the configured minimum is {oldest}",
                evidence=(text, f"minimum: {oldest}"),
                fix=f"Declare {requirement.name}>={oldest}. latebind pack writes it from the configuration.",
            )


def _pin_severity(minimum: str, closed: list[str]) -> Severity:
    """An error in a project that configures a minimum; elsewhere a cap is a choice, and a pin stops some users."""
    if minimum:
        return "error"
    return "warning" if any(part.startswith("==") for part in closed) else "note"


SUPPLIERS = (
    Supplier(
        kind="wheel",
        list_packages=lambda runtime: tuple(runtime.python.extras.values()),
        find_problems=_find_dependency_problems,
    ),
)
