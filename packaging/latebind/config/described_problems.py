"""What is wrong with the description of a runtime, beyond the types of its values."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec
from packaging.version import Version

from latebind.config.described import C_FUNCTION, RUNTIME_NAME, RUNTIME_VERSION, WIDE, DescribedFile, DescribedFiles
from latebind.config.reader import Key
from latebind.semver import version_of
from latebind.tables.presets import presets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from latebind.config.described import DescribedRuntime, DescribedStub, DescribedVariant

Problem = tuple[tuple[Key, ...], str, str]
"""The keys below the description, what is wrong, what to do."""
_FUNCTIONS = re.compile(r"^[A-Za-z_*][A-Za-z0-9_*?]*$")
_LINKED = re.compile(r"^[A-Za-z0-9_.:+-]*$")
_SCALES = (2, 3)
"""How many numbers a scale has."""
_BITS = {"integer": (32, WIDE), "structure": (8, 16, 32)}
_FILE = re.compile(r"^[A-Za-z0-9_.*+-]+$")
_ROOT = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*/[A-Za-z0-9_./-]+$")
_PLACEHOLDER = re.compile(r"\{(major|minor)\}")
_SIGN = re.compile(r"^[A-Za-z0-9_./+-]+$")
_PACKAGE = re.compile(r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$")
_ENDINGS = {
    "linux": (re.compile(r"\.so(\.|\*|$)"), "libthing.so"),
    "macos": (re.compile(r"\.dylib$"), "libthing.dylib"),
    "windows": (re.compile(r"\.dll$", re.IGNORECASE), "thing.dll"),
}


def problems(described: DescribedRuntime, minimum: str, systems: Iterable[str]) -> Iterator[Problem]:
    """What types cannot check in a description; `systems` are those of the project's targets."""
    yield from _name_problems(described)
    if described.stub:
        yield from _stub_problems(described.stub)
    yield from _version_form_problems(described)
    yield from _built_problems(described, minimum)
    yield from _every_file_problems(described, systems)
    for root in described.roots:
        if not _ROOT.match(root):
            yield ("roots",), f"{root!r} is not a folder below an environment variable", "Write it as THING_HOME/lib."
    for index, variant in enumerate(described.variants):
        for keys, text, advice in _variant_problems(described, variant):
            yield ("variants", index, *keys), text, advice
    yield from _apart_problems(described) if described.variants else _supply_problems(described)


def _name_problems(described: DescribedRuntime) -> Iterator[Problem]:
    if described.name in presets():
        text = f"{described.name} is a runtime that latebind knows"
        yield ("name",), text, f'Write preset = "{described.name}" instead of the description, or choose another name.'
    if not RUNTIME_NAME.match(described.name):
        text = f"{described.name!r} cannot be part of a name in C"
        yield ("name",), text, "Use lowercase letters, digits and _, starting with a letter."
    if described.environment and not C_FUNCTION.match(described.environment):
        text = f"{described.environment!r} cannot be the name of an environment variable"
        yield ("environment",), text, f"Leave it out to use {described.name.upper()}_LIB_PATH."
    yield from _advice_problems(described.advice)
    if not described.title.isprintable() or set('"\\*') & set(described.title):
        yield ("title",), f"{described.title!r} is not a plain title", 'Write it without ", \\, * and line breaks.'
    if not C_FUNCTION.match(described.entry):
        yield (
            ("entry",),
            f"{described.entry!r} is not the name of a C function",
            "Name an exported function: nm -D lists them.",
        )


def _advice_problems(advice: str) -> Iterator[Problem]:
    if not advice.isprintable():
        yield ("advice",), "the advice has line breaks or control characters", "Write one plain line."


def version_problems(key: str, version: str) -> Iterator[Problem]:
    """A problem of the key unless the version has the form that C code can have."""
    if not version:
        yield (), f"{key} is missing", f'Write a version: {key} = "1.19".'
    elif not RUNTIME_VERSION.match(version):
        yield (key,), f"{version!r} does not have two or three numbers", "Write it as 1.19 or 1.19.2."


def _version_form_problems(described: DescribedRuntime) -> Iterator[Problem]:
    is_integer, units = described.version.startswith("integer"), described.scale
    may_be_number = is_integer or described.version in ("text", "variable")
    most = 2**63 if described.bits == WIDE and described.version == "integer" else 2**32
    is_falling = all(above > below for above, below in pairwise((most, *units, 0)))
    if (is_integer or (units and may_be_number)) and not (len(units) in _SCALES and is_falling):
        text = f'version = "{described.version}" needs two or three falling numbers as its scale'
        example = "scale = [10000, 100, 1] if 20304 is 2.3.4"
        advice = f"Write what one major, one minor and one patch version count: {example}."
        yield ("scale",), text, advice
    if described.bits not in _BITS.get(described.version, (32,)):
        yield ("bits",), f'version = "{described.version}" cannot have {described.bits} bits', "Remove bits."
    if units and not may_be_number:
        yield ("scale",), "scale is for a version that is one number", 'Write version = "integer", or remove scale.'


def _built_problems(described: DescribedRuntime, minimum: str) -> Iterator[Problem]:
    if described.version == "none" and not described.built:
        return
    yield from (wrong := list(version_problems("built", described.built)))
    if not wrong and (least := version_of(minimum)) and Version(described.built) < least:
        yield (
            ("built",),
            f"built = {described.built} is older than the minimum, {minimum}",
            "Name an older minimum, or write the newest version that you tried in `built`.",
        )


