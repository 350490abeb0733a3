"""Checks LB504 and LB506: which distributions of the runtime a package requires."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from latebind.checks.policy import TWINS, find_rules
from latebind.checks.supplier import suppliers
from loadcheck.engine.registry import Hit, Hits, check
from loadcheck.engine.supply import requirement_rows

if TYPE_CHECKING:
    from latebind.tables.presets import RuntimePreset
    from loadcheck.engine.policy import Policy
    from loadcheck.readers.contents import Contents


@check(
    "LB504",
    "Dependency that contradicts the minimum",
    "error",
    profiles=("runtime",),
    because="The dependency contradicts the configured minimum. Without a configured minimum, the finding on a wheel "
    "is a warning for a pinned version, and a note for an upper limit.",
    kinds=TWINS,
    example="Requires-Dist: onnxruntime==1.20.1",
    fix='Declare the configured minimum only: onnxruntime>=1.19, version="1.19.0" in a nuspec, or ">=1.19.0" in '
    "peerDependencies.",
)
def dependency_contradicts(package: Contents, policy: Policy, runtime: RuntimePreset) -> Hits:
    """A late-binding library works with every release of the runtime from its minimum on.

    A pinned or capped runtime prevents users from installing the release they need. A lower minimum allows releases
    that cannot work, and a higher minimum rules out releases that work.
    """
    if package.kind in suppliers():
        yield from suppliers()[package.kind].find_problems(package, find_rules(policy), runtime)


@check(
    "LB506",
    "Requirement for one distribution of the runtime",
    "warning",
    profiles=("runtime",),
    because="The package fails for users of another distribution of the runtime.",
    kinds=("wheel",),
    example="Requires-Dist: onnxruntime>=1.19",
    fix="Move each distribution to an extra of its own: cpu, gpu, directml, ... Or, if your users need no other "
    'distribution, write runtime = "required" into the table wheel of latebind.toml.',
)
def supplier_required(package: Contents, policy: Policy, runtime: RuntimePreset) -> Hits:
    """Several distributions install the runtime in the same folder, so any two of them overwrite each other.

    A requirement outside of extras installs its distribution next to the one that the user chose, such as the GPU
    build. A project that accepts this writes `runtime = "required"` into its table `wheel`.
    """
    inner = f"{package.dist_info}/METADATA"
    names = {canonicalize_name(name) for name in runtime.python.extras.values()}
    if len(names) == 1 or package.project in names | find_rules(policy).requiring:
        return
    matching = [
        (text, requirement)
        for text, requirement in requirement_rows(package)
        if canonicalize_name(requirement.name) in names
    ]
    chosen = [text for text, requirement in matching if "extra" in str(requirement.marker or "")]
    for text, requirement in matching:
        if text not in chosen:
            yield Hit(
                cause=requirement.name,
                inner=inner,
                message=f"requires {requirement.name}, one of {len(names)} distributions of {runtime.title}, outside "
                f"of extras{', though the package has extras for them' if chosen else ''}",
                evidence=(text, *chosen),
            )
