"""How modules for Python are built: the import library of python3.dll."""

from latebind.build.cpython import module_definition


def test_the_import_library_has_what_every_windows_cpython_of_that_version_has():
    lines = module_definition((3, 10), "python3.dll").splitlines()
    assert lines[:2] == ["LIBRARY python3.dll", "EXPORTS"]
    assert {"PyLong_FromLong", "PyExc_ValueError DATA", "PyErr_SetFromWindowsErr"} <= set(lines)
    assert "PyThread_get_thread_native_id" in lines
    assert not {"PyType_GetName", "PyOS_AfterFork_Child", "_Py_RefTotal DATA", "PyOS_CheckStack"} & set(lines)
    assert "PyType_GetName" in module_definition((3, 11), "python3.dll").splitlines()
