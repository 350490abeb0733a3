"""Ways to break what the native libraries link, hold, export and ask of a system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.broken import natives
from tests.support.broken.packages import BACKEND, Packages, Way

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# The one name that the backend's package may export, so that each way shows what it is about and nothing besides.
_STRTOL = "#include <stdlib.h>\nlong latenn_backend_table(const char *text) { return strtol(text, 0, 10); }\n"
_STRLCPY = (
    "#include <string.h>\n"
    "unsigned long latenn_backend_table(char *to, const char *text) { return strlcpy(to, text, 8); }\n"
)


def _replace_library(make: Callable[[bytes], bytes], rid: str = "linux-x64") -> Callable[[Packages], object]:
    return lambda packages: packages.replace(make, rid=rid)


def _beside(name: str, make: Callable[[], bytes]) -> Callable[[Packages], object]:
    return lambda packages: packages.beside(name, make())


def _linked_windows(packages: Packages) -> None:
    packages.replace(natives.importing("onnxruntime.dll", "OrtGetApiBase"), rid="win-x64")


def _other_processor(packages: Packages) -> None:
    data = packages.native(BACKEND, "linux-arm64")
    packages.replace(lambda _: data)


def _too_new(packages: Packages) -> None:
    """strlcpy came with glibc 2.38, which Debian 12 has not."""
    packages.beside("liblatenn_text.so", natives.compile_library(_STRLCPY, target="x86_64-linux-gnu.2.38"))
    packages.replace(lambda data: natives.searching("$ORIGIN")(natives.needing("liblatenn_text.so")(data)))


def _unreachable(packages: Packages) -> None:
    """The library that is needed is next to the backend, where the loader does not look."""
    packages.beside("liblatenn_text.so", natives.compile_library(_STRTOL))
    packages.replace(natives.needing("liblatenn_text.so"))


WAYS: Sequence[Way] = (
    Way(name="runtime-linked", title="the backend is linked to ONNX Runtime",
        breaks=_replace_library(natives.needing("libonnxruntime.so.1"))),
    Way(name="runtime-linked-windows", title="the backend for Windows imports onnxruntime.dll",
        breaks=_linked_windows, target="win-x64"),
    Way(name="runtime-bundled", title="ONNX Runtime is next to the backend",
        breaks=_beside("libonnxruntime.so.1", natives.runtime)),
    Way(name="runtime-hashed", title="ONNX Runtime is bundled under a name with a hash, as repair tools write it",
        breaks=lambda packages: packages.beside(
            "libonnxruntime-1a2b3c4d.so.1", natives.name_library(natives.runtime(), "libonnxruntime-1a2b3c4d.so.1"))),
    Way(name="runtime-disguised", title="ONNX Runtime is bundled under a name and SONAME of its own",
        breaks=lambda packages: packages.beside(
            "libspeech_rt.so", natives.name_library(natives.runtime(), "libspeech_rt.so"))),
    Way(name="runtime-embedded", title="ONNX Runtime is linked statically, its entry symbol is not exported",
        breaks=_beside("liblatenn_speech.so", natives.static_runtime)),
    Way(name="search-path", title="the backend searches a folder of the build machine",
        breaks=_replace_library(natives.searching("/home/runner/work/latenn/build/lib")), is_hygiene=True),
    Way(name="library-lacking", title="the backend needs a library that no package holds",
        breaks=_replace_library(natives.needing("liblatenn_helper.so.1"))),
    Way(name="library-unreachable", title="the backend needs a library next to it and does not search there",
        breaks=_unreachable),
    Way(name="other-processor", title="the library for arm64 is where that for x64 should be",
        breaks=_other_processor),
    Way(name="newer-glibc", title="a library needs a newer glibc than the tag promises", breaks=_too_new),
    Way(name="cxx-exported", title="a C++ function is exported",
        breaks=_replace_library(natives.exporting("_ZN6latenn5buildEi"))),
    Way(name="data-exported", title="data are exported",
        breaks=_replace_library(natives.exporting("latenn_backend_state", data=True))),
    Way(name="debug-build", title="a library that was built for debugging",
        breaks=_beside("liblatenn_debug.so", lambda: natives.compile_library(_STRTOL, release=False)), is_hygiene=True),
    Way(name="executable-stack", title="the backend asks for an executable stack",
        breaks=_replace_library(natives.executable_stack)),
    Way(name="unsigned", title="the backend for Apple's processors has no signature",
        breaks=_replace_library(natives.remove_signature, "osx-arm64"), target="osx-arm64"),
    Way(name="newer-macos", title="the backend asks for a newer macOS than the tag promises",
        breaks=_replace_library(natives.newer_macos, "osx-arm64"), target="osx-arm64"),
    Way(name="truncated", title="the backend ends in the middle",
        breaks=_replace_library(lambda data: data[: len(data) // 2])),
)  # fmt: skip
