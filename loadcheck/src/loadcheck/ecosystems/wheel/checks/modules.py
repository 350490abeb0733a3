"""Checks LB309 and LB311: whether extension modules were built for the Pythons that the wheel's tag names."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from loadcheck.ecosystems.wheel.checks.served import (
    find_missing,
    format_minors,
    format_tags,
    list_served,
    list_versioned_twins,
)
from loadcheck.engine import platforms, symbols
from loadcheck.engine.check import Hit, Hits, Skip, check
from loadcheck.engine.wording import some
from loadcheck.tables import pythonabi
from loadcheck.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadcheck.binary import Image
    from loadcheck.readers.contents import Contents, File, WheelName

_INIT = re.compile(r"Py(?:Init|ModExport)U?_")
_OWN_ENTRY = ("PyInit_", "PyModExport_")
_EXPORT = "Build with Py_TARGET_ABI3T and export PyModExport_NAME (PEP 793), or remove abi3t from the tag."
_DEFINED = frozenset({"PyModuleDef_Init", "PyModule_Create2", "PyModule_FromDefAndSpec2"})
"""Functions that take a PyModuleDef, whose layout differs in free-threaded CPython (PEP 803)."""
_OWN_ABI = re.compile(rf"{pythonabi.OWN_ABI_TAG.pattern}m?u?")
"""The ABI tag of one CPython; until 3.7 it has an m, and until 3.2 it may have a u."""
_FREE_THREADED = frozenset({"_Py_MergeZeroLocalRefcount", "_Py_DecRefShared", "_Py_DecRefSharedDebug"})
"""What Py_DECREF() calls in code for free-threaded CPython, which alone exports them (Include/object.h of 3.13)."""
_WITH_GIL = "_Py_Dealloc"
"""What it calls in code for CPython with the GIL."""
_ONLY_WITH_GIL = "is only for CPython with the GIL"


@check(
    "LB309",
    "Extension module outside the stable ABI",
    "error",
    because="Some versions of Python that the tag includes cannot import the module. The finding is a warning if "
    "every version so far exports the names, or if the wheel has variants of a library for some versions only. It is a "
    "note if the oldest CPython of the tag exports the names, but does not have them in its stable ABI yet.",
    example="_core.abi3.so in a wheel tagged cp310-abi3 uses PyType_GetName, which is new in CPython 3.11",
    fix="Compile with Py_LIMITED_API set to the oldest CPython of the tag (0x030A0000 for cp310), or raise the tag.",
)
def outside_stable_abi(package: Contents, file: File, image: Image, wheel: WheelName) -> Hits:
    """`cp310-abi3` promises that the module loads in CPython 3.10 and every newer one.

    Only names of the stable ABI exist in all of them, each from the version that added it. If a module uses any other
    name, its import or a call fails or behaves differently in some of these versions. The finding is a warning if every
    CPython so far exports the name, and a note if CPython exported the name before its stable ABI had it: CPython 3.8
    exports `PyUnicode_AsUTF8AndSize`, which joined the stable ABI in 3.10. If only one version of Python looks for a
    module's file name, LB310 reports the module. On Windows the names must come from python3.dll, or from python3t.dll
    under abi3t, because python311.dll exists in CPython 3.11 only.

    Under `abi3t` (PEP 803), free-threaded CPython refuses a module whose `PyInit_` function uses a PyModuleDef. Code
    that uses the layout of PyObject, which abi3t hides, leaves no trace in a binary, so the check cannot find it.
    """
    floor = _floor(wheel)
    if floor is None:
        return
    if (served := list_versioned_twins(package, file)) is not None:
        yield from _judge_twins(package, wheel, served)
        return
    if image.python_module and list_served(package, file) is not None:
        return  # LB310
    used = _list_used(package, image)
    if floor > pythonabi.newest():
        yield Skip(reason=f"this version of loadcheck does not know the stable ABI of {_format_python(floor)}")
        return
    table = pythonabi.stable_names()
    # Another library that it needs may define names like Python's, such as shiboken's PyEnumMeta_Check.
    others = {
        name.lower()
        for name in image.needed
        if not platforms.is_system(name, image.libc) and not platforms.is_python(name)
    }
    from_others = {name for name in used if used[name] in others or (image.format == "elf" and others)}
    strange = sorted(name for name in used if name not in table and name not in from_others)
    lacking = {name: minors for name in strange if (minors := _list_lacking(package, wheel, image, name))}
    strangers = [
        f"{name} is not in the stable ABI"
        + (f", and {format_minors(lacking[name])} lacks it" if name in lacking else "")
        for name in sorted(strange, key=lambda name: (name not in lacking, name))
    ]
    late = sorted(name for name in used if name in table and table[name].since > floor)
    early = {name for name in late if image.format != "pe" and _is_exported(name, floor, table[name].since)}
    newer = [f"{name} is new in {_format_python(table[name].since)}" for name in late if name not in early]
    tied = _list_tied(wheel, image, used, floor)
    seen = [*strangers, *newer, *tied]
    if seen:
        promise = f"cp{floor[0]}{floor[1]}-{'.'.join(wheel.abis)}"
        yield Hit(
            cause="breaks",
            names=tuple(text.removeprefix("imports ").partition(" ")[0] for text in seen),
            message=f"breaks {promise} with {plural(len(seen), 'import')}: {seen[0]}",
            evidence=some(seen),
            fix=_EXPORT if tied and tied[-1].endswith(_ONLY_WITH_GIL) else "",
            severity="error"
            if tied or lacking or any(text.partition(" ")[0] not in from_others for text in newer)
            else "warning",
        )
    elif early:
        yield _report_early(wheel, floor, {name: table[name].since for name in sorted(early)})


@check(
    "LB315",
    "Module without an init function of its name",
    "error",
    because="Python cannot import the module: `dynamic module does not define module export function`. The finding is "
    "a warning if no import statement that always runs leads to the module.",
    kinds=("wheel",),
    example="_core.cpython-311-x86_64-linux-gnu.so exports PyInit_other, but not PyInit__core",
    fix="Name the module as the file in PYBIND11_MODULE(), NB_MODULE() or PyInit_NAME, and export that function.",
)
def init_missing(package: Contents, file: File, image: Image) -> Hits:
    """Python calls the function PyInit_NAME of a module, where NAME is that of the file or of its package's folder.

    PEP 489 says how names beyond ASCII are encoded; PEP 793 names the function PyModExport_NAME. A file without any
    such function may be a library that ctypes opens: it is reported only if an import leads to it.
    """
    if not pythonabi.module_abi(file.base) and not file.is_module:
        return
    name = file.base.partition(".")[0]
    name = posixpath.basename(file.folder) if name == "__init__" else name
    exported = sorted(export.name for export in image.exports if _INIT.match(export.name))
    if _name_inits(name).intersection(exported):
        return
    is_imported = file.name in package.imported
    if exported or is_imported:
        has = f"exports {exported[0]}, but" if exported else "exports"
        yield Hit(
            message=f"{has} no PyInit_{name}, so Python cannot import it",
            evidence=(*some(exported), *([f"import {package.imported[file.name]} loads it"] if is_imported else ())),
            severity="error" if is_imported else "warning",
        )


def _name_inits(name: str) -> set[str]:
    """What the init function of a module may be called (PEP 489, PEP 793)."""
    if name.isascii():
        return {f"PyInit_{name}", f"PyModExport_{name}"}
    encoded = name.encode("punycode").decode("ascii").replace("-", "_")
    return {f"PyInitU_{encoded}", f"PyModExportU_{encoded}"}


@check(
    "LB311",
    "Module built for a CPython that the tag does not name",
    "error",
    because="The import fails, or the module and the interpreter lay out objects differently.",
    example="_core.cp310-win_amd64.pyd in a wheel tagged cp310-cp310 imports python311.dll",
    fix="Compile and link the module with the headers and the library of the CPython that the tag names.",
)
def other_python_than_tag(package: Contents, file: File, image: Image, wheel: WheelName) -> Hits:
    """A module for one CPython is built with that CPython's headers and, on Windows, with its import library.

    Only CPython 3.11 has `python311.dll`, `libpython3.11.so` and `Python.framework/Versions/3.11`. If the wheel's ABI
    tag is none, its Python tag or the module's file name says which CPython the module is for. Free-threaded CPython
    (`cp313t`) lays out objects differently, so a module that was compiled without Py_GIL_DISABLED corrupts memory
    there. A module compiled with Py_GIL_DISABLED does not work in CPython with the GIL.

    Undocumented functions of CPython come and go. Code that an old Cython generated may use functions that the tag's
    CPython no longer exports. Code for a newer CPython may use functions that the tag's CPython does not export yet.
    """
    promised = _list_promised(file, wheel)
    if not image.python_module or not promised:
        return
    foreign = [
        name for name in image.needed if (python := pythonabi.parse_linked_python(name)) and python not in promised
    ]
    if foreign:
        text = f"imports {foreign[0]}, which {_name_pythons(promised)} does not have"
        yield Hit(cause="library", names=(*foreign,), message=text, evidence=_list_imports(foreign))
    yield from _find_foreign(package, image, promised)
    used = {symbol.name for symbol in image.imports}
    threaded, with_gil = sorted(used & _FREE_THREADED), _WITH_GIL in used
    if threaded and not any(abi.endswith("t") for abi in promised):
        text = f"was compiled for free-threaded CPython; {_name_pythons(promised)} lacks {threaded[0]}"
        yield Hit(cause="free-threaded", names=(*threaded,), message=text, evidence=_list_imports(threaded))
    if with_gil and not threaded and all(abi.endswith("t") for abi in promised):
        yield Hit(
            cause="GIL",
            message=f"was compiled for CPython with the GIL; {_name_pythons(promised)} lays out objects differently",
            evidence=(f"imports {_WITH_GIL}, but none of {', '.join(sorted(_FREE_THREADED))}",),
            fix="Compile it with Py_GIL_DISABLED=1.",
        )


def _list_imports(names: list[str]) -> tuple[str, ...]:
    return tuple(f"imports {name}" for name in names)


def _list_promised(file: File, wheel: WheelName) -> set[str]:
    """The CPythons that a module is for, such as 38 and 313t, by the tags or its name.

    None for any Python, and for a module whose name is for another CPython than the tags: LB310 judges those.
    """
    own = {abi.removeprefix("cp").rstrip("mu") for abi in wheel.abis if _OWN_ABI.fullmatch(abi)}
    named = pythonabi.module_abi(file.base).removeprefix("cp").rstrip("mu")
    if own and len(own) == len(wheel.abis):
        return own if not named or named.startswith("abi3") or named in own else set()
    if wheel.abis != ("none",) or named.startswith("abi3"):
        return set()
    if named:
        return {named}
    pythons = {tag.removeprefix("cp") for tag in wheel.pythons if pythonabi.OWN_ABI_TAG.fullmatch(tag)}
    return pythons if len(pythons) == len(wheel.pythons) else set()


def _find_foreign(package: Contents, image: Image, promised: set[str]) -> Hits:
    """Functions that other versions of CPython export, and those of the tag do not."""
    minors = {int(digits) for name in promised if (digits := name.rstrip("mtu")[1:]).isdigit() and name[0] == "3"}
    if image.format == "pe" or not minors or not minors <= symbols.known_pythons():
        return  # on Windows, the linker finds them in the library of the tag's CPython, or not at all
    lacking = sorted(
        symbol.name
        for symbol in image.open_imports
        if symbol.name not in package.exported and (others := symbols.pythons_with(symbol.name)) and not minors & others
    )
    if lacking:
        known = ", ".join(f"3.{minor}" for minor in sorted(symbols.pythons_with(lacking[0])))
        yield Hit(
            cause="functions",
            names=tuple(lacking),
            message=f"uses {lacking[0]}, which is in CPython {known}, but not in {_name_pythons(promised)}",
            evidence=_list_imports(lacking),
            fix="Update Cython, pybind11 or the other tool that generates the code, and compile for that CPython.",
        )


def _list_used(package: Contents, image: Image) -> dict[str, str]:
    """The names of CPython that a module must find when it is loaded, each with the library that it names."""
    return {
        symbol.name: symbol.library.lower()
        for symbol in image.imports
        if symbol.kind != "weak"
        and symbol.name.startswith(("Py", "_Py"))
        and not symbol.name.startswith(_OWN_ENTRY)
        and symbol.name not in package.exported
    }


def _list_tied(wheel: WheelName, image: Image, used: Mapping[str, str], floor: pythonabi.PythonVersion) -> list[str]:
    """What ties a module to one CPython, whatever names it uses: its DLL, or a PyModuleDef under abi3t."""
    stable = {"python3t.dll"} if "abi3t" in wheel.abis else {"python3.dll"}
    stable |= {"python3t.dll"} if floor >= pythonabi.ABI3T else set()
    tied = sorted({library for library in used.values() if platforms.is_python(library)} - stable)
    tied = [f"imports {library}" for library in tied]
    if (
        "abi3t" in wheel.abis
        and image.python_module
        and not any(export.name.startswith("PyMod") for export in image.exports)
    ):
        tied += [f"{name} {_ONLY_WITH_GIL}" for name in sorted(_DEFINED.intersection(used))]
    return tied


def _report_early(
    wheel: WheelName, floor: pythonabi.PythonVersion, since: Mapping[str, pythonabi.PythonVersion]
) -> Hit:
    """Names that older versions of CPython export, though their stable ABI does not have them."""
    (first_name, version), *_ = since.items()
    return Hit(
        cause="early",
        names=tuple(since),
        message=f"uses {first_name}, which joined the stable ABI in {_format_python(version)}; "
        f"{format_tags(wheel)} begins with {_format_python(floor)}, which also exports it",
        evidence=some([f"{name} joined the stable ABI in {_format_python(added)}" for name, added in since.items()]),
        severity="note",
    )


def _is_exported(name: str, floor: pythonabi.PythonVersion, since: pythonabi.PythonVersion) -> bool:
    """Whether each CPython from the floor on exports a name before its stable ABI has it, as far as is known."""
    older = set(range(floor[1], since[1]))
    return since[1] in symbols.known_pythons() and older <= (symbols.pythons_with(name) or symbols.known_pythons())


def _list_lacking(package: Contents, wheel: WheelName, image: Image, name: str) -> list[int]:
    """The minor versions for which a wheel is installed, and that are known not to export a name of CPython."""
    exporting = symbols.pythons_with(name)
    if not exporting or image.format == "pe":
        return []
    return [minor for minor in find_missing(package, wheel, exporting) if minor in symbols.known_pythons()]


def _name_pythons(promised: set[str]) -> str:
    return " or ".join(f"CPython {name[0]}.{name[1:]}" for name in sorted(promised))


def _judge_twins(package: Contents, wheel: WheelName, served: list[int]) -> Hits:
    """Of libraries for one Python each, of which the code chooses by name: the Pythons that have none."""
    if missing := find_missing(package, wheel, served):
        tags, lacking = format_tags(wheel), format_minors(missing)
        yield Hit(
            cause="variants",
            names=tuple(map(str, missing)),
            message=f"has variants for {format_minors(served)}, but none for {lacking}, which {tags} includes",
            evidence=(f"tag {tags}",),
            severity="warning",
            fix="Add a variant for each Python that the tag includes, or limit Requires-Python.",
        )


def _floor(wheel: WheelName) -> pythonabi.PythonVersion | None:
    """The oldest CPython of a stable-ABI wheel; None for other wheels."""
    if {"abi3", "abi3t"}.isdisjoint(wheel.abis):
        return None
    return min((version for name in wheel.pythons if (version := pythonabi.floor_of(name))), default=None)


def _format_python(version: pythonabi.PythonVersion) -> str:
    return f"CPython {version[0]}.{version[1]}"
