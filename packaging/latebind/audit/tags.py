"""Checks LB301-LB307: whether binaries keep the promises of the package's tags, RIDs and floors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.audit import platforms
from latebind.audit.layout import rid_folder
from latebind.audit.registry import EVERY_FORMAT, Hit, Skip, check
from latebind.binary import floors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from latebind.audit.policy import Policy
    from latebind.audit.subject import Contents, File, WheelName
    from latebind.binary import Image

_SHOWN = 8


@check(
    "LB301",
    "Newer glibc needed than promised",
    "error",
    scope="binary",
    example="liblatenn.so needs GLIBC_2.34 for pthread_create; the tag promises 2.28",
    cure="Build for the older glibc (zig -target x86_64-linux-gnu.2.28, or a manylinux image), or raise the floor.",
)
def glibc_above_tag(package: Contents, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """The dynamic loader refuses a library that needs symbol versions that the system's glibc does not have.

    Installers choose by the tag alone, so they install the package there anyway.
    """
    versions = floors.glibc_versions(image)
    if "GLIBC_PRIVATE" in versions:
        names = _because(image, "GLIBC_PRIVATE")
        yield Hit(
            message=f"needs GLIBC_PRIVATE for {_list(names)}, so it loads with one build of glibc only",
            evidence=names,
        )
    needed, why = floors.needed_glibc(versions)
    promised = _promised_glibc(package, policy)
    if needed and promised and needed > promised:
        names = _because(image, why)
        yield Hit(
            message=f"needs {why} for {_list(names)}, but {_promise(package)} glibc {floors.version_text(promised)}",
            evidence=(f"VERNEED {why}", *names),
        )


@check(
    "LB302",
    "Binary of another architecture or system",
    "error",
    scope="package",
    kinds=("wheel", "nupkg"),
    formats=EVERY_FORMAT,
    example="an aarch64 library in a wheel tagged manylinux_2_28_x86_64",
    cure="Package the binary built for this tag, or correct the tag or the RID folder.",
)
def wrong_architecture(package: Contents) -> Iterator[Hit | Skip]:
    """Such a file installs without a warning and fails to load: `wrong ELF class`, `not a valid Win32 application`.

    One slice of a universal Mach-O file must fit. Under a universal2 tag, both slices must be present.
    """
    for file in package.native:
        archs = [image.arch for image in file.images]
        seen = f"{file.format} {' and '.join(archs)}".strip()
        for place, wanted_format, wanted_archs in _places(package, file):
            lacking = [arch for arch in wanted_archs if archs and not _runs_as(arch, archs)]
            if (wanted_format and wanted_format != file.format) or lacking:
                yield Hit(
                    inner=file.name,
                    message=f"is {seen}, but {place} promises {wanted_format} {' and '.join(wanted_archs)}".rstrip(),
                    evidence=(f"binary: {seen}", f"promised: {place}"),
                )
                break


def _runs_as(arch: str, archs: list[str]) -> bool:
    return arch in archs or (arch == "aarch64" and "arm64x" in archs)


@check(
    "LB303",
    "Native code in a package for any platform",
    "error",
    scope="package",
    kinds=("wheel",),
    example="latenn-1.0-py3-none-any.whl with latenn/liblatenn.so",
    cure="Tag the wheel with the platform of its binaries, and set Root-Is-Purelib: false.",
)
def native_in_any(package: Contents, wheel: WheelName) -> Iterator[Hit | Skip]:
    """Installers install a wheel tagged `any` on every system, and a pure wheel in a folder without native code."""
    native = [file.name for file in package.native]
    if not native:
        return
    if "any" in wheel.platforms:
        yield Hit(inner=native[0], message="is native code in a wheel tagged any", evidence=tuple(native[:_SHOWN]))
    for name, text in package.texts.items():
        if name.endswith("/WHEEL") and b"root-is-purelib: true" in text.lower():
            yield Hit(
                inner=name,
                message="has Root-Is-Purelib: true, but the wheel contains native code",
                evidence=("Root-Is-Purelib: true", *native[:_SHOWN]),
            )


@check(
    "LB304",
    "Newer C++ run-time library needed than promised",
    "error",
    scope="binary",
    kinds=("wheel",),
    example="libspeech.so needs GLIBCXX_3.4.30; manylinux_2_28 promises 3.4.24",
    cure="Build in a manylinux image, whose compiler links newer parts statically, or link libstdc++ statically.",
)
def cxx_above_tag(package: Contents, image: Image) -> Iterator[Hit | Skip]:
    """A manylinux floor implies a version of libstdc++. Such systems lack newer GLIBCXX or CXXABI versions."""
    tags = [tag for name in _platforms(package) if (tag := platforms.linux_tag(name)) and tag.libc == "glibc"]
    if not tags:
        return
    limits = platforms.cxx_limits(min(tag.floor for tag in tags))
    for prefix, limit in limits.items():
        versions = [
            name
            for rows in image.version_needs.values()
            for name in rows
            if floors.numeric(name.removeprefix(f"{prefix}_")) > limit and name.startswith(f"{prefix}_")
        ]
        if versions:
            worst = max(versions, key=lambda name: floors.numeric(name.rpartition("_")[2]))
            names = _because(image, worst)
            yield Hit(
                message=f"needs {worst} for {_list(names)}, but the tag promises {prefix}_{floors.version_text(limit)}",
                evidence=(*(f"VERNEED {name}" for name in sorted(versions)), *names),
            )


@check(
    "LB305",
    "Binary for another C library",
    "error",
    scope="binary",
    kinds=("wheel", "nupkg"),
    example="a library that needs libc.musl-x86_64.so.1 in runtimes/linux-x64/native",
    cure="Package a build for the C library that the tag or RID names. musl has its own tags and RIDs.",
)
def wrong_libc(package: Contents, file: File, image: Image) -> Iterator[Hit | Skip]:
    """Binaries for glibc do not load on musl systems, and binaries for musl do not load on glibc systems."""
    if image.libc == "unknown":
        return
    rid = rid_folder(file.name) if package.kind == "nupkg" else ""
    promised = {tag.libc for name in _platforms(package) if (tag := platforms.linux_tag(name))}
    if rid.startswith("linux"):
        promised = {"musl" if rid.startswith("linux-musl") else "glibc"}
    if promised and image.libc not in promised:
        place = rid or ", ".join(_platforms(package))
        yield Hit(
            message=f"is linked against {image.libc}, but {place} promises {', '.join(sorted(promised))}",
            evidence=tuple(f"NEEDED {name}" for name in image.needed) or (f"interpreter {image.interpreter}",),
        )


@check(
    "LB306",
    "Extension module in a wheel for every Python",
    "error",
    scope="binary",
    formats=EVERY_FORMAT,
    kinds=("wheel",),
    example="_core.cpython-311-x86_64-linux-gnu.so in a wheel tagged py3-none",
    cure="Tag the wheel for the CPython that the module was built for, or build against the stable ABI (abi3).",
)
def module_in_generic_wheel(file: File, image: Image, wheel: WheelName) -> Iterator[Hit | Skip]:
    """An extension module loads only in the CPython it was built for. `none` promises that it uses no Python ABI."""
    if image.python_module and "none" in wheel.abis:
        yield Hit(
            message=f"is the Python module {image.python_module}, but the wheel's ABI tag is none",
            evidence=(f"exports PyInit_{image.python_module}", f"file {file.base}"),
        )


@check(
    "LB307",
    "Platform tag without a floor",
    "warning",
    scope="package",
    kinds=("wheel",),
    example="latenn-1.0-py3-none-linux_x86_64.whl",
    cure="Tag the wheel manylinux_X_Y with latebind pack or auditwheel repair.",
)
def tag_without_floor(wheel: WheelName) -> Iterator[Hit | Skip]:
    """Package indexes refuse plain linux tags, which promise nothing about the systems that can run the code."""
    plain = [name for name in wheel.platforms if name.startswith("linux_")]
    if plain:
        yield Hit(message=f"is tagged {', '.join(plain)}, which promises no version of glibc", evidence=tuple(plain))


def _platforms(package: Contents) -> tuple[str, ...]:
    return package.wheel.platforms if package.wheel is not None else ()


def _promised_glibc(package: Contents, policy: Policy) -> floors.Version:
    """The lowest floor that the package promises; the configured one if it has no tag; () for none."""
    tags = [tag for name in _platforms(package) if (tag := platforms.linux_tag(name)) and tag.libc == "glibc"]
    if tags:
        return min(tag.floor for tag in tags)
    return floors.numeric(policy.glibc) if package.wheel is None else ()


def _promise(package: Contents) -> str:
    return (
        f"the tag {'.'.join(_platforms(package))} promises" if package.wheel is not None else "the configured floor is"
    )


def _places(package: Contents, file: File) -> list[tuple[str, str, tuple[str, ...]]]:
    """The tags or the RID folder that promise a format and architectures for the file."""
    if package.kind == "nupkg":
        rid = rid_folder(file.name)
        return [(rid, platforms.rid_format(rid), tuple(filter(None, [platforms.rid_arch(rid)])))] if rid else []
    rows = [(name, platforms.tag_format(name), platforms.tag_archs(name)) for name in _platforms(package)]
    return [row for row in rows if row[1]]


def _because(image: Image, version: str) -> tuple[str, ...]:
    return floors.because(image, version)[:_SHOWN]


def _list(names: tuple[str, ...]) -> str:
    return ", ".join(names[:3])
