"""Checks LB301, LB302, LB304 and LB305: whether binaries keep the promises of the package's tags, RIDs and floors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from loadcheck.binary import floors
from loadcheck.engine import platforms
from loadcheck.engine.check import ARCHIVES, PROMISING, Hit, Hits, check
from loadcheck.engine.kinds import promised_rid
from loadcheck.engine.supply import must_load
from loadcheck.engine.wording import name_platform
from loadcheck.readers.package_json import read_manifest
from loadcheck.readers.places import android_abi

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from loadcheck.binary import Image
    from loadcheck.engine.policy import Policy
    from loadcheck.model import Severity
    from loadcheck.readers.contents import Contents, File

_SHOWN = 8
_OLD_MACS = frozenset({"i686", "ppc", "ppc64"})
"""Processors whose last macOS is 10.14, 10.5 and 10.5."""
_OLDEST_OF_ZIG: floors.Version = (2, 17)


@check(
    "LB301",
    "Newer glibc needed than promised",
    "error",
    because="The library does not load on some systems that the tag includes. The finding is a warning if the package "
    "works without the library, and for symbols that glibc keeps to itself (GLIBC_PRIVATE).",
    formats=("elf",),
    example="liblatenn.so needs GLIBC_2.34 for pthread_create; the tag promises 2.28",
    fix="Build for the older glibc (with zig, or in a manylinux image for it), or promise a newer glibc.",
)
def glibc_above_tag(package: Contents, file: File, image: Image, policy: Policy) -> Hits:
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
        promiser = f"the tag {'.'.join(package.platforms)}" if package.wheel is not None else "the configuration"
        yield Hit(
            cause=why,
            names=names,
            message=f"needs {why} for {_list(names)}, but {promiser} promises glibc {floors.version_text(promised)}",
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
    return (
        f"Build for glibc {version} (zig cc -target {target}, or a manylinux image for it), or promise a newer glibc."
    )


def _floor_severity(package: Contents, file: File, image: Image) -> Severity:
    return "error" if package.wheel is None or must_load(package, file, image) else "warning"


def unjudged_platform(package: Contents, file: File) -> str:
    """The tags, the RID, or npm's words that promise the file to a system whose rules are not known, or ""."""
    if manifest := read_manifest(package):
        folders = [name for name in file.folder.split("/") if "-" in name and platforms.is_unjudged(name)]
        systems = manifest.read_values("os")
        return ", ".join(folders[:1] or (systems if all(map(platforms.is_unjudged, systems)) else ()))
    rid = promised_rid(package, file)
    names = [rid] if rid else list(package.platforms)
    return ", ".join(names) if all(map(platforms.is_unjudged, names)) else ""


@check(
    "LB302",
    "Binary of another architecture or system",
    "error",
    because="The file does not load on the promised platform. In a wheel, the finding is a note if other "
    "files serve that platform, unless Python imports the file or one of those files needs it. It is a warning for a "
    "file that lacks only processors that Apple no longer supports (i386, PowerPC).",
    kinds=ARCHIVES,
    example="an aarch64 library in a wheel tagged manylinux_2_28_x86_64",
    fix="Package the binary built for this tag, or correct the tag or the RID folder.",
)
def wrong_architecture(package: Contents) -> Hits:
    """The file installs without a warning, but fails to load: `wrong ELF class`, `not a valid Win32 application`.

    At least one slice of a universal Mach-O file must be for the promised platform. Under universal2, intel, fat and
    universal tags, the slices of all processors that they stand for must be present. In wheels, the finding is a
    note for files of other systems next to files that fit, such as launchers for several platforms.
    """
    for file in package.native:
        if misfit := next(_find_misfits(package, file), None):
            promiser, form, archs, lacking = misfit
            own = [image.arch for image in file.images]
            seen = name_platform(file.format or "", own)
            yield Hit(
                cause=f"{file.format} {' '.join(own)}",
                inner=file.name,
                message=f"is for {seen}, but {promiser} promises {name_platform(form, archs)}",
                evidence=(f"binary: {seen}", f"promised: {promiser}"),
                severity=_judge_misfit(package, file, lacking, is_other_system=form != file.format),
            )


def _judge_misfit(package: Contents, file: File, lacking: list[str], *, is_other_system: bool) -> Severity:
    """How bad it is that a file is not for all that is promised. Old processors of Macs have no maintained system."""
    if not _must_fit(package, file):
        return "note"
    is_of_old_macs = not is_other_system and file.format == "macho" and _OLD_MACS.issuperset(lacking)
    return "warning" if is_of_old_macs else "error"


def _must_fit(package: Contents, file: File) -> bool:
    """Whether the platform needs this particular file: no other fits, Python imports it, or a fitting file needs it."""
    others = [other for other in package.native if other is not file and other.images and not misfits(package, other)]
    if package.wheel is None or not others:
        return True
    serves = any(other.is_module and other.stem == file.stem for other in others)
    fitting = {other.name for other in others}
    return (file.is_module and not serves) or not fitting.isdisjoint(package.users_of(file.name) - {file.name})


def misfits(package: Contents, file: File) -> bool:
    """Whether a file is for another processor or system than a tag or a folder promises."""
    return any(_find_misfits(package, file))


