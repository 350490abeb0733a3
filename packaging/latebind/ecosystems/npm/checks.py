"""Which distributions of a runtime npm packages require, for the checks of late binding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from latebind.checks.supplier import Supplier
from latebind.ecosystems.npm.files import npm_version
from loadcheck.api import Hit, comparable_version
from loadcheck.facts import read_manifest

if TYPE_CHECKING:
    from latebind.checks.policy import BindingPolicy
    from latebind.tables.presets import RuntimePreset
    from loadcheck.facts import Contents


def _find_dependency_problems(package: Contents, policy: BindingPolicy, runtime: RuntimePreset) -> Iterator[Hit]:
    """The main package's peer or dependency; packages for one platform have none."""
    minimum, name = policy.minimums.get(runtime.name, ""), runtime.npm
    manifest = read_manifest(package)
    if not minimum or not name or policy.bound.get(package.project) != runtime.name:
        return
    if manifest is None or manifest.platform[0]:
        return
    key = "dependencies" if name in manifest.table("dependencies") else "peerDependencies"
    kind = "dependency" if key == "dependencies" else "peer dependency"
    text = str(manifest.table(key).get(name, ""))
    low = text.replace(" ", "").removeprefix(">=")
    if low == text or comparable_version(low) != comparable_version(minimum):
        what = f"has the {kind} {name} {text}" if text else f"has no {kind} {name}"
        yield Hit(
            cause=kind if text else "none",
            inner=manifest.inner,
            message=f"{what}, but the configured minimum is {minimum}",
            evidence=(f"{key}: {name} {text or 'missing'}", f"minimum: {minimum}"),
            fix=f'Write "{name}": ">={npm_version(minimum)}" into {key}. latebind pack writes this entry for you.',
        )


SUPPLIERS = (
    Supplier(
        kind="npm",
        list_packages=lambda runtime: (runtime.npm,) if runtime.npm else (),
        find_problems=_find_dependency_problems,
    ),
)
