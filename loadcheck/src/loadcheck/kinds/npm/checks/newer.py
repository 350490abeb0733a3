"""Check LB908: whether add-ons load wherever Node.js runs."""

from __future__ import annotations

import json
import posixpath
import re
from typing import TYPE_CHECKING

from loadcheck.binary import floors
from loadcheck.engine.platforms import npm_cpu
from loadcheck.engine.registry import Hit, Skip, check
from loadcheck.engine.wording import first
from loadcheck.kinds.npm.checks.platforms import is_for_musl
from loadcheck.readers.javascript import ANY_ADDON
from loadcheck.readers.package_json import named_files, read_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.binary import Image
    from loadcheck.engine.policy import Policy
    from loadcheck.readers.contents import Contents, File

_OF_NODE: dict[str, floors.Version] = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 25)}
"""What Node.js 18 to 24 need themselves (BUILDING.md of Node.js)."""
_OFFICIAL = frozenset({"arm", "arm64", "ppc64", "s390x", "x64"})
"""The processors for which Node.js has official builds. Others need other versions: loong64 begins with glibc 2.36."""
_OF_CONVENTION = re.compile(r"/(?:prebuilds|build/(?:Release|Debug))/")
"""The folders in which node-gyp-build and bindings look for an add-on."""


@check(
    "LB908",
    "Native file that needs a newer system than Node.js",
    "warning",
    profiles=("loads",),
    because="Node.js runs on systems where the file does not load, such as RHEL 8. The finding is a note for an add-on "
    "that the package does not open, though it opens others.",
    kinds=("npm",),
    example="tiny.node needs GLIBC_2.34 for pthread_create; Node.js needs 2.28",
    fix="Build for glibc 2.28, in the manylinux_2_28 image or with zig, or list the supported systems in the README.",
)
def newer_than_node(package: Contents, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """No field of package.json names a version of glibc, so npm installs the package wherever Node.js runs.

    Official builds of Node.js 18 to 24 need glibc 2.28 and the libstdc++ of GCC 8 (GLIBCXX_3.4.25). If
    latebind.toml sets `glibc`, LB301 checks that minimum instead.
    """
    if policy.glibc or npm_cpu(image.arch) not in _OFFICIAL or is_for_musl(file, image):
        return
    for prefix, limit in _OF_NODE.items():
        newer = {
            name: floors.numeric(name.removeprefix(f"{prefix}_"))
            for library, names in image.version_needs.items()
            if library.lower() not in package.bases  # a copy of its own has every version that it needs
            for name in names
            if name.startswith(f"{prefix}_") and floors.numeric(name.removeprefix(f"{prefix}_")) > limit
        }
        if newer:
            worst = max(newer, key=newer.__getitem__)
            names = floors.because(image, worst)
            is_unused = _is_unused(package, file)
            yield Hit(
                cause=worst,
                message=f"needs {worst} for {first(names)}, but Node.js runs with {floors.version_text(limit)}",
                evidence=(*(f"VERNEED {name}" for name in sorted(newer)), *names[:8]),
                severity="note" if is_unused else "warning",
                assumption="no other package opens this add-on; this package opens only other add-ons" * is_unused,
            )


def _is_unused(package: Contents, file: File) -> bool:
    """Whether the package opens other add-ons by their names, and this one neither by its name nor in a search.

    An add-on that a native file needs is used, and so is one in a folder where node-gyp-build looks.
    """
    manifest = read_manifest(package)
    if manifest is None or not file.is_node_addon or _OF_CONVENTION.search(file.name):
        return False
    scripts = {name for script in package.files for name in script.addons}
    names = {posixpath.basename(name) for name in named_files(manifest)} | {"index"}
    entries = {*names, *(f"{name}.node" for name in names)}  # as require() completes a name
    fields = {key: value for key, value in manifest.fields.items() if key not in ("files", "main", "exports", "bin")}
    of_build = json.dumps(fields)
    if ANY_ADDON in scripts or file.base in of_build or f'"module_name": "{file.stem}"' in of_build:
        return False
    opened = {
        other.name
        for other in package.native
        if other.is_node_addon and (other.base in entries or any(other.base.endswith(name) for name in scripts))
    }
    used = {name for name, users in package.users.items() if users & opened}
    return bool(opened) and file.name not in opened | used
