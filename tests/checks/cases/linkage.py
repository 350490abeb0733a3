"""Bad and good packages for the checks of late binding: those of `linkage`."""

from __future__ import annotations

from corpus.cases.case import Case, bare, contents, good, linked, made_by, nupkg, runtime, shared, wheel
from corpus.cases.linkage import (
    LIB,
    OWN,
    PROVIDER,
    containing,
    holding,
    late,
    of_vendor,
    of_versioned,
    plugin,
    provider,
)
from corpus.cases.undefined import entry_user
from corpus.packages import RUNTIME, USER, Bench

THROWS = """\
void __cxa_throw(const char *, void *, void *);
void *__cxa_begin_catch(void *);
void speech_open(void) { __cxa_throw("N3Ort9ExceptionE", 0, 0); }
"""
CATCHES = "void *speech_close(void) { return __cxa_begin_catch(0); }\n"
OF_HEADERS = "void _ZNSt9exceptionD2Ev(void) {}\n"
MORE_OF_CPP = "void _ZN6Speech4openEv(void) {}\n"


@made_by
def of_cpp(bench: Bench, source: str):
    """A bare library of a source that stands for C++."""
    return [bench.compiler.library(source, name="libspeech.so")]


CASES = [
    Case(
        "LB113",
        "a C interface that throws and catches nothing",
        of_cpp(THROWS),
        of_cpp(THROWS + CATCHES),
        at="libspeech.so",
        says="1 C function",
        severity="warning",
    ),
    Case(
        "LB113",
        "a library with an interface in C++, or with what headers leave in it",
        of_cpp(THROWS + OF_HEADERS),
        of_cpp(THROWS + MORE_OF_CPP),
        at="libspeech.so",
        says="__cxa_throw",
        severity="warning",
    ),
    Case(
        "LB106",
        "the runtime's entry symbol is left open, next to a library that may define others",
        wheel({LIB: entry_user(linked=False)}),
        wheel({LIB: entry_user(linked=True)}),
        at=f"!{LIB}",
        says="OrtGetApiBase",
    ),
    Case(
        "LB101",
        "an execution provider contains ONNX Runtime and links it; OpenVINO it may, as its vendor's own",
        of_vendor("libonnxruntime.so.1", "libonnxruntime.so"),
        of_vendor("libopenvino.so.2641", "libopenvino.so"),
        at=f"!{LIB}",
        says="libonnxruntime.so.1",
    ),
    Case(
        "LB101",
        "a wheel's library is linked to the runtime",
        wheel({LIB: linked()}),
        wheel({LIB: late}),
        at=f"!{LIB}",
        says="libonnxruntime.so.1",
    ),
    Case(
        "LB101",
        "a bare library is linked to a copy that auditwheel renamed",
        bare("libspeech.so", contents(shared(USER, runtime("libonnxruntime-1a2b3c4d.so.1.19.2", "libonnxruntime.so")))),
        bare("libspeech.so", late),
        at="libspeech.so",
        says="libonnxruntime-1a2b3c4d.so.1.19.2",
    ),
    Case(
        "LB102",
        "a nupkg's library needs a symbol version of the runtime",
        nupkg({"runtimes/linux-x64/native/liblatenn.so": linked()}),
        nupkg({"runtimes/linux-x64/native/liblatenn.so": late}),
        at="!runtimes/linux-x64/native/liblatenn.so",
        says="VERS_1.19.2",
    ),
    Case(
        "LB102",
        "the version of a renamed copy is told by the entry symbol; that of another library is its own",
        wheel({LIB: of_versioned("OrtGetApiBase")}),
        wheel({LIB: of_versioned("odd_version")}),
        at=f"!{LIB}",
        says="VERS_1.19.2 of libspeech_rt.so",
    ),
    Case(
        "LB103",
        "the runtime lies in the wheel",
        wheel({"latenn.libs/libonnxruntime-1a2b3c4d.so.1": contents(runtime())}),
        wheel({"latenn.libs/libonnxruntime-genai.so": good()}),
        at="!latenn.libs/libonnxruntime-1a2b3c4d.so.1",
        says="SONAME libonnxruntime.so.1",
    ),
    Case(
        "LB103",
        "a wheel that supplies the runtime holds it by right",
        wheel({"ort/libonnxruntime.so.1": contents(runtime())}),
        wheel({"ort/libonnxruntime.so.1": contents(runtime())}, name="onnxruntime-gpu"),
        at="!ort/libonnxruntime.so.1",
        says="ONNX Runtime",
    ),
    Case(
        "LB103",
        "a provider library of the runtime is in the wheel; a plugin does not count as the runtime",
        wheel({PROVIDER: provider("GetProvider", "CreateEpFactories")}),
        wheel({PROVIDER: plugin()}),
        at=f"!{PROVIDER}",
        says="SONAME libonnxruntime_providers_odd.so.1",
    ),
    Case(
        "LB103",
        "a file of that name that exports nothing of a plugin",
        nupkg({"runtimes/linux-x64/native/libonnxruntime_providers_odd.so": good()}),
        nupkg({"runtimes/linux-x64/native/libonnxruntime_providers_odd.so": plugin()}),
        at="!runtimes/linux-x64/native/libonnxruntime_providers_odd.so",
        says="ONNX Runtime",
    ),
    Case(
        "LB103",
        "the runtime itself stays the runtime when it exports what a plugin does",
        wheel({PROVIDER: provider("OrtGetApiBase", "CreateEpFactories")}),
        wheel({PROVIDER: plugin()}),
        at=f"!{PROVIDER}",
        says="exports OrtGetApiBase",
    ),
    Case(
        "LB104",
        "a SONAME of the runtime's provider library under another file name; a plugin's is its own",
        wheel({"latenn/libodd.so": provider("GetProvider")}),
        wheel({"latenn/libodd.so": plugin()}),
        at="!latenn/libodd.so",
        says="SONAME libonnxruntime_providers_odd.so.1",
    ),
    Case(
        "LB101",
        "a plugin links the runtime that loads it, whatever its file is called",
        wheel({PROVIDER: plugin(links=True)}),
        wheel({PROVIDER: plugin()}),
        at=f"!{PROVIDER}",
        says="libonnxruntime.so.1",
    ),
    Case(
        "LB102",
        "a plugin needs a symbol version of the runtime that loads it",
        wheel({PROVIDER: plugin(links=True)}),
        wheel({PROVIDER: plugin()}),
        at=f"!{PROVIDER}",
        says="VERS_1.19.2",
    ),
    Case(
        "LB104",
        "a copy under another file name and SONAME exports the entry symbol",
        wheel({"latenn/libspeech_rt.so": contents(runtime("libspeech_rt.so"))}),
        wheel({"latenn/libspeech_rt.so": late}),
        at="!latenn/libspeech_rt.so",
        says="exports OrtGetApiBase",
    ),
    Case(
        "LB104",
        "a copy under another file name keeps the SONAME",
        bare(
            "libspeech.so",
            contents(shared(RUNTIME.replace("OrtGetApiBase", "hidden_entry"), "-Wl,-soname,libonnxruntime.so.1")),
        ),
        bare("libspeech.so", late),
        at="libspeech.so",
        says="SONAME libonnxruntime.so.1",
    ),
    Case(
        "LB105",
        "a library holds LiteRT statically",
        containing("ai-edge-litert", "pywrap_litert_common"),
        bare("_core.abi3.so", late),
        at="_core.abi3.so",
        says="Invoke called on model",
    ),
    Case(
        "LB105",
        "a Python module holds the runtime statically",
        containing("onnxruntime", "onnxruntime_pybind11_state"),
        bare("_core.abi3.so", late),
        at="_core.abi3.so",
        says="API versions",
    ),
    Case(
        "LB105",
        "an execution provider holds ONNX Runtime; OpenVINO it may, as its vendor's own",
        wheel({LIB: plugin(), "latenn/libtool.so": holding(OWN)}),
        wheel({LIB: plugin(), "latenn/libtool.so": holding("N2ov8CoreImplE")}),
        at="!latenn/libtool.so",
        says="InferenceSession",
    ),
]
