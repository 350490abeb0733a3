"""Checks LB8xx: packages of plugins for other programs, recognized by what their libraries export (hosts.toml).

The Python modules of a plugin are untrusted: they are read and never run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from latebind.tables.hosts import OPERATORS_ADVICE, OPERATORS_ENTRY, Host, hosts
from latebind.tables.presets import preset
from latebind.text import plural
from loadcheck.api import Hit, Hits, check, fits_any, some
from loadcheck.facts import list_offered_exports, native_place, parse_python, readable_nuspec

if TYPE_CHECKING:
    from latebind.tables.presets import RuntimePreset
    from loadcheck.facts import Contents, File, Image


_LIBRARY = re.compile(r"[\w.+-]+\.(so(\.\d+)*|dll|dylib)")
_NAME = re.compile(r"[A-Za-z]\w*ExecutionProvider")
_NEAR = len("ReleaseEp")
"""How much of a missing name is looked for in others."""
_MAX_MODULE = 1 << 20
_RUNTIME = "onnxruntime"
"""The runtime that has custom operators."""


@check(
    "LB801",
    "Plugin without an entry point",
    "error",
    because="The program that loads plugins refuses the library.",
    example="libacme_ep.so exports CreateEpFactories and ReleaseEpFactories",
    fix="Export the missing function with C linkage, or give the file the name that leads to the exported one.",
)
def entry_missing(file: File, image: Image) -> Hits:
    """ONNX Runtime looks up CreateEpFactories and ReleaseEpFactory in an execution provider.

    SQLite looks up sqlite3_extension_init in an extension, and then a name that it makes of the letters in the file's
    name: sqlite3_vec_init in vec0.so. A library counts as an execution provider if it exports CreateEpFactories and is
    not a part of ONNX Runtime, and as an extension if it exports a function named sqlite3_NAME_init and is not SQLite.
    """
    host = _find_host(file)
    exported = {export.name for export in image.exports}
    missing = host.list_missing(file.base, exported) if host else ()
    if host and missing:
        near = sorted(name for name in exported if host.may_export(name) or name.startswith(missing[0][:_NEAR]))
        yield Hit(
            message=f"does not export {missing[0]}, which {host.title} looks up",
            evidence=tuple(f"exports {name}" for name in near),
            assumption="the application names no entry point" if host.instead else "",
        )


@check(
    "LB802",
    "Plugin exports more than its entry points",
    "warning",
    profiles=("all",),
    because="The plugin can fail when another library in the process exports a symbol with the same name.",
    example="libacme_ep.so exports 2,638 other symbols",
    fix="Hide all other symbols with latebind_exports() or latebind_ep() in CMake, a version script, an exports "
    "list, or a .def file.",
)
def exports_more(file: File, image: Image) -> Hits:
    """A process may hold several plugins, each with its own copy of the same C++ libraries.

    On Linux, the symbols of a library can replace symbols with the same names in a library that is loaded later.
    """
    host = _find_host(file)
    names = {export.name for export in list_offered_exports(image)} if host else set()
    if host and (more := sorted(name for name in names if not host.may_export(name))):
        yield Hit(names=tuple(more), message=f"exports {plural(len(more), 'other symbol')}", evidence=some(more))


@check(
    "LB803",
    "Helper of a plugin missing",
    "warning",
    profiles=("all",),
    because="Users can still load the library, but they must find its path themselves.",
    kinds=("wheel", "nupkg"),
    example="onnxruntime_ep_acme/__init__.py does not define get_library_path",
    fix="Make the packages from a table `ep` or `plugin` with latebind pack, or add the missing functions.",
)
def helper_missing(package: Contents) -> Hits:
    """Applications ask the package for the path of its library and the names of its providers.

    A Python module answers with `get_library_path()` and `get_ep_names()`, a .NET assembly with `GetLibraryPath()` and
    `GetEpNames()`. These names are from ONNX Runtime's guide for plugin execution providers. The modules of most SQLite
    extensions have `loadable_path()` and `load()`. For other plugins, no such names are known.
    """
    plugins = _list_plugins(package)
    if not plugins or package.is_symbols:
        return
    library, host = plugins[0]
    if package.kind == "nupkg":
        names = {name for file in package.files for name in file.names if file.is_managed}
        missing = [name for name in host.dotnet if name not in names]
        inner = library.name
    else:
        inner = _module_name(library)
        tree = _parse_module(package.texts.get(inner, b""))
        names = {name for node in ast.walk(tree) for name in _list_defined_names(node)} if tree else set()
        missing = [] if "*" in names else [name for name in host.python if name not in names]
    if missing:
        what = "no assembly has" if package.kind == "nupkg" else "the module lacks"
        yield Hit(
            names=tuple(missing),
            inner=inner,
            message=f"{what} {' and '.join(missing)}",
            evidence=(f"library {library.name}",),
        )


@check(
    "LB804",
    "Helper names a library that the package lacks",
    "error",
    because="Loading the library fails for every user.",
    kinds=("wheel",),
    example="get_library_path() returns libacme_ep.so, but the wheel contains libacme_ep.so.1",
    fix="Name the file that the wheel for this platform contains.",
)
def helper_names_other(package: Contents) -> Hits:
    """The module of a wheel returns the path of the plugin's library, whose file name differs between platforms."""
    for file, _ in _list_plugins(package)[:1]:
        inner = _module_name(file)
        named = _find_constants(package, inner, _LIBRARY)
        if named and not any(name.lower() in package.bases for name in named):
            yield Hit(
                names=tuple(named),
                inner=inner,
                message=f"names {', '.join(named)}, but the wheel contains {file.base}",
                evidence=(f"library {file.name}",),
            )


