"""Checks of what a package does with the runtime.

LB101-LB105: whether it links, bundles, renames or embeds it; LB113: whether exceptions of its C++ headers leave a C
interface; LB504 and LB506: which of its distributions the package requires.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from latebind.checks.policy import TWINS, BindingPolicy, find_rules
from latebind.checks.supplier import list_suppliers, suppliers
from latebind.tables.hosts import OPERATORS_ADVICE, OPERATORS_ENTRY
from latebind.text import DOCS, human_size, plural
from loadcheck.api import ARCHIVES, Hit, Hits, Policy, Skip, check, fits_any, links, own_name, requirement_rows, some
from loadcheck.facts import GRAFTED, PROVIDER_ENTRY, Contents, File, platforms

if TYPE_CHECKING:
    from latebind.tables.presets import RuntimePreset
    from loadcheck.facts import Image

ORT_EXCEPTION = "N3Ort9ExceptionE"
"""The name of Ort::Exception's type in a library that throws it or catches it, in the Itanium C++ ABI."""
_THROWS, _CATCHES = "__cxa_throw", "__cxa_begin_catch"
_OF_HOSTS = ("CreateEpFactories", OPERATORS_ENTRY, "PyInit_", "JNI_", "Java_", "napi_")
"""Functions that a host calls which has bound the runtime, or in which a binding's own code catches."""

_OF_HEADERS = re.compile(r"_Z(T[ISV]|[A-Z]*(St|S[absiod]|3Ort|9__gnu_cxx)|n[aw]|d[al])")
"""Symbols that headers of the runtime and of the standard library leave in a library that hides its own."""


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
    profiles=("loads", "runtime"),
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
            fix=f"Leave {runtime.title} out of the link{passed}" if (passed := _passed(file, runtime)) else "",
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
        is_itself = package.kind == "binary" and proofs[0] == own_name(image)
        yield Hit(
            cause=runtime.name,
            message=f"is {runtime.title} {'itself, or a copy' if is_itself else 'under another name'}: {proofs[0]}",
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


@check(
    "LB113",
    "C interface that ends the process if the runtime is missing",
    "warning",
    profiles=("runtime",),
    seeks_markers=lambda _policy: [ORT_EXCEPTION],
    because="Programs in C, Python or C# cannot catch a C++ exception, so the process ends.",
    formats=("elf",),
    example="libspeech.so exports 12 C functions, throws Ort::Exception, and catches nothing",
    fix="Catch Ort::Exception in each C function, or let callers check lb_onnxruntime_available() first.",
)
def nothing_caught(file: File, image: Image, policy: Policy) -> Hits:
    """Without a runtime, the first call of an `Ort::` function throws, and no exception may leave a C function.

    A library is reported only if it certainly catches nothing: it imports `__cxa_throw`, but not `__cxa_begin_catch`,
    from a shared C++ library. A library that contains a C++ standard library, or that catches any exception, is not
    reported.
    """
    exported = {export.name for export in image.exports}
    imported = {symbol.name for symbol in image.imports}
    functions = sorted(name for name in exported if not name.startswith(("_", "?")))
    is_certain = ORT_EXCEPTION in file.markers and _THROWS in imported and _CATCHES not in imported
    has_host = any(name.startswith(_OF_HOSTS) for name in exported)
    has_cpp = any(name.startswith("_Z") and not _OF_HEADERS.match(name) for name in exported)
    is_linked = any(fits_any(name, runtime.linked_globs) for runtime in policy.runtimes for name in image.needed)
    if not is_certain or not functions or has_host or has_cpp or is_linked:
        return
    yield Hit(
        message=f"exports {plural(len(functions), 'C function')}, throws Ort::Exception, and catches nothing",
        evidence=(f"imports {_THROWS}, not {_CATCHES}", f"type {ORT_EXCEPTION}", *some(functions)),
    )


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


def _passed(file: File, runtime: RuntimePreset) -> str:
    """How a plugin of the runtime gets the functions that the runtime passes to it; "" for other libraries."""
    if file.is_provider and runtime.plugin_symbols:
        return (
            f": {runtime.title} passes its functions to {PROVIDER_ENTRY}(). If C++ headers still need OrtGetApiBase, "
            "define ORT_API_MANUAL_INIT, and call Ort::InitApi(ort_api) in that function."
        )
    if runtime.name == "onnxruntime" and any(
        export.name == OPERATORS_ENTRY for image in file.images for export in image.exports
    ):
        return f". {OPERATORS_ADVICE}"
    return ""


def _instead(file: File, runtime: RuntimePreset, policy: Policy) -> str:
    """How the library gets the runtime's functions when it does not contain or link it: the rest of a fix."""
    if passed := _passed(file, runtime):
        return passed
    if runtime.name in find_rules(policy).drop_ins:
        return (
            ". `drop_in` replaces only a library that the linker finds by its name. CMake links imported targets by "
            f"their path (`latebind adopt` names them). Link with -l{runtime.name} or latebind::{runtime.name} instead."
        )
    if runtime.stub is None:  # described for the audit alone
        return f", and link a stub instead, for which you describe more of it: {DOCS}/howto/stub.md"
    described = shlex.quote(runtime.stub_argument)
    return (
        f", and link its stub instead (latebind stub {described} --output stubs), or open it at run time "
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
