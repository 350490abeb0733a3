"""Bad and good packages for the checks of late binding: those of `metadata`."""

from __future__ import annotations

from dataclasses import replace

from corpus.cases.case import Case
from corpus.cases.metadata import depends, requires
from latebind.checks.policy import BindingPolicy

MINIMUM = BindingPolicy(minimums={"onnxruntime": "1.19"})
BOUND = replace(MINIMUM, bound={"latenn": "onnxruntime", "Latenn": "onnxruntime"})
CASES = [
    Case(
        "LB504",
        "the runtime is pinned",
        requires("onnxruntime==1.20.1"),
        requires("onnxruntime>=1.19"),
        at="/METADATA",
        says="onnxruntime==1.20.1",
        severity="warning",
    ),
    Case(
        "LB504",
        "an extra caps the runtime",
        requires("onnxruntime-gpu>=1.19,<1.22; extra == 'gpu'"),
        requires("onnxruntime-gpu>=1.19; extra == 'gpu'"),
        at="/METADATA",
        says="<1.22",
        severity="note",
    ),
    Case(
        "LB504",
        "another minimum than the one",
        requires("onnxruntime>=1.18"),
        requires("onnxruntime>=1.19.0"),
        at="/METADATA",
        says="the configured minimum is 1.19",
        policy=MINIMUM,
    ),
    Case(
        "LB504",
        "a wheel that binds the runtime requires none of its distributions",
        requires("numpy"),
        requires("onnxruntime-gpu>=1.19; extra == 'gpu'"),
        at="/METADATA",
        says="requires no distribution of it",
        policy=BOUND,
    ),
    Case(
        "LB504",
        "a nuspec for a library that binds the runtime depends on none of its packages",
        depends("1.19.0", "Microsoft.ML.Other"),
        depends("1.19.0", "Microsoft.ML.OnnxRuntime.Gpu"),
        at="!Latenn.nuspec",
        says="depends on none of its packages",
        policy=BOUND,
    ),
    Case(
        "LB504",
        "a nuspec pins the runtime",
        depends("[1.20.1]"),
        depends("1.20.1"),
        at="!Latenn.nuspec",
        says="[1.20.1]",
    ),
    Case(
        "LB504",
        "a nuspec asks for another minimum",
        depends("1.20.0"),
        depends("1.19.0"),
        at="!Latenn.nuspec",
        says="1.20.0",
        policy=MINIMUM,
    ),
    Case(
        "LB506",
        "the plain runtime is always required",
        requires("onnxruntime>=1.19"),
        requires("onnxruntime>=1.19; extra == 'cpu'"),
        at="/METADATA",
        says="onnxruntime>=1.19",
        severity="warning",
    ),
    Case(
        "LB506",
        "the plain runtime is always required, and offered as an extra",
        requires("onnxruntime>=1.19\nRequires-Dist: onnxruntime-gpu>=1.19; extra == 'gpu'"),
        requires("onnxruntime>=1.19; extra == 'cpu'\nRequires-Dist: onnxruntime-gpu>=1.19; extra == 'gpu'"),
        at="/METADATA",
        says="outside of extras, though the package has extras for them",
        severity="warning",
    ),
]
