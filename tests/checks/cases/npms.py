"""Bad and good packages for the checks of late binding: those of `npms`."""

from __future__ import annotations

from corpus.cases.case import Case
from corpus.cases.npms import bundle_runtime, peer
from latebind.checks.policy import BindingPolicy

PEER = BindingPolicy(bound={"@acme/tiny": "onnxruntime"}, minimums={"onnxruntime": "1.19"})
CASES = [
    Case(
        "LB103",
        "the runtime in an npm package",
        bundle_runtime(),
        bundle_runtime(name="onnxruntime-node"),
        at="!package/libonnxruntime.so.1",
        says="onnxruntime",
    ),
    *(
        Case(
            "LB504",
            f"a peer: {text or 'none'}",
            peer(text),
            peer(">= 1.19.0"),
            at="!package/package.json",
            says=f"onnxruntime-node {text}".strip(),
            policy=PEER,
        )
        for text in ("", ">=1.16.0", "1.19.0", "^1.19.0")
    ),
]
