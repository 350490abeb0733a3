"""Checks LB1xx: what a binary is linked to, where it searches, and whether the runtime is inside; reads nothing."""

from __future__ import annotations

import posixpath
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from latebind.audit import platforms
from latebind.audit.registry import Hit, Skip, check
from latebind.audit.symbols import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from latebind.audit.policy import Policy
    from latebind.audit.subject import File, Package
    from latebind.binary import Image
    from latebind.presets import RuntimePreset

_SHOWN = 12


@check(
    "LB101",
    "Runtime linked",
    "error",
    scope="binary",
    example="liblatenn.so: NEEDED libonnxruntime.so.1",
    cure="Take the runtime out of target_link_libraries(); open it at run time with lb_bind().",
)
def runtime_linked(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """A linked runtime is looked up by one file name when the library loads.

    No way of supply has a file of that name everywhere, so the library loads beside one release only, or not at
    all, and the loader's message names neither the package that is missing nor the version.
    """
    for runtime in policy.runtimes:
        linked = [name for name in image.needed if _matches(name, runtime.linked_globs)]
        if not linked:
            continue
        if _is_supply(package, runtime):
            yield _supply_skip(package, runtime)
        elif not _matches(file.base, runtime.file_globs):
            names = ", ".join(linked)
            yield Hit(
                message=f"needs {names}: it loads only where a file of just that name is found",
                evidence=tuple(f"NEEDED {name}" for name in linked),
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
        rows = [
            (library, version)
            for library, versions in image.version_needs.items()
            for version in versions
            if _matches(library, runtime.linked_globs) or version.startswith(tuple(runtime.version_prefixes))
            if not _matches(file.base, runtime.file_globs)
            if not (platforms.is_system(library))
        ]
        if rows and _is_supply(package, runtime):
            yield _supply_skip(package, runtime)
        elif rows:
            symbols = sorted(row.name for row in image.imports if (row.library, row.version) in rows)
            wanted = ", ".join(f"{version} of {library}" for library, version in rows)
            yield Hit(
                message=f"needs {wanted}: no other release of {runtime.title} will do",
                evidence=(*(f"VERNEED {library} {version}" for library, version in rows), *_some(symbols)),
            )


@check(
    "LB103",
    "Runtime bundled",
    "error",
    scope="package",
    kinds=("wheel", "nupkg", "sdist", "archive", "folder"),
    example="latenn.whl!latenn.libs/libonnxruntime-1a2b3c4d.so.1.20.1",
    cure="Leave the runtime out: declare the package that supplies it, and exclude it from repair tools.",
)
def runtime_bundled(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """A second copy of the runtime costs 15-27 MB, ends in one process with the user's own copy, and never updates."""
    for runtime in policy.runtimes:
        rows = [file for file in package.native if _matches(file.base, runtime.file_globs)]
        if rows and _is_supply(package, runtime):
            yield _supply_skip(package, runtime)
            continue
        for file in rows:
            soname = f"SONAME {file.image.soname}" if file.image is not None and file.image.soname else ""
            yield Hit(
                inner=file.name,
                message=f"is {runtime.title} by its file name, {file.size} bytes of it",
                evidence=tuple(filter(None, (f"file {file.base}", soname, *_entry_symbols(file, runtime)))),
                fix=f"Leave it out and require one of {_suppliers(package, runtime)}; give auditwheel repair "
                f"--exclude '{file.base}' when it was grafted.",
            )


@check(
    "LB104",
    "Renamed copy of the runtime",
    "error",
    scope="binary",
    example="libspeech_rt.so exports OrtGetApiBase",
    cure="Leave the copy out of the package and open the user's own runtime with lb_bind().",
)
def runtime_renamed(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """A copy under another name is still a copy: it is told by its SONAME and by the entry symbol that it exports."""
    for runtime in policy.runtimes:
        if _matches(file.base or package.path.name, runtime.file_globs) and package.kind != "binary":
            continue
        proofs = _entry_symbols(file, runtime)
        if _matches(image.soname, runtime.file_globs):
            proofs = (f"SONAME {image.soname}", *proofs)
        if proofs and _is_supply(package, runtime):
            yield _supply_skip(package, runtime)
        elif proofs:
            yield Hit(message=f"is a copy of {runtime.title} under another name: {proofs[0]}", evidence=proofs)


@check(
    "LB105",
    "Runtime embedded",
    "error",
    scope="binary",
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
        named = _matches(file.base, runtime.file_globs) or _matches(image.soname, runtime.file_globs)
        if not found or named or _entry_symbols(file, runtime):
            continue  # LB103 and LB104 say it with better proof
        if _is_supply(package, runtime):
            yield _supply_skip(package, runtime)
        else:
            yield Hit(
                message=f"holds {runtime.title} statically: {len(found)} of its own texts are inside",
                evidence=tuple(f"string {marker!r}" for marker in found),
            )


@check(
    "LB106",
    "Undefined symbol that nothing provides",
    "error",
    scope="binary",
    example="liblatenn.so: undefined OrtGetApiBase",
    cure="Link what defines the symbol, or resolve it at run time; link with -Wl,-z,defs to see it at build time.",
)
def undefined_symbol(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """Such a library loads only into a process that happens to have the symbol, and fails late in any other.

    Symbols of glibc and of the compiler's run-time carry versions; one without a version must come from the
    package itself or from another needed library. Weak ones and, in Python packages, `Py*` may stay open. A
    function of glibc that is used without its library is a note: any Python has loaded it already.
    """
    del file
    open_names = {row.name for row in image.imports if row.kind == "normal" and not row.version}
    provided = {export.name for _, other in package.images for export in other.exports}
    in_python = any(other.python_module for _, other in package.images)
    missing = {name for name in open_names - provided if not (in_python and name.startswith(("Py", "_Py")))}
    sonames = _provided_libraries(package)
    if any(name not in sonames and not platforms.is_glibc(name) for name in image.needed):
        # Without their symbol tables no one can tell; a missing entry symbol of a runtime still counts.
        linked = any(_matches(name, runtime.linked_globs) for runtime in policy.runtimes for name in image.needed)
        entries = {symbol for runtime in policy.runtimes for symbol in runtime.entry_symbols}
        missing &= set() if linked else entries
    libc = sorted(name for name in missing if platforms.is_libc_symbol(name))
    others = sorted(missing - set(libc))
    if others:
        yield Hit(
            message=f"leaves {plural(len(others), 'symbol')} open that neither the package nor a needed library "
            f"provides: {', '.join(others[:3])}{', ...' if len(others) > 3 else ''}",  # noqa: PLR2004
            evidence=_some(others),
        )
    if libc:
        yield Hit(
            message=f"uses {', '.join(libc[:3])} without naming the part of glibc that has it: older systems need "
            "another library to have loaded it",
            evidence=_some(libc),
            fix="Link with -ldl, -lpthread or -lm, whichever has the symbol.",
            severity="note",
        )


@check(
    "LB107",
    "Needed library that is not there",
    "error",
    scope="binary",
    example="libspeech.so: NEEDED libopenblas.so.0",
    cure="Link the library statically, put it into the package, or open it at run time.",
)
def library_missing(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """A library that is neither in the package nor on every system of the tag makes the package fail to load.

    The list of system libraries is manylinux's own (PEP 600, as auditwheel applies it). Outside manylinux and
    musllinux wheels nothing is promised, so there it is a warning.
    """
    del file
    inside = _provided_libraries(package)
    for name in image.needed:
        base = posixpath.basename(name)
        if base in inside or platforms.is_system(base):
            continue
        if any(_matches(name, runtime.linked_globs) for runtime in policy.runtimes):
            continue  # LB101
        promised = package.wheel is not None and any(map(platforms.linux_tag, package.wheel.platforms))
        yield Hit(
            message=f"needs {name}, which is neither in the package nor on every Linux system",
            evidence=(f"NEEDED {name}",),
            severity="error" if promised else "warning",
        )


@check(
    "LB108",
    "Search path that leads out of the package",
    "error",
    scope="binary",
    example="liblatenn.so: RUNPATH /home/ci/build/lib",
    cure="Set CMAKE_SKIP_RPATH or INSTALL_RPATH ''; where a path is needed let it start with $ORIGIN.",
)
def search_path_outside(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """A folder of the build machine in RPATH leaks its layout, and whoever can write there can inject code.

    An empty entry means the current folder, which is worse.
    """
    del policy
    for table, paths in (("RPATH", image.rpath), ("RUNPATH", image.runpath)):
        bad = [path for path in paths if not _stays_inside(package, file, path)]
        if bad:
            shown = ", ".join(path or "'' (the current folder)" for path in bad)
            yield Hit(
                message=f"{table} leads out of the package: {shown}", evidence=tuple(f"{table} {path}" for path in bad)
            )


@check(
    "LB109",
    "Search path present",
    "warning",
    scope="binary",
    example="liblatenn.so: RUNPATH $ORIGIN",
    cure="Link without an rpath: set CMAKE_SKIP_INSTALL_RPATH ON.",
)
def search_path_present(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """A late-binding library needs no search path; one that is there can pick up a stray copy beside it.

    Where it serves to find another library of the same package it is only noted.
    """
    del policy
    inside = _provided_libraries(package)
    serves = any(name in inside for name in image.needed)
    for table, paths in (("RPATH", image.rpath), ("RUNPATH", image.runpath)):
        good = [path for path in paths if _stays_inside(package, file, path)]
        if good:
            use = "finds libraries of the package" if serves else "serves no needed library of the package"
            yield Hit(
                message=f"{table} {':'.join(good)} {use}",
                evidence=tuple(f"{table} {path}" for path in good),
                severity="note" if serves else "warning",
            )


def _matches(name: str, globs: Iterable[str]) -> bool:
    return bool(name) and any(fnmatchcase(name, glob) for glob in globs)


def _entry_symbols(file: File, runtime: RuntimePreset) -> tuple[str, ...]:
    if file.image is None:
        return ()
    return tuple(f"exports {row.name}" for row in file.image.exports if row.name in runtime.entry_symbols)


def _is_supply(package: Package, runtime: RuntimePreset) -> bool:
    """Whether the package is one of those that supply the runtime, so that holding it is its purpose."""
    suppliers = {name.lower() for name in (*runtime.python.extras.values(), *runtime.nuget.ids)}
    return package.project.lower() in suppliers


def _supply_skip(package: Package, runtime: RuntimePreset) -> Skip:
    return Skip(reason=f"{package.project} supplies {runtime.title}: holding it is its purpose")


def _suppliers(package: Package, runtime: RuntimePreset) -> str:
    return ", ".join(runtime.nuget.ids if package.kind == "nupkg" else tuple(runtime.python.extras.values()))


def _provided_libraries(package: Package) -> set[str]:
    return {name for file, image in package.images for name in (file.base, image.soname) if name}


def _stays_inside(package: Package, file: File, path: str) -> bool:
    origin = path.replace("${ORIGIN}", "$ORIGIN")
    if not origin.startswith("$ORIGIN"):
        return False
    if package.kind in ("binary", "folder"):
        return True  # its final place is not known
    joined = posixpath.normpath(posixpath.join("/root", file.folder, origin[len("$ORIGIN") :].lstrip("/")))
    return joined == "/root" or joined.startswith("/root/")


def _some(names: list[str]) -> tuple[str, ...]:
    more = len(names) - _SHOWN
    return (*names[:_SHOWN], *((f"and {more} more",) if more > 0 else ()))
