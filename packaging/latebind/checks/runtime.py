"""Checks LB101-LB105: whether a package links, bundles, renames or embeds the runtime."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from latebind.checks.policy import BindingPolicy, find_rules
from latebind.checks.supplier import list_suppliers, suppliers
from loadcheck.engine import platforms
from loadcheck.engine.policy import Policy, fits_any
from loadcheck.engine.registry import ARCHIVES, Hit, Hits, Skip, check
from loadcheck.engine.wording import links, own_name, some
from loadcheck.readers.contents import GRAFTED, PROVIDER_ENTRY, Contents, File
from loadcheck.text import DOCS, human_size, plural

if TYPE_CHECKING:
    from latebind.tables.presets import RuntimePreset
    from loadcheck.binary import Image


def _list_markers(policy: Policy) -> tuple[str, ...]:
    runtimes = policy.runtimes if isinstance(policy, BindingPolicy) else ()
    return tuple(marker for runtime in runtimes for marker in runtime.markers)


@check(
    "LB101",
    "Runtime linked",
    "error",
    profiles=("runtime",),
    because="The library loads only where the runtime has exactly the linked file name, which breaks the promise of "
    "late binding.",
    example="liblatenn.so: NEEDED libonnxruntime.so.1; latenn.dll: delay import of onnxruntime.dll",
    fix="Link its stub instead (latebind stub), or leave the runtime out of the link and open it with lb_bind().",
)
def runtime_linked(package: Contents, file: File, image: Image, runtime: RuntimePreset, policy: Policy) -> Hits:
    """The loader looks for a linked runtime under one exact file name when it loads the library.

    Distributions and releases of the runtime do not agree on that name. The library therefore loads with some of them
    only, or with none, and the loader's message names neither the missing package nor its version.
    """
    linked = dict(link for link in links(image) if fits_any(link[0], runtime.linked_globs))
    if _is_own(package, runtime) and all(posixpath.basename(name).lower() in package.bases for name in linked):
        return
    if linked and _is_supply(package, runtime):
        yield _supply_skip(package, runtime)
    elif linked and not _is_named(file.base, file, runtime):
        yield Hit(
            cause=runtime.name,
            names=tuple(linked),
            message=f"links {', '.join(linked)}, so it works only where a file of exactly that name is found",
            evidence=tuple(linked.values()),
            fix=f"Leave {runtime.title} out of the link{_instead(file, runtime, policy)}",
        )


@check(
    "LB102",
    "Symbol version of the runtime needed",
    "error",
    profiles=("runtime",),
    because="The library loads with one release of the runtime only.",
    formats=("elf",),
    example="libsherpa.so: VERNEED libonnxruntime.so VERS_1.28.2",
    fix="Link its stub instead (latebind stub), or open the runtime with lb_bind(): neither records a symbol version.",
)
def runtime_version_needed(package: Contents, file: File, image: Image, runtime: RuntimePreset) -> Hits:
    """ONNX Runtime's symbol versions name a release, and tie a library to it, even where the file name fits.

    With any other release the dynamic loader fails with `version 'VERS_1.28.2' not found`.
    """
    # A copy may have any name: the entry symbol identifies the runtime.
    entries = {(symbol.library, symbol.version) for symbol in image.imports if symbol.name in runtime.entry_symbols}
    needs_of_runtime = [
        (library, version)
        for library, versions in image.version_needs.items()
        for version in versions
        if fits_any(version, runtime.release_versions)
        if fits_any(library, runtime.linked_globs) or (library, version) in entries
        if not _is_named(file.base, file, runtime)
        if not platforms.is_system(library, image.libc)
    ]
    if needs_of_runtime and _is_supply(package, runtime):
        yield _supply_skip(package, runtime)
    elif needs_of_runtime:
        symbols = sorted(
            symbol.name for symbol in image.imports if (symbol.library, symbol.version) in needs_of_runtime
        )
        releases = ", ".join(f"{version} of {library}" for library, version in needs_of_runtime)
        yield Hit(
            cause=runtime.name,
            names=tuple(" ".join(pair) for pair in needs_of_runtime),
            message=f"needs {releases}: no other release of {runtime.title} fits",
            evidence=(*(f"VERNEED {library} {version}" for library, version in needs_of_runtime), *some(symbols)),
        )


@check(
    "LB103",
    "Runtime bundled",
    "error",
    profiles=("runtime",),
    because="A package that binds late promises not to contain the runtime. Suppress this check for other packages.",
    kinds=(*ARCHIVES, "folder"),
    example="latenn.whl!latenn.libs/libonnxruntime-1a2b3c4d.so.1.20.1",
    fix="Remove the runtime, require the package that supplies it, and keep repair tools from adding it (--exclude).",
)
def runtime_bundled(package: Contents, runtime: RuntimePreset) -> Hits:
    """A second copy of the runtime can clash with the user's copy in one process, and is never updated.

    A copy of ONNX Runtime takes 15-27 MB. A plugin for the runtime, such as an execution provider of ONNX Runtime, is
    recognized by its exports. Such a plugin does not count as a copy, even if its file is named like one.
    """
    copies = [file for file in package.native if _is_named(file.base, file, runtime) and not _is_own(package, runtime)]
    if copies and _is_supply(package, runtime):
        yield _supply_skip(package, runtime)
        return
    for file in copies:
        soname = next((own_name(image) for image in file.images), "")
        yield Hit(
            cause=runtime.name,
            inner=file.name,
            message=f"bundles a copy of {runtime.title} ({human_size(file.size)})",
            evidence=tuple(filter(None, (f"file {file.base}", soname, *_entry_symbols(file, runtime)))),
            fix=f"Remove it{_suppliers(package, runtime)}. If a repair tool added it, pass "
            f"--exclude '{_name_excluded(file)}' to that tool.",
        )


@check(
    "LB104",
    "Renamed copy of the runtime",
    "error",
    profiles=("runtime",),
    because="A package that binds late promises not to contain the runtime. Suppress this check for other packages.",
    example="libspeech_rt.so exports OrtGetApiBase",
    fix="Remove the copy from the package and open the user's own runtime with lb_bind().",
)
def runtime_renamed(package: Contents, file: File, image: Image, runtime: RuntimePreset, policy: Policy) -> Hits:
    """A copy under another name is still a copy.

    The check recognizes the copy by its SONAME, its install name or the entry symbol that it exports.
    """
    if _is_named(file.base or package.path.name, file, runtime) and package.kind != "binary":
        return
    proofs = _entry_symbols(file, runtime)
    if _is_named(posixpath.basename(image.soname), file, runtime):
        proofs = (own_name(image), *proofs)
    if proofs and _is_supply(package, runtime):
        yield _supply_skip(package, runtime)
    elif proofs:
        yield Hit(
            cause=runtime.name,
            message=f"is a renamed copy of {runtime.title}: {proofs[0]}",
            evidence=proofs,
            fix=f"Remove {runtime.title} from the package{_instead(file, runtime, policy)}",
        )


@check(
    "LB105",
    "Runtime embedded",
    "error",
    profiles=("runtime",),
    seeks_markers=_list_markers,
    because="A package that binds late promises not to contain the runtime. Suppress this check for other packages.",
    example="_core.abi3.so contains the text of OrtApis::GetApi and exports only PyInit__core",
    fix="Link the library without the runtime's static archives; open the user's own runtime with lb_bind().",
)
def runtime_embedded(package: Contents, file: File, image: Image, runtime: RuntimePreset, policy: Policy) -> Hits:
    """A statically linked runtime appears in no table of the file.

    The check recognizes it by strings that only the runtime's own code contains, not by names that also occur in code
    that uses the runtime.
    """
    markers = [marker for marker in runtime.markers if marker in file.markers]
    named = any(_is_named(name, file, runtime) for name in (file.base, posixpath.basename(image.soname)))
    if not markers or named or _entry_symbols(file, runtime) or _is_own(package, runtime):
        return  # LB103 and LB104 report it with better proof
    if _is_supply(package, runtime):
        yield _supply_skip(package, runtime)
    else:
        yield Hit(
            cause=runtime.name,
            message=f"embeds {runtime.title} statically: it contains {plural(len(markers), 'string')} of its code",
            evidence=tuple(f"string {marker!r}" for marker in markers),
            fix=f"Leave {runtime.title} out of the link{_instead(file, runtime, policy)}",
        )


def _instead(file: File, runtime: RuntimePreset, policy: Policy) -> str:
    """How the library gets the runtime's functions when it does not contain or link it: the rest of a fix."""
    if file.is_provider and runtime.plugin_symbols:
        return (
            f": {runtime.title} passes its functions to {PROVIDER_ENTRY}(). If C++ headers still need OrtGetApiBase, "
            "define ORT_API_MANUAL_INIT, and call Ort::InitApi(ort_api) in that function."
        )
    if runtime.name in find_rules(policy).drop_ins:
        return (
            ". `drop_in` replaces only a library that the linker finds by its name. CMake links imported targets by "
            f"their path (`latebind adopt` names them). Link with -l{runtime.name} or latebind::{runtime.name} instead."
        )
    if runtime.stub is None:  # described for the audit alone
        return f", and link a stub instead, for which you describe more of it: {DOCS}/howto/stub.md"
    return (
        f", and link its stub instead (latebind stub {runtime.stub_argument} --output stubs), or open it at run time "
        "with lb_bind()."
    )


