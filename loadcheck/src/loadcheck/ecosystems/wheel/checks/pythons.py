"""Checks LB306, LB310, LB313 and LB314: whether each Python that installs a wheel finds and runs its modules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loadcheck.ecosystems.wheel.checks.served import (
    admitted_pythons,
    find_missing,
    format_minors,
    format_tags,
    list_served,
    requires_python,
)
from loadcheck.engine import platforms
from loadcheck.engine.check import Hit, Hits, check
from loadcheck.engine.wording import name_newest, some
from loadcheck.tables import pythonabi

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadcheck.binary import Image
    from loadcheck.model import Severity
    from loadcheck.readers.contents import Contents, File, WheelName

_PLATFORM = re.compile(
    r"\.(?:cpython-3|pypy3|cp3)[\w-]*?-(?:(?P<linux>\w+)-linux-\w+\.so|(?P<darwin>darwin)\.so|(?P<windows>win\w+)\.pyd)$"
)
"""How a module's name says for which system and processor it is (the `EXT_SUFFIX` of CPython and PyPy)."""
_ARCHS: Mapping[str, tuple[str, ...]] = {
    "x86_64": ("x86_64",), "i386": ("i686",), "aarch64": ("aarch64",), "arm": ("armv7l",),
    "powerpc64le": ("ppc64le",), "s390x": ("s390x",), "riscv64": ("riscv64",),
    "win_amd64": ("x86_64",), "win32": ("i686",), "win_arm64": ("aarch64",),
}  # fmt: skip
_WITHOUT_PLATFORM = re.compile(r"\.cpython-3(?P<minor>\d+)[a-z]*\.so$")
_WITH_PLATFORM = 5
_OF_PLATFORM = "Give the module the suffix that the tag's Python uses: sysconfig.get_config_var('EXT_SUFFIX')."
_ADDED = {
    "PySlice_AdjustIndices": {6: 1},
    "PySlice_Unpack": {6: 1},
    "PyUnstable_ThreadState_ResetStackProtection": {14: 1},
    "PyUnstable_ThreadState_SetStackProtection": {14: 1},
}
"""The minor versions of CPython 3 that got a function late, with the release (Misc/NEWS of CPython)."""
_THREADED = re.compile(r"cp3\d+t")
_IN_ONE_STEP = "PyModule_Create2"
_IN_STEPS = "PyModuleDef_Init"
_ALLOWS = "PyUnstable_Module_SetGIL"


@check(
    "LB306",
    "Extension module in a wheel for every Python",
    "error",
    because="The wheel can be installed for other versions of Python, but they cannot import the module. The finding "
    "is a warning if the file name fits every Python or the wheel is for any platform, and a note if the file name is "
    "that of a stable-ABI module.",
    example="_core.cpython-311-x86_64-linux-gnu.so in a wheel tagged py3-none",
    fix="Tag the wheel for the CPython that the module was built for, or build against the stable ABI (abi3).",
)
def module_in_generic_wheel(package: Contents, file: File, image: Image, wheel: WheelName) -> Hits:
    """Most extension modules load only in the CPython they were built for, but `py3-none` promises every Python.

    Nothing is reported if the wheel has a module for each Python that its tag and Requires-Python admit, or if the tag
    admits one Python only, such as `cp311-none`. A module of the stable ABI loads in most versions of CPython 3.
    """
    is_generic = any(not tag.startswith("cp") for tag in wheel.pythons)
    if not image.python_module or "none" not in wheel.abis:
        return
    served = list_served(package, file)
    missing = find_missing(package, wheel, served) if served is not None else []
    if served is None and is_generic:
        case, message = "none", f"is the Python module {image.python_module}, but the wheel's ABI tag is none"
        severity: Severity = "note" if pythonabi.module_abi(file.base) in ("abi3", "abi3t") else "warning"
    elif missing and file.base == max(package.twins[file.folder, file.stem]):
        lacking, tags = format_minors(missing), format_tags(wheel)
        case, message = "missing", f"there is no {image.python_module} for {lacking}, which the tag {tags} includes"
        severity = "warning" if "any" in wheel.platforms else "error"
    else:
        return
    limits = requires_python(package)
    stated = [f"Requires-Python {limits}"] if limits else []
    evidence = (f"exports PyInit_{image.python_module}", f"file {file.base}", *stated)
    yield Hit(cause=case, names=tuple(map(str, missing)), message=message, evidence=evidence, severity=severity)