@check(
    "LB805",
    "Helper and library disagree on the provider's name",
    "warning",
    profiles=("all",),
    because="Applications that select the provider by the helper's name find no device, unless the library composes "
    "that name at run time.",
    kinds=("wheel", "nupkg"),
    example="get_ep_names() returns AcmeExecutionProvider; the library contains AcmeNpuExecutionProvider",
    fix="Return the name that the library's factory returns.",
)
def names_disagree(package: Contents) -> Hits:
    """Applications look for `device.ep_name == get_ep_name()`. A name that is not in the library matches no device."""
    inside = {name for provider in package.providers for name in provider.names}
    for inner, named in _names_given(package) if inside else ():
        wrong = [name for name in named if not any(other.endswith(name) for other in inside)]
        if wrong:
            yield Hit(
                names=tuple(wrong),
                inner=inner,
                message=f"names {', '.join(wrong)}, which {package.providers[0].base} does not contain",
                evidence=tuple(f"string {name!r}" for name in sorted(inside)),
            )


def _names_given(package: Contents) -> Iterator[tuple[str, list[str]]]:
    """The module of a wheel, or each assembly of a nupkg that has a helper, with the names of providers in it."""
    if package.kind == "wheel":
        inner = _module_name(package.providers[0])
        yield inner, _find_constants(package, inner, _NAME)
        return
    for file in package.files:
        if file.is_managed:
            yield file.name, [name for name in file.names if _NAME.fullmatch(name)]


@check(
    "LB806",
    "Execution provider requires a package of the runtime",
    "warning",
    profiles=("runtime",),
    because="The package fails for users who chose another package of the runtime.",
    kinds=("nupkg",),
    example="the nuspec depends on Microsoft.ML.OnnxRuntime",
    fix="Remove the dependency; write the supported versions into the description.",
)
def runtime_required(package: Contents, runtime: RuntimePreset) -> Hits:
    """Applications choose one of several packages of ONNX Runtime, and the provider works with any of them.

    A dependency installs one of these packages next to the one that the user chose. LB506 is this check for wheels.
    """
    nuspec = readable_nuspec(package) if package.providers else None
    ids = {name.lower() for name in runtime.nuget.ids}
    for dependency in nuspec[1].dependencies if nuspec else ():
        if dependency.id.lower().removesuffix(".managed") in ids:
            yield Hit(
                cause=dependency.id,
                message=f"depends on {dependency.id} {dependency.version}",
                evidence=(f"{dependency.id} {dependency.version}",),
            )


@check(
    "LB808",
    "Plugin missing for a RID",
    "error",
    because="The helper finds no library on the systems of that RID.",
    kinds=("nupkg",),
    example="runtimes/win-arm64/native/ contains only acme_runtime.dll",
    fix="Add the plugin's library for the RID, or remove the RID's folder.",
)
def missing_for_rid(package: Contents) -> Hits:
    """Every RID with native files needs the plugin's library: companion libraries are useless without it."""
    plugins = [(file, host) for file, host in _list_plugins(package) if host.dotnet]  # whose helper must find it
    plugin_rids = {native_place(file.name)[0] for file, _ in plugins} - {""}
    seen: set[str] = set()
    for file in package.native if plugin_rids else ():
        rid, _ = native_place(file.name)
        if rid and rid not in plugin_rids | seen:
            seen.add(rid)
            yield Hit(
                cause=rid,
                inner=file.name,
                message=f"{rid} has native files, but no {plugins[0][1].plugin}",
                evidence=(f"plugins: {', '.join(sorted(plugin_rids))}",),
            )


