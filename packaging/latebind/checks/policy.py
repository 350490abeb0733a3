"""The rules of late binding in an audit: which runtimes packages bind, and what a project promises of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from packaging.utils import canonicalize_name

from latebind.config.described import DescribedFile, libraries
from latebind.errors import InputError
from latebind.formats import name_projects
from latebind.system.decoding import DECODE_ERRORS
from latebind.tables.presets import RuntimePreset, preset, presets
from loadcheck.api import Choice, Policy, Waiver, fits_any, read_codes

if TYPE_CHECKING:
    from latebind.config.config import Config
    from loadcheck import Kind

TWINS: tuple[Kind, ...] = ("wheel", "nupkg", "npm", "jar")
"""What each package of a configuration can become: with the same libraries in every ecosystem."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingPolicy(Policy):
    """The rules of an audit that knows runtimes. The default fits any package: all known runtimes, no project rules."""

    runtimes: tuple[RuntimePreset, ...] = field(default_factory=lambda: tuple(presets().values()))
    minimums: Mapping[str, str] = field(default_factory=dict)
    """RuntimePreset name to the minimum that every package must declare."""
    drop_ins: frozenset[str] = frozenset()
    """The runtimes that a stub of latebind binds: the code links it and calls no function of latebind."""
    bound: Mapping[str, str] = field(default_factory=dict)
    """What an ecosystem calls a package to the runtime that it binds."""
    requiring: frozenset[str] = frozenset()
    """The distributions that require a runtime by the project's own choice."""
    apart: frozenset[str] = frozenset()
    """The packages whose users install the runtime apart, by the project's own choice."""
    modules: Mapping[str, str] = field(default_factory=dict)
    """Distribution to the name with which Python imports it."""
    exports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Allowed exports: a glob of library file names, or the name of a distribution or package, to symbol globs."""
    twins: tuple[Mapping[str, str], ...] = ()
    """Packages that contain the same native files: kind to distribution, NuGet id or npm name."""

    def judges_link(self, library: str) -> bool:
        """Whether LB101 runs and judges it."""
        takes = self.choice.takes("LB101")
        return takes and any(fits_any(library, runtime.linked_globs) for runtime in self.runtimes)

    def may_bring(self, distribution: str, library: str) -> bool:
        """Whether a distribution may have a library: a runtime's has none that the preset doesn't know."""
        supplies = (runtime.python for runtime in self.runtimes if distribution in runtime.python.extras.values())
        known = next((supply.libraries for supply in supplies), ())
        return not known or fits_any(library.rpartition("/")[2], known)

    def allowed_exports(self, file_name: str, project: str) -> tuple[str, ...] | None:
        """The symbol globs for a library, or None if no rule names it or its package."""
        for key, globs in self.exports.items():
            if fnmatchcase(file_name, key) or (project and key.lower() == project.lower()):
                return globs
        return None

    def must_require(self, project: str, runtime: RuntimePreset) -> bool:
        """Whether a package has to require a runtime: it binds that one, and the project chose nothing else."""
        return self.bound.get(project) == runtime.name and project not in self.apart


_ASKED = ("name", "entry_symbols", "file_globs", "linked_globs")


def find_rules(policy: Policy) -> BindingPolicy:
    """The rules of late binding in a policy; those for any package where it has none."""
    return policy if isinstance(policy, BindingPolicy) else BindingPolicy()


def project_policy(config: Config) -> BindingPolicy:
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
    return BindingPolicy(
        runtimes=tuple(runtime.traits for runtime in config.document.runtime),
        minimums={runtime.name: runtime.minimum for runtime in config.document.runtime},
        drop_ins=frozenset(runtime.name for runtime in config.document.runtime if runtime.drop_in),
        bound=bound,
        requiring=frozenset(
            wheels[name]
            for name, package in config.packages.items()
            if package.wheel is not None and package.wheel.runtime == "required"
        ),
        apart=frozenset(chosen for name in config.packages for chosen in _list_apart(config, name)),
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


def _list_apart(config: Config, package: str) -> Iterator[str]:
    """What those of a package's packages are called whose configuration adds no runtime to them.

    The runtime itself loads an execution provider, so that it is there.
    """
    chosen = config.packages[package]
    if chosen.wheel is not None and (chosen.wheel.runtime == "none" or chosen.ep is not None):
        yield canonicalize_name(config.wheel_name(package))
    if chosen.nuget is not None and (not chosen.nuget.runtime or chosen.ep is not None):
        yield chosen.nuget.id


def runtimes_named(names: Iterable[str], folder: Path) -> tuple[RuntimePreset, ...]:
    """The runtimes to audit against: names of presets and of libraries, or TOML files in `folder` that describe one.

    Raises LatebindError for an unknown name, and for a file that does not describe a runtime.
    """
    by_name: dict[str, RuntimePreset] = {}
    for name in names:
        is_file = name.endswith(".toml")
        runtime = _read_runtime(folder / name, name) if is_file else libraries().get(name) or preset(name)
        by_name[runtime.name] = runtime
    return tuple(by_name.values())


def _read_runtime(path: Path, name: str) -> RuntimePreset:
    """A runtime described in a file, called `name`. What only building and verifying need may be missing."""
    try:
        table = msgspec.toml.decode(path.read_bytes(), type=dict[str, Any])
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except DECODE_ERRORS as error:
        raise InputError(f"is not valid TOML: {error}", where=str(path)) from error
    if "entry" in table:  # what `latebind stub` reads
        try:
            return msgspec.structs.replace(msgspec.convert(table, DescribedFile).preset(), file=name)
        except msgspec.ValidationError as error:
            raise InputError(f"does not describe a library: {error}", where=str(path)) from error
    unknown = [key for key in table if key not in RuntimePreset.__struct_fields__]
    if unknown:
        near = get_close_matches(unknown[0], RuntimePreset.__struct_fields__, n=1, cutoff=0.0)[0]
        raise InputError(f"{unknown[0]!r} is not a key of a runtime", where=str(path), advice=f"Did you mean {near!r}?")
    missing = [key for key in _ASKED if not table.get(key)]
    if missing:
        advice = (
            "Set name, entry_symbols (the runtime's exports), file_globs (its files) and linked_globs (files that "
            "binaries need if they link the runtime)."
        )
        raise InputError(f"lacks {', '.join(missing)}", where=str(path), advice=advice)
    python = {"folder": "", "extras": {}, **_table(table.get("python", {}))}
    defaults = {**dict.fromkeys(("environment", "floor", "floor_reason", "built"), ""), "title": table["name"]}
    try:
        return msgspec.convert({**defaults, "files": {}, **table, "python": python}, RuntimePreset)
    except msgspec.ValidationError as error:
        raise InputError(f"does not describe a runtime: {error}", where=str(path)) from error


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"folder": value}