@check(
    "LB310",
    "File name and wheel tag name different ABIs",
    "error",
    because="Installers install the module, but Python does not find it. The finding is a warning if the wheel has "
    "the module for several versions of Python, but not for all, and a note for a stable-ABI module, which works.",
    example="_core.cpython-311-x86_64-linux-gnu.so in a wheel tagged cp310-abi3",
    fix="Use one ABI for both: the suffix .abi3.so (.pyd on Windows) with an abi3 tag, or one CPython for both.",
)
def other_abi_than_tag(package: Contents, file: File, image: Image, wheel: WheelName) -> Hits:
    """CPython finds a module by the suffix of its file name, and installers choose a wheel by its tag.

    A module named for one CPython in a wheel for others is installed but not found: `No module named ...`, unless the
    wheel also has a module for each of them. The suffix also names the system and the processor: on ARM, Python does
    not find `.cpython-35m-x86_64-linux-gnu.so`, even if the code in it is for ARM. On Linux and macOS, no Python finds
    `.cpython-35m.so`, which names no system. From 3.15 on, CPython also finds `.abi3t.so`, and free-threaded CPython no
    longer finds `.abi3.so`. A stable-ABI module in a wheel for one CPython works, but the wheel cannot be installed for
    others.
    """
    abi = pythonabi.module_abi(file.base)
    if image.python_module and (ending := _find_short_ending(package, file, wheel)):
        message = f"has a file name without a system: no CPython looks for {ending}"
        yield Hit(cause="ending", message=message, evidence=(f"file {file.base}",), fix=_OF_PLATFORM)
        return
    if image.python_module and (platform := _find_other_platform(package, file, wheel)):
        tags = ".".join(wheel.platforms)
        message = f"is named for {platform}, so Python does not find it on {tags}"
        yield Hit(cause="platform", message=message, evidence=(f"file {file.base}", f"tag {tags}"), fix=_OF_PLATFORM)
        return
    lost = _find_lost_pythons(abi, wheel)
    if not image.python_module or not abi or (abi in wheel.abis and not lost) or "none" in wheel.abis:
        return  # LB306 covers wheels whose ABI is none
    tags = format_tags(wheel)
    evidence = (f"file {file.base}", f"tag {tags}")
    if lost:
        yield Hit(cause="lost", message=f"is not found: the tag {tags} includes {lost}", evidence=evidence)
        return
    if abi in ("abi3", "abi3t"):
        message = f"is a stable-ABI module, but the tag {tags} excludes other CPythons that could load it"
        yield Hit(cause="stable", message=message, evidence=evidence, severity="note")
        return
    served = list_served(package, file)
    missing = find_missing(package, wheel, served) if served is not None else []
    twins = package.twins[file.folder, file.stem]
    if len(twins) == 1:
        yield Hit(cause=abi, message=f"is named for {abi}, but the wheel is installed for {tags}", evidence=evidence)
    elif missing and file.base == max(twins):
        message = f"has variants for several Pythons, but none for {format_minors(missing)}, which {tags} includes"
        yield Hit(cause="variants", message=message, evidence=evidence, severity="warning")


@check(
    "LB313",
    "Function newer than the oldest CPython of the tag",
    "warning",
    because="The first releases of that CPython cannot import the module.",
    example="_core.cpython-36m-darwin.so in a wheel tagged cp36-cp36m uses PySlice_Unpack, which is new in 3.6.1",
    fix="Write Requires-Python: >=3.6.1 (or the release that the finding names) into the metadata.",
)
def newer_than_first_release(package: Contents, image: Image, wheel: WheelName) -> Hits:
    """A tag such as `cp36` includes 3.6.0, but headers of a later release may call functions that 3.6.0 lacks.

    The check knows the functions that CPython 3.6.1 and 3.14.1 added.
    """
    floors = [version[1] for name in wheel.pythons if (version := pythonabi.floor_of(name))]
    if not image.python_module or len(floors) != 1 or not {"abi3", "abi3t"}.isdisjoint(wheel.abis):
        return
    (minor,) = floors
    newer = {
        symbol.name: (3, minor, _ADDED[symbol.name][minor])
        for symbol in image.imports
        if symbol.kind == "normal" and minor in _ADDED.get(symbol.name, {})
    }
    older = range(max(newer.values())[-1]) if newer else ()
    admitted = admitted_pythons(requires_python(package))
    if any(admitted.contains(f"3.{minor}.{patch}") for patch in older):
        names, worst = name_newest(newer)
        yield Hit(
            names=tuple(sorted(newer)),
            message=f"uses {names}, new in CPython {worst}, but the tag {format_tags(wheel)} includes 3.{minor}.0",
            evidence=some(sorted(newer)),
        )


