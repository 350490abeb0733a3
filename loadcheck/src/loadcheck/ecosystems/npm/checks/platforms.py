"""Checks LB902, LB903 and LB907: whether native files fit the systems on which npm installs them."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from loadcheck.checks.modes import is_program
from loadcheck.engine.check import Hit, Hits, check
from loadcheck.engine.platforms import npm_cpu, npm_systems
from loadcheck.engine.symbols import is_libc_symbol
from loadcheck.engine.wording import first, name_platform
from loadcheck.readers.package_json import (
    MANIFEST,
    PROCESSOR_NAMES,
    SYSTEM_NAMES,
    admits,
    builds_on_install,
    prebuilt_for,
    read_manifest,
)

if TYPE_CHECKING:
    from loadcheck.binary import Image
    from loadcheck.model import Severity
    from loadcheck.readers.contents import Contents, File
    from loadcheck.readers.package_json import Manifest

_ARCHS = re.compile(r"arm|arm64|ia32|loong64|mips|mips64el|mipsel|ppc|ppc64|riscv64|s390|s390x|x64|wasm32")
"""The values of process.arch, and wasm32, which no Node.js has: npm installs packages for it on request only."""
_PLATFORMS = re.compile(r"aix|android|cygwin|darwin|freebsd|haiku|linux|netbsd|openbsd|openharmony|os400|sunos|win32")
"""The values of process.platform, with those of ports that are not official."""
_USUAL = {**PROCESSOR_NAMES, **SYSTEM_NAMES}

_BUILT = re.compile(r"/build/(Release|Debug)/$")
_NAMED = re.compile(r"\.(?P<platform>[a-z0-9]+-[a-z0-9]+)(-(gnu|musl|msvc)\w*)?\.node$")
"""How napi-rs names add-ons: `tiny.linux-arm64-gnu.node`."""


@check(
    "LB902",
    "Platform fields contradict the native files",
    "error",
    because="npm installs the package on systems where none of its native files load. The finding is a warning if a "
    "field is missing, has an unknown value or names a processor without an add-on; it is an error if every value is "
    "a wrong name, such as macos for darwin. It is a note if other files fit or the package has no native files.",
    kinds=("npm",),
    example='"cpu": ["x64"] and an aarch64 library',
    fix="Set os and cpu to the values of process.platform and process.arch on the system that the files are for.",
)
def platform_wrong(package: Contents) -> Hits:
    """npm chooses a package for a platform by `os`, `cpu` and `libc` (LB903), and never by its name.

    By convention, the package's name ends with the same os and cpu. npm compares these fields with `process.platform`
    and `process.arch`, so a value that Node.js does not have, such as `x32` or `macos`, admits no system.
    """
    manifest = read_manifest(package)
    if manifest is None:
        return
    fields = {key: manifest.read_values(key) for key in ("os", "cpu")}
    for key, value in zip(("os", "cpu"), manifest.platform[1:], strict=True):
        evidence = (f"name: {manifest.text('name')}", f"{key}: {', '.join(fields[key]) or 'missing'}")
        if value and not fields[key]:
            everywhere = "on every system" if key == "os" else "on every processor"
            text = f"has no {key}, so npm installs it {everywhere}"
            severity: Severity = "warning" if any(package.native) else "note"
            yield Hit(cause=f"no {key}", inner=manifest.inner, message=text, evidence=evidence, severity=severity)
        elif value and not admits(fields[key], value):
            text = f"is for {key} {', '.join(fields[key])}, but its name says {value}"
            yield Hit(cause=f"other {key}", inner=manifest.inner, message=text, evidence=evidence)
    yield from _judge_unknown_values(manifest, fields)
    yield from _judge_lacking_cpus(package, manifest, fields["cpu"])
    judged = [file for file in package.native if file.images]
    misfits = [file for file in judged if not _is_admitted(file, fields)]
    for file in misfits:
        seen = name_platform(file.format or "", [image.arch for image in file.images])
        promised = " and ".join(f"{key} {', '.join(value)}" for key, value in fields.items() if value)
        yield Hit(
            cause="binary",
            inner=file.name,
            message=f"is for {seen}, but {MANIFEST} says {promised}",
            evidence=(f"binary: {seen}", *(f"{key}: {', '.join(value)}" for key, value in fields.items())),
            severity="note" if len(misfits) < len(judged) else "error",
        )


def _judge_unknown_values(manifest: Manifest, fields: dict[str, tuple[str, ...]]) -> Hits:
    """Values that no Node.js has as its process.platform or process.arch, so that npm never finds them equal."""
    for (key, values), known in zip(fields.items(), (_PLATFORMS, _ARCHS), strict=True):
        unknown = [value for value in values if not known.fullmatch(value.removeprefix("!"))]
        if unknown:
            usual = _USUAL.get(unknown[0].removeprefix("!").lower(), "")
            yield Hit(
                cause=f"unknown {key}",
                names=tuple(unknown),
                inner=manifest.inner,
                message=f"names {key} {', '.join(unknown)}, which Node.js does not use"
                + (f"; Node.js calls it {usual}" if usual else ""),
                evidence=(f"{key}: {', '.join(values)}",),
                severity="error" if len(unknown) == len(values) and usual else "warning",
            )


def _judge_lacking_cpus(package: Contents, manifest: Manifest, named: tuple[str, ...]) -> Hits:
    """Processors in `cpu` for which no add-on of the package is, where nothing else can provide one."""
    addons = [file for file in package.native if file.is_node_addon and file.images]
    compiled_for = {npm_cpu(image.arch) for file in addons for image in file.images}
    gets_others = manifest.parts or builds_on_install(package, manifest)
    lacking = [cpu for cpu in named if not cpu.startswith("!") and cpu not in compiled_for]
    if addons and lacking and "" not in compiled_for and compiled_for & {*named} and not gets_others:
        has, them = ", ".join(sorted(compiled_for)), "it" if len(lacking) == 1 else "them"
        yield Hit(
            cause="no add-on",
            names=tuple(lacking),
            inner=manifest.inner,
            message=f"names cpu {', '.join(lacking)}, but has no add-on for {them}",
            evidence=(f"cpu: {', '.join(named)}", f"add-ons: {has}"),
            fix=f"Leave {', '.join(lacking)} out of cpu, or add an add-on for {them}.",
            severity="warning",
            assumption="the package does not work without its add-on",
        )


def _is_admitted(file: File, fields: dict[str, tuple[str, ...]]) -> bool:
    """Whether the fields admit a system that loads a native file."""
    cpus = {npm_cpu(image.arch) for image in file.images}
    on_os = any(admits(fields["os"], name) for name in npm_systems(file.format or ""))
    return on_os and ("" in cpus or any(admits(fields["cpu"], name) for name in cpus))


@check(
    "LB903",
    "C library differs from package.json",
    "error",
    because="The file does not load where npm installs it. The finding is a warning if package.json names no C "
    "library (a note for an add-on of a package that runs node-gyp). If other files of the package fit, it is a "
    "warning for a program and a note for any other file.",
    kinds=("npm",),
    example='a library that needs libc.so.6 in a package with "libc": ["musl"]',
    fix='Write "libc": ["glibc"] or ["musl"] in the package.json of each package for one Linux platform.',
)
def libc_wrong(package: Contents) -> Hits:
    """Binaries for glibc do not load on musl systems, and binaries for musl do not load on glibc systems.

    If a package for Linux alone has no field `libc`, npm installs it on every Linux system. On every Linux system,
    node-gyp-build also opens an add-on without `.glibc` or `.musl` in its name, and the npm package `bindings` opens an
    add-on in build/Release. A few such add-ons for glibc do work with musl.
    """
    manifest = read_manifest(package)
    if manifest is None or not admits(manifest.read_values("os"), "linux"):
        return
    binaries = [(file, image) for file, image in package.images if image.libc != "unknown"]
    chosen, seen = manifest.read_values("libc"), {image.libc for _, image in binaries}
    fits = not chosen or any(admits(chosen, libc) for libc in seen)
    for file, image in binaries if chosen else ():
        if not admits(chosen, image.libc):
            severity: Severity = ("warning" if is_program(image) else "note") if fits else "error"
            text = f"is linked against {image.libc}, but {MANIFEST} says libc {', '.join(chosen)}"
            evidence = (*(f"NEEDED {name}" for name in image.needed), *filter(None, [image.interpreter]))
            evidence = evidence or (f"libc {image.libc}",)
            yield Hit(cause=image.libc, inner=file.name, message=text, evidence=evidence, severity=severity)
    is_for_linux = manifest.platform[1] == "linux" or manifest.read_values("os") == ("linux",)
    if not chosen and len(seen) == 1 and is_for_linux:
        (libc,) = seen
        text = f"has no field libc, so npm also installs it on systems without {libc}"
        evidence = tuple(file.name for file, _ in binaries[:3])
        yield Hit(cause=f"only {libc}", inner=manifest.inner, message=text, evidence=evidence, severity="warning")
    elif not chosen:
        is_compiled = any("node-gyp" in str(command) for command in manifest.table("scripts").values())
        yield from _judge_prebuilt(package, "note" if is_compiled else "warning")


def _judge_prebuilt(package: Contents, severity: Severity) -> Hits:
    """Add-ons for glibc that node-gyp-build opens on musl systems, because nothing in the folder is for musl."""
    on_linux = [(file, image) for file, image in package.images if file.is_node_addon and _is_for_linux(file)]
    with_musl = {file.folder for file, image in on_linux if is_for_musl(file, image)}
    for file, image in on_linux:
        loaders = [name for name in image.needed if name.startswith("ld-linux")]
        calls = {symbol.name for symbol in image.imports if symbol.version.startswith("GLIBC_")}
        lacking = [*loaders, *sorted(name for name in calls if not is_libc_symbol(name, "musl"))]
        is_tagged = ".glibc." in file.base or file.folder.endswith(("-gnu", "-glibc"))
        if lacking and image.libc == "glibc" and not is_tagged and file.folder not in with_musl:
            text = f"is also opened on musl systems, which lack {first(lacking)}"
            yield Hit(cause="musl", inner=file.name, message=text, evidence=tuple(lacking[:8]), severity=severity)


def is_for_musl(file: File, image: Image) -> bool:
    """Whether a file is for musl, by what it needs or what it is called."""
    return "musl" in (image.libc, *file.name.replace("/", ".").replace("-", ".").split("."))


def _is_for_linux(file: File) -> bool:
    """Whether node-gyp-build or bindings opens an add-on on Linux, and on no other system."""
    return prebuilt_for(file.folder)[0] == "linux" or (file.format == "elf" and bool(_BUILT.search(f"{file.folder}/")))


@check(
    "LB907",
    "Add-on in the folder of another platform",
    "error",
    because="node-gyp-build opens the add-on in the folder, and that add-on does not load. The finding is a note if "
    "another add-on in the folder fits.",
    kinds=("npm",),
    example="prebuilds/linux-arm64/tiny.node is for Linux x86-64",
    fix="Build the add-on for that platform, or delete the folder, so that npm builds the add-on from source.",
)
def prebuilt_for_other(package: Contents) -> Hits:
    """Packages with one add-on for each platform keep these add-ons in folders such as linux-arm64 or mac-x64.

    In a folder for several processors (darwin-x64+arm64, darwin-x64_arm64 or darwin-universal), an add-on needs a slice
    for each. The loaders of napi-rs choose an add-on by its name in the same way: tiny.linux-x64-gnu.node.

    If a build does not use the cross compiler, or passes a wrong --arch, such a folder gets add-ons for the machine
    that builds them.
    """
    addons = [file for file in package.native if file.is_node_addon and file.images]
    fitting = {file.folder for file in addons if _fits(file, file.folder)}
    for file in addons:
        seen, match = name_platform(file.format or "", [image.arch for image in file.images]), _NAMED.search(file.base)
        if not _fits(file, file.folder):
            yield Hit(
                cause="folder",
                inner=file.name,
                message=f"is for {seen}, but its folder is {posixpath.basename(file.folder)}",
                evidence=(f"binary: {seen}", f"folder: {file.folder}"),
                severity="note" if file.folder in fitting else "error",
            )
        elif match and not _fits(file, match["platform"]):
            text = f"is for {seen}, but its name says {match['platform']}"
            yield Hit(cause="name", inner=file.name, message=text, evidence=(f"binary: {seen}", f"name: {file.base}"))


def _fits(file: File, folder: str) -> bool:
    """Whether an add-on is for all that its folder, or the part of its name like one, is for."""
    system, cpus = prebuilt_for(folder)
    compiled_for = {npm_cpu(image.arch) for image in file.images}
    return not system or (system in npm_systems(file.format or "") and compiled_for.issuperset(cpus))
