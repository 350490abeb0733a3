"""Each preset recognizes its runtime: linked, renamed, bundled, supplied; in every format."""

import pytest

from corpus.packages import MAC_TAG, WINDOWS_TAG
from latebind.tables.presets import presets
from loadcheck.api import audit_here

# What the wheels of PyPI hold: the file of the C interface for Linux, macOS and Windows.
FILES = {
    "onnxruntime": ("libonnxruntime.so.1.31.1", "libonnxruntime.1.31.1.dylib", "onnxruntime.dll"),
    "openvino": ("libopenvino_c.so.2641", "libopenvino_c.2641.dylib", "openvino_c.dll"),
    "litert": ("libLiteRt.so", "libLiteRt.dylib", "libLiteRt.dll"),
}


def runtime(bench, preset, name):
    """A stand-in of the runtime, by its file name and its entry symbol."""
    entry = presets()[preset].entry_symbols[0]
    source = f"int {entry}(void) {{ return 1; }}\n"
    if name.endswith(".dll"):
        return bench.compiler.dll(source, exports=[entry], name=name)
    if name.endswith(".dylib"):
        return bench.compiler.dylib(source, name=name)
    return bench.compiler.library(source, f"-Wl,-soname,{name}", name=name)


def user(bench, preset, name):
    """A library that was linked against the runtime."""
    entry = presets()[preset].entry_symbols[0]
    source = f"extern int {entry}(void);\nint latenn_f(void) {{ return {entry}(); }}\n"
    library = runtime(bench, preset, name)
    if name.endswith(".dll"):
        return bench.compiler.dll(source, bench.compiler.import_library(library), exports=["latenn_f"])
    return bench.compiler.dylib(source, library) if name.endswith(".dylib") else bench.compiler.library(source, library)


def codes(paths, preset):
    title = presets()[preset].title
    findings = [
        finding for finding in audit_here(paths).findings if finding.code in ("LB101", "LB103", "LB104", "LB105")
    ]
    return {finding.code for finding in findings if title in finding.message + finding.fix}, {
        finding.code for finding in findings
    }


def tag(name):
    return {"dll": WINDOWS_TAG, "lib": MAC_TAG}.get(name[-3:], "py3-none-manylinux_2_28_x86_64")


def test_every_preset_is_tried():
    assert FILES.keys() == presets().keys()


@pytest.mark.parametrize(("preset", "name"), [(preset, name) for preset, names in FILES.items() for name in names])
def test_a_preset_recognizes_its_runtime(bench, preset, name):
    supply = next(iter(presets()[preset].python.extras.values()))
    data, copy = user(bench, preset, name).read_bytes(), runtime(bench, preset, name).read_bytes()

    assert codes(bench.wheel({"a/x": data}, tag=tag(name)), preset) == ({"LB101"}, {"LB101"})
    assert codes(bench.wheel({"a/x": copy}, tag=tag(name), version="2"), preset) == ({"LB104"}, {"LB104"})
    assert codes(bench.wheel({f"a/{name}": copy}, tag=tag(name), version="3"), preset)[0] == {"LB103"}
    both = {f"a/{name}": copy, "a/x": copy}
    assert codes(bench.wheel(both, name=supply, tag=tag(name)), preset) == (set(), set())


def test_a_symbol_version_of_every_release_is_no_error(bench):
    """libLiteRt.so has VERS_1.0 in each release, as other libraries keep the versions of their symbols."""
    entry = presets()["litert"].entry_symbols[0]
    script = f"-Wl,--version-script={bench.compiler.text('VERS_1.0 { global: *; };')}"
    source = f"int {entry}(void) {{ return 1; }}\n"
    library = bench.compiler.library(source, "-Wl,-soname,libLiteRt.so", script, name="libLiteRt.so")
    code = f"extern int {entry}(void);\nint latenn_f(void) {{ return {entry}(); }}\n"
    linked = bench.compiler.library(code, library).read_bytes()

    found = {finding.code for finding in audit_here(bench.wheel({"a/libx.so": linked})).findings}

    assert {"LB101", "LB102"} & found == {"LB101"}