@check(
    "LB314",
    "Module that turns the GIL on",
    "warning",
    because="Importing the module turns the GIL on for the whole process, which free-threaded CPython reports with a "
    "RuntimeWarning.",
    example="_core.cpython-314t-x86_64-linux-gnu.so calls PyModule_Create and not PyUnstable_Module_SetGIL",
    fix="If the module needs no GIL, call PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED) after "
    "PyModule_Create().",
)
def turns_gil_on(package: Contents, image: Image, wheel: WheelName) -> Hits:
    """By default, free-threaded CPython keeps the GIL off only if each module says that it needs no GIL (PEP 703).

    A module that is created by PyModule_Create() says so by calling PyUnstable_Module_SetGIL(): the check looks for
    this function in the module's imports. A module with multi-phase initialization says so with Py_mod_gil in its table
    of slots. The check reads this table in modules for Linux on x86-64 whose PyInit function only returns the module's
    definition, as in Cython's modules.
    """
    if not image.python_module or not all(map(_THREADED.fullmatch, wheel.abis)):
        return
    message = f"turns the GIL on when it is imported, but {format_tags(wheel)} is for free-threaded CPython"
    used = {symbol.name for symbol in image.imports} | package.exported
    if _IN_ONE_STEP in used and _IN_STEPS not in used and _ALLOWS not in used:
        seen = f"imports {_IN_ONE_STEP}, and neither {_ALLOWS} nor {_IN_STEPS}"
        yield Hit(cause="one step", message=message, evidence=(seen,))
    elif image.keeps_gil and _IN_STEPS in used:
        yield Hit(
            cause="slots",
            message=message,
            evidence=("its table of slots (PyModuleDef.m_slots) has no Py_mod_gil with Py_MOD_GIL_NOT_USED",),
            fix="Add {Py_mod_gil, Py_MOD_GIL_NOT_USED} to the slots if the module needs no GIL (Cython 3.1: "
            "# cython: freethreading_compatible=True).",
        )


def _find_short_ending(package: Contents, file: File, wheel: WheelName) -> str:
    """The ending of a module's name if it lacks the system, which CPython 3.5 and newer have in theirs; else ""."""
    match = _WITHOUT_PLATFORM.search(file.base)
    is_judged = all(platforms.tag_format(tag) in ("elf", "macho") for tag in wheel.platforms)
    is_alone = len(package.twins[file.folder, file.stem]) == 1
    return match[0] if match and is_judged and is_alone and int(match["minor"]) >= _WITH_PLATFORM else ""


def _find_other_platform(package: Contents, file: File, wheel: WheelName) -> str:
    """The system or processor in a module's name for which no tag is; "" if one fits, or another file of the name."""
    tagged = {
        (platforms.tag_format(tag), arch) for tag in wheel.platforms for arch in platforms.tag_archs(tag) or ("",)
    }
    if any(not format_ or not arch for format_, arch in tagged):
        return ""
    others = [name for name in package.twins[file.folder, file.stem] if not _names_other_platform(name, tagged)]
    return "" if others else _names_other_platform(file.base, tagged)


def _names_other_platform(name: str, tagged: set[tuple[str, str]]) -> str:
    match = _PLATFORM.search(name)
    if match is None:
        return ""
    if match["darwin"]:
        return "" if any(format_ == "macho" for format_, _ in tagged) else "macOS"
    form, text = ("elf", match["linux"]) if match["linux"] else ("pe", match["windows"])
    archs = _ARCHS.get(text, ())
    return text if archs and tagged.isdisjoint((form, arch) for arch in archs) else ""


def _find_lost_pythons(abi: str, wheel: WheelName) -> str:
    """Which Pythons of the tag do not find a stable-ABI module of that name; "" for none."""
    oldest = min((version for name in wheel.pythons if (version := pythonabi.floor_of(name))), default=pythonabi.ABI3T)
    if abi == "abi3t" and oldest < pythonabi.ABI3T and wheel.abis != ("abi3t",):
        return f"{format_minors([oldest[1]])}, which does not look for .abi3t.so"
    if abi == "abi3" and any(name.endswith("t") for name in wheel.abis) and oldest >= pythonabi.ABI3T:
        return f"free-threaded {format_minors([oldest[1]])}, which does not look for .abi3.so"
    return ""
