"""Bad subjects for LB5xx."""

from __future__ import annotations

from latebind.audit.policy import Policy

from tests.audit.cases.case import Case
from tests.audit.corpus import nuspec

LIB = "latenn/liblatenn.so"
MINIMUM = Policy(minimums={"onnxruntime": "1.19"})


def whole(bench):
    return bench.wheel()


def record(change):
    return lambda bench: bench.wheel(record=change)


def requires(text: str):
    return lambda bench: bench.wheel(metadata=f"Requires-Dist: {text}\n")


def depends(version: str):
    inner = f'<dependency id="Microsoft.ML.OnnxRuntime" version="{version}"/>'
    row = f'<dependencies><group targetFramework="netstandard2.0">{inner}</group></dependencies>'
    return lambda bench: bench.nupkg(extra=row)


def changed(rows, path, **cells):
    return [
        (name, cells.get("digest", digest), cells.get("size", size)) if name == path else (name, digest, size)
        for name, digest, size in rows
    ]


CASES = [
    Case(
        code="LB501",
        what="no RECORD",
        bad=lambda bench: bench.wheel(drop=("RECORD",)),
        good=whole,
        at=".whl",
        says="RECORD",
    ),
    Case(
        code="LB501",
        what="a wrong hash",
        bad=record(lambda rows: changed(rows, LIB, digest="sha256=AAAA")),
        good=whole,
        at=f"!{LIB}",
        says="differs from its hash",
    ),
    Case(
        code="LB501",
        what="a wrong size",
        bad=record(lambda rows: changed(rows, LIB, size="7")),
        good=whole,
        at=f"!{LIB}",
        says="RECORD says 7",
    ),
    Case(
        code="LB501",
        what="no hash at all",
        bad=record(lambda rows: changed(rows, LIB, digest="")),
        good=whole,
        at=f"!{LIB}",
        says="no SHA-256",
    ),
    Case(
        code="LB501",
        what="a file that is not listed",
        bad=lambda bench: bench.wheel(after={"latenn/late.txt": b"x"}),
        good=whole,
        at="!latenn/late.txt",
        says="does not list it",
    ),
    Case(
        code="LB501",
        what="a listed file that is missing",
        bad=record(lambda rows: [*rows, ("latenn/gone.py", "sha256=AAAA", "1")]),
        good=whole,
        at="/RECORD",
        says="latenn/gone.py",
    ),
    Case(
        code="LB501",
        what="a file that is listed twice",
        bad=record(lambda rows: [*rows, rows[0]]),
        good=whole,
        at="/RECORD",
        says="2 times",
    ),
    Case(
        code="LB501",
        what="a RECORD of two columns",
        bad=lambda bench: bench.wheel(after={"latenn-1.0.dist-info/RECORD": b"latenn/__init__.py,sha256=x\n"}),
        good=whole,
        at="/RECORD",
        says="2 columns",
    ),
    Case(
        code="LB502",
        what="an invalid wheel name",
        bad=lambda bench: bench.wheel(file_name="latenn.whl"),
        good=whole,
        at="latenn.whl",
        says="not a valid wheel name",
    ),
    Case(
        code="LB502",
        what="another tag inside",
        bad=lambda bench: bench.wheel(said_tag="py3-none-any"),
        good=whole,
        at="/WHEEL",
        says="py3-none-any",
    ),
    Case(
        code="LB502",
        what="another version inside",
        bad=lambda bench: bench.wheel(said_version="1.1"),
        good=lambda bench: bench.wheel(said_version="1.0.0"),
        at="/METADATA",
        says="1.1",
    ),
    Case(
        code="LB502",
        what="no WHEEL",
        bad=lambda bench: bench.wheel(drop=("WHEEL",)),
        good=whole,
        at=".whl",
        says="WHEEL",
    ),
    Case(
        code="LB502",
        what="METADATA that is not UTF-8",
        bad=lambda bench: bench.wheel(after={"latenn-1.0.dist-info/METADATA": b"Name: \xff\n"}),
        good=whole,
        at="/METADATA",
        says="not UTF-8",
    ),
    Case(
        code="LB503",
        what="a nupkg that was renamed",
        bad=lambda bench: bench.nupkg(spec=nuspec("Latenn", "1.1.0", "")),
        good=lambda bench: bench.nupkg(spec=nuspec("Latenn", "1.0", "")),
        at="!Latenn.nuspec",
        says="1.1.0",
    ),
    Case(
        code="LB504",
        what="the runtime is pinned",
        bad=requires("onnxruntime==1.20.1"),
        good=requires("onnxruntime>=1.19"),
        at="/METADATA",
        says="onnxruntime==1.20.1",
    ),
    Case(
        code="LB504",
        what="an extra caps the runtime",
        bad=requires("onnxruntime-gpu>=1.19,<1.22; extra == 'gpu'"),
        good=requires("onnxruntime-gpu>=1.19; extra == 'gpu'"),
        at="/METADATA",
        says="<1.22",
    ),
    Case(
        code="LB504",
        what="another minimum than the one",
        bad=requires("onnxruntime>=1.18"),
        good=requires("onnxruntime>=1.19.0"),
        at="/METADATA",
        says="the configured minimum is 1.19",
        policy=MINIMUM,
    ),
    Case(
        code="LB504",
        what="a nuspec pins the runtime",
        bad=depends("[1.20.1]"),
        good=depends("1.20.1"),
        at="!Latenn.nuspec",
        says="[1.20.1]",
    ),
    Case(
        code="LB504",
        what="a nuspec asks for another minimum",
        bad=depends("1.20.0"),
        good=depends("1.19.0"),
        at="!Latenn.nuspec",
        says="1.20.0",
        policy=MINIMUM,
    ),
    Case(
        code="LB505",
        what="a wheel without a license file",
        bad=lambda bench: bench.wheel(license_file=False),
        good=whole,
        at=".whl",
        says="license",
        severity="warning",
    ),
    Case(
        code="LB505",
        what="a nuspec that names a missing license file",
        bad=lambda bench: bench.nupkg(
            spec=nuspec("Latenn", "1.0.0", "").replace('"expression">MIT', '"file">LICENSE.txt')
        ),
        good=lambda bench: bench.nupkg(),
        at="!Latenn.nuspec",
        says="LICENSE.txt",
        severity="warning",
    ),
    Case(
        code="LB505",
        what="a nuspec that names no license",
        bad=lambda bench: bench.nupkg(
            spec=nuspec("Latenn", "1.0.0", "").replace('<license type="expression">MIT</license>', "")
        ),
        good=lambda bench: bench.nupkg(),
        at="!Latenn.nuspec",
        says="license",
        severity="warning",
    ),
    Case(
        code="LB502",
        what="a requirement that cannot be read",
        bad=requires("onnxruntime >>> 1"),
        good=requires("onnxruntime>=1"),
        at="/METADATA",
        says="onnxruntime >>> 1",
    ),
    Case(
        code="LB506",
        what="the plain runtime is always required",
        bad=requires("onnxruntime>=1.19"),
        good=requires("onnxruntime>=1.19; extra == 'cpu'"),
        at="/METADATA",
        says="onnxruntime>=1.19",
        severity="warning",
    ),
    Case(
        code="LB506",
        what="the plain runtime is always required, and offered as an extra",
        bad=requires("onnxruntime>=1.19\nRequires-Dist: onnxruntime-gpu>=1.19; extra == 'gpu'"),
        good=requires("onnxruntime>=1.19; extra == 'cpu'\nRequires-Dist: onnxruntime-gpu>=1.19; extra == 'gpu'"),
        at="/METADATA",
        says="offers them as extras",
    ),
]
