"""Checks LB201 and LB204: whether binaries export what a project's configuration lists."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from latebind.checks.policy import find_rules
from latebind.config.package import list_missing_exports
from loadcheck.checks.symbols import CXX, FIX_ON_MACOS, list_offered_exports
from loadcheck.engine.registry import Hit, Hits, check
from loadcheck.engine.wording import first, some
from loadcheck.text import plural

if TYPE_CHECKING:
    from loadcheck.binary import Format, Image
    from loadcheck.engine.policy import Policy
    from loadcheck.readers.contents import Contents, File

_OWN_ENTRY = ("PyInit_", "PyModExport_")


@check(
    "LB201",
    "Export that the configuration does not allow",
    "error",
    profiles=("all",),
    because="The configuration promises which symbols are exported.",
    example='liblatenn.so exports lb_bind; allowed: ["latenn_*"]',
    fix="Compile with -fvisibility=hidden and mark the functions to export, or add the symbol to the package's "
    "`exports`.",
)
def export_outside_policy(package: Contents, file: File, image: Image, policy: Policy) -> Hits:
    """Every export is an interface that other code can bind to, and a name that can clash with another library's.

    The check applies if the configuration lists what a package exports. The C++ symbols of a Python module do not
    count: nobody links against a module, and pybind11 and nanobind export their exceptions on Windows. LB202 reports
    such symbols.
    """
    allowed = find_rules(policy).allowed_exports(file.base or package.path.name, package.project)
    if allowed is None:
        return
    names = [export.name for export in list_offered_exports(image)]
    entries = [name for name in names if name.startswith(_OWN_ENTRY)]
    surplus = [
        name
        for name in names
        if not any(fnmatchcase(name, glob) for glob in allowed)
        if name not in entries and not (entries and name.startswith(CXX))
    ]
    is_for_macos = image.format == "macho" and all(name.startswith(CXX) for name in surplus)
    if surplus:
        yield Hit(
            cause="of macOS" * is_for_macos,
            names=tuple(surplus),
            message=f"exports {plural(len(surplus), 'symbol')} that `exports` does not list: {first(surplus)}",
            evidence=(f"allowed: {', '.join(allowed) or 'none'}", *some(surplus)),
            fix=FIX_ON_MACOS * is_for_macos,
        )


@check(
    "LB204",
    "Export missing",
    "error",
    profiles=("all",),
    because="Callers cannot find a function that the configuration promises.",
    example="liblatenn.so does not export latenn_load",
    fix="Export the symbol, or correct the package's `exports`. A name with a wildcard in `exports` allows symbols, "
    "but requires none.",
)
def export_missing(package: Contents, policy: Policy) -> Hits:
    """A name without a wildcard in `exports` is a promise. If the export is missing, loading or the first call fails.

    One library of the package must export the symbol on each platform. The check applies if the configuration lists
    what a package exports.
    """
    groups: dict[tuple[tuple[str, ...], str, Format], list[tuple[File, Image]]] = {}
    for file, image in package.images:
        listed = find_rules(policy).allowed_exports(file.base or package.path.name, package.project)
        if listed is not None and image.file_type == "shared":
            groups.setdefault((listed, file.folder, image.format), []).append((file, image))
    for (listed, _, _), libraries in groups.items():
        names = sorted({export.name for _, image in libraries for export in list_offered_exports(image)})
        missing = list_missing_exports(listed, [image for _, image in libraries])
        if missing:
            yield Hit(
                names=tuple(missing),
                message=f"does not export {', '.join(missing)}, which the configuration lists",
                evidence=some([f"exports {name}" for name in names]) or ("exports nothing",),
                inner=libraries[0][0].name,
            )
