"""Bad and good packages for the checks of late binding: those of `jars`."""

from __future__ import annotations

from corpus.cases.case import Case, good
from corpus.cases.jars import PLACE, SUPPLIER, hold_runtime, jar
from latebind.checks.policy import BindingPolicy

BOUND = BindingPolicy(bound={"acme:tiny": "onnxruntime"}, minimums={"onnxruntime": "1.19"})
CASES = [
    Case(
        "LB953",
        "the runtime's place",
        hold_runtime("acme:tiny"),
        SUPPLIER,
        at=PLACE,
        says="com.microsoft.onnxruntime:onnxruntime",
    ),
    Case(
        "LB953",
        "the folder of the runtime's place, with a library of another name",
        hold_runtime("acme:tiny"),
        jar({PLACE.replace("libonnxruntime.so", "libtiny.so"): good()}),
        at=PLACE,
        says=PLACE,
    ),
    Case("LB103", "the runtime in a JAR", hold_runtime("acme:tiny"), SUPPLIER, at=PLACE, says="onnxruntime"),
    *(
        Case(
            "LB504",
            f"the runtime: {text or 'none'}",
            jar(runtime_range=text),
            jar(),
            at="pom.xml",
            says=f"onnxruntime {text}".strip(),
            policy=BOUND,
        )
        for text in ("", "[1.16,)", "[1.19]", "[1.19,2.0)")
    ),
    Case(
        "LB504",
        "the runtime in any version, where a property may give it",
        jar(runtime_range=""),
        jar(change=("[1.19,)", "${ort.version}")),
        at="pom.xml",
        says="minimum is 1.19",
        policy=BOUND,
    ),
]
