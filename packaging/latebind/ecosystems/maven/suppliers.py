"""Which distributions of a runtime JARs require, for the checks of late binding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from latebind.checks.supplier import Supplier, judge_range
from latebind.ecosystems.maven.pom import ECOSYSTEM
from loadcheck.engine.registry import Hit
from loadcheck.kinds.maven.reading import find_pom

if TYPE_CHECKING:
    from latebind.checks.policy import BindingPolicy
    from latebind.tables.presets import RuntimePreset
    from loadcheck.kinds.maven.pom import Pom
    from loadcheck.readers.contents import Contents


def _find_dependency_problems(package: Contents, policy: BindingPolicy, runtime: RuntimePreset) -> Iterator[Hit]:
    pom, minimum = find_pom(package), policy.minimums.get(runtime.name, "")
    suppliers = _list_suppliers(runtime)
    if pom is None or not suppliers or package.project in suppliers:
        return
    dependencies = [dependency for dependency in pom[1].dependencies if dependency.id in suppliers]
    for dependency in dependencies:
        known = "" if _is_inherited(dependency.version.replace(" ", ""), pom[1]) else minimum
        yield from judge_range(dependency.id, dependency.version, known, pom[0])
    if minimum and not dependencies and policy.bound.get(package.project) == runtime.name:
        message = f"does not depend on {suppliers[0]}, whose configured minimum is {minimum}"
        yield Hit(cause=f"none {suppliers[0]}", inner=pom[0], message=message, evidence=(f"missing: {suppliers[0]}",))


def _is_inherited(version: str, pom: Pom) -> bool:
    """Whether a version cannot be read from a JAR's POM: it is a property, or only the parent's POM gives it."""
    return "${" in version or (pom.has_parent and not version)


def _list_suppliers(runtime: RuntimePreset) -> tuple[str, ...]:
    supply = runtime.supplies.get(ECOSYSTEM)
    return supply.packages if supply is not None else ()


SUPPLIERS = (Supplier(kind="jar", list_packages=_list_suppliers, find_problems=_find_dependency_problems),)
