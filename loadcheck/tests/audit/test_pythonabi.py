"""The stable ABI, and the Pythons that names of modules and wheels stand for."""

import pytest

from loadcheck.engine.supply import list_environments
from loadcheck.readers.package import wheel_name
from loadcheck.tables import pythonabi


def test_names_belong_to_the_stable_abi_since_their_version():
    table = pythonabi.stable_names()
    assert len(table) > 900
    assert table["PyLong_FromLong"].since == (3, 2)
    assert table["PyType_GetName"].since == (3, 11)
    assert table["PyExc_ValueError"].is_data
    assert "_PyObject_GetDictPtr" not in table


@pytest.mark.parametrize(
    ("name", "abi"),
    [
        ("_core.abi3.so", "abi3"),
        ("_core.abi3t.so", "abi3t"),
        ("_core.abi3-x86_64-linux-gnu.so", "abi3"),
        ("_core.cpython-311-x86_64-linux-gnu.so", "cp311"),
        ("_core.cpython-310-darwin.so", "cp310"),
        ("_core.cpython-313t-x86_64-linux-gnu.so", "cp313t"),
        ("_core.cpython-37m-x86_64-linux-gnu.so", "cp37m"),
        ("_core.cp311-win_amd64.pyd", "cp311"),
        ("_core.cp314t-win_arm64.pyd", "cp314t"),
        ("_core.pyd", ""),
        ("_core.so", ""),
        ("_core.pypy310-pp73-x86_64-linux-gnu.so", ""),
        ("libabi3.so", ""),
        ("libcpython-311.so.1", ""),
    ],
)
def test_the_abi_of_a_module_by_its_file_name(name, abi):
    assert pythonabi.module_abi(name) == abi


@pytest.mark.parametrize(
    ("library", "python"),
    [
        ("python39.dll", "39"),
        ("Python313t_d.dll", "313t"),
        ("libpython3.7m.so.1.0", "37"),
        ("libpython3.13t.so.1.0", "313t"),
        ("@rpath/libpython3.12.dylib", "312"),
        ("/Library/Frameworks/Python.framework/Versions/3.9/Python", "39"),
        ("/Library/Frameworks/PythonT.framework/Versions/3.13/PythonT", "313t"),
        ("python3.dll", ""),
        ("libpython3.so", ""),
        ("boost_python39.dll", ""),
    ],
)
def test_the_cpython_whose_library_a_path_names(library, python):
    assert pythonabi.parse_linked_python(library) == python


@pytest.mark.parametrize(
    ("tags", "is_for_newer"), [("cp311-none", False), ("cp311-cp311", False), ("cp311-abi3", True), ("py3-none", True)]
)
def test_a_wheel_is_for_newer_cpythons_only_with_a_stable_abi_or_a_tag_of_any_python(tags, is_for_newer):
    wheel = wheel_name(f"thing-1.0-{tags}-win_amd64.whl")
    assert any(environment["python_version"] == "3.12" for environment in list_environments(wheel)) == is_for_newer