@check(
    "LB809",
    "Library leaves destructors behind when it is unloaded",
    "warning",
    profiles=("all",),
    because="The process ends with SIGSEGV if the library created an object with a destructor and was then unloaded.",
    formats=("elf",),
    example="libacme_ep.so registers destructors with __cxa_atexit, and never calls __cxa_finalize",
    fix="Link with -z nodelete, as `latebind build` does, or with the startup files of GCC or Clang.",
)
def destructors_left(file: File, image: Image) -> Hits:
    """SQLite unloads an extension when its connection is closed, and ONNX Runtime an unregistered provider.

    It also unloads libraries of custom operators that nothing uses any more.
    On Linux, startup files that are linked into the library must then call __cxa_finalize, which runs the destructors
    of its static objects. Without that call, as in libraries that zig links, the process runs the destructors when it
    ends, after the library's code is gone. musl never unloads a library.
    """
    names = {symbol.name for symbol in image.imports}
    is_left = "__cxa_atexit" in names and "__cxa_finalize" not in names
    host = _find_host(file)
    is_unloaded = (host is not None and host.unloads) or OPERATORS_ENTRY in {symbol.name for symbol in image.exports}
    if is_unloaded and is_left and not image.stays_loaded and image.libc != "musl":
        message = "runs no destructors when it is unloaded; the process runs them at exit, after its code is gone"
        yield Hit(message=message, evidence=("imports __cxa_atexit, not __cxa_finalize", "no flag DF_1_NODELETE"))


@check(
    "LB810",
    "Custom operators look for the runtime",
    "error",
    profiles=("loads", "runtime"),
    seeks_markers=lambda _policy: [preset(_RUNTIME).environment],
    because="A library that needs OrtGetApiBase does not load in Python. One that binds the runtime late may call "
    "another copy than the one whose data it gets.",
    formats=("elf",),
    example="libops.so exports RegisterCustomOps, and needs OrtGetApiBase",
    fix=f"{OPERATORS_ADVICE}. Link neither the runtime nor its stub.",
)
def runtime_sought(file: File, image: Image) -> Hits:
    """ONNX Runtime passes its functions to RegisterCustomOps(), so a library of custom operators needs no others.

    Python's module of ONNX Runtime contains the runtime and does not export OrtGetApiBase. A library that links the
    runtime is reported as LB101.
    """
    runtime = preset(_RUNTIME)
    needed = {symbol.name for symbol in image.imports} & set(runtime.entry_symbols)
    links = any(fits_any(library, runtime.linked_globs) for library in image.needed)
    if links or OPERATORS_ENTRY not in {symbol.name for symbol in image.exports}:
        return
    if needed:
        yield Hit(
            message=f"needs {min(needed)}, which ONNX Runtime in Python does not export",
            evidence=(f"exports {OPERATORS_ENTRY}", f"imports {min(needed)}"),
        )
    elif runtime.environment in file.markers:
        yield Hit(
            message=f"binds {runtime.title} late, which passes its functions to {OPERATORS_ENTRY}()",
            evidence=(f"exports {OPERATORS_ENTRY}", f"string {runtime.environment!r}"),
            severity="warning",
        )


def _find_host(file: File) -> Host | None:
    """The program whose plugin a library is, by what it exports; None for any other library and a Python module."""
    if file.is_module or not file.images:
        return None
    exported = {export.name for image in file.images for export in image.exports}
    return next((host for host in hosts().values() if host.is_host_of(exported)), None)


def _list_plugins(package: Contents) -> list[tuple[File, Host]]:
    """The libraries of a package that are plugins, each with its host."""
    return [(file, host) for file in package.native if (host := _find_host(file)) is not None]


def _module_name(library: File) -> str:
    """The module of the wheel that helps to find the library."""
    return f"{library.name.partition('/')[0]}/__init__.py"


@lru_cache(maxsize=1)
def _parse_module(text: bytes) -> ast.Module | None:
    """The syntax tree of a module, None when it is empty or cannot be parsed. Several checks ask for the same one."""
    return parse_python(text) if text and len(text) <= _MAX_MODULE else None


def _find_constants(package: Contents, inner: str, form: re.Pattern[str]) -> list[str]:
    """The string constants of a module that have a form, sorted."""
    tree = _parse_module(package.texts.get(inner, b""))
    nodes = ast.walk(tree) if tree else iter(())
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return sorted(text for text in texts if form.fullmatch(text))


def _list_defined_names(node: ast.AST) -> list[str]:
    """The names that a statement defines, with "*" for an import of everything."""
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    if isinstance(node, ast.Assign):
        return [assigned.id for assigned in node.targets if isinstance(assigned, ast.Name)]
    return []
