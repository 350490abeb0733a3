"""Checks LB306 and LB310: whether each Python that installs a wheel finds its modules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loadcheck.engine import platforms
from loadcheck.engine.registry import EVERY_FORMAT, Hit, Skip, check
from loadcheck.kinds.wheel.checks.served import find_missing, format_minors, format_tags, list_served, requires_python
from loadcheck.tables import pythonabi

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loadcheck.binary import Image
    from loadcheck.model import Severity
    from loadcheck.readers.contents import Contents, File, WheelName

_PLATFORM = re.compile(
    r"\.(?:cpython-3|pypy3|cp3)[\w-]*?-(?:(?P<linux>\w+)-linux-\w+\.so|(?P<darwin>darwin)\.so|(?P<windows>win\w+)\.pyd)$"
)
"""How a module's name says for which system and processor it is (the `EXT_SUFFIX` of CPython and PyPy)."""
_ARCHS: Mapping[str, tuple[str, ...]] = {
    "x86_64": ("x86_64",), "i386": ("i686",), "aarch64": ("aarch64",), "arm": ("armv7l", "armv6l"),
    "powerpc64le": ("ppc64le",), "s390x": ("s390x",), "riscv64": ("riscv64",),
    "win_amd64": ("x86_64",), "win32": ("i686",), "win_arm64": ("aarch64",),
}  # fmt: skip
_WITHOUT_PLATFORM = re.compile(r"\.cpython-3(?P<minor>\d+)[a-z]*\.so$")
_WITH_PLATFORM = 5
_OF_PLATFORM = "Give the module the suffix that the tag's Python uses: sysconfig.get_config_var('EXT_SUFFIX')."


@check(
    "LB306",
    "Extension module in a wheel for every Python",
    "error",
    profiles=("loads",),
    because="The wheel can be installed for other versions of Python, but they cannot import the module. The finding "
    "is a warning if the file name fits every Python or the wheel is for any platform, and a note if the file name is "
    "that of a stable-ABI module.",
    formats=EVERY_FORMAT,
    kinds=("wheel",),
    example="_core.cpython-311-x86_64-linux-gnu.so in a wheel tagged py3-none",
    fix="Tag the wheel for the CPython that the module was built for, or build against the stable ABI (abi3).",
)
def module_in_generic_wheel(package: Contents, file: File, image: Image, wheel: WheelName) -> Iterator[Hit | Skip]:
    """Most extension modules load only in the CPython they were built for, but `py3-none` promises every Python.

    Nothing is reported if the wheel has a module for each Python that its tag and Requires-Python admit, or if the tag
    admits one Python only, such as `cp311-none`. A module of the stable ABI loads in most versions of CPython 3.
    """
    severity: Severity
    is_generic = any(not tag.startswith("cp") for tag in wheel.pythons)
    if not image.python_module or "none" not in wheel.abis:
        return
    served = list_served(package, file)
    missing = find_missing(package, wheel, served) if served is not None else []
    if served is None and is_generic:
        is_stable = pythonabi.module_abi(file.base) in ("abi3", "abi3t")
        case, message = "none", f"is the Python module {image.python_module}, but the wheel's ABI tag is none"
        severity = "note" if is_stable else "warning"
    elif missing and file.base == max(package.twins[file.folder, file.stem]):
        module = image.python_module
        case, message = (
            "missing",
            f"there is no {module} for {format_minors(missing)}, which the tag {format_tags(wheel)} includes",
        )
        severity = "warning" if "any" in wheel.platforms else "error"
    else:
        return
    limits = requires_python(package)
    evidence = (f"exports PyInit_{image.python_module}", f"file {file.base}")
    yield Hit(
        cause=case,
        names=tuple(map(str, missing)),
        message=message,
        evidence=(*evidence, *([f"Requires-Python {limits}"] if limits else [])),
        severity=severity,
    )


@check(
    "LB310",
    "File name and wheel tag name different ABIs",
    "error",
    profiles=("loads",),
    because="Installers install the module, but Python does not find it. The finding is a warning if the wheel has "
    "the module for several versions of Python, but not for all, and a note for a stable-ABI module, which works.",
    formats=EVERY_FORMAT,
    kinds=("wheel",),
    example="_core.cpython-311-x86_64-linux-gnu.so in a wheel tagged cp310-abi3",
    fix="Use one ABI for both: the suffix .abi3.so (.pyd on Windows) with an abi3 tag, or one CPython for both.",
)
def other_abi_than_tag(package: Contents, file: File, image: Image, wheel: WheelName) -> Iterator[Hit | Skip]:
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
