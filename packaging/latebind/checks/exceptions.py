"""Check LB113: whether exceptions of the runtime's C++ headers leave a C interface."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loadcheck.engine.policy import Policy, fits_any
from loadcheck.engine.registry import Hit, Hits, check
from loadcheck.engine.wording import some
from loadcheck.text import plural

if TYPE_CHECKING:
    from loadcheck.binary import Image
    from loadcheck.readers.contents import File

ORT_EXCEPTION = "N3Ort9ExceptionE"
"""The name of Ort::Exception's type in a library that throws it or catches it, in the Itanium C++ ABI."""
_THROWS, _CATCHES = "__cxa_throw", "__cxa_begin_catch"
_OF_HOSTS = ("CreateEpFactories", "RegisterCustomOps", "PyInit_", "JNI_", "Java_", "napi_")
"""Functions that a host calls which has bound the runtime, or in which a binding's own code catches."""

_OF_HEADERS = re.compile(r"_Z(T[ISV]|[A-Z]*(St|S[absiod]|3Ort|9__gnu_cxx)|n[aw]|d[al])")
"""Symbols that headers of the runtime and of the standard library leave in a library that hides its own."""


@check(
    "LB113",
    "C interface that ends the process if the runtime is missing",
    "warning",
    profiles=("runtime",),
    seeks_markers=lambda _policy: [ORT_EXCEPTION],
    because="Programs in C, Python or C# cannot catch a C++ exception, so the process ends.",
    formats=("elf",),
    example="libspeech.so exports 12 C functions, throws Ort::Exception, and catches nothing",
    fix="Catch Ort::Exception in each C function, or let callers check lb_onnxruntime_available() first.",
)
def nothing_caught(file: File, image: Image, policy: Policy) -> Hits:
    """Without a runtime, the first call of an `Ort::` function throws, and no exception may leave a C function.

    A library is reported only if it certainly catches nothing: it imports `__cxa_throw`, but not `__cxa_begin_catch`,
    from a shared C++ library. A library that contains a C++ standard library, or that catches any exception, is not
    reported.
    """
    exported = {export.name for export in image.exports}
    imported = {symbol.name for symbol in image.imports}
    functions = sorted(name for name in exported if not name.startswith(("_", "?")))
    is_certain = ORT_EXCEPTION in file.markers and _THROWS in imported and _CATCHES not in imported
    has_host = any(name.startswith(_OF_HOSTS) for name in exported)
    has_cpp = any(name.startswith("_Z") and not _OF_HEADERS.match(name) for name in exported)
    is_linked = any(fits_any(name, runtime.linked_globs) for runtime in policy.runtimes for name in image.needed)
    if not is_certain or not functions or has_host or has_cpp or is_linked:
        return
    yield Hit(
        message=f"exports {plural(len(functions), 'C function')}, throws Ort::Exception, and catches nothing",
        evidence=(f"imports {_THROWS}, not {_CATCHES}", f"type {ORT_EXCEPTION}", *some(functions)),
    )
