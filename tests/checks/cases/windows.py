"""Bad and good packages for the checks of late binding: those of `windows`."""

from __future__ import annotations

from corpus.cases.case import contents, dll, import_library, wheel, windows, windows_runtime
from corpus.cases.windows import (
    BOTH,
    DELAYED,
    ENTRY,
    LATE,
    MARKER,
    MODULE,
    SECOND,
    F,
    compile_dll,
    forwards,
    link_runtime,
    of,
    row,
)
from corpus.packages import RUNTIME, USER
from tests.checks.cases.projects import ONLY_LATENN

CASES = [
    row("LB101", "linked", windows(link_runtime()), of(LATE), "import of onnxruntime.dll"),
    row("LB101", "linked with delay", windows(link_runtime(DELAYED, "-delayload:onnxruntime.dll")), of(LATE),
        "delay import of onnxruntime.dll"),
    row("LB101", "forwarded", forwards, of(LATE), "OrtGetApiBase is forwarded to onnxruntime.OrtGetApiBase"),
    row("LB101", "linked under a name in capitals",
        windows(compile_dll(USER, import_library(windows_runtime("ONNXRUNTIME.dll")), exports=["latenn_bind"])),
        of(LATE), "import of ONNXRUNTIME.dll"),
    row("LB103", "the runtime lies in the wheel", wheel({"latenn/onnxruntime.dll": contents(windows_runtime())}),
        wheel({"latenn/onnxruntime-genai.dll": dll()}), "exports OrtGetApiBase", at="!latenn/onnxruntime.dll"),
    row("LB104", "a copy under another name", windows(contents(windows_runtime())), of(LATE),
        "export table of onnxruntime.dll"),
    row("LB104", "a copy with another name inside", of(RUNTIME, exports=["OrtGetApiBase"]), of(LATE),
        "exports OrtGetApiBase"),
    row("LB105", "the runtime's own text", of(MARKER), of(LATE), ".?AVInferenceSession@onnxruntime@@"),
    row("LB801", "one entry point alone", of(ENTRY, exports=BOTH[:1]), of(f"{ENTRY}{SECOND}", exports=BOTH),
        "ReleaseEpFactory"),
    row("LB802", "a function of the vendor is exported", of(f"{ENTRY}{SECOND}{F}", exports=[*BOTH, "latenn_f"]),
        of(f"{ENTRY}{SECOND}", exports=BOTH), "latenn_f", severity="warning"),
    row("LB201", "a function of the loader is exported",
        of(f"{F}int lb_bind(void) {{ return 1; }}\n", exports=["latenn_f", "lb_bind"]),
        of(f"{F}int lb_bind(void) {{ return 1; }}\n"), "lb_bind", policy=ONLY_LATENN),
    row("LB201", "a Python module exports a function beside its C++ symbols",
        of(f"{MODULE}int lb_bind(void) {{ return 1; }}\n", exports=["PyInit__m", "_ZTI5error", "lb_bind"]),
        of(MODULE, exports=["PyInit__m", "_ZTI5error"]), "1 symbol that `exports` does not list: lb_bind",
        policy=ONLY_LATENN),
    row("LB201", "a library that is no module exports a C++ symbol",
        of(f"{F}int _ZTI5error(void) {{ return 1; }}\n", exports=["latenn_f", "_ZTI5error"]),
        of(F), "_ZTI5error", policy=ONLY_LATENN),
]  # fmt: skip
