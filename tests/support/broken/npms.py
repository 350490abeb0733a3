"""Ways to break npm packages: fields of package.json, files, scripts."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from tests.support.broken import natives
from tests.support.broken.packages import BACKEND, CORE, LINUX, VERSION, Way, file_name, in_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.support.broken.packages import Members, Packages

_MANIFEST = "package/package.json"
_LIBRARY = f"package/{file_name(BACKEND)}"
_PARTS = "optionalDependencies"
_LINUX_PART = "@latenn/onnxruntime-linux-x64"
_Way = partial(Way, among=(".whl", ".tgz"))


def _edit_npm(change: Callable[[Members], object], rid: str = LINUX) -> Callable[[Packages], object]:
    return lambda packages: packages.edit(packages.npm(BACKEND, rid), change)


def _fields(rid: str = LINUX, **changes: object) -> Callable[[Packages], object]:
    return _edit_npm(in_json(_MANIFEST, **changes), rid)


def _part(version: str) -> Callable[[Packages], object]:
    """The main package requires that version of the package for Linux; "" requires none."""

    def change(members: Members) -> None:
        parts = json.loads(members[_MANIFEST])[_PARTS]
        parts |= {_LINUX_PART: version}
        in_json(_MANIFEST, **{_PARTS: {name: text for name, text in parts.items() if text}})(members)

    return _edit_npm(change, "")


def _other_processor(packages: Packages) -> None:
    data = packages.native(BACKEND, "linux-arm64")
    packages.edit(packages.npm(BACKEND, LINUX), lambda members: members.update({_LIBRARY: data}))


def _rebuilt(members: Members) -> None:
    members[_LIBRARY] += b"\0built before"


def _rename_library(members: Members) -> None:
    members["package/liblatenn_backend.so"] = members.pop(_LIBRARY)


WAYS: Sequence[Way] = (
    _Way(name="npm-os", title="the npm package for Linux is for Macs by its field os", breaks=_fields(os=["darwin"])),
    _Way(name="npm-cpu", title="the npm package for x64 is for arm64 by its field cpu", breaks=_fields(cpu=["arm64"])),
    _Way(name="npm-cpu-lacking", title="the npm package for x64 has no field cpu", breaks=_fields(cpu=None)),
    _Way(name="npm-libc", title="the npm package for glibc is for musl by its field libc",
         breaks=_fields(libc=["musl"])),
    _Way(name="npm-libc-lacking", title="the npm package for glibc has no field libc", breaks=_fields(libc=None)),
    _Way(name="npm-other-processor", title="the npm package for x64 holds the library for arm64",
         breaks=_other_processor),
    _Way(name="npm-script", title="the npm package downloads its library in an install script",
         breaks=_fields("", scripts={"postinstall": "node download.js"})),
    _Way(name="npm-stray", title="the npm package holds packages of the build machine, in node_modules",
         breaks=_edit_npm(lambda members: members.update({"package/node_modules/koffi/index.js": b""}), "")),
    _Way(name="npm-secret", title="the npm package holds the build machine's .npmrc",
         breaks=_edit_npm(lambda members: members.update({"package/.npmrc": b"//_authToken=x\n"}), "")),
    _Way(name="npm-part-lacking", title="the main npm package does not require that of one platform",
         breaks=_part("")),
    _Way(name="npm-part-range", title="the main npm package takes platform packages of newer versions",
         breaks=_part(f"^{VERSION}")),
    _Way(name="npm-part-other", title="the main npm package requires a platform package of another version",
         breaks=_part("0.0.9")),
    _Way(name="npm-target-lacking", title="the npm package of one platform was forgotten",
         breaks=lambda packages: packages.npm(BACKEND, LINUX).unlink()),
    _Way(name="npm-peer-lacking", title="the backend's npm package does not name the runtime as a peer",
         breaks=_fields("", peerDependencies=None, peerDependenciesMeta=None)),
    _Way(name="npm-peer-older", title="the peer in the backend's npm package is older than the minimum",
         breaks=_fields("", peerDependencies={"onnxruntime-node": ">=1.16.0"})),
    _Way(name="npm-peer-pinned", title="the peer in the backend's npm package is one version",
         breaks=_fields("", peerDependencies={"onnxruntime-node": "1.20.1"})),
    _Way(name="npm-stale-twin", title="the npm package holds another build of the library than the wheel",
         breaks=_edit_npm(_rebuilt)),
    _Way(name="npm-renamed", title="the library in the npm package has another name than the module looks for",
         breaks=_edit_npm(_rename_library)),
    _Way(name="npm-entry-lacking", title="the file that the main npm package exports is missing",
         breaks=_edit_npm(lambda members: members.pop("package/latebind.cjs"), "")),
    _Way(name="npm-version", title="package.json's version is not that of the file name",
         breaks=_fields(version="0.1.1")),
    _Way(name="npm-runtime", title="ONNX Runtime is in the npm package",
         breaks=_edit_npm(lambda members: members.update({"package/libonnxruntime.so.1": natives.runtime()}))),
    _Way(name="npm-binding-lacking", title="the main npm package does not require what it imports",
         breaks=lambda packages: packages.edit(packages.npm(CORE), in_json(_MANIFEST, dependencies=None))),
)  # fmt: skip
