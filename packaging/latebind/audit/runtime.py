"""Checks LB101-LB105: whether the runtime is linked, bundled, renamed or embedded; reads nothing."""

from __future__ import annotations

import posixpath
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from latebind.audit import platforms
from latebind.audit.registry import EVERY_FORMAT, Hit, Skip, check
from latebind.audit.wording import links, own_name, some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from latebind.audit.policy import Policy
    from latebind.audit.subject import File, Package
    from latebind.binary import Image
    from latebind.tables.presets import RuntimePreset


@check(
    "LB101",
    "Runtime linked",
    "error",
    scope="binary",
    formats=EVERY_FORMAT,
    example="liblatenn.so: NEEDED libonnxruntime.so.1; latenn.dll: delay import of onnxruntime.dll",
    cure="Take the runtime out of target_link_libraries(); open it at run time with lb_bind().",
)
def runtime_linked(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """A linked runtime is looked up by one file name when the library loads.

    No way of supply has a file of that name everywhere, so the library loads beside one release only, or not at
    all, and the loader's message names neither the package that is missing nor the version.
    """
    for runtime in policy.runtimes:
        linked = dict(row for row in links(image) if matches(row[0], runtime.linked_globs))
        if not linked:
            continue
        if _is_supply(package, runtime):
            yield _supply_skip(package, runtime)
        elif not _is_named(file.base, file, runtime):
            names = ", ".join(linked)
            yield Hit(
                message=f"needs {names}: it loads only where a file of just that name is found",
                evidence=tuple(linked.values()),
                fix=f"Take {runtime.title} out of target_link_libraries(); open it at run time with lb_bind().",
            )


@check(
    "LB102",
    "Symbol version of the runtime needed",
    "error",
    scope="binary",
    example="libsherpa.so: VERNEED libonnxruntime.so VERS_1.28.2",
    cure="Resolve the entry symbol with dlsym (lb_bind() does), so that no symbol version is recorded.",
)
def runtime_version_needed(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """A recorded symbol version ties the library to one release of the runtime, even where the file name fits.

    The dynamic loader refuses the library with `version 'VERS_1.28.2' not found`.
    """
    for runtime in policy.runtimes:
        # A copy may bear any name; versions such as VERS_1.0 are anybody's. The entry symbol is the runtime's alone.
        entries = {(row.library, row.version) for row in image.imports if row.name in runtime.entry_symbols}
        rows = [
            (library, version)
            for library, versions in image.version_needs.items()
            for version in versions
            if matches(library, runtime.linked_globs) or (library, version) in entries
            if not _is_named(file.base, file, runtime)
            if not (platforms.is_system(library))
        ]
        if rows and _is_supply(package, runtime):
            yield _supply_skip(package, runtime)
        elif rows:
            symbols = sorted(row.name for row in image.imports if (row.library, row.version) in rows)
            wanted = ", ".join(f"{version} of {library}" for library, version in rows)
            yield Hit(
                message=f"needs {wanted}: no other release of {runtime.title} will do",
                evidence=(*(f"VERNEED {library} {version}" for library, version in rows), *some(symbols)),
            )


@check(
    "LB103",
    "Runtime bundled",
    "error",
    scope="package",
    formats=EVERY_FORMAT,
    kinds=("wheel", "nupkg", "sdist", "archive", "folder"),
    example="latenn.whl!latenn.libs/libonnxruntime-1a2b3c4d.so.1.20.1",
    cure="Leave the runtime out: declare the package that supplies it, and exclude it from repair tools.",
)
def runtime_bundled(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """A second copy of the runtime costs 15-27 MB, ends in one process with the user's own copy, and never updates.

    A plugin for the runtime, such as an execution provider of ONNX Runtime, is recognized by what it exports. It is no
    part of the runtime, though its file may be named like one.
    """
    for runtime in policy.runtimes:
        rows = [file for file in package.native if _is_named(file.base, file, runtime)]
        if rows and _is_supply(package, runtime):
            yield _supply_skip(package, runtime)
            continue
        for file in rows:
            soname = next((own_name(image) for image in file.images), "")
            yield Hit(
                inner=file.name,
                message=f"is {runtime.title} by its file name, {file.size} bytes of it",
                evidence=tuple(filter(None, (f"file {file.base}", soname, *_entry_symbols(file, runtime)))),
                fix=f"Leave it out{_suppliers(package, runtime)}; give the repair tool --exclude '{file.base}' when it "
                "was grafted.",
            )


@check(
    "LB104",
    "Renamed copy of the runtime",
    "error",
    scope="binary",
    formats=EVERY_FORMAT,
    example="libspeech_rt.so exports OrtGetApiBase",
    cure="Leave the copy out of the package and open the user's own runtime with lb_bind().",
)
def runtime_renamed(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """A copy under another name is still a copy.

    It is told by its SONAME or install name, and by the entry symbol that it exports.
    """
    for runtime in policy.runtimes:
        if _is_named(file.base or package.path.name, file, runtime) and package.kind != "binary":
            continue
        proofs = _entry_symbols(file, runtime)
        if _is_named(posixpath.basename(image.soname), file, runtime):
            proofs = (own_name(image), *proofs)
        if proofs and _is_supply(package, runtime):
            yield _supply_skip(package, runtime)
        elif proofs:
            yield Hit(message=f"is a copy of {runtime.title} under another name: {proofs[0]}", evidence=proofs)


@check(
    "LB105",
    "Runtime embedded",
    "error",
    scope="binary",
    formats=EVERY_FORMAT,
    example="_core.abi3.so holds the text of OrtApis::GetApi and exports only PyInit__core",
    cure="Link the library without the runtime's static archives; open the user's own runtime with lb_bind().",
)
def runtime_embedded(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """A statically linked runtime shows in no table of the file.

    It is told by text that only the runtime's own code holds, never by names that any user of the runtime
    contains as well.
    """
    for runtime in policy.runtimes:
        found = [marker for marker in runtime.markers if marker in file.markers]
        named = any(_is_named(name, file, runtime) for name in (file.base, posixpath.basename(image.soname)))
        if not found or named or _entry_symbols(file, runtime):
            continue  # LB103 and LB104 say it with better proof
        if _is_supply(package, runtime):
            yield _supply_skip(package, runtime)
        else:
            yield Hit(
                message=f"holds {runtime.title} statically: {len(found)} of its own texts are inside",
                evidence=tuple(f"string {marker!r}" for marker in found),
            )


def matches(name: str, globs: Iterable[str]) -> bool:
    """Whether a name or path fits one of the globs, in any case, as Windows and macOS find files; no name fits none."""
    small = name.lower()
    return bool(name) and any(fnmatchcase(small, glob.lower()) for glob in globs)


def _is_named(name: str, file: File, runtime: RuntimePreset) -> bool:
    """Whether that name of a file is one of the runtime's libraries, and what it exports does not make it a plugin."""
    return matches(name, runtime.file_globs) and not _is_plugin(file, runtime)


def _is_plugin(file: File, runtime: RuntimePreset) -> bool:
    exported = {row.name for image in file.images for row in image.exports}
    own = {*runtime.entry_symbols, *runtime.part_symbols}
    return not exported.isdisjoint(runtime.plugin_symbols) and exported.isdisjoint(own)


def _entry_symbols(file: File, runtime: RuntimePreset) -> tuple[str, ...]:
    rows = {row.name: row for image in file.images for row in image.exports if row.name in runtime.entry_symbols}
    return tuple(f"exports {name}" for name, row in rows.items() if not row.forward)  # LB101 tells of a forward


def _is_supply(package: Package, runtime: RuntimePreset) -> bool:
    """Whether the package is one of those that supply the runtime, so that holding it is its purpose."""
    suppliers = {name.lower() for name in (*runtime.python.extras.values(), *runtime.nuget.ids)}
    return package.project.lower() in suppliers


def _supply_skip(package: Package, runtime: RuntimePreset) -> Skip:
    return Skip(reason=f"{package.project} supplies {runtime.title}: holding it is its purpose")


def _suppliers(package: Package, runtime: RuntimePreset) -> str:
    names = runtime.nuget.ids if package.kind == "nupkg" else tuple(runtime.python.extras.values())
    return f" and require one of {', '.join(names)}" if names else ""
