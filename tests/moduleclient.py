"""A small project whose package holds a Python module in C, for tests of wheel kinds; see client.py for the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.client import CONFIG, PYPROJECT, write_client

if TYPE_CHECKING:
    from pathlib import Path

SIX = '["linux-x64", "linux-arm64", "osx-x64", "osx-arm64", "win-x64", "win-arm64"]'

CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(tiny C)
find_package(latebind CONFIG REQUIRED)
latebind_add_python_module(_tiny tiny.c)
latebind_hardening(_tiny)
install(TARGETS _tiny LIBRARY DESTINATION lib COMPONENT tiny)
"""

SOURCE = """\
#include <Python.h>

static PyObject *add(PyObject *self, PyObject *args)
{
  long a, b;
  (void)self;
  if (!PyArg_ParseTuple(args, "ll", &a, &b))
    return NULL;
  if (a < 0) {
    PyErr_SetString(PyExc_ValueError, "negative");
    return NULL;
  }
  return PyLong_FromLong(a + b);
}

static PyMethodDef methods[] = {{"add", add, METH_VARARGS, "Adds."}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_tiny", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__tiny(void)
{
  return PyModule_Create(&module);
}
"""

INIT = '"""Adds numbers."""\n\nfrom tiny._tiny import add\n\n__all__ = ["add"]\n'


def config(kind: str, include: str = SIX) -> str:
    """The configuration with a wheel of that kind and no nupkg."""
    text = CONFIG.replace('["linux-x64"]', include).replace('nuget = { id = "Tiny" }\n', "")
    return text.replace('"python/tiny" }', f'"python/tiny", kind = "{kind}" }}')


def write_module_client(folder: Path, kind: str, **changed: str) -> Path:
    """Write the project below `folder`; `changed` replaces whole files, as in write_client()."""
    files = {"latebind": config(kind), "cmakelists": CMAKE, "tiny": SOURCE, "__init__": INIT, "pyproject": PYPROJECT}
    return write_client(folder, **{**files, **changed})
