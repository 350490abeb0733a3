"""Bad subjects for what Python and installers need of a wheel: init functions, torch, variants; and for copies."""

from __future__ import annotations

import json

from corpus.cases.case import Case, made_by, wheel
from corpus.packages import GLIBC, TAG, Bench

OWN = "cp311-cp311-manylinux_2_28_x86_64"
CORE = "latenn/_core.cpython-311-x86_64-linux-gnu.so"
LABELLED = f"latenn-1.0-{TAG}-x8664v3.whl"
UNSTABLE = "_ZNK3c106SymInt22maybe_as_int_slow_pathEv"
IMPORTING = b"from . import _core\n"


@made_by
def exporting(bench: Bench, *names: str) -> bytes:
    """A library that exports functions."""
    return bench.compiler.library("".join(f"void *{name}(void) {{ return 0; }}\n" for name in names)).read_bytes()


@made_by
def calling(bench: Bench, *names: str) -> bytes:
    """A module that calls functions of a library whose name is torch's."""
    source = "".join(f"void {name}(void) {{}}\n" for name in names)
    torch = bench.compiler.library(source, "-Wl,-soname,libc10.so", name="libc10.so", target=GLIBC)
    calls = "".join(f"extern void {name}(void);\n" for name in names) + "void *PyInit__core(void) {\n"
    calls += "".join(f"  {name}();\n" for name in names) + "  return 0;\n}\n"
    return bench.compiler.library(calls, torch).read_bytes()


def module(code: bytes = IMPORTING, name: str = CORE, *exported: str):
    return wheel({"latenn/__init__.py": code, name: exporting(*(exported or ("PyInit__core",)))}, tag=OWN)


def extension(requires: str, *names: str):
    return wheel({CORE: calling(*names)}, tag=OWN, metadata=f"Requires-Dist: {requires}\n")


@made_by
def linked(bench: Bench, name: str) -> bytes:
    """A module that needs a library of this name."""
    library = bench.compiler.library("int cuda(void) { return 1; }\n", f"-Wl,-soname,{name}", name=name, target=GLIBC)
    return bench.compiler.library("int cuda(void);\nint PyInit__core(void) { return cuda(); }\n", library).read_bytes()


def on_cuda(name: str, *requirements: str):
    metadata = "".join(f"Requires-Dist: {each}\n" for each in requirements)
    return wheel({CORE: linked(name)}, tag=OWN, metadata=metadata)


def variant(document: object, file_name: str = LABELLED):
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    files = {} if document is None else {"latenn-1.0.dist-info/variant.json": text}
    return wheel({"latenn/data.txt": b"x", **files}, file_name=file_name)


def described(*labels: str, **more: object):
    return {"default-priorities": {}, "providers": {}, "variants": {label: {} for label in labels}, **more}


def provided(properties):
    tables = {"default-priorities": {"namespace": ["x86"]}, "providers": {"x86": {"requires": ["provider-x86"]}}}
    return variant(described("x8664v3", **tables, variants={"x8664v3": {"x86": properties}}))


def copied(name: str, *others: str):
    return lambda bench: bench.wheel({f"latenn.libs/{name}": bench.good(), **dict.fromkeys(others, b"x")})


