"""Checks LB301, LB302, LB304 and LB305: whether binaries keep the promises of the package's tags, RIDs and floors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from loadcheck.binary import floors
from loadcheck.engine import platforms
from loadcheck.engine.reader import promised_rid
from loadcheck.engine.registry import PROMISING, Hit, Skip, check
from loadcheck.engine.supply import must_load
from loadcheck.readers.package_json import read_manifest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from loadcheck.binary import Image
    from loadcheck.engine.policy import Policy
    from loadcheck.model import Severity
    from loadcheck.readers.contents import Contents, File

_SHOWN = 8
_OLDEST_OF_ZIG: floors.Version = (2, 17)


@check(
    "LB301",
    "Newer glibc needed than promised",
    "error",
    profiles=("loads",),
    because="The library does not load on some systems that the tag includes. The finding is a warning if the package "
    "works without the library, and for symbols that glibc keeps to itself (GLIBC_PRIVATE).",
    example="liblatenn.so needs GLIBC_2.34 for pthread_create; the tag promises 2.28",
    fix="Build for the older glibc (with zig, or in a manylinux image for it), or promise a newer glibc.",
)
def glibc_above_tag(package: Contents, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """The dynamic loader refuses a library that needs symbol versions that the system's glibc does not have.

    Installers look only at the tag, so they install the package on such systems anyway. The finding is a warning if no
    module loads the library and the package works without it, unless all libraries of the package need a newer glibc.
    """
    versions = floors.glibc_versions(image)
    if "GLIBC_PRIVATE" in versions:
        names = _because(image, "GLIBC_PRIVATE")
        yield Hit(
            cause="GLIBC_PRIVATE",
            names=names,
            message=f"needs GLIBC_PRIVATE for {_list(names)}, which another build of glibc may lack or change",
            evidence=names,
            severity="warning",
        )
    needed, why = floors.needed_glibc(versions)
    promised = _promised_glibc(package, policy)
    if needed and promised and needed > promised:
        names = _because(image, why)
        yield Hit(
            cause=why,
            names=names,
            message=f"needs {why} for {_list(names)}, but {_promise(package)} glibc {floors.version_text(promised)}",
            evidence=(f"VERNEED {why}", *names),
            fix=_name_older_glibc(image, promised),
            severity="error" if package.least_glibc > promised else _floor_severity(package, file, image),
        )


def _name_older_glibc(image: Image, promised: floors.Version) -> str:
    """How to build for the glibc that a tag promises; zig has no version before 2.17."""
    version = floors.version_text(promised)
    if promised < _OLDEST_OF_ZIG:
        return f"Promise a newer glibc: maintained compilers build for glibc 2.17 and newer, not for {version}."
    target = f"{image.arch}-linux-gnu.{version}"
    return f"Build for glibc {version} (zig -target {target}, or a manylinux image for it), or promise a newer glibc."


def _floor_severity(package: Contents, file: File, image: Image) -> Severity:
    return "error" if package.wheel is None or must_load(package, file, image) else "warning"


def unjudged_platform(package: Contents, file: File) -> str:
    """The tags, the RID, or npm's words that promise the file to a system whose rules are not known, or ""."""
    if manifest := read_manifest(package):
        folders = [name for name in file.folder.split("/") if "-" in name and platforms.is_unjudged(name)]
        systems = manifest.read_values("os")
        return ", ".join(folders[:1] or (systems if all(map(platforms.is_unjudged, systems)) else ()))
    rid = promised_rid(package, file)
    names = [rid] if rid else list(list_platforms(package))
    return ", ".join(names) if all(map(platforms.is_unjudged, names)) else ""


@check(
    "LB304",
    "Symbol that the system libraries of the tag lack",
    "error",
    profiles=("loads",),
    because="The library does not load on some systems that the tag includes. The finding is a warning if the package "
    "works without the library, or if the symbol is needed on first use only.",
    kinds=("wheel",),
    example="libspeech.so needs GLIBCXX_3.4.30; manylinux_2_28 promises 3.4.24",
    fix="Build in a manylinux image, whose compiler links newer parts statically, or link the library statically.",
)
def symbol_above_tag(package: Contents, file: File, image: Image) -> Iterator[Hit | Skip]:
    """A tag promises symbol versions of libstdc++, libgcc, libatomic and zlib, which old systems of the tag have.

    It also forbids symbols without a version that some of these systems lack, such as zlib's internal ones. The limits
    are those of auditwheel, by architecture. A library in the package has what it has.
    """
    glibc, musl = list_linux_tags(package, "glibc"), list_linux_tags(package, "musl")
    own = {image.soname.lower() for _, image in package.images} | package.bases
    if glibc:
        yield from _judge_versions(package, file, image, min(glibc, key=lambda tag: tag.floor), own)
    for tag in (min(tags, key=lambda tag: tag.floor) for tags in (glibc, musl) if tags):
        yield from _judge_forbidden(package, file, image, tag, own)


