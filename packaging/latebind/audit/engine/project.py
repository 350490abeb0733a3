"""Derives the audit policy of a project from its configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from latebind.audit.engine.choice import Choice, read_codes
from latebind.audit.engine.policy import Policy, Waiver
from latebind.formats import name_projects

if TYPE_CHECKING:
    from latebind.config.config import Config


def project_policy(config: Config) -> Policy:
    """Its runtimes and minimums, the exports of each package, its twins, floors, waivers and choice of checks.

    Raises LatebindError for a code that matches no check.
    """
    audit = config.document.audit
    exports: dict[str, tuple[str, ...]] = {}
    twins, bound = [], {}
    for name, package in config.packages.items():
        twins.append(name_projects(config, name))
        if runtime := config.runtime_of(name):
            bound.update(dict.fromkeys(twins[-1].values(), runtime.name))
        exports.update(dict.fromkeys(twins[-1].values(), package.exports))
    wheels = {name: canonicalize_name(config.wheel_name(name)) for name in config.packages if config.wheel_name(name)}
    if packages := config.sdk_packages:
        every = (glob for name in packages for glob in config.packages[name].exports)
        exports[f"{config.project.name}-sdk"] = tuple(dict.fromkeys(every))
    return Policy(
        runtimes=tuple(runtime.traits for runtime in config.document.runtime),
        minimums={runtime.name: runtime.minimum for runtime in config.document.runtime},
        drop_ins=frozenset(runtime.name for runtime in config.document.runtime if runtime.drop_in),
        bound=bound,
        requiring=frozenset(wheels[name] for name in wheels if _requires_runtime(config, name)),
        modules={distribution: config.module_name(name) for name, distribution in wheels.items()},
        exports=exports,
        twins=tuple(names for names in twins if len(names) > 1),
        glibc=config.document.targets.glibc,
        macos=config.document.targets.macos,
        waivers=tuple(Waiver(code=waiver.code, subject=waiver.subject, reason=waiver.reason) for waiver in audit.waive),
        choice=Choice(
            profile=audit.profile,
            select=read_codes(audit.select, f"{config.file.name}: audit.select"),
            ignore=read_codes(audit.ignore, f"{config.file.name}: audit.ignore"),
        ),
        fail_on=audit.fail_on,
    )


def _requires_runtime(config: Config, package: str) -> bool:
    wheel = config.packages[package].wheel
    return wheel is not None and wheel.runtime == "required"