def _apart_problems(described: DescribedRuntime) -> Iterator[Problem]:
    """Keys that each variant has for itself."""
    for key, is_given in (
        ("files", described.files != DescribedFiles()),
        ("python", described.python is not None),
        ("advice", bool(described.advice)),
        ("compatible", described.compatible != "major"),
        ("minimum", isinstance(described, DescribedFile) and bool(described.minimum)),
    ):
        if is_given:
            yield (key,), f"{key} has no effect next to variants", f"Remove {key}, or write it below [[variants]]."


def _companion_problems(described: DescribedRuntime, variant: DescribedVariant) -> Iterator[Problem]:
    names = [name for names in msgspec.structs.asdict(variant.companions).values() for name in names]
    for name in names:
        if set("*{}") & set(_PLACEHOLDER.sub("", name)):
            yield ("companions",), f"{name!r} is not a file name", "Of a version, {major} and {minor} can be in it."
    if described.version == "none" and any("{" in name for name in names):
        text = "a companion's name has a version, which the library does not report"
        yield ("companions",), text, "Leave the file out."


def _variant_problems(described: DescribedRuntime, variant: DescribedVariant) -> Iterator[Problem]:
    if described.version != "none":
        yield from version_problems("minimum", variant.minimum)
    elif variant.minimum:
        yield ("minimum",), "the library does not report its version", "Remove minimum."
    yield from _advice_problems(variant.advice)
    yield from _supply_problems(variant)
    yield from _file_problems(variant.files)
    plain = DescribedFiles(
        **{
            system: tuple(_PLACEHOLDER.sub("0", name) for name in names)
            for system, names in msgspec.structs.asdict(variant.companions).items()
        }
    )
    for (_, system), text, advice in _file_problems(plain):
        yield ("companions", system), text, advice
    yield from _companion_problems(described, variant)
    for system, names in msgspec.structs.asdict(variant.companions).items():
        others = [getattr(other.companions, system) for other in described.variants]
        for name in names:
            if "{major}" not in name and not all(name in other for other in others):
                text = f"{name!r} is not a companion of all variants"
                yield ("companions", system), text, "Add it to the others, or write {major} in place of the number."
    for sign in variant.signs:
        if not _SIGN.match(sign):
            yield ("signs",), f"{sign!r} is not a file below site-packages", "Write it as thing/lib/libthing.so.2."


def _every_file_problems(described: DescribedRuntime, systems: Iterable[str]) -> Iterator[Problem]:
    named = msgspec.structs.asdict(described.every_file)
    for system in sorted(set(systems)):
        if not any("*" not in name for name in named[system]):
            text = f"no file name without * for {system}, which a target needs"
            below = " below a [[variants]]" if described.variants else ""
            advice = f'Write files.{system} = ["{_ENDINGS[system][1]}"]{below}, or leave those targets out.'
            yield ("files",), text, advice
    yield from _file_problems(described.files)


def _file_problems(files: DescribedFiles) -> Iterator[Problem]:
    for system, names in msgspec.structs.asdict(files).items():
        ending, example = _ENDINGS[system]
        for name in names:
            if not _FILE.match(name) or not ending.search(name):
                text = f"{name!r} is not the file name of a library on {system}"
                yield ("files", system), text, f'Write the plain name, without a folder: "{example}".'


def _stub_problems(stub: DescribedStub) -> Iterator[Problem]:
    if not stub.functions:
        advice = 'Write functions = ["thing_open", "libthing.so"], or name the library: latebind stub --functions FILE.'
        yield ("stub",), "the stub has no functions", advice
    for key, names in (
        ("packages", stub.packages),
        ("targets", stub.targets),
        ("variables", stub.variables),
        ("library", (stub.library,)),
        ("pkg_config", (stub.pkg_config,)),
    ):
        for name in names:
            if not _LINKED.match(name):
                yield ("stub", key), f"{name!r} cannot be a name in CMake", "Use letters, digits, and any of _.:+-"
    for pattern in stub.failures:
        if not _FUNCTIONS.match(pattern):
            yield ("stub", "failures"), f"{pattern!r} matches no C function", "Write a name, or a pattern: thing_*."
    yield from _since_problems(stub.since)


def _since_problems(since: Mapping[str, tuple[str, ...]]) -> Iterator[Problem]:
    for version, names in since.items():
        for _, text, advice in version_problems("version", version):
            yield ("stub", "since"), text, advice
        for name in names:
            if not C_FUNCTION.match(name):
                yield ("stub", "since"), f"{name!r} is not the name of a C function", "Patterns cannot be here."


def _supply_problems(described: DescribedRuntime | DescribedVariant) -> Iterator[Problem]:
    if described.python is None:
        if not described.advice:
            text = "no wheel supplies the runtime, and there is no advice on how to get it"
            yield ("python",), text, 'Write python = { folder = "thing/lib", extras = { cpu = "thing" } }, or advice.'
        return
    for folder in described.python.folders or ("",):
        path = PurePosixPath(folder)
        if not folder or path.is_absolute() or ".." in path.parts or set("\\;") & set(folder):
            text = f"{folder!r} is not a folder below site-packages"
            yield ("python", "folder"), text, 'Write where the wheel has the library: "thing/lib".'
    if not described.python.extras:
        yield ("python", "extras"), "no distribution supplies the runtime", 'Name one: extras = { cpu = "thing" }.'
    for extra, distribution in described.python.extras.items():
        if not _PACKAGE.match(extra) or not _PACKAGE.match(distribution):
            text = f'{extra} = "{distribution}" does not map an extra to a distribution'
            yield ("python", "extras"), text, "Write the distribution without a version: the minimum is added."