def _judge_versions(
    package: Contents, file: File, image: Image, tag: platforms.LinuxTag, own: Collection[str]
) -> Iterator[Hit]:
    limits = platforms.symbol_limits(tag)
    for family in platforms.list_families():
        limit = limits.get(family, ())
        versions = [
            name
            for library, names in image.version_needs.items()
            if library.lower() not in own  # a copy of its own has every version that it needs
            for name in names
            if floors.numeric(name.removeprefix(f"{family}_")) > limit and name.startswith(f"{family}_")
        ]
        if versions:
            worst = max(versions, key=lambda name: floors.numeric(name.rpartition("_")[2]))
            names = _because(image, worst)
            promised = f"{family}_{floors.version_text(limit)}" if limit else f"no version of {family}"
            yield Hit(
                cause=worst,
                names=names,
                message=f"needs {worst} for {_list(names)}, but the tag promises {promised}",
                evidence=(*(f"VERNEED {name}" for name in sorted(versions)), *names),
                severity=_floor_severity(package, file, image),
            )


def _judge_forbidden(
    package: Contents, file: File, image: Image, tag: platforms.LinuxTag, own: Collection[str]
) -> Iterator[Hit]:
    for library in image.needed:
        lacking = platforms.list_forbidden(tag, library) if library.lower() not in own else frozenset[str]()
        names = tuple(sorted({symbol.name for symbol in image.open_imports} & lacking - package.exported))
        if names:
            yield Hit(
                cause=f"forbidden {library}",
                names=names,
                message=f"uses {_list(names)} of {library}, which some systems of the tag lack",
                evidence=(*names, *["BIND_NOW"] * image.is_bound_at_once),
                severity=_floor_severity(package, file, image) if image.is_bound_at_once else "warning",
                fix=f"Use the public functions of {library}, link it statically, or add it to the package.",
            )


@check(
    "LB305",
    "Binary for another C library",
    "error",
    profiles=("loads",),
    because="The file does not load on the promised systems. The finding is a note if other files serve these systems, "
    "unless the file is a Python module.",
    kinds=PROMISING,
    example="a library that needs libc.musl-x86_64.so.1 in runtimes/linux-x64/native",
    fix="Package a build for the C library that the tag or RID names. musl has its own tags and RIDs.",
)
def wrong_libc(package: Contents, file: File, image: Image) -> Iterator[Hit | Skip]:
    """Binaries for glibc do not load on musl systems, and binaries for musl do not load on glibc systems."""
    if image.libc == "unknown":
        return
    rid = promised_rid(package, file)
    promised = {tag.libc for name in list_platforms(package) if (tag := platforms.linux_tag(name))}
    if rid.startswith("linux"):
        promised = {"musl" if rid.startswith("linux-musl") else "glibc"}
    if promised and image.libc not in promised:
        promiser = rid or ", ".join(list_platforms(package))
        yield Hit(
            cause=image.libc,
            message=f"is linked against {image.libc}, but {promiser} promises {', '.join(sorted(promised))}",
            evidence=tuple(f"NEEDED {name}" for name in image.needed) or (f"interpreter {image.interpreter}",),
            severity="error" if not _has_other_libc(package, promised) or file.is_module else "note",
        )


def _has_other_libc(package: Contents, promised: set[str]) -> bool:
    """Whether another file of the package serves the promised C library."""
    return package.wheel is not None and any(other.libc in promised for _, other in package.images)


def list_platforms(package: Contents) -> tuple[str, ...]:
    """The platform tags of a wheel; none for other packages."""
    return package.wheel.platforms if package.wheel is not None else ()


def list_linux_tags(package: Contents, libc: Literal["glibc", "musl"]) -> list[platforms.LinuxTag]:
    """The tags of a wheel for a C library of Linux, taken apart."""
    tags = map(platforms.linux_tag, list_platforms(package))
    return [tag for tag in tags if tag is not None and tag.libc == libc]


def _promised_glibc(package: Contents, policy: Policy) -> floors.Version:
    """The lowest floor that the package promises; the configured one if it has no tag; () for none."""
    tags = list_linux_tags(package, "glibc")
    if tags:
        return min(tag.floor for tag in tags)
    return floors.numeric(policy.glibc) if package.wheel is None else ()


def _promise(package: Contents) -> str:
    tag = f"the tag {'.'.join(list_platforms(package))}" if package.wheel is not None else "the configuration"
    return f"{tag} promises"


def _because(image: Image, version: str) -> tuple[str, ...]:
    return floors.because(image, version)[:_SHOWN]


def _list(names: tuple[str, ...]) -> str:
    return ", ".join(names[:3])
