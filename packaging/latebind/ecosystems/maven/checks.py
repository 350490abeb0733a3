"""Check LB953, whether a JAR takes the place of a runtime's own; and which artifacts of a runtime JARs require."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from latebind.checks.supplier import Supplier, judge_range
from latebind.ecosystems.maven.config import ECOSYSTEM
from latebind.tables.presets import presets
from loadcheck.api import Hit, Hits, check, some
from loadcheck.facts import find_pom

if TYPE_CHECKING:
    from latebind.checks.policy import BindingPolicy
    from latebind.tables.presets import RuntimePreset
    from loadcheck.facts import Contents


@check(
    "LB953",
    "JAR that shadows the runtime's JAR",
    "error",
    profiles=("runtime",),
    because="If two JARs contain the same resource, a program gets the one that is first on its class path. So the "
    "order of the program's dependencies decides which runtime it uses.",
    kinds=("jar",),
    example="ai/onnxruntime/native/linux-x64/libonnxruntime.so in acme-nlp-1.0.0.jar",
    fix="Leave the runtime out, and depend on the artifact that supplies it.",
)
def second_runtime(package: Contents) -> Hits:
    """A JAR other than the runtime's own has files in the folder where the runtime's JAR has its libraries.

    The Java classes of the runtime load the runtime's library from this folder, too, and expect the version that
    belongs to them.
    """
    for runtime in presets().values():  # also for a project that binds none
        supply = runtime.supplies.get(ECOSYSTEM)
        if supply is None or package.project in supply.packages:
            continue
        taken = {*supply.files.linux, *supply.files.macos, *supply.files.windows}
        inside = [file.name for file in package.files if file.name.startswith(f"{supply.folder}/")]
        places = [name for name in inside if name.rpartition("/")[2] in taken]
        if places:
            text = f"contains files in the folder of {supply.packages[0]}: {supply.folder}"
            yield Hit(cause=runtime.name, inner=places[0], message=text, evidence=some(places))


def _find_dependency_problems(package: Contents, policy: BindingPolicy, runtime: RuntimePreset) -> Iterator[Hit]:
    pom, minimum = find_pom(package), policy.minimums.get(runtime.name, "")
    suppliers = _list_suppliers(runtime)
    if pom is None or not suppliers or package.project in suppliers:
        return
    dependencies = [dependency for dependency in pom[1].dependencies if dependency.id in suppliers]
    for dependency in dependencies:
        # A JAR's POM does not have a version that is a property, or that only the parent's POM gives.
        is_elsewhere = "${" in dependency.version or (pom[1].has_parent and not dependency.version.strip())
        yield from judge_range(dependency.id, dependency.version, "" if is_elsewhere else minimum, pom[0])
    if minimum and not dependencies and policy.bound.get(package.project) == runtime.name:
        message = f"does not depend on {suppliers[0]}, whose configured minimum is {minimum}"
        yield Hit(cause=f"none {suppliers[0]}", inner=pom[0], message=message, evidence=(f"missing: {suppliers[0]}",))


def _list_suppliers(runtime: RuntimePreset) -> tuple[str, ...]:
    supply = runtime.supplies.get(ECOSYSTEM)
    return supply.packages if supply is not None else ()


SUPPLIERS = (Supplier(kind="jar", list_packages=_list_suppliers, find_problems=_find_dependency_problems),)
