"""Checks of the tables `runtime`: known presets, possible versions, and a package that binds each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.version import Version

from latebind.config.described_problems import problems, version_problems
from latebind.config.reader import format_key, nearest
from latebind.semver import version_of
from latebind.tables.libraries import library_files
from latebind.tables.presets import presets
from latebind.tables.targets import targets
from loadcheck.model import Rid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from latebind.config.config import Config
    from latebind.config.described import DescribedRuntime
    from latebind.config.reader import Key, Reader
    from latebind.config.runtime import RuntimeUse

_ENTRIES = ("minimum", "each-minor", "latest")


def check_runtimes(config: Config, reader: Reader) -> None:
    """All of it that needs no file."""
    for index, runtime in enumerate(config.document.runtime):
        if runtime.describe is None:
            _check_preset(reader, runtime, ("runtime", index))
        else:
            _check_described(config, reader, runtime, runtime.describe, ("runtime", index))
        _check_drop_in(reader, runtime, ("runtime", index))
    names = [runtime.name for runtime in config.document.runtime]
    for index, name in enumerate(names):
        if name and name in names[:index]:
            reader.problem(("runtime", index), f"{name} is a [[runtime]] twice", "Keep one of them.")
    if all(map(is_known, config.document.runtime)):  # one cause, one problem
        _check_tried(config, reader, names)
        _check_used(config, reader, names)


def _check_used(config: Config, reader: Reader, names: Sequence[str]) -> None:
    """A runtime that no package binds would get test cases, in which its absence changes nothing."""
    if any(package.runtime not in ("", *names) for package in config.packages.values()):  # reported there
        return
    bound = [config.runtime_of(name) for name in config.packages]
    for index, runtime in enumerate(config.document.runtime):
        if runtime not in bound:
            package = next(iter(config.packages))
            advice = f'Write runtime = "{runtime.name}" below [package.{package}], or remove the [[runtime]].'
            reader.problem(("runtime", index), f"no package binds {runtime.name}", advice)


def is_known(runtime: RuntimeUse) -> bool:
    """Whether its name is one that other keys can refer to; an unknown preset is a problem of its own."""
    return runtime.describe is not None or runtime.preset in presets()


def _list_presets() -> tuple[str, ...]:
    return (*presets(), *library_files())


def _check_preset(reader: Reader, runtime: RuntimeUse, here: tuple[Key, ...]) -> None:
    if not runtime.preset:
        text = "a runtime has neither preset nor description"
        advice = f"Write preset = one of {', '.join(_list_presets())}, or describe it below [runtime.describe]."
        reader.problem(here, text, advice)
        return
    preset = presets().get(runtime.preset)
    if preset is None:
        reader.problem(
            (*here, "preset"), f"{runtime.preset!r} is not a known runtime", nearest(runtime.preset, _list_presets())
        )
        return
    wrong = list(version_problems("minimum", runtime.minimum))
    for keys, text, advice in wrong:
        reader.problem((*here, *keys), text, advice)
    if not wrong and Version(runtime.minimum) < Version(preset.floor):
        reader.problem(
            (*here, "minimum"),
            f"{preset.title} {runtime.minimum} cannot be the minimum: {preset.floor_reason}",
            f'Write minimum = "{preset.floor}".',
        )


def _check_drop_in(reader: Reader, runtime: RuntimeUse, here: tuple[Key, ...]) -> None:
    if runtime.drop_in and runtime.describe and runtime.describe.stub is None:
        advice = f"List its functions below [runtime.describe.stub], or use a preset: {', '.join(_list_presets())}."
        reader.problem((*here, "drop_in"), f"there is no stub of {runtime.name}", advice)
    elif runtime.headers and not runtime.drop_in:
        text = "headers has an effect only with drop_in"
        reader.problem((*here, "headers"), text, "Write drop_in = true, or remove headers.")


def _check_described(
    config: Config, reader: Reader, runtime: RuntimeUse, described: DescribedRuntime, here: tuple[Key, ...]
) -> None:
    if runtime.preset:
        text = f"a runtime has both the preset {runtime.preset} and a description"
        reader.problem((*here, "preset"), text, "Remove preset or [runtime.describe].")
    for keys, text, advice in version_problems("minimum", runtime.minimum):
        reader.problem((*here, *keys), text, advice)
    if not any((described.python, *(variant.python for variant in described.variants))):
        text = "no wheel supplies the runtime, so nothing can be verified"
        reader.problem(
            (*here, "describe"), text, 'Write python = { folder = "thing/lib", extras = { cpu = "thing" } }.'
        )
    platforms = (targets().get(Rid(rid)) for rid in config.document.targets.include)
    for keys, text, advice in problems(
        described, runtime.minimum, [platform.system for platform in platforms if platform is not None]
    ):
        reader.problem((*here, "describe", *keys), f"{format_key((*here, 'describe', *keys))}: {text}", advice)


def _check_tried(config: Config, reader: Reader, names: Sequence[str]) -> None:
    verify = config.document.verify
    for key, name in [*(("own", name) for name in verify.own), *(("runtimes", name) for name in verify.runtimes)]:
        if name not in names:
            reader.problem(
                ("verify", key, name), f"{name!r} is not a [[runtime]] of this project", nearest(name, names)
            )
    for name, versions in verify.runtimes.items():
        for version in versions:
            if version not in _ENTRIES and version_of(version) is None:
                advice = nearest(version, _ENTRIES)
                reader.problem(("verify", "runtimes", name), f"{version!r} is not a version", advice)
