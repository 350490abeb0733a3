"""Bad subjects for LB508: modules that compare NumPy's version as `_import_array()` in NumPy's headers does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpus.cases.case import Case, made_by

if TYPE_CHECKING:
    from corpus.packages import Bench

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


@made_by
def module(  # each argument is one thing of a module or of its wheel
    bench: Bench, source: str, requires: str, *, python: str = "cp311-cp311", **values: object
):
    target = "x86_64-linux-gnu.2.28"
    data = bench.compiler.library(source % values, target=target, name="_core.so").read_bytes()
    return bench.wheel(
        {"latenn/_core.so": data},
        tag=f"{python}-manylinux_2_28_x86_64",
        metadata="".join(f"Requires-Dist: {text}\n" for text in requires.split("|") if text),
    )


def of_1(requires: str, **options):
    return module(HEADER, requires, message=OF_1, number=13, **options)


def of_2(requires: str, **options):
    return module(HEADER, requires, message=OF_2, number=16, **options)


@made_by
def with_optional(bench: Bench, *versions: str):
    """A wheel with a module for each version, of which the newer ones may be imported with a newer NumPy alone."""
    sources = [HEADER % {"message": OF_2.replace("1.23", version), "number": 16} for version in versions]
    files = {f"latenn/_core{at}.so": bench.compiler.library(source).read_bytes() for at, source in enumerate(sources)}
    return bench.wheel(files, tag="cp310-cp310-manylinux_2_28_x86_64", metadata="Requires-Dist: numpy>=1.22\n")


def row(what: str, bad, good, says: str) -> Case:
    return Case("LB508", what, bad, good, at=".whl", says=says, severity="warning")


FOR_1 = "has 1 module compiled for NumPy 1, but Requires-Dist admits NumPy 2, which it refuses"
CASES = [
    row("a module of NumPy 1 that NumPy 2 may load", of_1("numpy>=1.23.2"), of_1("numpy>=1.23.2,<2"), FOR_1),
    row("a module of NumPy 1, and one of both", of_1("numpy"), of_2("numpy"), FOR_1),
    row("no NumPy 2 for an old CPython", of_1("numpy", python="cp39-cp39"), of_1("numpy", python="cp38-cp38"), FOR_1),
    *(row(f"a module of NumPy 1 for CPython 3.{minor}", of_1("numpy", python=f"cp3{minor}-cp3{minor}"),
          of_1("numpy<2", python=f"cp3{minor}-cp3{minor}"), FOR_1) for minor in range(9, 16)),
    row("NumPy is not required", of_1("NumPy; extra == 'x'"), of_1("lxml"), FOR_1),
    row("a minimum for one CPython alone",
        of_2("numpy>=1.23;python_version<'3.10'|numpy>=1.22;python_version>='3.10'", python="cp39-abi3"),
        of_2("numpy>=1.23;python_version<'3.11'|numpy;python_version>='3.11'", python="cp39-abi3"),
        "admits NumPy 1.22.0 with CPython 3.10"),
    row("the message of NumPy 2", of_2("numpy", python="cp310-cp310"), of_2("numpy"), "_core.so: NumPy 1.23"),
    row("modules that all need a newer NumPy", with_optional("1.23", "2.0"), with_optional("1.20", "2.0"),
        "has modules compiled for NumPy 1.23 and newer"),
]  # fmt: skip
