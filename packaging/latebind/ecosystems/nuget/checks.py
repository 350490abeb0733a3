"""Which distributions of a runtime NuGet packages require, for the checks of late binding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from latebind.checks.supplier import Supplier, judge_range
from loadcheck.api import Hit
from loadcheck.facts import nupkg_id, readable_nuspec, whole_id

if TYPE_CHECKING:
    from latebind.checks.policy import BindingPolicy
    from latebind.tables.presets import RuntimePreset
    from loadcheck.facts import Contents


def _find_dependency_problems(package: Contents, policy: BindingPolicy, runtime: RuntimePreset) -> Iterator[Hit]:
    read = readable_nuspec(package)
    if package.project in runtime.nuget.ids or read is None or _is_part(package.path.name):
        return
    minimum = policy.minimums.get(runtime.name, "")
    ids = {name.lower() for name in runtime.nuget.ids}
    inner, spec = read
    dependencies = [dependency for dependency in spec.dependencies if dependency.id.lower() in ids]
    if ids and not dependencies and policy.must_require(package.project, runtime):
        line = f'<dependency id="{runtime.nuget.ids[0]}" version="{minimum}" />'
        message = f"binds {runtime.title}, but depends on none of its packages"
        yield Hit(cause="none", inner=inner, message=message, evidence=(f"missing: {line}",), fix=f"Add {line}.")
    for dependency in dependencies:
        yield from judge_range(dependency.id, dependency.version, minimum, inner)


def _is_part(name: str) -> bool:
    """Whether a file comes with another package, which has the dependencies: symbols, or the files of one target."""
    id_ = nupkg_id(name)
    return name.endswith(".snupkg") or whole_id(id_) != id_


SUPPLIERS = (
    Supplier(kind="nupkg", list_packages=lambda runtime: runtime.nuget.ids, find_problems=_find_dependency_problems),
)
