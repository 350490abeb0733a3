"""The functions of a stub are found in headers, shared libraries and .def files; the rest is named or refused."""

import re
import shutil
from pathlib import Path

import pytest

from latebind.errors import InputError, LatebindError
from latebind.native.functions import find_functions
from latebind.native.stublibrary import stub_table
from latebind.tables.presets import FunctionTable, function_table, presets
from tests.support.running import run_checked

STUB = Path(__file__).resolve().parents[1] / "loader" / "stub"
MANY = ["integers", "new", "new_stops", "newer", "prints", "reals", "returns", "status", "version", "why"]


def test_a_header_gives_the_functions_that_it_and_its_neighbours_declare(tmp_path):
    shutil.copy(STUB / "many.h", tmp_path)
    (tmp_path / "stdint.h").write_text("#error as in git2/, for compilers without one\n")
    (tmp_path / "all.h").write_text('#include <inttypes.h>\n#include "many.h"\nstatic int own(void) { return 1; }\n')
    table, notes = find_functions(["all.h"], tmp_path)
    assert list(table.since) == [f"many_{name}" for name in MANY]
    [note] = notes
    assert note.startswith(
        "not in the stub: 1 variable (many_number); include the header of variables that latebind writes"
    )
    with pytest.raises(LatebindError, match="many_number: a variable, which a stub cannot have as a function"):
        find_functions(["all.h", "many_number"], tmp_path)
    assert table.variables == ("many_number",)


@pytest.mark.parametrize(
    ("declared", "fits"),
    [
        ("const char* f(void)", {"text", "structure"}),
        ("char* f(int)", {"text", "structure"}),
        ("int f(void)", {"integer"}),
        ("unsigned long f(void)", {"integer"}),
        ("int f(int*)", {"integer-out"}),
        ("void f(unsigned*, unsigned*)", {"two-numbers"}),
        ("void f(int*, int*, int*)", {"three-numbers"}),
        ("const struct version* f(void)", {"structure"}),
        ("extern const char* const f", {"variable"}),
        ("extern char* f", {"variable"}),
        ("extern int f", set()),
        ("void f(void)", set()),
    ],
)
def test_a_header_that_declares_another_kind_of_entry_is_refused(tmp_path, declared, fits):
    (tmp_path / "f.h").write_text(f"{declared};\nint other(void);\n")
    for version in ("text", "integer", "integer-out", "two-numbers", "three-numbers", "structure", "variable"):
        if version in fits:
            find_functions(["f.h"], tmp_path, "f", version)
        else:
            with pytest.raises(LatebindError, match=r"f has the type .* which does not fit version ="):
                find_functions(["f.h"], tmp_path, "f", version)


def test_a_pattern_chooses_among_those_of_files_and_a_name_adds_one(tmp_path):
    (tmp_path / "thing.def").write_bytes(
        b"EXPORTS thing_a=other @1\r\nthing_b @2 NONAME\r\n; no\r\nrest\r\nSECTIONS\r\nx\r\n"
    )
    assert list(find_functions(["thing.def", "thing_*", "more"], tmp_path)[0].since) == ["more", "thing_a", "thing_b"]
    assert list(find_functions(["thing.def"], tmp_path)[0].since) == ["rest", "thing_a", "thing_b"]


@pytest.mark.parametrize(
    ("name", "text", "kind", "says"),
    [
        ("absent.h", None, InputError, "cannot be read"),
        ("bad.h", "int f(;\n", InputError, "does not compile as C\n.*error: expected parameter"),
        ("cxx.h", "class A { };\n", InputError, "does not compile as C"),
        ("empty.def", "LIBRARY x\n", LatebindError, "no function of empty.def can be in a stub"),
        ("data.txt", "f\n", InputError, "is not a shared library, a .def file or a header"),
    ],
)
def test_what_has_no_functions_is_refused(tmp_path, name, text, kind, says):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(kind, match=f"(?s){says}"):
        find_functions([name], tmp_path)


def test_an_entry_that_the_named_library_does_not_export_is_refused(tmp_path):
    """Another library would be taken for it: ncurses' curses_version() is libtinfo's."""
    for name, text in (("own", "int own(void) { return 1; }"), ("base", "int base_version(void) { return 1; }")):
        (tmp_path / f"{name}.c").write_text(text)
        run_checked("cc", "-shared", "-fPIC", f"{name}.c", "-o", f"lib{name}.so", cwd=tmp_path)
    with pytest.raises(LatebindError, match=r"base_version is exported by no library in libown\.so") as caught:
        find_functions(["libown.so"], tmp_path, "base_version", "integer")
    command = caught.value.advice.partition(": ")[2].partition(" lists")[0].replace("FILE", "libown.so").split()
    [own] = [line.split()[2] for line in run_checked(*command, cwd=tmp_path).splitlines() if " T " in line]
    assert [*find_functions(["libown.so"], tmp_path, own, "integer")[0].since] == ["own"]
    assert len(find_functions(["libown.so", "libbase.so"], tmp_path, "base_version", "integer")[0].since) == 2


def test_the_last_pattern_that_fits_decides_what_a_failing_call_gives():
    table = stub_table(presets()["openvino"], function_table("openvino"))
    assert "ov_core_create, NUMBER, -1, 2025, 0, 0)" in table
    assert "ov_get_error_info, MESSAGE, 0, 2025, 0, 0)" in table
    assert "ov_core_compile_model_props, NUMBER, -1, 2026, 4, 0)" in table
    assert 'row(ov_property_key_cache_dir, "CACHE_DIR")' in table
    assert ", ABORT, 0, " in stub_table(presets()["litert"], FunctionTable(functions={"0.0": ("TfLiteX",)}))


def test_functions_that_a_systems_library_lacks_are_not_in_its_stub():
    text = stub_table(presets()["litert"], function_table("litert"))
    parts = re.split(r"^#(?:if|elif) defined\((\w+)\)$|^#endif$", text, flags=re.MULTILINE)
    rows = dict(zip(parts[1::2], parts[2::2], strict=False))
    assert {system: "TfLiteModelCreate," in part for system, part in rows.items() if system} == {
        "__linux__": False,
        "__APPLE__": False,
        "_WIN32": True,
    }
    assert all("LiteRtCreateEnvironment," in part for system, part in rows.items() if system)
    assert "#if" not in stub_table(presets()["openvino"], function_table("openvino")), "all systems have the same"


@pytest.mark.parametrize("count", [0, 16_001])
def test_a_table_has_room_for_its_functions(count):
    with pytest.raises(LatebindError, match=f"would have {count:,} functions"):
        stub_table(
            presets()["litert"], FunctionTable(functions={"0.0": tuple(f"f{number}" for number in range(count))})
        )
