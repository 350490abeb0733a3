"""Ways to break SDK archives: paths, versions, headers, libraries."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tests.support.broken import natives
from tests.support.broken.packages import BACKEND, CORE, LINUX, Way, file_name, swap_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.support.broken.packages import Members, Packages

_Way = partial(Way, among=(".whl", "-sdk.tar.gz", "-sdk.zip"))
_WINDOWS = "win-x64"
_CONFIG, _PC = "/latenn-config.cmake", "/latenn-core.pc"


def _edit_sdk(change: Callable[[Members], object], rid: str = LINUX) -> Callable[[Packages], object]:
    return lambda packages: packages.edit(packages.sdk(rid), change)


def _swap_text(end: str, old: str, new: str) -> Callable[[Packages], object]:
    return _edit_sdk(swap_in(end, old, new))


def _lacking(part: str, rid: str = LINUX) -> Callable[[Packages], object]:
    def remove(members: Members) -> None:
        names = [name for name in members if part in name]
        for name in names:
            del members[name]
        if not names:
            raise ValueError(f"there is no {part}")

    return _edit_sdk(remove, rid)


def _library(make: Callable[[bytes], bytes], library: str = CORE) -> Callable[[Packages], object]:
    def change(members: Members) -> None:
        (name,) = (name for name in members if name.endswith(f"/lib/{file_name(library)}"))
        members[name] = make(members[name])

    return _edit_sdk(change)


def _runtime(members: Members) -> None:
    top = next(iter(members)).partition("/")[0]
    members[f"{top}/lib/libonnxruntime.so.1"] = natives.runtime()


def _other_processor(packages: Packages) -> None:
    data = packages.native(CORE, "linux-arm64")
    _library(lambda _: data)(packages)


def _exchange_import_libraries(members: Members) -> None:
    """The import library for the core is that of a backend."""
    (core,) = (name for name in members if name.endswith("/latenn_core.lib"))
    members[core] = members[core.replace("latenn_core", BACKEND)]


WAYS: Sequence[Way] = (
    _Way(name="sdk-cmake-absolute", title="the SDK's CMake package has a path of the build machine",
         breaks=_swap_text(_CONFIG, "${PACKAGE_PREFIX_DIR}/lib/", "/home/runner/work/latenn/stage/lib/")),
    _Way(name="sdk-pc-absolute", title="the prefix in the SDK's pkg-config files is /usr/local",
         breaks=_swap_text(".pc", "${pcfiledir}/../..", "/usr/local")),
    _Way(name="sdk-prefix-wrong", title="the SDK's CMake package looks for files above the archive",
         breaks=_swap_text(_CONFIG, "/../../../", "/../../../../")),
    _Way(name="sdk-version", title="the SDK's pkg-config file has another version",
         breaks=_swap_text(_PC, "Version: 0.1.0", "Version: 0.2.0")),
    _Way(name="sdk-headers-lacking", title="the SDK has no header", breaks=_lacking("/include/")),
    _Way(name="sdk-header-lacking", title="the SDK lacks a header that another one includes",
         breaks=_lacking("/include/latenn.h")),
    _Way(name="sdk-library-lacking", title="the SDK lacks the core library", breaks=_lacking(f"/{file_name(CORE)}")),
    _Way(name="sdk-soname", title="the SDK lacks the name that the linker writes into programs",
         breaks=_library(natives.set_soname("liblatenn_core.so.0"))),
    _Way(name="sdk-link-name", title="-l in the SDK's pkg-config file is not the library's name",
         breaks=_swap_text(_PC, "-llatenn_core", "-llatenn")),
    _Way(name="sdk-implib-lacking", title="the SDK for Windows has no import library",
         breaks=_lacking("/latenn_core.lib", _WINDOWS)),
    _Way(name="sdk-implib-other", title="an import library in the SDK for Windows is that of another DLL",
         breaks=_edit_sdk(_exchange_import_libraries, _WINDOWS)),
    _Way(name="sdk-other-processor", title="the library for arm64 is in the SDK for x64", breaks=_other_processor),
    _Way(name="sdk-stale-twin", title="the SDK holds another build of the library than the wheel",
         breaks=_library(lambda data: data + b"\0built before")),
    _Way(name="sdk-runtime", title="ONNX Runtime is in the SDK", breaks=_edit_sdk(_runtime)),
    _Way(name="sdk-linked", title="the backend in the SDK is linked to ONNX Runtime",
         breaks=_library(natives.needing("libonnxruntime.so.1"), BACKEND)),
)  # fmt: skip