def _find_misfits(package: Contents, file: File) -> Iterator[tuple[str, str, tuple[str, ...], list[str]]]:
    """Each tag or RID that a file does not fit, with its format and processors, and those that the file lacks."""
    own = {image.arch for image in file.images}
    own |= {"aarch64"} if "arm64x" in own else set()
    tags = [(name, platforms.tag_format(name), platforms.tag_archs(name)) for name in package.platforms]
    promises = [promise for promise in tags if promise[1]]
    if rid := promised_rid(package, file):
        promises = [(rid, platforms.rid_format(rid), tuple(filter(None, [platforms.rid_arch(rid)])))]
    abi, processor = android_abi(file.folder)
    if abi:
        promises = [(f"the folder {abi}", "elf", (processor,))]
    for promiser, form, archs in promises:
        lacking = [arch for arch in archs if own and arch not in own]
        if lacking or (form and form != file.format):
            yield promiser, form, archs, lacking


@check(
    "LB304",
    "Symbol that the system libraries of the tag lack",
    "error",
    because="The library does not load on some systems that the tag includes. The finding is a warning if the package "
    "works without the library, or if the symbol is needed on first use only.",
    formats=("elf",),
    kinds=("wheel",),
    example="libspeech.so needs GLIBCXX_3.4.30; manylinux_2_28 promises 3.4.24",
    fix="Build in a manylinux image, whose compiler links newer parts statically, or link the library statically.",
)
def symbol_above_tag(package: Contents, file: File, image: Image) -> Hits:
    """A tag promises symbol versions of libstdc++, libgcc, libatomic and zlib, which old systems of the tag have.

    It also forbids symbols without a version that some of these systems lack, such as zlib's internal ones. The limits
    are those of auditwheel, by architecture. A library in the package has what it has.
    """
    glibc, musl = lowest_tag(package, "glibc"), lowest_tag(package, "musl")
    own = {image.soname.lower() for _, image in package.images} | package.bases
    if glibc:
        yield from _judge_versions(package, file, image, glibc, own)
    for tag in filter(None, (glibc, musl)):
        yield from _judge_forbidden(package, file, image, tag, own)


def _judge_versions(package: Contents, file: File, image: Image, tag: platforms.LinuxTag, own: Collection[str]) -> Hits:
    limits = platforms.symbol_limits(tag)
    for family in platforms.list_families():
        limit = limits.get(family, ())
        if newer := floors.find_newer(image, family, limit, own):
            worst = max(newer, key=newer.__getitem__)
            names = _because(image, worst)
            promised = f"{family}_{floors.version_text(limit)}" if limit else f"no version of {family}"
            yield Hit(
                cause=worst,
                names=names,
                message=f"needs {worst} for {_list(names)}, but the tag promises {promised}",
                evidence=(*(f"VERNEED {name}" for name in sorted(newer)), *names),
                severity=_floor_severity(package, file, image),
            )


def _judge_forbidden(
    package: Contents, file: File, image: Image, tag: platforms.LinuxTag, own: Collection[str]
) -> Hits:
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
    because="The file does not load on the promised systems. The finding is a note if other files serve these systems, "
    "unless the file is a Python module.",
    formats=("elf",),
    kinds=PROMISING,
    example="a library that needs libc.musl-x86_64.so.1 in runtimes/linux-x64/native",
    fix="Package a build for the C library that the tag or RID names. musl has its own tags and RIDs.",
)
def wrong_libc(package: Contents, file: File, image: Image) -> Hits:
    """Binaries for glibc do not load on musl systems, and binaries for musl do not load on glibc systems."""
    if image.libc == "unknown":
        return
    rid = promised_rid(package, file)
    promised = {tag.libc for name in package.platforms if (tag := platforms.linux_tag(name))}
    if rid.startswith("linux"):
        promised = {"musl" if rid.startswith("linux-musl") else "glibc"}
    if promised and image.libc not in promised:
        promiser = rid or ", ".join(package.platforms)
        has_others = any(other.libc in promised for _, other in package.images)
        yield Hit(
            cause=image.libc,
            message=f"is linked against {image.libc}, but {promiser} promises {', '.join(sorted(promised))}",
            evidence=tuple(f"NEEDED {name}" for name in image.needed) or (f"interpreter {image.interpreter}",),
            severity="note" if package.wheel is not None and has_others and not file.is_module else "error",
        )


def lowest_tag(package: Contents, libc: Literal["glibc", "musl"]) -> platforms.LinuxTag | None:
    """The tag of a wheel for Linux that promises the oldest glibc or musl."""
    tags = (tag for name in package.platforms if (tag := platforms.linux_tag(name)) and tag.libc == libc)
    return min(tags, key=lambda tag: tag.floor, default=None)


def _promised_glibc(package: Contents, policy: Policy) -> floors.Version:
    """The lowest floor that the package promises; the configured one if it has no tag; () for none."""
    if tag := lowest_tag(package, "glibc"):
        return tag.floor
    return floors.numeric(policy.glibc) if package.wheel is None else ()


def _because(image: Image, version: str) -> tuple[str, ...]:
    return floors.because(image, version)[:_SHOWN]


def _list(names: tuple[str, ...]) -> str:
    return ", ".join(names[:3])
