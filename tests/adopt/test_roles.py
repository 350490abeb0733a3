"""Which files ONNX Runtime calls, and which open a runtime by themselves."""

from pathlib import Path

import pytest

from latebind.adopt.roles import find_called, find_opening

FILE = Path("a.cc")
DEFINITIONS = [
    'extern "C" OrtStatus* ORT_API_CALL RegisterCustomOps(OrtSessionOptions* o, const OrtApiBase* b) {\n}',
    "OrtStatus* RegisterCustomOps(OrtSessionOptions* o,\n    const OrtApiBase* b) noexcept\n{\n}",
]


@pytest.mark.parametrize("text", DEFINITIONS)
def test_a_function_that_the_runtime_calls_is_found(text):
    assert list(find_called({FILE: text})) == [(FILE, "RegisterCustomOps")]


@pytest.mark.parametrize(
    "text",
    [
        "OrtStatus* RegisterCustomOps(OrtSessionOptions* o, const OrtApiBase* b);\nint main() {}",
        "// RegisterCustomOps(o, b) {\n",
        "int main() { return RegisterCustomOps(o, b) != 0; }",
        "void MyRegisterCustomOps(int a) {}",
    ],
)
def test_a_declaration_a_call_and_a_comment_are_none(text):
    assert list(find_called({FILE: text})) == []


def test_a_header_defines_none():
    assert list(find_called({Path("a.h"): DEFINITIONS[0]})) == []


@pytest.mark.parametrize(
    ("text", "runtimes"),
    [
        ('dlopen("libonnxruntime.so.1", RTLD_NOW)', ["onnxruntime"]),
        ('dlopen(path, RTLD_NOW); Load("libonnxruntime.so")', ["onnxruntime"]),
        ('LoadLibraryW(L"onnxruntime.dll")', ["onnxruntime"]),
        ('dlopen("/opt/lib/libopenvino_c.so", 1)', ["openvino"]),
        ('dlopen("libm.so", 1)', []),
        ('puts("libonnxruntime.so")', []),
        ('// dlopen("libonnxruntime.so", 1)', []),
        ('dlopen("libonnxruntime_providers_cuda.so", 1)', []),
        ('dlopen("libonnxruntimes.so", 1)', []),
    ],
)
def test_code_that_opens_a_runtime_is_found(text, runtimes):
    assert [runtime for _, runtime in find_opening({FILE: text})] == runtimes
