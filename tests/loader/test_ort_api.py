"""Our function table of ONNX Runtime against the official header, and, where that is too old, against the runtime."""

import pytest

from ci.gen import loader_headers, ort_slots
from ci.machines import debian
from tests.support.building import ROOT, needed_compiler
from tests.support.needs import official_header
from tests.support.running import run_program


def table():
    return loader_headers.ort_table()


HEADER_API_VERSION = 21  # of the pinned header


@pytest.fixture(scope="session")
def header(shared_folder):
    return official_header(shared_folder)


@pytest.fixture
def compile_(tmp_path):
    compiler = needed_compiler(tmp_path)

    def run(text, *include, standard="c11"):
        source = tmp_path / "check.c"
        source.write_text(text)
        folders = [f"-I{folder}" for folder in (ROOT / "loader" / "include", *include)]
        command = [compiler, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-c", *folders, str(source)]
        return run_program(*command, "-o", tmp_path / "check.o")

    return run


def checks(functions, enums):
    """Give C that compiles only when slots, prototypes and values are the official ones."""
    yield '#include "onnxruntime_c_api.h"\n#include "latebind/ort_api.h"\n#include <stddef.h>\n'
    yield f'_Static_assert(ORT_API_VERSION == {HEADER_API_VERSION}, "the pinned header");'
    for function in functions:
        name, slot = function["name"], function["slot"]
        yield f'_Static_assert(offsetof(struct OrtApi, {name}) == {slot} * sizeof(void*), "slot of {name}");'
        yield f'_Static_assert(offsetof(lb_ort_table, {name}) == {slot} * sizeof(void*), "our slot of {name}");'
        both = f"__typeof__(((struct OrtApi*)0)->{name}), __typeof__(((lb_ort_table*)0)->{name})"
        yield f'_Static_assert(__builtin_types_compatible_p({both}), "prototype of {name}");'
    for enum in enums:
        for name, number in enum["values"].items():
            yield f'_Static_assert((int){name} == {number}, "value of {name}");'
    yield '_Static_assert(offsetof(OrtApiBase, GetVersionString) == offsetof(lb_ort_base, GetVersionString), "base");'


def test_slots_prototypes_and_values_are_the_official_ones(header, compile_):
    entries = table()
    functions = [function for function in entries["function"] if function["since"] <= HEADER_API_VERSION]
    assert len(functions) >= 40
    done = compile_("\n".join(checks(functions, entries["enum"])), header.parent)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("wrong", "with_", "says"),
    [
        ("CreateEnv)(OrtLoggingLevel", "CreateEnv)(int*", "prototype of CreateEnv"),
        ("void* gap_4[3];", "void* gap_4[4];", "our slot of CreateSession"),
    ],
)
def test_the_check_itself_sees_a_wrong_prototype_and_a_wrong_slot(header, compile_, tmp_path, wrong, with_, says):
    entries = table()
    ours = (ROOT / "loader/include/latebind/ort_api.h").read_text()
    assert wrong in ours
    (tmp_path / "broken.h").write_text(ours.replace(wrong, with_))
    functions = [function for function in entries["function"] if function["since"] <= HEADER_API_VERSION]
    text = "\n".join(checks(functions, [])).replace('"latebind/ort_api.h"', '"broken.h"')
    done = compile_(text, header.parent, tmp_path)
    assert done.returncode != 0
    assert says in done.stderr


def test_the_stubs_slots_are_those_of_the_official_header(header):
    official = ort_slots.slots(header.read_text("utf-8"))["OrtApi"]
    ours = [slot for slot in ort_slots.read_tables()["LB_ORT_API"] if slot.since <= HEADER_API_VERSION]
    assert [(slot.name, slot.kind) for slot in ours] == [(slot.name, slot.kind) for slot in official]
    assert len(ours) == 285


@pytest.mark.parametrize("standard", ["c99", "c11", "gnu17"])
def test_our_header_stands_alone(compile_, standard):
    text = '#include "latebind/onnxruntime.h"\n#include "latebind/ort_api.h"\nint x;\n'
    done = compile_(f"{text}const void* y = &lb_onnxruntime;", standard=standard)
    assert done.returncode == 0, done.stderr


def test_functions_newer_than_the_header_are_each_called_for_real_in_a_test_named_here():
    newer = {function["name"] for function in table()["function"] if function["since"] > HEADER_API_VERSION}
    plugins = {
        "RegisterExecutionProviderLibrary",
        "GetEpDevices",
        "EpDevice_EpName",
        "SessionOptionsAppendExecutionProvider_V2",
        "UnregisterExecutionProviderLibrary",
    }
    # latenn/tests/c; by the host in C, examples/test_examples.py
    assert newer == {"TensorTypeAndShape_HasShape", *plugins}


def test_a_mirror_is_taken_from_the_machines_own_sources(tmp_path):
    (tmp_path / "sources.list.d").mkdir()
    with pytest.raises(debian.NotAvailableError, match="no Debian mirror"):
        debian.mirror(tmp_path)
    (tmp_path / "sources.list").write_text("deb [arch=amd64] http://mirror.invalid/debian/ bookworm main\n")
    assert debian.mirror(tmp_path) == "http://mirror.invalid/debian"
    (tmp_path / "sources.list").unlink()
    (tmp_path / "sources.list.d" / "x.sources").write_text(
        "Types: deb\nURIs: http://mirror.invalid/debian-security\nSuites: x\n\nTypes: deb\nURIs: http://b.invalid/debian\n"
    )
    assert debian.mirror(tmp_path) == "http://b.invalid/debian"
