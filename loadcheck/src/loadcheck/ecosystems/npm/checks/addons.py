"""Checks LB908-LB910: whether add-ons load wherever Node.js runs, and in each version of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loadcheck.binary import floors
from loadcheck.ecosystems.npm.checks.platforms import is_for_musl
from loadcheck.engine.check import Hit, Hits, check
from loadcheck.engine.platforms import npm_cpu
from loadcheck.engine.wording import first, some
from loadcheck.readers.package_json import builds_on_install, read_manifest
from loadcheck.text import plural

if TYPE_CHECKING:
    from loadcheck.binary import Image
    from loadcheck.engine.policy import Policy
    from loadcheck.readers.contents import Contents, File

_OF_V8 = re.compile(r"_ZN?K?\d*(2v8|4node)|_ZT[IVS]N?(2v8|4node)|\?.*@(v8|node)@@")
_BY_VERSION = re.compile(r"node_register_module_v(\d+)$")
_ITS_VERSION = re.compile(r"(abi|node-v|modules-|[_.-]v?)(4[6-9]|[5-9]\d|1\d\d)(?!\d)")
"""The part of a path that names NODE_MODULE_VERSION, by which a package chooses: node.abi93.node, node-v93-linux."""
_OF_NODE_18 = 108
"""doc/abi_version_registry.json of Node.js."""
_FLOORS: dict[str, floors.Version] = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 25)}
"""What Node.js 18 to 24 need themselves (BUILDING.md of Node.js)."""
_OFFICIAL = frozenset({"arm", "arm64", "ppc64", "s390x", "x64"})
"""The processors for which Node.js has official builds. Others need other versions: loong64 begins with glibc 2.36."""


@check(
    "LB908",
    "Native file that needs a newer system than Node.js",
    "warning",
    because="Node.js runs on systems where the file does not load, such as RHEL 8.",
    formats=("elf",),
    kinds=("npm",),
    example="tiny.node needs GLIBC_2.34 for pthread_create; Node.js needs 2.28",
    fix="Build for glibc 2.28, in the manylinux_2_28 image or with zig, or list the supported systems in the README.",
)
def newer_than_node(package: Contents, file: File, image: Image, policy: Policy) -> Hits:
    """No field of package.json names a version of glibc, so npm installs the package wherever Node.js runs.

    Official builds of Node.js 18 to 24 need glibc 2.28 and the libstdc++ of GCC 8 (GLIBCXX_3.4.25). If
    latebind.toml sets `glibc`, LB301 checks that minimum instead.
    """
    if policy.glibc or npm_cpu(image.arch) not in _OFFICIAL or is_for_musl(file, image):
        return
    for family, limit in _FLOORS.items():
        if newer := floors.find_newer(image, family, limit, package.bases):
            worst = max(newer, key=newer.__getitem__)
            names = floors.because(image, worst)
            yield Hit(
                cause=worst,
                message=f"needs {worst} for {first(names)}, but Node.js runs with {floors.version_text(limit)}",
                evidence=(*(f"VERNEED {name}" for name in sorted(newer)), *names[:8]),
            )


@check(
    "LB909",
    "Add-on for Node-API that uses V8",
    "warning",
    because="Some versions of Node.js lack the functions of V8 that the add-on calls, or lay out V8's objects "
    "differently. The finding is a note if the loader looks for a function only when it is called.",
    kinds=("npm",),
    example="node.napi.musl.node uses v8::CFunction",
    fix="Use Node-API alone, or build the add-on for each version of Node.js (prebuildify without --napi).",
)
def uses_engine(file: File, image: Image) -> Hits:
    """An add-on for Node-API loads in every newer Node.js, but V8's interface in C++ changes with each major version.

    The loaders of musl and Windows look for all functions at once, as glibc's does for a library linked with -z now. A
    missing function then prevents the add-on from loading. Otherwise, glibc and macOS look for most functions when they
    are called. Functions that an add-on for Windows delay-loads do not count. Nothing is reported if the file's path
    names an ABI version, because the package then chooses the file by that version.
    """
    if not file.is_node_addon or not _is_for_node_api(file, image) or _ITS_VERSION.search(file.name):
        return
    used = sorted(symbol.name for symbol in image.imports if symbol.kind == "normal" and _OF_V8.match(symbol.name))
    if used:
        is_at_once = image.format == "pe" or image.libc == "musl" or ".musl." in file.base or image.is_bound_at_once
        yield Hit(
            message=f"is for Node-API, but uses {plural(len(used), 'function')} of V8 or Node.js itself: {first(used)}",
            evidence=some(used),
            severity="warning" if is_at_once else "note",
        )


def _is_for_node_api(file: File, image: Image) -> bool:
    """Whether an add-on registers by Node-API, or has a name that says so."""
    exported = {export.name for export in image.exports}
    imported = {symbol.name for symbol in image.imports}
    return "napi_register_module_v1" in exported or "napi_module_register" in imported or ".napi." in file.base


@check(
    "LB910",
    "Add-on for one version of Node.js",
    "warning",
    because="Other versions of Node.js refuse the add-on: it was compiled against a different Node.js version.",
    kinds=("npm",),
    example="tiny.node exports node_register_module_v93, which is Node.js 16",
    fix="Use Node-API, or package an add-on for each version and choose one by process.versions.modules.",
)
def for_one_version(package: Contents) -> Hits:
    """An add-on without Node-API loads only in a Node.js with the same ABI version (NODE_MODULE_VERSION).

    Nothing is reported if the package has an install script, which may build or download the add-on: LB904 reports it.
    An add-on whose path names its ABI version is not reported either, because the package chooses it by that version,
    unless all add-ons are for Node.js 17 or older.
    """
    manifest = read_manifest(package)
    if manifest is None or builds_on_install(package, manifest):
        return
    by_number: dict[int, str] = {}
    has_others = False
    for file, image in package.images:
        if not file.is_node_addon:
            continue
        versions = _list_versions(file, image)
        named = _ITS_VERSION.search(file.name)
        if versions is None or "electron" in file.name:
            has_others = True
        elif named is not None:
            by_number.setdefault(int(named[2]), file.name)
        else:
            has_others = True
            what = f"ABI version {versions[0]}" if versions else "one ABI version"
            shown = f"exports node_register_module_v{versions[0]}" if versions else "imports node_module_register"
            message = f"is for {what} of Node.js, and no other version loads it"
            yield Hit(cause="one", inner=file.name, message=message, evidence=(shown,))
    if by_number and not has_others and max(by_number) < _OF_NODE_18:
        numbers = ", ".join(map(str, sorted(by_number)))
        yield Hit(
            cause="old",
            inner=by_number[max(by_number)],
            message=f"is for an old Node.js, as are all add-ons here (ABI {numbers}); Node.js 18 and newer find none",
            evidence=tuple(f"ABI version {number}: {name}" for number, name in sorted(by_number.items())),
            fix="Use Node-API, or add an add-on for each version that is in use.",
        )


def is_for_many(file: File) -> bool:
    """Whether several versions of Node.js load an add-on, or the package chooses it by its path for one."""
    return bool(_ITS_VERSION.search(file.name)) or any(_list_versions(file, image) is None for image in file.images)


def _list_versions(file: File, image: Image) -> list[str] | None:
    """The numbers of the binary interface by which an add-on registers, if known; None for one with Node-API."""
    numbers = [match[1] for export in image.exports if (match := _BY_VERSION.match(export.name))]
    registers = any(
        symbol.name in ("node_module_register", "?node_module_register@@YAXPEAX@Z") for symbol in image.imports
    )
    is_for_v8 = numbers or (registers and not _is_for_node_api(file, image))
    return numbers if is_for_v8 else None