def _is_named(name: str, file: File, runtime: RuntimePreset) -> bool:
    """Whether the name is that of one of the runtime's libraries and the file's exports do not make it a plugin."""
    return fits_any(name, runtime.file_globs) and not _is_plugin(file, runtime)


def _name_excluded(file: File) -> str:
    """What repair tools exclude a library by, without the hash that they add: a glob, a part of a path, or a name."""
    stem = GRAFTED.sub("", file.base).partition(".")[0]
    return {"elf": f"{stem}.so*", "macho": stem}.get(file.format or "", f"{stem}.dll")


def _is_plugin(file: File, runtime: RuntimePreset) -> bool:
    exported = {export.name for image in file.images for export in image.exports}
    symbols_of_runtime = {*runtime.entry_symbols, *runtime.part_symbols}
    return not exported.isdisjoint(runtime.plugin_symbols) and exported.isdisjoint(symbols_of_runtime)


def _entry_symbols(file: File, runtime: RuntimePreset) -> tuple[str, ...]:
    entries = {
        export.name: export for image in file.images for export in image.exports if export.name in runtime.entry_symbols
    }
    return tuple(f"exports {name}" for name, export in entries.items() if not export.forward)  # LB101 reports forwards


def _is_supply(package: Contents, runtime: RuntimePreset) -> bool:
    """Whether the package supplies the runtime, and therefore has to contain it."""
    names = (name for supplier in suppliers().values() for name in supplier.list_packages(runtime))
    return package.project.lower() in {name.lower() for name in names}


def _is_own(package: Contents, runtime: RuntimePreset) -> bool:
    """Whether an execution provider may contain the runtime: its vendor's own, but not the one that it plugs into."""
    return PROVIDER_ENTRY in package.exported and not runtime.plugin_symbols


def _supply_skip(package: Contents, runtime: RuntimePreset) -> Skip:
    return Skip(reason=f"{package.project} supplies {runtime.title}, so it contains the runtime on purpose")


def _suppliers(package: Contents, runtime: RuntimePreset) -> str:
    names = list_suppliers(package.kind, runtime)
    return f" and require one of {', '.join(names)}" if names else ""