CASES = [
    Case("LB315", "a module with the init function of another", module(IMPORTING, CORE, "PyInit_other"), module(),
         at=f"!{CORE}", says="exports PyInit_other, but no PyInit__core"),
    Case("LB315", "a module that has none, and is imported; one that nothing imports, as ctypes opens it",
         module(IMPORTING, CORE, "latenn_f"), module(b"", CORE, "latenn_f"), at=f"!{CORE}", says="no PyInit__core"),
    Case("LB315", "a wrong one that nothing imports; two of which one is right",
         module(b"", CORE, "PyInit_other"), module(b"", CORE, "PyInit_other", "PyInit__core"), at=f"!{CORE}",
         says="PyInit_other", severity="warning"),
    Case("LB315", "the init function of __init__; the name of the package",
         module(b"", "latenn/sub/__init__.cpython-311-x86_64-linux-gnu.so", "PyInit___init__"),
         module(b"", "latenn/sub/__init__.cpython-311-x86_64-linux-gnu.so", "PyInit_sub"),
         at="/__init__.cpython-311-x86_64-linux-gnu.so", says="PyInit_sub", severity="warning"),
    Case("LB315", "a module of the stable ABI; PEP 793's function",
         module(IMPORTING, "latenn/_core.abi3.so", "PyInit_core"),
         module(IMPORTING, "latenn/_core.abi3.so", "PyModExport__core"),
         at="/_core.abi3.so", says="PyInit_core"),
    Case("LB513", "torch's C++ interface with an open requirement; with one minor release",
         extension("torch>=2.4", UNSTABLE), extension("torch==2.9.*", UNSTABLE), at=f"!{CORE}",
         says="c10::SymInt::maybe_as_int_slow_path"),
    Case("LB513", "torch's C++ interface with any torch; with releases of one minor",
         extension("torch", UNSTABLE), extension("torch>=2.9,<2.10", UNSTABLE), at=f"!{CORE}",
         says="the wheel requires torch", severity="warning"),
    Case("LB513", "torch's C++ interface with two minor releases; a function of the shim that each has",
         extension("torch~=2.9", "_ZN2at4_ops3add4callEv"), extension("torch>=2.4", "aoti_torch_delete_tensor_object"),
         at=f"!{CORE}", says="at::_ops::add::call"),
    Case("LB513", "a function of the shim that the oldest torch lacks; one that it has",
         extension("torch>=2.10", "torch_from_blob"), extension("torch>=2.11", "torch_from_blob"), at=f"!{CORE}",
         says="torch_from_blob, new in torch 2.11"),
    Case("LB515", "CUDA 12 with torch 2.12 and later; with torch up to 2.11", on_cuda("libcudart.so.12", "torch>=2.10"),
         on_cuda("libcudart.so.12", "torch>=2.10,<2.12"), at=f"!{CORE}", says="torch 2.12 brings CUDA 13",
         severity="warning"),
    Case("LB515", "CUDA 13 with torch 2.11; from torch 2.12 on", on_cuda("libcudart.so.13", "torch>=2.11"),
         on_cuda("libcudart.so.13", "torch>=2.12"), at=f"!{CORE}", says="torch 2.11 brings", severity="warning"),
    Case("LB515", "CUDA's BLAS; with the distribution that has it", on_cuda("libcublas.so.12", "torch>2.9"),
         on_cuda("libcublas.so.12", "torch>2.9", "nvidia-cublas-cu12"), at=f"!{CORE}", says="libcublas.so.12",
         severity="warning"),
    Case("LB515", "the newest torch alone; torch without a version, from an index of its own for each CUDA",
         on_cuda("libnvrtc.so.12", "torch==2.13.*"), on_cuda("libnvrtc.so.12", "torch"), at=f"!{CORE}",
         says="torch==2.13.*", severity="warning"),
    Case("LB514", "a label without variant.json; a wheel without a label", variant(None),
         wheel({"latenn/data.txt": b"x"}), at=LABELLED, says="x8664v3, but no variant.json"),
    Case("LB514", "no JSON; the right label", variant(b"{not json"), variant(described("x8664v3")), at="/variant.json",
         says="is no JSON"),
    Case("LB514", "another label", variant(described("x8664v2")), variant(described("x8664v3")), at="/variant.json",
         says="has x8664v2"),
    Case("LB514", "a table that is none", variant(described("x8664v3", providers=[])), variant(described("x8664v3")),
         at="/variant.json", says="Expected `object`, got `array` - at `$.providers`"),
    Case("LB514", "properties that nobody provides; that a plug-in does",
         variant(described("x8664v3", **{"default-priorities": {"namespace": ["x86"]}})), provided({}),
         at="/variant.json", says="orders x86, but has providers of nothing"),
    Case("LB514", "a value in another form", provided({"level": "v3"}), provided({"level": ["v3"]}), at="/variant.json",
         says="Expected `array`, got `str`"),
    Case("LB514", "metadata of a variant in a wheel without a label", variant(described("x8664v3"), ""),
         wheel({"latenn/data.txt": b"x"}), at="/variant.json", says="no variant label"),
    Case("LB122", "a copy of rocBLAS without kernels; of libpng", copied("librocblas-1a2b3c4d.so.5"),
         copied("libpng16-1a2b3c4d.so.16"), at="!latenn.libs/librocblas-1a2b3c4d.so.5", says="a library of ROCm",
         severity="warning"),
    Case("LB122", "a copy of cuBLAS; a library that is called like it, without a hash",
         copied("libcublas-1a2b3c4d.so.13"), copied("libcublas.so.13"), at="!latenn.libs/libcublas-1a2b3c4d.so.13",
         says="a library of CUDA", severity="note"),
    Case("LB122", "a copy of MIOpen without kernels; with some: a note", copied("libMIOpen-1a2b3c4d.so.1"),
         copied("libMIOpen-1a2b3c4d.so.1", "latenn.libs/gfx90a.kdb"), at="!latenn.libs/libMIOpen-1a2b3c4d.so.1",
         says="a library of ROCm", severity="warning", good_severity="note"),
]  # fmt: skip
