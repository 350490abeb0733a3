"""Checks LB106-LB109: whether all that a binary needs is there, and where it searches; reads nothing."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from latebind.audit import platforms
from latebind.audit.registry import Hit, Skip, check
from latebind.audit.runtime import matches, some
from latebind.audit.symbols import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from latebind.audit.policy import Policy
    from latebind.audit.subject import File, Package
    from latebind.binary import Image

_SHOWN = 12


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
        linked = any(matches(name, runtime.linked_globs) for runtime in policy.runtimes for name in image.needed)
        entries = {symbol for runtime in policy.runtimes for symbol in runtime.entry_symbols}
        missing &= set() if linked else entries
    libc = sorted(name for name in missing if platforms.is_libc_symbol(name))
    others = sorted(missing - set(libc))
    if others:
        yield Hit(
            message=f"leaves {plural(len(others), 'symbol')} open that neither the package nor a needed library "
            f"provides: {', '.join(others[:3])}{', ...' if len(others) > 3 else ''}",  # noqa: PLR2004
            evidence=some(others),
        )
    if libc:
        yield Hit(
            message=f"uses {', '.join(libc[:3])} without naming the part of glibc that has it: older systems need "
            "another library to have loaded it",
            evidence=some(libc),
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
        if any(matches(name, runtime.linked_globs) for runtime in policy.runtimes):
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
