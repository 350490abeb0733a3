"""Bad and good packages for the checks of late binding: those of `macos`."""

from __future__ import annotations

from corpus.cases.case import contents, dylib, mac, mac_runtime, wheel
from corpus.cases.macos import (
    DELETE,
    ENTRY,
    HIDDEN,
    LATE,
    LOAD_WEAK,
    MARKER,
    REEXPORT,
    SECOND,
    UNIVERSAL_TAG,
    F,
    both,
    link_runtime,
    linked_by,
    of,
    row,
    whole,
)
from corpus.packages import (
    MAC_INTEL,
    RUNTIME,
    universal,
)
from tests.checks.cases.projects import ONLY_LATENN

CASES = [
    row("LB101", "linked", mac(link_runtime), of(LATE), "LC_LOAD_DYLIB @rpath/libonnxruntime.1"),
    row("LB101", "linked weakly", linked_by(LOAD_WEAK), of(LATE), "LC_LOAD_WEAK_DYLIB @rpath/libonnxruntime.1.dylib"),
    row("LB101", "re-exported", linked_by(REEXPORT), of(LATE), "LC_REEXPORT_DYLIB @rpath/libonnxruntime.1.dylib"),
    row("LB101", "one slice of two is linked",
        lambda bench: bench.mac(universal(bench.dylib(MAC_INTEL), link_runtime(bench)), UNIVERSAL_TAG),
        mac(both, UNIVERSAL_TAG), "in the slice arm64"),
    row("LB103", "the runtime lies in the wheel",
        wheel({"latenn/libonnxruntime.1.20.1.dylib": contents(mac_runtime())}),
        wheel({"latenn/libonnxruntime-genai.dylib": dylib()}), "install name @rpath/libonnxruntime.1.dylib",
        at="!latenn/libonnxruntime.1.20.1.dylib"),
    row("LB104", "a copy keeps its install name",
        lambda bench: bench.mac(bench.compiler.dylib(RUNTIME.replace("OrtGetApiBase", "hidden_entry"),
                name="libonnxruntime.1.dylib").read_bytes()), whole, "install name @rpath/libonnxruntime.1.dylib"),
    row("LB104", "a copy of another name exports the entry symbol", of(RUNTIME), of(LATE), "exports OrtGetApiBase"),
    row("LB105", "the runtime's own text", of(MARKER), of(LATE), "N11onnxruntime16InferenceSessionE"),
    row("LB801", "one entry point alone", of(ENTRY), of(f"{ENTRY}{SECOND}"), "ReleaseEpFactory"),
    row("LB802", "a function of the vendor is exported", of(f"{ENTRY}{F}"), of(f"{ENTRY}{SECOND}"), "latenn_f",
        severity="warning"),
    row("LB201", "a function of the loader is exported", of(f"{F}int lb_bind(void) {{ return 1; }}\n"),
        of(f"{F}{HIDDEN} int lb_bind(void) {{ return 1; }}\n"), "lb_bind", policy=ONLY_LATENN),
    row("LB201", "the C++ library's operators are exported", of(f"{F}{DELETE}"), of(F), "_ZdlPv", policy=ONLY_LATENN),
]  # fmt: skip
