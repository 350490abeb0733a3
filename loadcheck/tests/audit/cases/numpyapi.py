"""Bad subjects for LB508: modules that compare NumPy's version as `_import_array()` in NumPy's headers does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.audit.cases.case import Case, made_by

if TYPE_CHECKING:
    from tests.audit.corpus import Bench

OF_1 = "module compiled against API version 0x%x but this version of numpy is 0x%x"
OF_2 = "module was compiled against NumPy C-API version 0x%x (NumPy 1.23) but the running NumPy has C-API version 0x%x"
HEADER = """
extern void *PyCapsule_GetPointer(void *, const char *), *PyImport_ImportModule(const char *);
extern void *PyObject_GetAttrString(void *, const char *), *PyErr_Format(void *, const char *, ...);
extern void *PyExc_RuntimeError;
static void **api;
static int import_array(void) {
  void *numpy = PyImport_ImportModule("numpy.core._multiarray_umath");
  api = PyCapsule_GetPointer(PyObject_GetAttrString(numpy, "_ARRAY_API"), 0);
  if (%(number)s > ((unsigned (*)(void))api[211])()) {
    PyErr_Format(PyExc_RuntimeError, "%(message)s", %(number)s, ((unsigned (*)(void))api[211])());
    return -1;
  }
  return ((int (*)(void))api[210])();
}
void *PyInit__core(void) { return import_array() < 0 ? 0 : api; }
"""
CYTHON = """
extern void *PyCapsule_GetPointer(void *, const char *), *PyErr_Format(void *, const char *, ...);
__attribute__((weak, visibility("hidden"))) void *
import_type(void *module, const char *in, const char *name, unsigned long size, int check) {
  void *type = PyCapsule_GetPointer(module, name);
  if (check && size > *(unsigned long *)type)
    PyErr_Format(type, "%%.200s.%%.200s size changed, may indicate binary incompatibility. "
                 "Expected %%zd from C header, got %%zd from PyObject", in, name, size, size);
  return type;
}
void *PyInit__core(void *module) {
  void *ufunc = import_type(module, "numpy", "ufunc", %(size)d, %(check)d);
  return import_type(ufunc, "numpy", "flatiter", 2632, 1);
}
"""


@made_by
def module(  # each argument is one thing of a module or of its wheel
    bench: Bench, source: str, requires: str, *, python: str = "cp311-cp311", arch: str = "x86_64", **values: object
):
    target = f"{arch}-linux-gnu.2.28"
    data = bench.compiler.library(source % values, target=target, name="_core.so").read_bytes()
    return bench.wheel(
        {"latenn/_core.so": data},
        tag=f"{python}-manylinux_2_28_{arch}",
        metadata="".join(f"Requires-Dist: {text}\n" for text in requires.split("|") if text),
    )


def of_1(requires: str, number: int = 13, **options):
    return module(HEADER, requires, message=OF_1, number=number, **options)


def of_2(requires: str, **options):
    return module(HEADER, requires, message=OF_2, number=16, **options)


@made_by
def with_optional(bench: Bench, *versions: str):
    """A wheel with a module for each version, of which the newer ones may be imported with a newer NumPy alone."""
    sources = [HEADER % {"message": OF_2.replace("1.23", version), "number": 16} for version in versions]
    files = {f"latenn/_core{at}.so": bench.compiler.library(source).read_bytes() for at, source in enumerate(sources)}
    return bench.wheel(files, tag="cp310-cp310-manylinux_2_28_x86_64", metadata="Requires-Dist: numpy>=1.22\n")


def of_cython(requires: str, size: int = 216, check: int = 1):
    return module(CYTHON, requires, python="cp37-cp37m", size=size, check=check)


def row(what: str, bad, good, says: str) -> Case:
    return Case("LB508", what, bad, good, at=".whl", says=says, severity="warning")


FOR_1 = "has 1 module compiled for NumPy 1, but Requires-Dist admits NumPy 2, which it refuses"
CASES = [
    row("a module of NumPy 1 that NumPy 2 may load", of_1("numpy>=1.23.2"), of_1("numpy>=1.23.2,<2"), FOR_1),
    row("a module of NumPy 1, and one of both", of_1("numpy"), of_2("numpy"), FOR_1),
    row("no NumPy 2 for an old CPython", of_1("numpy", python="cp39-cp39"), of_1("numpy", python="cp38-cp38"), FOR_1),
    row("NumPy is not required", of_1("NumPy; extra == 'x'"), of_1("lxml"), FOR_1),
    row("another requirement installs NumPy 2", of_1("scipy"), of_1("scipy|numpy<2"),
        "has 1 module compiled for NumPy 1, but scipy, which is required, installs NumPy 2, which it refuses"),
    row("an API that an older NumPy lacks", of_1("numpy<2", 16, python="cp38-cp38"),
        of_1("numpy<2,>=1.23", 16, python="cp38-cp38"),
        "has modules compiled for NumPy 1.23 and newer, but Requires-Dist admits NumPy 1.17.3 with CPython 3.8"),
    row("an API that the oldest NumPy of a newer CPython has", of_1("numpy<2", 16, python="cp310-cp310"),
        of_1("numpy<2", 16), "compares NumPy's API version with 0x10"),
    row("the code of arm64", of_1("numpy<2", 16, python="cp310-cp310", arch="aarch64"),
        of_1("numpy<2", 14, python="cp310-cp310", arch="aarch64"), "admits NumPy 1.21.2 with CPython 3.10"),
    row("a minimum for one CPython alone",
        of_2("numpy>=1.23;python_version<'3.10'|numpy>=1.22;python_version>='3.10'", python="cp39-abi3"),
        of_2("numpy>=1.23;python_version<'3.11'|numpy;python_version>='3.11'", python="cp39-abi3"),
        "admits NumPy 1.22.0 with CPython 3.10"),
    row("the message of NumPy 2", of_2("numpy", python="cp310-cp310"), of_2("numpy"), "(NumPy 1.23)"),
    row("modules that all need a newer NumPy", with_optional("1.23", "2.0"), with_optional("1.20", "2.0"),
        "has modules compiled for NumPy 1.23 and newer"),
    row("the size of an object in Cython's code", of_cython("numpy"), of_cython("numpy>=1.16"),
        "expects 216 bytes for numpy.ufunc"),
    row("a size that is not checked", of_cython("numpy", 232), of_cython("numpy", 232, check=2), "admits NumPy 1.14.5"),
    row("a size of every NumPy", of_cython("numpy"), of_cython("numpy", 192), "compiled for NumPy 1.16 and newer"),
]  # fmt: skip
